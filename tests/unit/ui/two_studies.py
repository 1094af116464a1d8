"""A deployment with two studies and people of all roles, for tests of permissions.

All data of a study contain its name: readers, staff, questions, models, reasons. Pages of one
study can thus be searched for the name of the other.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from study.bank.importing import import_bank
from study.base.actor import COMMAND_LINE, Acting, By
from study.lifecycle import drafts, studies
from study.lifecycle.deployments import init
from study.models import models
from study.monitoring import interventions
from study.people import persons, signing_in
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.people.persons import Newcomer
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import Protocol
from study.reading import desk
from study.store import Store, people
from study.store.studies import study_row
from tests.conftest import entropy_from, preparation, presentation, reading, write_bank
from tests.templates import copy_folder, copy_store
from ui.app.middleware import HEADERS
from ui.app.routes import routes
from ui.server.access import COOKIE

AMBER, COBALT = "amber", "cobalt"
STATES = ("drawn", "open", "closed")
EVERYBODY = (
    "nobody",
    "deployment administrator",
    "deployment coordinator",
    *(
        f"{role} of {study}"
        for study in (AMBER, COBALT)
        for role in ("administrator", "coordinator", "statistician", "reader")
    ),
)
RULES = {
    "cases": 4,
    "one_question_per": "item",
    "feedback": "after study",
    "practice_cases": 1,
    "back_navigation": True,
}
_NOW = datetime.now(UTC)  # sign-ins expire, and routes use the real time
ACTING = Acting(by=COMMAND_LINE, now=_NOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A store in a state of its two studies, with the tokens of all signed-in people."""

    store: Store
    state: str
    tokens: Mapping[str, str]
    draft: int

    def person(self, reader_id: str) -> Person | None:
        """Return a signed-in person."""
        if reader_id not in self.tokens:
            return None
        return signing_in.signed_in_person(
            self.store, self.tokens[reader_id], now=datetime.now(UTC)
        )

    def client(self, reader_id: str) -> TestClient:
        """Return a client with a person's cookie."""
        made = TestClient(_app(), follow_redirects=False)
        if reader_id in self.tokens:
            made.cookies.set(COOKIE, self.tokens[reader_id])
        return made

    def copied(self, folder: Path) -> "Deployment":
        """Return a copy that a test may alter."""
        old = self.store.path
        copy_folder(old.parent, folder)
        return replace(self, store=Store(copy_store(old, folder / old.name)))


@cache
def _app() -> Starlette:
    """Return the application, whose routes look up their store at each request."""
    return Starlette(routes=routes(), middleware=[HEADERS])


class Stopped(Exception):
    """Raised when a page stops itself."""


def stop() -> None:
    """Stop a page, in place of Streamlit's function."""
    raise Stopped


def build(folder: Path) -> dict[str, Deployment]:
    """Return the deployment in each state: both studies drawn, open and closed."""
    (folder / "drawn").mkdir()
    store = init(folder / "drawn" / "store.db", entropy=entropy_from(1), now=_NOW)
    tokens = {}
    for role in (Role.ADMINISTRATOR, Role.COORDINATOR):
        _staff(store, role, "")
        tokens[f"deployment {role}"] = _enter(store, _person_named(store, f"deployment-{role}"))
    for study in (AMBER, COBALT):
        _draw(store, folder / f"{study}-bank", study)
        tokens |= _tokens(store, study)
    drawn = Deployment(
        store=store, state="drawn", tokens=tokens, draft=_draft(store, folder / "plan")
    )
    opened = replace(drawn.copied(folder / "open"), state="open")
    for study in (AMBER, COBALT):
        _open(opened.store, study)
    closed = replace(opened.copied(folder / "closed"), state="closed")
    for study in (AMBER, COBALT):
        _read_and_close(closed, study)
    return {deployment.state: deployment for deployment in (drawn, opened, closed)}


def _draft(store: Store, folder: Path) -> int:
    """Create a draft with a bank of neither study."""
    import_bank(store, write_bank(folder, 4), name="third bank", images=folder, acting=ACTING)
    return drafts.begin(
        store,
        name="plan",
        maker=_person_named(store, "deployment-coordinator"),
        bank="third bank",
        acting=Acting(by=By(name="deployment-coordinator", role="coordinator"), now=_NOW),
        values=RULES,
    )


def _draw(store: Store, folder: Path, study: str) -> None:
    """Import a bank with the study's name in all texts, draw the study, and add its people.

    Each study has its own films, because the pages name studies that use the same films.
    """
    path = write_bank(folder, n_patients=4)
    for film in (folder / "films").iterdir():
        film.write_bytes(film.read_bytes() + study.encode())
    records = json.loads(path.read_text())
    path.write_text(
        json.dumps(
            {f"{study}-{key}": _record_of_study(study, item) for key, item in records.items()}
        )
    )
    bank = f"{'first' if study == AMBER else 'second'} bank"
    import_bank(store, path, name=bank, images=folder, acting=ACTING)
    texts = {"consent": f"Consent of {study}.", "name": f"All about {study}"}
    protocol = Protocol.from_json({**RULES, **texts})
    studies.draw(store, bank=bank, study=study, protocol=protocol, acting=ACTING)
    readers = [
        Invitation(
            reader_id=f"{study}-{code}",
            site=f"{study} clinic",
            name=f"Reader {code} of {study}",
            email=f"{code}@{study}.example",
        )
        for code in ("R1", "R2")
    ]
    codes = [new_code(secrets.token_bytes) for _ in readers]
    studies.invite(store, study=study, invitations=readers, codes=codes, acting=ACTING)
    for role in (Role.ADMINISTRATOR, Role.COORDINATOR, Role.STATISTICIAN):
        _staff(store, role, study)
    answers = folder / "model.csv"
    answers.write_text("item_id,answer\n" + "".join(f"{study}-{key},A\n" for key in records))
    models.add_model(store, answers, study=study, model_id=f"{study}-model", acting=ACTING)


def _record_of_study(study: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of a bank with the study's name in all texts."""
    keys = ("question", "correct_answer_explanation", "task_name", "category")
    texts = {key: f"{study} {record[key]}" for key in keys}
    options = [f"{option} of {study}" for option in record["options"]]
    return {**record, **texts, "options": options, "PatientID": f"{study}-{record['PatientID']}"}


def _staff(store: Store, role: Role, study: str) -> None:
    handle = f"{study or 'deployment'}-{role}"
    persons.grant_role(
        store,
        Newcomer(handle=handle, role=role, name=f"Name of {handle}", email=f"{handle}@a.example"),
        study=study,
        code=new_code(secrets.token_bytes),
        acting=Acting(
            by=By(name="deployment-administrator", role="administrator", everywhere=True), now=_NOW
        ),
    )


def _person_named(store: Store, handle: str) -> int:
    with store.look() as look:
        return int(look.value("SELECT id FROM people WHERE handle = :handle", handle=handle))


def _enter(store: Store, person: int) -> str:
    return signing_in.complete_sign_in(store, person, entropy=secrets.token_bytes, now=_NOW).token


def _tokens(store: Store, study: str) -> dict[str, str]:
    with store.look() as look:
        number = study_row(look, study).id
        reader = people.reader(look, number, f"{study}-R1")
        assert reader is not None
        numbers = {"reader": people.person_of_reader(look, reader.id) or 0}
    for role in ("administrator", "coordinator", "statistician"):
        numbers[role] = _person_named(store, f"{study}-{role}")
    return {f"{role} of {study}": _enter(store, person) for role, person in numbers.items()}


def _open(store: Store, study: str) -> None:
    """Open a study whose second reader has read all cases, with one reading excluded."""
    studies.open_study(store, study=study, acting=ACTING)
    with store.look() as look:
        number = study_row(look, study).id
        reader = people.reader(look, number, f"{study}-R2")
    assert reader is not None
    reads = Person(
        role=Role.READER, study=number, study_name=study, reader=reader.id, name=f"{study}-R2"
    )
    _prepare(store, reads)
    last = ""
    while cases := desk.desk(store, reads, now=_NOW).cases:
        last = reading(cases[0].case)["id"]
        _sent(store, reads, presentation(cases[0].case, _NOW), reading(cases[0].case))
    by = By(name=f"{study}-coordinator", role="coordinator")
    interventions.exclude(
        store,
        study=study,
        reading=last,
        reason=f"Because of {study}",
        acting=Acting(by=by, now=_NOW),
    )


def _prepare(store: Store, person: Person) -> None:
    _sent(store, person, preparation("consent", id=f"consent-{person.name}"))


def _sent(store: Store, person: Person, *records: dict[str, Any]) -> None:
    assert desk.take_records(store, person, records, now=_NOW).refused == ()


def _read_and_close(closed: Deployment, study: str) -> None:
    """Let the first reader read the practice cases and one case, and close the study."""
    person = closed.person(f"reader of {study}")
    assert person is not None
    _prepare(closed.store, person)
    for _ in range(2):
        case = desk.desk(closed.store, person, now=_NOW).cases[0].case
        _sent(closed.store, person, reading(case))
    by = By(name=f"{study}-coordinator", role="coordinator")
    studies.close(
        closed.store, study=study, reason=f"End of {study}", acting=Acting(by=by, now=_NOW)
    )
