"""The preview of a study that was drawn: the reading page as its readers see it, unrecorded."""

from study.roles import Act
from ui import preview
from ui.access import guard

person = guard(Act.SET_UP)
preview.show(person)
