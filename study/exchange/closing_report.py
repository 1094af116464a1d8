"""Writes the closing report: participants, counts, missing answers and decisions, no accuracy.

The report is a self-contained HTML page; the missing answers are also written as CSV. The same
store always gives the same bytes. Like all exports, the report is in English.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from study.base.text import csv_bytes
from study.exchange.bundle import label_of, model_label
from study.exchange.flow_diagram import flow_diagram, flow_of_readers
from study.models.models import withdrawn_models_in
from study.monitoring.interventions import AFTER_CLOSING
from study.monitoring.progress import ReaderCounts, completeness_in
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, events, models, progress, readings, studies
from study.store.events import EventKind, EventRow
from study.store.studies import StudyRow, study_row

MAX_LISTED = 200
"""Maximum number of cases without an answer on the page; `missing.csv` lists all of them."""

MISSING_COLUMNS = ("reader_id", "session", "condition", "repeat", "position", "item_id", "why")

Row = Mapping[str, Any]

_DECISION_COLUMNS = ("at_utc", "actor")
_COLUMN_TITLES = {
    "at_utc": "at (UTC)",
    "actor": "by",
    "kind": "what",
    "reader_id": "reader",
    "item_id": "item",
    "model_id": "model",
    "model_version": "version",
    "n_predicted": "predicted",
}
_COUNT_HEADINGS = ("assigned", "read", "answered", "given up", "timed out", "excluded")
_CSS = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #111; background: #fff; max-width: 62rem;
  margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; font-size: .9rem; }
caption { text-align: left; color: #444; padding: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid #ccc; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; }
dt { color: #444; } dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.flow { display: block; max-width: 100%; margin: 1rem 0; font-size: 13px; }
.flow rect, .flow path { fill: none; stroke: #444; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; }
  tr { break-inside: avoid; } }
"""


def report_files(store: Store, study: str) -> dict[str, bytes]:
    """Return the closing report of a study and the list of missing answers, by file name."""
    with store.look() as look:
        return report_in(look, study_row(look, study))


def report_in(look: Transaction, study: StudyRow) -> dict[str, bytes]:
    """Return the files of the closing report within a transaction, by file name."""
    missing = progress.cases_without_answer(look, study.id)
    trail = list(events.walk(look, events.study_chain(study.name)))
    parts = [
        _status_section(study, trail),
        _counts_section(look, study),
        _missing_answers_section(missing),
        _decisions_section(look, study),
        _protocol_section(study, trail),
    ]
    title = f"{'Closing report' if study.state == 'closed' else 'Report'}: {study.name}"
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_CSS}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>\n{''.join(parts)}</main></body></html>\n"
    )
    rows = [[row[key] for key in MISSING_COLUMNS] for row in missing]
    return {
        "closing-report.html": page.encode("utf-8", "replace"),
        "missing.csv": csv_bytes(MISSING_COLUMNS, rows),
    }


def _status_section(study: StudyRow, trail: Sequence[EventRow]) -> str:
    closed = next((event for event in trail if event.kind == EventKind.STUDY_CLOSED), None)
    facts = {
        "State": study.state,
        "Drawn": study.drawn_at_utc,
        "Opened": study.opened_at_utc or "not yet",
        "Closed": study.closed_at_utc or "not yet",
    }
    if closed:
        role = closed.detail.get("role", "command line")
        facts["Closed by"] = f"{closed.actor} ({role})"
        facts["Reason"] = closed.detail["reason"]
    facts["Bank"] = study.bank_name
    films = "Its films are simulated, not radiographs. " if study.simulated_films else ""
    status = "" if closed else "The study is not closed: this report shows its current state. "
    note = f"{status}{films}This report contains no information on correctness."
    return f"<p>{note}</p>{_facts_list(facts)}"


def _counts_section(look: Transaction, study: StudyRow) -> str:
    completeness = completeness_in(look, study)
    counts = completeness.counts
    facts = {
        "Cases": completeness.n_cases,
        "Readers": f"{len(completeness.readers)} ("
        + ", ".join(f"{n} {stage}" for stage, n in completeness.by_stage.items())
        + ")",
        "Readings": f"{counts.n_read} of {counts.n_assigned} assigned; {counts.n_unread} missing",
        "Models": completeness.n_models,
    }
    readers = [
        (
            label_of(reader.reader_id, simulated=reader.simulated),
            reader.stage,
            *reader.counts.as_dict.values(),
        )
        for reader in completeness.readers
    ]
    sessions = [
        (session.reader_id, session.session, session.condition, *session.counts.as_dict.values())
        for session in completeness.sessions
    ]
    model_rows = [
        (
            model_label(row),
            row.model_version,
            row.n_predicted,
            completeness.n_cases,
        )
        for row in models.of_study(look, study.id)
    ]
    return (
        f"<h2>Participants and counts</h2>{_facts_list(facts)}"
        + _flow_section(look, study, completeness.readers)
        + _table("Readers", ("reader", "status", *_COUNT_HEADINGS), readers)
        + _table(
            "Readers by session", ("reader", "session", "condition", *_COUNT_HEADINGS), sessions
        )
        + _table("Models", ("model", "version", "predicted", "of cases"), model_rows)
        + "<p>Answered, given up and timed out sum to read; this includes excluded readings."
        + "</p>"
    )


_FLOW_STEPS = ("invited", "randomised", "started", "completed", "withdrawn", "analysed")


def _flow_section(look: Transaction, study: StudyRow, readers: Sequence[ReaderCounts]) -> str:
    """Return the flow of readers as a diagram and as a table, for all readers and for each arm."""
    groups = flow_of_readers(look, study, readers)
    steps = [step for step in _FLOW_STEPS if len(groups) > 1 or step != "randomised"]
    rows = [
        (
            f"arm {group.arm}" if group.arm else "all readers",
            None if group.arm else group.readers,
            *(getattr(group, step) for step in steps[1:]),
        )
        for group in groups
    ]
    return (
        flow_diagram(groups)
        + _table("Flow of readers", ("group", *steps), rows)
        + "<p>Started: has read a case. Completed: has read every assigned case. Analysed: has a "
        "reading in the primary analysis.</p>"
    )


def _missing_answers_section(missing: Sequence[Row]) -> str:
    if not missing:
        return "<h2>Missing answers</h2><p>Every assigned case has an answer that counts.</p>"
    note = f"{len(missing)} assigned cases have no answer that counts."
    if len(missing) > MAX_LISTED:
        note += f" The first {MAX_LISTED} are listed; missing.csv has every one."
    table = _table_of("Cases without an answer", MISSING_COLUMNS, missing[:MAX_LISTED])
    return f"<h2>Missing answers</h2><p>{note}</p>{table}"


def _decisions_section(look: Transaction, study: StudyRow) -> str:
    amendment_rows = (
        {**row._asdict(), "changes": _changes_text(row.changes)}
        for row in studies.amendments(look, study.id)
    )
    interventions = (
        {**row._asdict(), "reader_id": row.reader_id or "the whole study"}
        for row in readings.interventions(look, study.id)
    )
    exclusions = (
        {**row._asdict(), "kind": "excluded" if row.excluded else "reinstated"}
        for row in progress.exclusions_of_study(look, study.id)
    )
    withdrawn = (
        {**asdict(model), "reason": model.reason + f" ({AFTER_CLOSING})" * model.after_closing}
        for model in withdrawn_models_in(look, study)
    )
    return (
        "<h2>Decisions during the study</h2>"
        + _table_of(
            "Amendments", ("number", *_DECISION_COLUMNS, "changes", "reason"), amendment_rows
        )
        + _table_of(
            "Interventions",
            (*_DECISION_COLUMNS, "kind", "reader_id", "session", "days", "reason"),
            interventions,
        )
        + _table_of(
            "Exclusions",
            (*_DECISION_COLUMNS, "kind", "reader_id", "item_id", "condition", "repeat", "reason"),
            exclusions,
        )
        + _table_of(
            "Models withdrawn",
            (*_DECISION_COLUMNS, "model_id", "model_version", "n_predicted", "reason"),
            withdrawn,
        )
    )


def _changes_text(changes: Mapping[str, Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{key}: {_value_text(change.get('old'))} → {_value_text(change.get('new'))}"
        for key, change in changes.items()
    )


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _protocol_section(study: StudyRow, trail: Sequence[EventRow]) -> str:
    rows = [(key, _value_text(value)) for key, value in stored_protocol(study).as_json().items()]
    facts = {
        "Protocol as locked (SHA-256)": study.protocol_sha256,
        "Bank's content (SHA-256)": study.bank_sha256,
        "Last event of the trail": trail[-1].number,
        "Its time (UTC)": trail[-1].at_utc,
        "Its hash": trail[-1].hash,
    }
    return (
        f"<h2>Protocol and hashes</h2>{_facts_list(facts)}"
        "<p>If the last hash is kept elsewhere, it proves later that the trail was not rewritten."
        "</p>" + _table("The current protocol, including amendments", ("key", "value"), rows)
    )


def _facts_list(facts: Mapping[str, Any]) -> str:
    pairs = (f"<dt>{escape(key)}</dt><dd>{_cell_text(value)}</dd>" for key, value in facts.items())
    return f"<dl>{''.join(pairs)}</dl>\n"


def _table_of(caption: str, keys: Sequence[str], rows: Iterable[Row]) -> str:
    """Return a table with the values of the rows under these keys."""
    headings = [_COLUMN_TITLES.get(key, key) for key in keys]
    return _table(caption, headings, ([row[key] for key in keys] for row in rows))


def _table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    table = list(rows)
    if not table:
        return f"<p>{escape(caption)}: none.</p>\n"
    head = "".join(
        f'<th scope="col"{_alignment(value, column)}>{escape(title)}</th>'
        for column, (title, value) in enumerate(zip(headings, table[0], strict=True))
    )
    body = "\n".join(
        f"<tr>{''.join(_cell_element(value, column) for column, value in enumerate(row))}</tr>"
        for row in table
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _cell_element(value: Any, column: int) -> str:
    if not column:
        return f'<th scope="row">{_cell_text(value)}</th>'
    return f"<td{_alignment(value, column)}>{_cell_text(value)}</td>"


def _alignment(value: Any, column: int) -> str:
    return ' class="n"' if column and isinstance(value, int | float) else ""


def _cell_text(value: Any) -> str:
    return escape("" if value is None else f"{value:g}" if isinstance(value, float) else str(value))
