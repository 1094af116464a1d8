"""The trail: who did what on the study, when, from where and why; and whether it all holds."""

from study.base.translation import t
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.overview import trail
from ui.parts.look import error_line, page_title
from ui.server.access import guard

person = guard(Act.TRAIL)

masthead(person)
page_title(t("Audit trail"))
with error_line():
    trail.verifying(person.study_name)
    trail.section(person.study_name)
