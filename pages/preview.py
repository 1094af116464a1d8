"""The preview of a study that was drawn: the reading page as its readers see it, unrecorded."""

from study.people.roles import Act
from ui.reading import preview
from ui.server.access import guard

person = guard(Act.SET_UP)
preview.show(person)
