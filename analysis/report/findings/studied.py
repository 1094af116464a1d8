"""Findings on raters, cases and missing answers, and on the limits of the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.bundle.model import RaterKind, Status
from analysis.bundle.protocol import n_amendments, shares_cases
from analysis.figures.drawing.axes import condition_name, shorten
from analysis.presentation.wording import (
    MAX_CONDITION_LENGTH,
    Row,
    all_conditions,
    case_count,
    cell_number,
    condition_phrase,
    format_percent,
    join_sentences,
    join_with_commas,
    join_words,
    model_count,
    reader_count,
    rows_of,
)
from analysis.readings.circumstances import n_cut_off
from analysis.readings.confidence import confidence_of, meaning_words
from analysis.report.findings.finding import (
    MAX_CONDITIONS,
    Finding,
    Theme,
    confidence_percent,
    name_in_sentence,
)
from analysis.results import Results
from analysis.statistics.support import patients_with_answers
from analysis.statistics.verdicts import no_verdict_reason
from analysis.translation import capitalise, later, t, tn, translated

# Raters with a larger share of unread cases are named.
NOTABLE_MISSING_SHARE = 0.05
# Intervals over fewer patients have a lower coverage than the confidence level.
FEW_PATIENTS = 30
MAX_NAMED = 20


def unread_findings(results: Results) -> list[Finding]:
    """Report the raters whose numbers do not represent all items, as the first findings."""
    rows_with_gaps = [
        row
        for row in rows_of(results, "missing")
        if cell_number(row, "n_absent") > NOTABLE_MISSING_SHARE * cell_number(row, "n_assigned")
    ]
    kinds = _kinds(results)
    texts = []
    not_given = later("Items that a reader was not given do not count.")
    by_design = later(
        "The design gives each reader only some of the items; the others do not count."
    )
    is_shared = shares_cases(results.bundle.protocol)
    for kind, then in (
        (RaterKind.READER, by_design if is_shared else not_given),
        (RaterKind.MODEL, later("Items that a model did not answer count as incorrect.")),
    ):
        rows = [
            row for row in rows_with_gaps if kinds[str(row["rater_id"])] == kind and _has_read(row)
        ]
        rows.sort(key=lambda row: -cell_number(row, "n_absent") / cell_number(row, "n_assigned"))
        parts = [_absent_phrase(results, row, kind) for row in rows]
        if parts:
            raters = t("{raters}.", raters=join_words(parts, max_words=MAX_NAMED))
            texts.append(join_sentences([raters, translated(then)]))
    return [Finding(theme=Theme.UNREAD, text=text) for text in texts]


def _absent_phrase(results: Results, row: Row, kind: RaterKind) -> str:
    n, total = (int(cell_number(row, column)) for column in ("n_absent", "n_assigned"))
    values = {
        "name": name_in_sentence(results, str(row["rater_id"]))
        + condition_phrase(results, str(row["condition"])),
        "n_absent": n,
        "percent": format_percent(n / total),
    }
    if kind is RaterKind.READER:
        return tn(
            "{name} was not given {n_absent} of {n} case ({percent} %)",
            "{name} was not given {n_absent} of {n} cases ({percent} %)",
            total,
            **values,
        )
    return tn(
        "{name} has no prediction for {n_absent} of {n} case ({percent} %)",
        "{name} has no prediction for {n_absent} of {n} cases ({percent} %)",
        total,
        **values,
    )


def _has_read(row: Row) -> bool:
    """Return whether the rater has any reading; raters without one are listed separately."""
    return cell_number(row, "n_absent") < cell_number(row, "n_assigned")


def _kinds(results: Results) -> dict[str, str]:
    raters = results.bundle.raters
    return dict(zip(raters["rater_id"], raters["rater_kind"], strict=True))


def studied_findings(results: Results) -> list[Finding]:
    """Report the numbers of raters, items and patients, and the missing answers."""
    texts = [
        *_design_sentences(results),
        *_condition_sentence(results),
        *_amendment_sentence(results),
        *_missing_sentences(results),
        *_silent_raters_sentence(results),
        *_withdrawn_sentence(results),
    ]
    return [Finding(theme=Theme.STUDIED, text=join_sentences(texts))]


def _design_sentences(results: Results) -> list[str]:
    accuracy, items = results.tables["accuracy"], results.bundle.items
    counts = accuracy.groupby("rater_kind")["rater_id"].nunique()
    raters = join_words(
        [
            write(int(counts[kind]))
            for kind, write in ((RaterKind.READER, reader_count), (RaterKind.MODEL, model_count))
            if kind in counts
        ]
    )
    n_with_truth = int((items["truth"] != "").sum())
    values = {"raters": raters, "cases": case_count(len(items))}
    if n_with_truth == 0:
        first = t(
            "{raters} answered {cases}; no case has a reference standard, so accuracy is undefined"
            " and no case counts as assigned.",
            **values,
        )
    elif n_with_truth == len(items):
        first = (
            t("{raters} answered {cases}; it has a reference standard.", **values)
            if n_with_truth == 1
            else t("{raters} answered {cases}; each has a reference standard.", **values)
        )
    else:
        first = tn(
            "{raters} answered {cases}; {n} of them has a reference standard.",
            "{raters} answered {cases}; {n} of them have a reference standard.",
            n_with_truth,
            **values,
        )
    return [first, *_patient_sentences(results)]


def _patient_sentences(results: Results) -> Iterator[str]:
    if results.clustered:
        yield tn(
            "The cases belong to {n} patient (examinations where no patient is given).",
            "The cases belong to {n} patients (examinations where no patient is given).",
            results.n_clusters,
        )
    if results.n_clusters < FEW_PATIENTS and results.clustered:
        yield t("With fewer than {n} patients intervals are only approximate.", n=FEW_PATIENTS)
    elif results.n_clusters < FEW_PATIENTS:
        yield t("With fewer than {n} cases intervals are only approximate.", n=FEW_PATIENTS)


def _condition_sentence(results: Results) -> list[str]:
    """Name the only condition, or report that the page does not cover all conditions."""
    conditions = all_conditions(results)
    if len(conditions) > MAX_CONDITIONS:
        return [
            tn(
                "There are {n} condition; this page covers {shown} of them, the tables cover all.",
                "There are {n} conditions; this page covers {shown} of them, the tables cover all.",
                len(conditions),
                shown=MAX_CONDITIONS,
            )
        ]
    if len(conditions) != 1 or not conditions[0]:
        return []
    condition = f"\u2068{shorten(condition_name(conditions[0]), MAX_CONDITION_LENGTH)}\u2069"
    return [t("There is one condition: {condition}.", condition=condition)]


def _amendment_sentence(results: Results) -> list[str]:
    """Report the number of amendments to the protocol."""
    n = n_amendments(results.bundle.protocol)
    if not n:
        return []
    return [
        tn(
            "The protocol was amended {n} time after the study opened.",
            "The protocol was amended {n} times after the study opened.",
            n,
        )
    ]


def _missing_sentences(results: Results) -> list[str]:
    table = results.tables["missing"]
    n_missing = table["n_assigned"] - table["n_answered"]
    if not table["n_assigned"].sum():
        return []
    if not n_missing.sum():
        return [t("Every assigned case was answered by every rater.")]
    counts = {status: int(table[f"n_{status}"].sum()) for status in Status}
    kinds = [
        _status_count(status, n)
        for status, n in counts.items()
        if status is not Status.ANSWERED and n
    ]
    n, total = int(n_missing.sum()), int(table["n_assigned"].sum())
    values = {"kinds": join_with_commas(kinds), "consequence": _consequence_phrase(results)}
    cut = _cut_off_sentence(results)
    if total == 1:
        return [
            t("1 of 1 assigned reading has no answer ({kinds}); {consequence}.", **values),
            *cut,
        ]
    return [
        tn(
            "{n} of {total} assigned readings has no answer ({kinds}); {consequence}.",
            "{n} of {total} assigned readings have no answer ({kinds}); {consequence}.",
            n,
            total=total,
            **values,
        ),
        *cut,
    ]


def _cut_off_sentence(results: Results) -> list[str]:
    """Report the number of model outputs that were cut off at the token limit."""
    n = sum(n_cut_off(results.bundle).values())
    if not n:
        return []
    return [
        tn(
            "{n} model output was cut off at the token limit and is unparsed.",
            "{n} model outputs were cut off at the token limit and are unparsed.",
            n,
        )
    ]


def _status_count(status: Status, n: int) -> str:
    """Write the number of readings with a status."""
    words = {
        Status.SKIPPED: later("skipped"),
        Status.TIMED_OUT: later("timed out"),
        Status.UNPARSED: later("unparsed"),
        Status.REFUSED: later("refused"),
        Status.ABSENT: later("absent"),
    }
    return t(
        "{n} {status}", n=n, status=translated(words.get(status, status.value.replace("_", " ")))
    )


def _consequence_phrase(results: Results) -> str:
    """Report which missing answers count as incorrect; cases that were never presented do not."""
    kinds = _kinds(results)
    rows = rows_of(results, "missing")
    never = int(
        sum(
            cell_number(row, "n_absent")
            for row in rows
            if kinds[str(row["rater_id"])] == RaterKind.READER
        )
    )
    others = (
        sum(cell_number(row, "n_assigned") - cell_number(row, "n_answered") for row in rows) - never
    )
    if not never:
        return t("they count as incorrect") if others != 1 else t("it counts as incorrect")
    if others:
        return tn(
            "{n} of them was never presented to a reader and does not count, the others count as"
            " incorrect",
            "{n} of them were never presented to a reader and do not count, the others count as"
            " incorrect",
            never,
        )
    return tn(
        "{n} of them was never presented to a reader and does not count",
        "{n} of them were never presented to a reader and do not count",
        never,
    )


def _silent_raters_sentence(results: Results) -> list[str]:
    """Report the raters without any reading, who appear only in the table of missing answers."""
    read = set(results.bundle.readings["rater_id"])
    labels = results.bundle.labels
    silent = [f"\u2068{labels[rater]}\u2069" for rater in sorted(labels) if rater not in read]
    if not silent:
        return []
    return [t("Without any readings: {raters}.", raters=join_words(silent, max_words=MAX_NAMED))]


def _withdrawn_sentence(results: Results) -> list[str]:
    """Report the models that were withdrawn from the study."""
    withdrawn_models = results.bundle.about.get("withdrawn_models")
    withdrawn = (
        [model for model in withdrawn_models if isinstance(model, dict)]
        if isinstance(withdrawn_models, list)
        else []
    )
    if not withdrawn:
        return []
    model_texts = [_withdrawn_phrase(model) for model in withdrawn]
    return [
        tn(
            "{n} model was withdrawn and appears in no table: {models}.",
            "{n} models were withdrawn and appear in no table: {models}.",
            len(model_texts),
            models=join_with_commas(model_texts),
        )
    ]


def _withdrawn_phrase(model: dict[str, Any]) -> str:
    values = {
        "model": f"\u2068{shorten(str(model.get('model_id', '')), MAX_CONDITION_LENGTH)}\u2069",
        "reason": f"\u2068{shorten(str(model.get('reason', '')), 200)}\u2069",
    }
    if model.get("after_closing"):
        return t("{model} after closing ({reason})", **values)
    return t("{model} ({reason})", **values)


def limit_findings(results: Results) -> list[Finding]:
    """Explain the intervals in brackets, and how strong the statements are."""
    if not results.tables["accuracy"]["accuracy"].notna().any():
        return []
    confidence = confidence_percent(results)
    texts = [
        t(
            "Brackets contain {percent} % intervals (those of accuracy over patients); each"
            " describes a single rater or pair.",
            percent=confidence,
        )
        if results.clustered
        else t(
            "Brackets contain {percent} % intervals (those of accuracy by Wilson); each describes a"
            " single rater or pair.",
            percent=confidence,
        ),
        t(
            "Whether two raters differ is a question for a paired comparison on the same cases;"
            " overlapping or separate intervals do not answer it."
        ),
    ]
    panel = rows_of(results, "reader_panel")
    few = no_verdict_reason(results, patients_with_answers(results))
    if few:
        texts.append(t("{reason}: estimates and intervals only.", reason=capitalise(few)))
    elif panel:
        texts.append(
            t(
                "A difference is stated only where its interval excludes 0; “no difference shown”"
                " does not prove that there is none. “These readers” are those who took part;"
                " results for “readers like these” generalise to other readers."
            )
        )
    if len({row["model_id"] for row in panel}) > 1:
        texts.append(
            t(
                "Intervals of models against readers are not adjusted for the number of models;"
                " {file} has p-values that are (Holm).",
                file="tables/panel_adjusted.csv",
            )
        )
    texts += _confidence_sentence(results, panel)
    return [Finding(theme=Theme.READING, text=join_sentences(texts))]


def _confidence_sentence(results: Results, panel: list[Row]) -> list[str]:
    """Report the assumed meaning of confidence if an area under the curve depends on it."""
    metrics = {row["metric"] for row in (*panel, *rows_of(results, "reader_conditions"))}
    if "auc" not in metrics:
        return []
    confidence = confidence_of(results.options, results.bundle)
    return [t("Confidence was taken as {meaning}.", meaning=meaning_words(confidence))]
