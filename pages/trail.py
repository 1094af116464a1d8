"""The audit trail of the study: who did what, when, from where and why; and its verification."""

from study.base.translation import t
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.overview.trail import trail_section, verify_button
from ui.parts.theme import error_line, page_title
from ui.server.access import guard

person = guard(Act.TRAIL)

masthead(person)
page_title(t("Audit trail"))
with error_line():
    verify_button(person.study_name)
    trail_section(person.study_name)
