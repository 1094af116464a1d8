"""What the page of new studies does: begins, throws away and draws drafts."""

from datetime import UTC, datetime

from study.lifecycle import drafts
from study.people import access
from study.people.access import Person
from study.people.roles import IN_STUDY, Act
from study.protocol.protocol import stored_protocol
from study.store.studies import study_row
from ui.server.deployment import store
from ui.wizard.working import Working, forget


def begin(person: Person, *, name: str, bank: str, like: str = "") -> int:
    """Begin a draft, with the protocol of another study where one is named; return its id."""
    values = None
    if like:
        with store().look() as look:
            values = stored_protocol(study_row(look, like)).in_full()
    return drafts.begin(
        store(),
        name=name.strip(),
        maker=person.id,
        bank=bank,
        values=values,
        by=person.by,
        now=datetime.now(UTC),
    )


def begin_like(person: Person, study: str, bank: str) -> int:
    """Begin a draft with a study's bank and rules, under a name of its own; return its id."""
    name = drafts.free_name(store(), study)
    return begin(person, name=name, bank=bank, like=study)


def throw_away(person: Person, number: int) -> None:
    """Throw a draft away."""
    drafts.remove(store(), number, by=person.by, now=datetime.now(UTC))
    forget(number)


def draw(person: Person, working: Working) -> str:
    """Draw a draft and return the study's name."""
    name, _ = drafts.draw(
        store(),
        working.id,
        seen=working.seen,
        maker=person.id,
        by=person.by,
        now=datetime.now(UTC),
    )
    forget(working.id)
    return name


def studies_to_begin_from(person: Person) -> list[str]:
    """Return the studies whose protocol a person may see, the newest first."""
    return [
        one.study_name
        for one in access.standings(store(), person)
        if one.study is not None and Act.SET_UP in IN_STUDY[one.role]
    ]
