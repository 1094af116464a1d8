"""The permission matrix for messages of the reading page and for choosing a study.

Every kind of message, with every case, seal and person, in every state of the study.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from study.lifecycle import previews
from study.people.roles import Role
from study.people.signing_in import Person, memberships
from study.reading import desk
from study.store import people, studies
from tests.conftest import preparation, presentation, reading
from tests.unit.ui.two_studies import EVERYBODY, STATES, Deployment

MESSAGES = {
    ("own seal", "own case"): "stored",
    ("own seal", "other reader's case"): "refused",
    ("own seal", "other study's case"): "refused",
    ("other reader's seal", "own case"): "403",
    ("other reader's seal", "other reader's case"): "403",
    ("other study's seal", "other study's case"): "403",
}
"""The response to a message in an open study, by the owners of its seal and its case."""

KINDS = ("preparation", "practice", "presentation", "reading")
"""Messages in the order in which a reader's page sends them; a preparation does not belong to a
case."""

_READERS = {"own": "amber-R1", "other reader's": "amber-R2", "other study's": "cobalt-R1"}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("who", EVERYBODY)
def test_messages_are_accepted_only_from_their_reader(
    altered: Callable[[str], Deployment], state: str, who: str
) -> None:
    """Other people are refused, and all messages are refused unless the study is open."""
    deployment = altered(state)
    sent = {"seal": _seal(deployment, "own"), "records": [_record("preparation", "")]}
    answer = deployment.client(who).post("/desk/records", json=sent)
    expected = {"nobody": 401, "reader of amber": 200 if state == "open" else 409}
    assert answer.status_code == expected.get(who, 403)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("seal", "case"), MESSAGES)
def test_messages_are_accepted_only_for_the_readers_own_cases(
    altered: Callable[[str], Deployment], kind: str, seal: str, case: str
) -> None:
    """Another reader's seal refuses the whole message; otherwise each record is checked."""
    if kind == "preparation" and case != "own case":
        return
    deployment = altered("open")
    mine = deployment.client("reader of amber")
    for earlier in KINDS[: KINDS.index(kind)]:
        _outcome_of(
            mine, _seal(deployment, "own"), _record(earlier, _case(deployment, earlier, "own"))
        )
    kept = _rows(deployment)
    record = _record(kind, _case(deployment, kind, case.rsplit(" ", 1)[0]))
    outcome = _outcome_of(mine, _seal(deployment, seal.rsplit(" ", 1)[0]), record)
    assert outcome == MESSAGES[seal, case]
    assert (_rows(deployment) == kept) is (outcome != "stored")


@pytest.mark.parametrize("kind", KINDS)
def test_a_preview_accepts_no_case_of_a_reader(
    altered: Callable[[str], Deployment], kind: str
) -> None:
    """The study does not accept messages of a preview either."""
    deployment = altered("open")
    coordinator = deployment.person("coordinator of amber")
    assert coordinator is not None
    walk = previews.preview(
        deployment.store, coordinator, entropy=secrets.token_bytes, now=datetime.now(UTC)
    )
    kept = _rows(deployment)
    browser, address = (
        deployment.client("coordinator of amber"),
        f"/preview/{walk.mark}/desk/records",
    )
    seal = browser.get(f"/preview/{walk.mark}/desk").json()["seal"]
    record = _record(kind, _case(deployment, kind, "own"))
    assert _outcome_of(browser, _seal(deployment, "own"), record, address) == "409"
    if kind != "preparation":
        assert _outcome_of(browser, seal, record, address) == "refused"
    assert _outcome_of(browser, seal, record) == "403"
    assert _outcome_of(deployment.client("reader of amber"), seal, record) == "403"
    assert _rows(deployment) == kept


def _seal(deployment: Deployment, whose: str) -> str:
    reader = _READERS[whose]
    with deployment.store.look() as look:
        study = studies.find(look, reader.partition("-")[0])
        assert study is not None
        row = people.reader(look, study.id, reader)
    assert row is not None
    person = Person(
        role=Role.READER, study=study.id, study_name=study.name, reader=row.id, name=reader
    )
    with deployment.store.look(sealed=True) as look:
        return desk.seal(look, person)


def _case(deployment: Deployment, kind: str, whose: str) -> str:
    """Return the first case on a reader's list, for practice messages a practice case."""
    table = "practice_assignments" if kind == "practice" else "assignments"
    with deployment.store.look() as look:
        return str(
            look.value(
                f"SELECT a.id FROM {table} a JOIN readers r ON r.id = a.reader "
                "WHERE r.reader_id = :reader ORDER BY position LIMIT 1",
                reader=_READERS[whose],
            )
        )


def _record(kind: str, case: str) -> dict[str, Any]:
    now = datetime.now(UTC)
    if kind == "preparation":
        return preparation("consent", epoch_ms=now.timestamp() * 1000)
    return presentation(case, now) if kind == "presentation" else reading(case)


def _outcome_of(
    browser: TestClient, seal: str, record: dict[str, Any], address: str = "/desk/records"
) -> str:
    """Return the outcome of a single record, or the status if the message was refused."""
    answer = browser.post(address, json={"seal": seal, "records": [record]})
    if answer.status_code != 200:
        return str(answer.status_code)
    reply = answer.json()
    assert reply["stored"] == [] or reply["refused"] == []
    return "stored" if reply["stored"] else "refused"


def _rows(deployment: Deployment) -> list[int]:
    """Return the number of rows of every table that a reader's messages fill."""
    tables = ("preparations", "practice_readings", "presentations", "readings")
    with deployment.store.look() as look:
        return [int(look.value(f"SELECT COUNT(*) FROM {table}")) for table in tables]


@pytest.mark.parametrize("who", EVERYBODY)
def test_only_people_with_a_role_in_a_study_can_choose_it(
    altered: Callable[[str], Deployment], who: str
) -> None:
    """All numbers of roles are tried with every study; only the person's own are accepted."""
    deployment = altered("open")
    with deployment.store.look() as look:
        grants = [row["id"] for row in look.rows("SELECT id FROM grants")]
        numbers = [row["id"] for row in look.rows("SELECT id FROM studies")]
    person = deployment.person(who)
    own = (
        {
            (membership.grant, membership.study)
            for membership in memberships(deployment.store, person)
        }
        if person
        else set()
    )
    entered, browser = set(), deployment.client(who)
    for grant in grants:
        for study in (None, *numbers):
            sent = {"grant": str(grant), **({"study": str(study)} if study else {})}
            answer = browser.post("/choose", data=sent)
            if answer.headers["location"] == "./":
                entered.add((grant, study))
    assert entered == own
    expected = {"nobody": 0, "deployment administrator": 3}
    assert len(entered) == expected.get(who, 1)
