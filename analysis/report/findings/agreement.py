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
    cases,
    cases_between,
    clauses,
    condition_phrase,
    conditions_in,
    decimals_that_subtract,
    in_a_row,
    listed,
    models,
    number,
    readers,
    reason,
    records,
    rounded,
    rows_of,
    sentences,
)
from analysis.report.findings.finding import (
    MOST_CONDITIONS,
    Finding,
    Scale,
    Theme,
    area,
    named,
    points,
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

MEASURES = {
    "brennan_prediger": later("Agreement beyond guessing (Brennan-Prediger)"),
}
# Error consistency is first, because the other coefficient depends on the accuracies.
BETWEEN = {
    "error_consistency": later(
        "Error consistency (agreement on which cases are answered correctly, beyond what the"
        " accuracies alone would produce)"
    ),
    "brennan_prediger": later("Brennan-Prediger"),
}
GROUPS = ("readers", "models")


def agreement_findings(results: Results) -> list[Finding]:
    """Report agreement among readers, among models, and of readers with models."""
    pairs = set(conditions_in(results, "agreement_pairs"))
    shown = [name for name in conditions_of(results.tables["accuracy"]) if name in pairs]
    texts = []
    for condition in shown[:MOST_CONDITIONS]:
        parts = (_groups(results, condition), _reader_model_agreement(results, condition))
        texts += [text for text in parts if text] or _pairs(results, condition)
    return [Finding(theme=Theme.AGREEMENT, text=text) for text in texts]


def _groups(results: Results, condition: str) -> str:
    rows = rows_of(
        results, "agreement_groups", scope="all", measure="brennan_prediger", condition=condition
    )
    groups = {str(row["raters"]): row for row in rows}
    if "readers" in groups and "models" not in groups:
        # Models whose only condition is another one are shown with these readers.
        groups["models"] = _only_models(results)
    parts = [
        _group(results, groups[kind], kind) for kind in GROUPS if _are_several(groups.get(kind))
    ]
    if not parts:
        return ""
    return t(
        "{measure}{where} is {values}.",
        measure=translated(MEASURES["brennan_prediger"]),
        where=condition_phrase(results, condition),
        values=listed(parts),
    )


def _are_several(row: Row | None) -> bool:
    return row is not None and number(row, "n_raters") > 1


def _only_models(results: Results) -> Row:
    rows = rows_of(
        results, "agreement_groups", scope="all", measure="brennan_prediger", raters="models"
    )
    return rows[0] if len(rows) == 1 else {}


def _group(results: Results, row: Row, kind: str) -> str:
    n = int(number(row, "n_raters"))
    raters = (
        t("among the {n} readers", n=n) if kind == "readers" else t("among the {n} models", n=n)
    )
    if math.isnan(number(row, "estimate")):
        return t("undefined {who} ({reason})", who=raters, reason=reason(row))
    return t(
        "{value} [{interval}; {cases}] {who}",
        value=_coefficient(row, "estimate"),
        interval=_interval(row, area(results)),
        cases=cases(int(number(row, "n_items"))),
        who=raters,
    )


def _reader_model_agreement(results: Results, condition: str) -> str:
    return sentences(
        [
            _difference(results, row, translated(words), condition)
            for measure, words in BETWEEN.items()
            for row in rows_of(
                results, "agreement_between", condition=condition, scope="all", measure=measure
            )
            if not math.isnan(number(row, "difference"))
        ]
    )


def _difference(results: Results, row: Row, words: str, condition: str) -> str:
    both = number(row, "among_readers"), number(row, "readers_models")
    decimals = decimals_that_subtract(*both)
    scale = replace(area(results), decimals=decimals)
    among, mixed = (rounded(value, decimals) for value in both)
    opening = t(
        "{measure}{where}, mean over pairs of {cases}: {among} among readers, {mixed} between"
        " readers and models",
        measure=words,
        where=condition_phrase(results, condition),
        cases=cases(int(number(row, "n_items"))),
        among=among,
        mixed=mixed,
    )
    n = min(
        max_patients_of_items(results, number(row, "n_items")),
        patients_for_agreement(results, condition),
    )
    shown = conclusion(n, number(row, "ci_low"), number(row, "ci_high"))
    values = {
        "opening": opening,
        "difference": scale.signed(number(row, "difference")),
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


def _pairs(results: Results, condition: str) -> list[str]:
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
            if row["pair_kind"] == kind and not math.isnan(number(row, "estimate"))
        ]
        if not part:
            continue
        ordered = sorted(part, key=lambda row: number(row, "estimate"))
        if len(part) == 1:
            parts.append(_of_one(kind, _pair(results, part[0])))
            continue
        median = rounded(float(np.median([row["estimate"] for row in part])), 2)
        lowest, highest = (_pair(results, ordered[place]) for place in (0, -1))
        parts.append(_of_several(kind, len(part), median, lowest, highest))
    if not parts:
        return []
    return [
        t(
            "{measure}{where}: {parts}.",
            measure=translated(MEASURES["brennan_prediger"]),
            where=condition_phrase(results, condition),
            parts=clauses(parts),
        )
    ]


def _of_one(kind: PairKind, pair: str) -> str:
    if kind is PairKind.READERS:
        return t("between readers {pair}", pair=pair)
    if kind is PairKind.MODELS:
        return t("between models {pair}", pair=pair)
    return t("between readers and models {pair}", pair=pair)


def _of_several(kind: PairKind, n: int, median: str, lowest: str, highest: str) -> str:
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


def _pair(results: Results, row: Row) -> str:
    a, b = (named(results, str(row[key])) for key in ("rater_a", "rater_b"))
    return t(
        "{value} [{interval}] ({first} and {second}, n = {n})",
        value=_coefficient(row, "estimate"),
        interval=_interval(row, area(results)),
        first=a,
        second=b,
        n=int(row["n"]),
    )


def _coefficient(row: Row, column: str) -> str:
    return rounded(number(row, column), 2)


def _interval(row: Row, scale: Scale) -> str:
    # With perfect agreement the interval has no width, which would suggest certainty.
    low, high = number(row, "ci_low"), number(row, "ci_high")
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
    for condition in conditions_in(results, "item_difficulty")[:MOST_CONDITIONS]:
        texts += _items(results, condition)
    for condition in conditions_of(results.tables["accuracy"])[:MOST_CONDITIONS]:
        texts += _same_wrong(results, condition)
    return [Finding(theme=Theme.ERRORS, text=text) for text in texts]


def _items(results: Results, condition: str) -> list[str]:
    rows = rows_of(results, "item_difficulty", condition=condition)
    notes = Counter(str(row["note"]) for row in rows)
    total = sum(1 for row in rows if number(row, "n_readers") + number(row, "n_models") > 0)
    if not total:
        return []
    both = any(number(row, "n_models") > 0 for row in rows) and any(
        number(row, "n_readers") > 0 for row in rows
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
        counts=in_a_row(parts),
    )
    return [sentences([first, _few_readers(rows), _numbers(rows) if both else ""])]


def _few_readers(rows: list[Row]) -> str:
    """Report the number of items that not all readers have read."""
    n_most = max(number(row, "n_readers") for row in rows)
    few = sum(1 for row in rows if 0 < number(row, "n_readers") < n_most)
    if not few:
        return ""
    return tn(
        "{n} was read by fewer than {readers}, and counts for those alone.",
        "{n} were read by fewer than {readers}, and count for those alone.",
        few,
        readers=readers(int(n_most)),
    )


def _numbers(rows: list[Row]) -> str:
    """Warn that counts of readers and models are not comparable if their numbers differ."""
    n_readers, n_models = (
        int(max(number(row, column) for row in rows)) for column in ("n_readers", "n_models")
    )
    if n_readers == n_models:
        return ""
    return t(
        "With {readers} and {models}, the larger group is more likely to include one who is"
        " correct.",
        readers=readers(n_readers),
        models=models(n_models),
    )


def _same_wrong(results: Results, condition: str) -> list[str]:
    table = results.tables["agreement_pairs"]
    selected_rows = table.loc[(table["scope"] == "all") & (table["measure"] == "same_wrong")]
    rows = pairs_in_condition(selected_rows, condition)
    options = results.bundle.items["n_options"].dropna()
    if len(options) and options.max() < 3:
        # If there is only one wrong option, all incorrect raters choose it.
        return []
    parts = [
        _shared(results, kind, pairs)
        for kind in PairKind
        if len(pairs := rows.loc[(rows["pair_kind"] == kind) & rows["estimate"].notna()])
    ]
    if not parts:
        return []
    values = {"where": condition_phrase(results, condition), "shares": in_a_row(parts)}
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


def _shared(results: Results, kind: PairKind, pairs: pd.DataFrame) -> str:
    """Return the share of a single pair with its interval, or the median and range of several."""
    words = {
        PairKind.READERS: t("two readers"),
        PairKind.MODELS: t("two models"),
        PairKind.MIXED: t("a reader and a model"),
    }
    shares = pairs["estimate"]
    values = {"raters": words[kind], "share": _percent(shares.median())}
    if len(pairs) == 1:
        (row,) = records(displayed_agreement(results, pairs))
        scale = points(results)
        return t(
            "{share} % of {cases} by {raters} ({interval})",
            **values,
            cases=cases(int(row["n"])),
            interval=scale.interval(row)
            if row["ci_low"] < row["ci_high"]
            else t("no informative interval"),
        )
    return t(
        "{share} % by {raters} (median of {n} pairs with {cases} each, {lowest} to {highest} %)",
        **values,
        n=len(pairs),
        cases=cases_between(pairs["n"]),
        lowest=_percent(shares.min()),
        highest=_percent(shares.max()),
    )


def _percent(share: float) -> str:
    return rounded(100 * share, 0)
