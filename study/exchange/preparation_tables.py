"""What readers said of themselves and what their screens showed, as tables of the bundle.

They are in it only where the protocol's ``bundle_extras`` says so: answers of choice and number,
free text only where that is asked for too, for what somebody writes may say who they are.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from study.exchange.schemas import DISPLAY_CHECKS
from study.protocol.protocol import stored_protocol
from study.reading.course import Step
from study.store import Transaction, people, readings
from study.store.studies import StudyRow

_MOST_CHARACTERS = 100


def preparation_tables(look: Transaction, study: StudyRow) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables a study's protocol adds to its bundle, by the table's file.

    A restored study has none: what its readers did before the first case stayed where it was read.
    """
    extras = () if study.restored_from else stored_protocol(study).bundle_extras
    if not extras:
        return {}
    codes = {row.id: row.reader_id for row in people.readers(look, study.id)}
    done = [
        (row["step"], codes[row["reader"]], row["received_at_utc"], json.loads(row["detail"]))
        for row in readings.preparations_of_study(look, study.id)
    ]
    tables = {}
    if "questionnaire" in extras:
        given = [(code, detail["answers"]) for step, code, _, detail in done if step == _ASKED]
        tables["questionnaire.csv"] = list(_answers(study, given))
    if "display checks" in extras:
        found = [(code, at, detail) for step, code, at, detail in done if step == Step.DISPLAY]
        tables["display_checks.csv"] = list(_checks(found))
    return tables


_ASKED = Step.QUESTIONNAIRE


def _answers(
    study: StudyRow, given: Sequence[tuple[str, Mapping[str, Any]]]
) -> Iterator[dict[str, Any]]:
    protocol = stored_protocol(study)
    kinds = {"choice", "number"}
    if "questionnaire texts" in protocol.bundle_extras:
        kinds.add("text")
    for code, answers in sorted(given, key=lambda one: one[0]):
        for one in protocol.questionnaire:
            if one.kind in kinds:
                yield {
                    "rater_id": code,
                    "question_id": one.id,
                    "question": one.question,
                    "kind": one.kind,
                    "answer": answers.get(one.id),
                }


def _checks(found: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    before: dict[str, int] = {}
    for code, at, detail in sorted(found, key=lambda one: one[:2]):
        before[code] = before.get(code, 0) + 1
        measured = {
            column.name: _measured(column.type, detail.get(column.name))
            for column in DISPLAY_CHECKS
        }
        yield {**measured, "rater_id": code, "sign_in": before[code], "checked_at_utc": at}


def _measured(kind: str, value: Any) -> str | float | None:
    """Return what a browser said it measured, or None where that is not of the column's type."""
    if kind == "string":
        return str(value)[:_MOST_CHARACTERS] if isinstance(value, str | int) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None
