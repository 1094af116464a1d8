"""The page on which staff add a second factor to their sign-in."""

from study.base.translation import t
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.parts.theme import error_line, page_title
from ui.people.second_factor import section
from ui.server.access import guard

person = guard(Act.ACCOUNT)
masthead(person)
page_title(t("Second factor"))
with error_line():
    section(person)
