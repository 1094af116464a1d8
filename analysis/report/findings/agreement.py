"""Findings on agreement within readers, within models and between them, and on shared errors."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.bundle.model import PairKind
from analysis.figures.agreement import pairs_in_condition
from analysis.figures.drawing.axes import conditions_of
from analysis.presentation.wording import (
    Row,
    case_count,
    case_count_range,
    cell_number,
    condition_phrase,
    conditions_in,
    decimals_for_difference,
    format_number,
    join_clauses,
    join_sentences,
    join_with_commas,
    join_words,
    model_count,
    reader_count,
    records,
    rows_of,
    undefined_reason,
)
from analysis.report.findings.finding import (
    MAX_CONDITIONS,
    Finding,
    Scale,
    Theme,
    area_scale,
    name_in_sentence,
    points_scale,
)
from analysis.results import Results
from analysis.statistics.agreement.display import displayed_agreement
from analysis.statistics.support import patients_for_agreement
from analysis.statistics.verdicts import (
    Conclusion,
    conclusion,
    max_patients_of_items,
    no_verdict_reason,
    verdict,
)
from analysis.translation import later, t, tn, translated

MEASURE_NAMES = {
    "brennan_prediger": later("Agreement beyond guessing (Brennan-Prediger)"),
}
# Error consistency is first, because the other coefficient depends on the accuracies.
BETWEEN_MEASURES = {
    "error_consistency": later(
        "Error consistency (agreement on which cases are answered correctly, beyond what the"
        " accuracies alone would produce)"
    ),
    "brennan_prediger": later("Brennan-Prediger"),
}
RATER_GROUPS = ("readers", "models")


def agreement_findings(results: Results) -> list[Finding]:
    """Report agreement among readers, among models, and of readers with models."""
    pairs = set(conditions_in(results, "agreement_pairs"))
    shown = [name for name in conditions_of(results.tables["accuracy"]) if name in pairs]
    texts = []
    for condition in shown[:MAX_CONDITIONS]:
        parts = (_groups_sentence(results, condition), _reader_model_agreement(results, condition))
        texts += [text for text in parts if text] or _pair_sentences(results, condition)
    return [Finding(theme=Theme.AGREEMENT, text=text) for text in texts]


def _groups_sentence(results: Results, condition: str) -> str:
    rows = rows_of(
        results, "agreement_groups", scope="all", measure="brennan_prediger", condition=condition
    )
    groups = {str(row["raters"]): row for row in rows}
    if "readers" in groups and "models" not in groups:
        # Models whose only condition is another one are shown with these readers.
        groups["models"] = _single_models_row(results)
    parts = [
        _group_phrase(results, groups[kind], kind)
        for kind in RATER_GROUPS
        if _has_several_raters(groups.get(kind))
    ]
    if not parts:
        return ""
    return t(
        "{measure}{where} is {values}.",
        measure=translated(MEASURE_NAMES["brennan_prediger"]),
        where=condition_phrase(results, condition),
        values=join_words(parts),
    )


def _has_several_raters(row: Row | None) -> bool:
    return row is not None and cell_number(row, "n_raters") > 1


def _single_models_row(results: Results) -> Row:
    rows = rows_of(
        results, "agreement_groups", scope="all", measure="brennan_prediger", raters="models"
    )
    return rows[0] if len(rows) == 1 else {}


def _group_phrase(results: Results, row: Row, kind: str) -> str:
    n = int(cell_number(row, "n_raters"))
    raters = (
        t("among the {n} readers", n=n) if kind == "readers" else t("among the {n} models", n=n)
    )
    if math.isnan(cell_number(row, "estimate")):
        return t("undefined {who} ({reason})", who=raters, reason=undefined_reason(row))
    return t(
        "{value} [{interval}; {cases}] {who}",
        value=_coefficient(row, "estimate"),
        interval=_interval(row, area_scale(results)),
        cases=case_count(int(cell_number(row, "n_items"))),
        who=raters,
    )


def _reader_model_agreement(results: Results, condition: str) -> str:
    return join_sentences(
        [
            _difference_sentence(results, row, translated(words), condition)
            for measure, words in BETWEEN_MEASURES.items()
            for row in rows_of(
                results, "agreement_between", condition=condition, scope="all", measure=measure
            )
            if not math.isnan(cell_number(row, "difference"))
        ]
    )


def _difference_sentence(results: Results, row: Row, words: str, condition: str) -> str:
    both = cell_number(row, "among_readers"), cell_number(row, "readers_models")
    decimals = decimals_for_difference(*both)
    scale = replace(area_scale(results), decimals=decimals)
    among, mixed = (format_number(value, decimals) for value in both)
    opening = t(
        "{measure}{where}, mean over pairs of {cases}: {among} among readers, {mixed} between"
        " readers and models",
        measure=words,
        where=condition_phrase(results, condition),
        cases=case_count(int(cell_number(row, "n_items"))),
        among=among,
        mixed=mixed,
    )
    n = min(
        max_patients_of_items(results, cell_number(row, "n_items")),
        patients_for_agreement(results, condition),
    )
    shown = conclusion(n, cell_number(row, "ci_low"), cell_number(row, "ci_high"))
    values = {
        "opening": opening,
        "difference": scale.signed(cell_number(row, "difference")),
        "interval": scale.interval(row),
    }
    if shown is Conclusion.UNDEFINED:
        return t("{opening} (difference {difference}, no informative interval).", **values)
    if shown is Conclusion.TOO_FEW:
        reason = no_verdict_reason(results, n)
        return t("{opening} (difference {difference}, {interval}); {why}.", **values, why=reason)
    if shown is Conclusion.NOT_SHOWN:
        return t("{opening}; no difference shown ({difference}, {interval}).", **values)
    if shown is Conclusion.HIGHER:
        return t(
            "{opening}; models agree with these readers more than these readers do with each other"
            " ({difference}, {interval}).",
            **values,
        )
    return t(
        "{opening}; models agree with these readers less than these readers do with each other"
        " ({difference}, {interval}).",
        **values,
    )


def _pair_sentences(results: Results, condition: str) -> list[str]:
    rows = rows_of(
        results,
        "agreement_pairs",
        condition=condition,
        scope="all",
        measure="brennan_prediger",
    )
    parts = []
    for kind in PairKind:
        part = [
            row
            for row in rows
            if row["pair_kind"] == kind and not math.isnan(cell_number(row, "estimate"))
        ]
        if not part:
            continue
        ordered = sorted(part, key=lambda row: cell_number(row, "estimate"))
        if len(part) == 1:
            parts.append(_single_pair_phrase(kind, _pair_phrase(results, part[0])))
            continue
        median = format_number(float(np.median([row["estimate"] for row in part])), 2)
        lowest, highest = (_pair_phrase(results, ordered[place]) for place in (0, -1))
        parts.append(_several_pairs_phrase(kind, len(part), median, lowest, highest))
    if not parts:
        return []
    return [
        t(
            "{measure}{where}: {parts}.",
            measure=translated(MEASURE_NAMES["brennan_prediger"]),
            where=condition_phrase(results, condition),
            parts=join_clauses(parts),
        )
    ]


def _single_pair_phrase(kind: PairKind, pair: str) -> str:
    if kind is PairKind.READERS:
        return t("between readers {pair}", pair=pair)
    if kind is PairKind.MODELS:
        return t("between models {pair}", pair=pair)
    return t("between readers and models {pair}", pair=pair)


def _several_pairs_phrase(kind: PairKind, n: int, median: str, lowest: str, highest: str) -> str:
    values = {"median": median, "lowest": lowest, "highest": highest}
    if kind is PairKind.READERS:
        return tn(
            "between readers the median of {n} pair is {median}, from {lowest} to {highest}",
            "between readers the median of {n} pairs is {median}, from {lowest} to {highest}",
            n,
            **values,
        )
    if kind is PairKind.MODELS:
        return tn(
            "between models the median of {n} pair is {median}, from {lowest} to {highest}",
            "between models the median of {n} pairs is {median}, from {lowest} to {highest}",
            n,
            **values,
        )
    return tn(
        "between readers and models the median of {n} pair is {median}, from {lowest} to {highest}",
        "between readers and models the median of {n} pairs is {median}, from {lowest} to"
        " {highest}",
        n,
        **values,
    )


def _pair_phrase(results: Results, row: Row) -> str:
    a, b = (name_in_sentence(results, str(row[key])) for key in ("rater_a", "rater_b"))
    return t(
        "{value} [{interval}] ({first} and {second}, n = {n})",
        value=_coefficient(row, "estimate"),
        interval=_interval(row, area_scale(results)),
        first=a,
        second=b,
        n=int(row["n"]),
    )


def _coefficient(row: Row, column: str) -> str:
    return format_number(cell_number(row, column), 2)


def _interval(row: Row, scale: Scale) -> str:
    # With perfect agreement the interval has no width, which would suggest certainty.
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    if verdict(low, high) is Conclusion.UNDEFINED or low <= -1:
        return t("no informative interval")
    return scale.limits(row)


READERS_MISSED = "all readers missed it, a model did not"
MODELS_MISSED = "all models missed it, a reader did not"
EVERYBODY_MISSED = "everybody missed it"
EVERYBODY_CORRECT = "everybody had it right"


def error_findings(results: Results) -> list[Finding]:
    """Count the items by who missed them, and report how often two raters chose the same error."""
    texts = []
    for condition in conditions_in(results, "item_difficulty")[:MAX_CONDITIONS]:
        texts += _item_sentences(results, condition)
    for condition in conditions_of(results.tables["accuracy"])[:MAX_CONDITIONS]:
        texts += _same_wrong_sentences(results, condition)
    return [Finding(theme=Theme.ERRORS, text=text) for text in texts]


def _item_sentences(results: Results, condition: str) -> list[str]:
    rows = rows_of(results, "item_difficulty", condition=condition)
    notes = Counter(str(row["note"]) for row in rows)
    total = sum(
        1 for row in rows if cell_number(row, "n_readers") + cell_number(row, "n_models") > 0
    )
    if not total:
        return []
    both = any(cell_number(row, "n_models") > 0 for row in rows) and any(
        cell_number(row, "n_readers") > 0 for row in rows
    )
    parts = [t("{n} missed by everybody", n=notes[EVERYBODY_MISSED])]
    if both:
        parts += [
            t("{n} missed by all readers but not by all models", n=notes[READERS_MISSED]),
            t("{n} missed by all models but not by all readers", n=notes[MODELS_MISSED]),
        ]
    parts.append(t("{n} answered correctly by everybody", n=notes[EVERYBODY_CORRECT]))
    first = tn(
        "Of {n} case{where}: {counts}.",
        "Of {n} cases{where}: {counts}.",
        total,
        where=condition_phrase(results, condition),
        counts=join_with_commas(parts),
    )
    return [
        join_sentences(
            [first, _few_readers_sentence(rows), _group_size_sentence(rows) if both else ""]
        )
    ]


def _few_readers_sentence(rows: list[Row]) -> str:
    """Report the number of items that not all readers have read."""
    n_most = max(cell_number(row, "n_readers") for row in rows)
    few = sum(1 for row in rows if 0 < cell_number(row, "n_readers") < n_most)
    if not few:
        return ""
    return tn(
        "{n} was read by fewer than {readers}, and counts for those alone.",
        "{n} were read by fewer than {readers}, and count for those alone.",
        few,
        readers=reader_count(int(n_most)),
    )


def _group_size_sentence(rows: list[Row]) -> str:
    """Warn that counts of readers and models are not comparable if their numbers differ."""
    n_readers, n_models = (
        int(max(cell_number(row, column) for row in rows)) for column in ("n_readers", "n_models")
    )
    if n_readers == n_models:
        return ""
    return t(
        "With {readers} and {models}, the larger group is more likely to include one who is"
        " correct.",
        readers=reader_count(n_readers),
        models=model_count(n_models),
    )


def _same_wrong_sentences(results: Results, condition: str) -> list[str]:
    table = results.tables["agreement_pairs"]
    selected_rows = table.loc[(table["scope"] == "all") & (table["measure"] == "same_wrong")]
    rows = pairs_in_condition(selected_rows, condition)
    options = results.bundle.items["n_options"].dropna()
    if len(options) and options.max() < 3:
        # If there is only one wrong option, all incorrect raters choose it.
        return []
    parts = [
        _share_phrase(results, kind, pairs)
        for kind in PairKind
        if len(pairs := rows.loc[(rows["pair_kind"] == kind) & rows["estimate"].notna()])
    ]
    if not parts:
        return []
    values = {"where": condition_phrase(results, condition), "shares": join_with_commas(parts)}
    known = options.unique()
    if len(known) != 1 or known[0] < 3:
        return [
            t(
                "Where both raters were incorrect{where}, the same option was chosen in {shares}.",
                **values,
            )
        ]
    # If all items have the same number of wrong options, the share expected by chance is known.
    wrong = int(known[0]) - 1
    return [
        t(
            "Where both raters were incorrect{where}, the same option was chosen in {shares};"
            " choosing any of the {n} incorrect options at random would give {percent} %.",
            **values,
            n=str(wrong),
            percent=f"{100 / wrong:.0f}",
        )
    ]


def _share_phrase(results: Results, kind: PairKind, pairs: pd.DataFrame) -> str:
    """Return the share of a single pair with its interval, or the median and range of several."""
    words = {
        PairKind.READERS: t("two readers"),
        PairKind.MODELS: t("two models"),
        PairKind.MIXED: t("a reader and a model"),
    }
    shares = pairs["estimate"]
    values = {"raters": words[kind], "share": _whole_percent(shares.median())}
    if len(pairs) == 1:
        (row,) = records(displayed_agreement(results, pairs))
        scale = points_scale(results)
        return t(
            "{share} % of {cases} by {raters} ({interval})",
            **values,
            cases=case_count(int(row["n"])),
            interval=scale.interval(row)
            if row["ci_low"] < row["ci_high"]
            else t("no informative interval"),
        )
    return t(
        "{share} % by {raters} (median of {n} pairs with {cases} each, {lowest} to {highest} %)",
        **values,
        n=len(pairs),
        cases=case_count_range(pairs["n"]),
        lowest=_whole_percent(shares.min()),
        highest=_whole_percent(shares.max()),
    )


def _whole_percent(share: float) -> str:
    return format_number(100 * share, 0)
