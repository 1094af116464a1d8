"""Small complete studies of several deployments, for tests of restoring and merging."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from study.bank.importing import SIMULATED_OPTIONS, import_bank
from study.exchange.bundle import export
from study.lifecycle import studies
from study.lifecycle.amendments import amend
from study.lifecycle.deployments import init
from study.models.models import add_model, keep_model, read_model
from study.monitoring.interventions import exclude, pause, reinstate, resume
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, events
from study.store import studies as stored_studies
from tests import templates
from tests.conftest import (
    ACTING,
    NOW,
    entropy_from,
    invite,
    person,
    preparation,
    presentation,
    reading,
    write_bank,
)

PROTOCOL: Mapping[str, Any] = {
    "cases": 6,
    "one_question_per": "item",
    "hidden_repeats": 2,
    "option_order": "random",
    "back_navigation": True,
    "comments": True,
    "cannot_answer": True,
    "practice_cases": 1,
    "consent": "Do you agree?",
}


def create_site(
    folder: Path,
    number: int,
    *,
    person_id: str = "P1",
    simulated: str = "S1",
    model: str = "ABCD",
    bank: str = "bank",
    **values: Any,
) -> Store:
    """Create a deployment with an unfinished reader, a simulated reader who finished, and a model.

    The reader consented, practised, commented on an answer, changed it, and declined a case. The
    first file of the model was wrong and has been replaced.
    """

    def template(new: Path) -> None:
        _create_site(new, number, person_id, simulated, model, bank, values)

    key = (number, person_id, simulated, model, bank, values)
    return Store(templates.copy(folder, template, *key))


def _create_site(
    folder: Path,
    number: int,
    person_id: str,
    simulated: str,
    model: str,
    bank: str,
    values: Mapping[str, Any],
) -> None:
    store = init(folder / "store.db", entropy=entropy_from(number), now=NOW)
    path = write_bank(folder / "bank")
    import_bank(
        store,
        path,
        name=bank,
        images=path.parent,
        options=SIMULATED_OPTIONS,
        acting=ACTING,
    )
    protocol = Protocol.from_json({**PROTOCOL, **values})
    studies.draw(store, bank=bank, study="trial", protocol=protocol, acting=ACTING)
    invite(store, person_id, simulated)
    studies.open_study(store, study="trial", acting=ACTING)
    simulate(store, study="trial", reader_id=simulated, seed=number, accuracy=0.7, now=NOW)
    _read_cases(store, person_id, protocol)
    _intervene(store, person_id)
    file = folder / "model.json"
    add_model(store, _write_predictions(file, "A"), study="trial", model_id="M1", acting=ACTING)
    keep_model(
        store,
        read_model(store, _write_predictions(file, model + "X"), study="trial"),
        model_id="M1",
        model_version="2",
        replacing="The wrong file",
        acting=ACTING,
    )


def _write_predictions(file: Path, letters: str) -> Path:
    answers = {f"q{i:04d}": {"model_prediction": letters[i % len(letters)]} for i in range(24)}
    file.write_text(json.dumps(answers))
    return file


def _read_cases(store: Store, reader_id: str, protocol: Protocol) -> None:
    reader = person(store, reader_id)
    if protocol.consent:
        desk.take_records(
            store, reader, [preparation("consent", id=f"agreed-{reader_id}")], now=NOW
        )
    for case in desk.desk(store, reader, now=NOW).cases:
        if case.practice:
            desk.take_records(store, reader, [reading(case.case)], now=NOW)
    first, second, *_ = desk.desk(store, reader, now=NOW).cases
    records = [presentation(first.case), reading(first.case, "B", comment='Ünsure, "A"?\n')]
    records.append(
        reading(first.case, "C", id=f"changed-{first.case}", supersedes=f"read-{first.case}")
        if protocol.back_navigation
        else reading(second.case, "A")
    )
    if protocol.cannot_answer and protocol.back_navigation:
        gave_up = reading(second.case, None, status="skipped", reason="Film too dark")
        records += [presentation(second.case), gave_up]
    receipt = desk.take_records(store, reader, records, now=NOW)
    assert receipt.refused == ()


def _intervene(store: Store, reader_id: str) -> None:
    """Amend the protocol, pause and resume a reader, and exclude readings, as a coordinator may."""
    changes = {"break_every": 3}
    amend(store, study="trial", changes=changes, reason="Long lists", acting=ACTING)
    for step in (pause, resume):
        step(store, study="trial", reader_id=reader_id, reason="Leave", acting=ACTING)
    with store.look() as look:
        read = look.rows("SELECT id FROM readings WHERE id LIKE 'r-%' ORDER BY rowid LIMIT 2")
    for row in read:
        exclude(store, study="trial", reading=row["id"], reason="Wrong film", acting=ACTING)
    reinstate(store, study="trial", reading=read[0]["id"], reason="Right film", acting=ACTING)


def close_trial(store: Store, at: datetime = NOW) -> None:
    """Close ``trial``."""
    with store.change() as change:
        row = stored_studies.find(change, "trial")
        assert row is not None
        stored_studies.mark_closed(change, row.id, "2025-06-05T12:00:00.000Z")
        detail = {"old": "open", "new": "closed", "reason": "done"}
        events.append(
            change,
            chain="study:trial",
            at_utc="2025-06-05T12:00:00.000Z",
            actor="c",
            kind=events.EventKind.STUDY_CLOSED,
            detail=detail,
        )


def export_bundle(store: Store, name: str = "bundle.zip") -> Path:
    """Write a bundle of ``trial`` next to its store, and return its path."""
    out = store.path.parent / name
    export(store, study="trial", out=out)
    return out


def create_empty(folder: Path, seed: int) -> Store:
    """Create and return a deployment without data."""

    def template(new: Path) -> None:
        init(new / "store.db", entropy=entropy_from(seed), now=NOW)

    return Store(templates.copy(folder, template, seed))
