"""The preview of a drawn study: the reading page as its readers see it, without recording."""

from study.people.roles import Act
from ui.reading import rooms
from ui.server.access import guard

person = guard(Act.SET_UP)
rooms.show_preview(person)
