"""Writes the closing report: participants, counts, missing answers and decisions, no accuracy.

The report is a self-contained HTML page, plus the missing answers as CSV. The same store gives the
same bytes. Like all exports it is in English.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from study.base.text import csv_bytes
from study.exchange.bundle import label_of, model_label
from study.exchange.flow_diagram import flow_diagram, flow_of_readers
from study.models.models import withdrawn_in
from study.monitoring.interventions import AFTER_CLOSING
from study.monitoring.progress import ReaderCounts, completeness_in
from study.protocol.protocol import stored_protocol
from study.store import Store, Transaction, events, models, progress, readings, studies
from study.store.events import EventKind, EventRow
from study.store.studies import StudyRow, study_row

MOST_LISTED = 200
"""Maximum number of cases without an answer on the page; `missing.csv` has all of them."""

MISSING = ("reader_id", "session", "condition", "repeat", "position", "item_id", "why")

Row = Mapping[str, Any]

_MADE = ("at_utc", "actor")
_NAMES = {
    "at_utc": "at (UTC)",
    "actor": "by",
    "kind": "what",
    "reader_id": "reader",
    "item_id": "item",
    "model_id": "model",
    "model_version": "version",
    "n_predicted": "predicted",
}
_HEADS = ("assigned", "read", "answered", "given up", "timed out", "excluded")
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
    missing = progress.without_answer(look, study.id)
    trail = list(events.walk(look, events.study_chain(study.name)))
    parts = [
        _head(study, trail),
        _numbers(look, study),
        _lacking(missing),
        _decided(look, study),
        _protocol(study, trail),
    ]
    title = f"{'Closing report' if study.state == 'closed' else 'Report'}: {study.name}"
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_CSS}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>\n{''.join(parts)}</main></body></html>\n"
    )
    rows = [[row[key] for key in MISSING] for row in missing]
    return {
        "closing-report.html": page.encode("utf-8", "replace"),
        "missing.csv": csv_bytes(MISSING, rows),
    }


def _head(study: StudyRow, trail: Sequence[EventRow]) -> str:
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
    return f"<p>{note}</p>{_facts(facts)}"


def _numbers(look: Transaction, study: StudyRow) -> str:
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
    raters = [
        (
            model_label(row),
            row.model_version,
            row.n_predicted,
            completeness.n_cases,
        )
        for row in models.of_study(look, study.id)
    ]
    return (
        f"<h2>Participants and counts</h2>{_facts(facts)}{_flow(look, study, completeness.readers)}"
        + _table("Readers", ("reader", "status", *_HEADS), readers)
        + _table("Readers by session", ("reader", "session", "condition", *_HEADS), sessions)
        + _table("Models", ("model", "version", "predicted", "of cases"), raters)
        + "<p>Answered, given up and timed out sum to read; this includes excluded readings."
        + "</p>"
    )


_FLOW = ("invited", "randomised", "started", "completed", "withdrawn", "analysed")


def _flow(look: Transaction, study: StudyRow, readers: Sequence[ReaderCounts]) -> str:
    """Return the flow of readers as a diagram and as a table: all readers, then each arm."""
    groups = flow_of_readers(look, study, readers)
    steps = [step for step in _FLOW if len(groups) > 1 or step != "randomised"]
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


def _lacking(missing: Sequence[Row]) -> str:
    if not missing:
        return "<h2>Missing answers</h2><p>Every assigned case has an answer that counts.</p>"
    note = f"{len(missing)} assigned cases have no answer that counts."
    if len(missing) > MOST_LISTED:
        note += f" The first {MOST_LISTED} are listed; missing.csv has every one."
    table = _table_of("Cases without an answer", MISSING, missing[:MOST_LISTED])
    return f"<h2>Missing answers</h2><p>{note}</p>{table}"


def _decided(look: Transaction, study: StudyRow) -> str:
    number = study.id
    amended = (
        {**row._asdict(), "changes": _changes(row.changes)}
        for row in studies.amendments(look, number)
    )
    stepped_in = (
        {**row._asdict(), "reader_id": row.reader_id or "the whole study"}
        for row in readings.interventions(look, number)
    )
    set_aside = (
        {**row._asdict(), "kind": "excluded" if row.excluded else "reinstated"}
        for row in progress.exclusions_of_study(look, number)
    )
    withdrawn = (
        {**asdict(model), "reason": model.reason + f" ({AFTER_CLOSING})" * model.after_closing}
        for model in withdrawn_in(look, study)
    )
    return (
        "<h2>Decisions during the study</h2>"
        + _table_of("Amendments", ("number", *_MADE, "changes", "reason"), amended)
        + _table_of(
            "Interventions", (*_MADE, "kind", "reader_id", "session", "days", "reason"), stepped_in
        )
        + _table_of(
            "Exclusions",
            (*_MADE, "kind", "reader_id", "item_id", "condition", "repeat", "reason"),
            set_aside,
        )
        + _table_of(
            "Models withdrawn",
            (*_MADE, "model_id", "model_version", "n_predicted", "reason"),
            withdrawn,
        )
    )


def _changes(changes: Mapping[str, Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{key}: {_plain(change.get('old'))} → {_plain(change.get('new'))}"
        for key, change in changes.items()
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _protocol(study: StudyRow, trail: Sequence[EventRow]) -> str:
    rows = [(key, _plain(value)) for key, value in stored_protocol(study).as_json().items()]
    facts = {
        "Protocol as locked (SHA-256)": study.protocol_sha256,
        "Bank's content (SHA-256)": study.bank_sha256,
        "Last event of the trail": trail[-1].number,
        "Its time (UTC)": trail[-1].at_utc,
        "Its hash": trail[-1].hash,
    }
    return (
        f"<h2>Protocol and hashes</h2>{_facts(facts)}"
        "<p>If the last hash is kept elsewhere, it proves later that the trail was not rewritten."
        "</p>" + _table("The current protocol, including amendments", ("key", "value"), rows)
    )


def _facts(facts: Mapping[str, Any]) -> str:
    pairs = (f"<dt>{escape(key)}</dt><dd>{_cell(value)}</dd>" for key, value in facts.items())
    return f"<dl>{''.join(pairs)}</dl>\n"


def _table_of(caption: str, keys: Sequence[str], rows: Iterable[Row]) -> str:
    """Return a table of the rows' values under the given keys."""
    heads = [_NAMES.get(key, key) for key in keys]
    return _table(caption, heads, ([row[key] for key in keys] for row in rows))


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    table = list(rows)
    if not table:
        return f"<p>{escape(caption)}: none.</p>\n"
    head = "".join(
        f'<th scope="col"{_aligned(value, place)}>{escape(title)}</th>'
        for place, (title, value) in enumerate(zip(heads, table[0], strict=True))
    )
    body = "\n".join(
        f"<tr>{''.join(_tagged(value, place) for place, value in enumerate(row))}</tr>"
        for row in table
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>\n"
    )


def _tagged(value: Any, place: int) -> str:
    if not place:
        return f'<th scope="row">{_cell(value)}</th>'
    return f"<td{_aligned(value, place)}>{_cell(value)}</td>"


def _aligned(value: Any, place: int) -> str:
    return ' class="n"' if place and isinstance(value, int | float) else ""


def _cell(value: Any) -> str:
    return escape("" if value is None else f"{value:g}" if isinstance(value, float) else str(value))
