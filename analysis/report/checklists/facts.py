"""Facts about a run that answer items of reporting checklists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.bundle.model import RaterKind
from analysis.bundle.protocol import declared_hypothesis, protocol_value
from analysis.presentation.wording import count_with_noun, format_number, join_words
from analysis.report.methods.software import packages_used
from analysis.report.methods.sources import margin_in_use, protocol_hash, provenance
from analysis.results import Results
from analysis.statistics.verdicts import declared_plan, origin_of_margin

PROCESS_LABELS = {
    "conditions": "conditions",
    "context": "shown next to the question",
    "case_order": "order of cases",
    "option_order": "order of options",
    "time_limit_s": "time limit in s (0: none)",
    "feedback": "feedback",
    "back_navigation": "going back",
    "practice_cases": "practice cases",
}
REFERENCE_LABELS = {
    "reference_source": "source",
    "reference_method": "method",
    "reference_agreement": "agreement",
}
AID_LABELS = {
    "aid_model": "model whose answers are shown",
    "aid": "when",
    "aid_shows": "what is shown",
    "aid_text": "introduction",
    "aid_errors": "planted errors",
}
GOVERNANCE_LABELS = {"registration": "registration", "ethics_approval": "ethics approval"}
_MAX_LISTED = 20
SAMPLING_LABELS = {
    "cases": "cases",
    "seed": "seed",
    "stratify_by": "stratified by",
    "allocation": "allocation",
    "one_question_per": "one question per",
    "required_views": "views each case has",
    "age": "age in years, from and to",
    "sex": "sex",
    "without_flags": "without items that break the rules",
    "only_items": "only of a list of items",
    "without_items": "without a list of items",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistFact:
    """An answer to an item of a checklist.

    Parameters
    ----------
    text : str
        The answer.
    place : str
        Where the report or the bundle has the information.
    still_open : str
        Information that the authors still have to add; empty if the answer is complete.
    """

    text: str
    place: str
    still_open: str = ""


def facts(results: Results) -> Mapping[str, ChecklistFact]:
    """Return the known facts by name."""
    known: dict[str, ChecklistFact | None] = {
        **_protocol_facts(results),
        **_rater_facts(results),
        **_run_facts(results),
        **_table_facts(results),
        **_metadata_facts(results),
    }
    return {name: fact for name, fact in known.items() if fact is not None}


def _fact(known: object, text: str, place: str, still_open: str = "") -> ChecklistFact | None:
    return ChecklistFact(text=text, place=place, still_open=still_open) if known else None


def _protocol_facts(results: Results) -> dict[str, ChecklistFact | None]:
    protocol = results.bundle.protocol
    if not protocol:
        return {}
    # The lock in an export contains the protocol and the list of drawn cases.
    inner = protocol_value(protocol, "protocol")
    planned = inner if isinstance(inner, dict) else protocol
    values = {key: _value_text(value) for key, value in planned.items() if value is not None}

    def describe(words: Mapping[str, str]) -> str:
        return "; ".join(f"{label}: {values[key]}" for key, label in words.items() if key in values)

    is_locked, digest = "locked" in protocol, protocol_hash(protocol)
    sampled, shown, context = (
        describe(SAMPLING_LABELS),
        describe(PROCESS_LABELS),
        values.get("context"),
    )
    cases, repeats = values.get("cases"), values.get("hidden_repeats")
    blind = "The reading page contains no reference standard, report text or other reader's answer"
    blind += f"; feedback: {values['feedback']}" if "feedback" in values else ""
    if planned.get("session_feedback"):
        blind += "; rounded shares of correct answers are shown between sessions"
    locked = f"Locked protocol, SHA-256 {digest}"
    return {
        "protocol": _fact(digest, locked, "Provenance", "where it can be read"),
        "sampling": _fact(sampled and is_locked, f"Drawn by seed; {sampled}", "Protocol"),
        "sample_size": _fact(
            "cases" in values, f"{cases} cases planned", "Protocol", "how the number was chosen"
        ),
        "process": _fact(shown, shown, "Protocol"),
        "blinding": _fact(is_locked, blind, "Protocol"),
        "context": _fact("context" in values, f"Shown beside the question: {context}", "Protocol"),
        "repeats": _fact("hidden_repeats" in values, f"Hidden repeats: {repeats}", "Protocol"),
        "aid": _fact(
            "aid_model" in values,
            describe(AID_LABELS),
            "Protocol",
            "type of algorithm and its inputs",
        ),
        "training": _fact(
            "practice_cases" in values,
            f"Practice cases with feedback: {values.get('practice_cases')}",
            "Protocol",
            "other training of the readers",
        ),
        "instructions": _fact(
            planned.get("instructions"),
            "The instructions are part of the protocol",
            "protocol.json of the bundle",
        ),
    }


def _rater_facts(results: Results) -> dict[str, ChecklistFact | None]:
    raters = results.bundle.raters
    readers = raters.loc[raters["rater_kind"] == RaterKind.READER]
    models = raters.loc[raters["rater_kind"] == RaterKind.MODEL]
    known = []
    for column in ("level", "years", "site"):
        if column in readers.columns:
            values = readers[column].fillna("").astype(str)
            n_by_value = values.loc[values != ""].value_counts().sort_index()
            if len(n_by_value):
                parts = join_words(
                    [f"{value} ({n})" for value, n in n_by_value.items()], max_words=8
                )
                known.append(f"{column}: {parts}")
    versions = [
        row["label"] + (f" ({row['model_version']})" if row.get("model_version") else "")
        for row in models.to_dict("records")
    ]
    return {
        "readers": _fact(
            known,
            f"{count_with_noun(len(readers), 'reader')}; {'; '.join(known)}",
            "raters.csv of the bundle",
            "training for the task",
        ),
        "models": _fact(
            versions,
            join_words(versions, max_words=12),
            "raters.csv of the bundle",
            "architecture, inputs and how each was run",
        ),
    }


def _run_facts(results: Results) -> dict[str, ChecklistFact | None]:
    bundle, options = results.bundle, results.options
    kinds = bundle.raters["rater_kind"].value_counts()
    raters = join_words(
        [
            count_with_noun(int(kinds[kind]), kind.value)
            for kind in RaterKind
            if kind.value in kinds.index
        ]
    )
    n_with_truth = int((bundle.items["truth"] != "").sum())
    metadata = _metadata(results)
    reference = [
        f"{label}: {metadata[key]}" for key, label in REFERENCE_LABELS.items() if key in metadata
    ]
    complete = "reference_source" in metadata and "reference_method" in metadata
    patients = (
        f" of {count_with_noun(results.n_clusters, 'patient')}" if _has_patients(results) else ""
    )
    versions = provenance(results)["versions"]
    used = ("Reading Room", "python", *packages_used(results))
    return {
        "load": _reading_load(results),
        "numbers": ChecklistFact(
            text=f"{raters}; {count_with_noun(len(bundle.items), 'case')}{patients},"
            f" {len(bundle.readings):,} readings",
            place="Findings",
        ),
        "reference": _fact(
            n_with_truth,
            "; ".join(
                [f"{n_with_truth:,} cases have a reference standard (column truth)", *reference]
            ),
            "items.csv of the bundle" + (", Protocol" if reference else ""),
            "" if complete else "what it is, who established it and why",
        ),
        "statistics": ChecklistFact(
            text="Written from what this run did, with sources", place="Methods"
        ),
        "uncertainty": ChecklistFact(
            text=f"{options.confidence_percent} % intervals next to every estimate"
            + (", over patients" if results.clustered else ""),
            place="Methods, tables",
        ),
        "software": ChecklistFact(
            text=", ".join(f"{name} {versions[name]}" for name in used), place="Provenance"
        ),
        "hypotheses": _hypotheses(results),
        "missing": ChecklistFact(
            text="Missing answers count as wrong; cases never presented to a reader do not count",
            place="Methods",
        ),
        "indeterminate": ChecklistFact(
            text="Skipped, timed out, unparsed and refused answers count separately, as wrong",
            place="Table of missing answers",
        ),
    }


def _hypotheses(results: Results) -> ChecklistFact | None:
    """State the declared hypothesis, and the origin of a margin that is not the protocol's."""
    hypothesis, origin = declared_hypothesis(results.bundle.protocol), origin_of_margin(results)
    margin_declared = margin_in_use(results)
    parts = [f"Declared: {hypothesis}"] if hypothesis else []
    if results.bundle.protocol and not declared_plan(results).hypothesis:
        parts.append("No hypothesis was declared: results are exploratory")
    if origin and margin_declared is not None:
        parts.append(f"Margin of {format_number(100 * margin_declared, 1)} points {origin}")
    place = "Protocol" if results.bundle.protocol else "Provenance"
    return _fact(parts, "; ".join(parts), place, "the objectives")


def _table_facts(results: Results) -> dict[str, ChecklistFact | None]:
    def fact_of(table: str, text: str, place: str, still_open: str = "") -> ChecklistFact | None:
        return _fact(len(results.tables.get(table, ())), text, place, still_open)

    planned = _metadata(results).get("subgroups", "")
    return {
        "accuracy": fact_of(
            "accuracy",
            "Accuracy of every rater, overall and by task, with intervals",
            "Findings, figures, tables/accuracy.csv",
        ),
        "agreement": fact_of(
            "agreement_pairs",
            "Agreement of each pair of raters with intervals",
            "Findings, figures, tables/agreement_pairs.csv",
        ),
        "flow": fact_of(
            "missing",
            "Assigned readings by status",
            "Table of missing answers",
            "the flow before the draw",
        ),
        "detail": fact_of("accuracy", "Every number with full precision", "tables/, results.json"),
        "subgroups": fact_of(
            "accuracy",
            "By task, category and subcategory, given for all"
            + (f"; planned: {planned}" if planned else ""),
            "tables/accuracy.csv",
            "" if planned else "which were planned",
        ),
        "panel": fact_of(
            "reader_panel",
            "Each model against these readers and readers like these",
            "Findings, tables/reader_panel.csv",
        ),
        "times": fact_of("times", "Response times of every reader", "tables/times.csv"),
        "reliance": fact_of(
            "reliance",
            "How often readers took the model's answer, and with what result",
            "tables/reliance.csv",
            "reasons for departing from it",
        ),
        "robustness": fact_of(
            "sensitivity",
            "Missing answers and flagged times under other choices",
            "Findings, tables/sensitivity.csv",
        ),
        "failures": fact_of(
            "item_difficulty",
            "Items that all readers, all models or everybody missed, with their questions",
            "Items to look at",
        ),
        "variability": fact_of(
            "intra_reader",
            "First against second reading of the same reader",
            "tables/intra_reader.csv",
        ),
    }


def _metadata_facts(results: Results) -> dict[str, ChecklistFact | None]:
    still_open = {"setting": "access to the data", "conflicts_of_interest": "independent audit"}
    metadata = _metadata(results)
    governance = [
        f"{label}: {metadata[key]}" for key, label in GOVERNANCE_LABELS.items() if key in metadata
    ]
    missing = [label for key, label in GOVERNANCE_LABELS.items() if key not in metadata]
    return {
        **{
            key: ChecklistFact(text=text, place="Protocol", still_open=still_open.get(key, ""))
            for key, text in metadata.items()
            if key != "subgroups"
        },
        "governance": _fact(governance, "; ".join(governance), "Protocol", ", ".join(missing)),
    }


def _reading_load(results: Results) -> ChecklistFact | None:
    """State how many readers read a case, and how many cases a reader read."""
    raters, readings = results.bundle.raters, results.bundle.readings
    readers = raters.loc[raters["rater_kind"] == RaterKind.READER, "rater_id"]
    pairs = readings.loc[readings["rater_id"].isin(readers), ["rater_id", "item_id"]]
    pairs = pairs.drop_duplicates()
    if pairs.empty:
        return None
    per_case, per_reader = pairs["item_id"].value_counts(), pairs["rater_id"].value_counts()
    return ChecklistFact(
        text=f"Readers per case: {_range_text(per_case)};"
        f" cases per reader: {_range_text(per_reader)}",
        place="readings.csv of the bundle",
    )


def _range_text(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _metadata(results: Results) -> dict[str, str]:
    """Return the protocol's metadata about the study, with each value on one line."""
    protocol = results.bundle.protocol
    texts = protocol_value(protocol.get("in_force") or protocol, "metadata")
    if not isinstance(texts, dict):
        return {}
    lines = {
        key: " ".join(text.split()).rstrip(".")
        for key, text in texts.items()
        if isinstance(text, str)
    }
    return {key: line for key, line in lines.items() if line}


def _has_patients(results: Results) -> bool:
    items = results.bundle.items
    return "patient_id" in items.columns and bool((items["patient_id"].fillna("") != "").any())


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and len(value) > _MAX_LISTED:
        return f"{len(value):,} listed"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value)
