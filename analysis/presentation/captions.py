"""Captions of the figures: what is drawn, the sample size and the interval."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.bundle.model import RaterKind
from analysis.figures.drawing.axes import condition_name
from analysis.presentation.wording import sentences
from analysis.translation import capital, later, pieces, said, t, tn, written

AGREEMENT_CAPTIONS: Mapping[str, str] = {
    "kappa_letters": later(
        "Cohen's kappa on the answers, for comparison with published matrices. Letters"
        " are canonical, those of the question bank, whatever order the options were shown in. They"
        " are arbitrary labels: permuting the options of the questions changes kappa, but not"
        " Brennan-Prediger."
    ),
    "brennan_prediger": later(
        "Agreement beyond guessing among the options offered (chance: the mean of 1/k). Relabelling"
        " the options does not change it."
    ),
    "error_consistency": later(
        "Cohen's kappa on correct and incorrect: whether two raters fail on the same cases more"
        " often than their accuracies alone would lead one to expect."
    ),
    "raw": later("Share of cases with the same answer, not corrected for chance."),
}
MATRIX_CAPTIONS: Mapping[str, str] = {
    **AGREEMENT_CAPTIONS,
    # Of the items of one set of options.
    "kappa": later("Cohen's kappa on the answers to questions with the same options."),
    "ac1": later("Gwet's AC1 on the answers to questions with the same options."),
}


def overview_caption(rows: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Say what the first figure shows; `rows` are the micro accuracies."""
    values = {"n": number_range(rows["n"]), "percent": written(percent)}
    first = (
        t(
            "Accuracy over all cases, n = {n}; lines are {percent} % intervals over patients, who"
            " have several cases each (where these are too few, Wilson's or MOVER's).",
            **values,
        )
        if clustered
        else t(
            "Accuracy over all cases, n = {n}; lines are {percent} % intervals by Wilson.", **values
        )
    )
    return sentences([first, _overlapping()])


def _overlapping() -> str:
    return t("Overlapping intervals are no test of a difference: raters answered the same cases.")


def accuracy_caption(accuracy: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Say what the forest plot of accuracy shows; `accuracy` holds the rows that are drawn."""
    kinds = set(accuracy["rater_kind"])
    shapes = {
        RaterKind.READER: t("Percent correct of the cases given; circles are readers."),
        RaterKind.MODEL: t("Percent correct of the cases given; diamonds are models."),
    }
    if len(kinds) != 1:
        first = t(
            "Percent correct of the cases given; circles are readers and diamonds are models."
        )
    else:
        first = shapes[RaterKind(kinds.pop())]
    if clustered:
        lines = t(
            "Lines are {percent} % intervals over patients, who have several cases each (where"
            " these are too few, Wilson's or MOVER's).",
            percent=written(percent),
        )
    elif "macro" in set(accuracy["group"]):
        lines = t(
            "Lines are {percent} % intervals by Wilson (macro: MOVER).", percent=written(percent)
        )
    else:
        lines = t("Lines are {percent} % intervals by Wilson.", percent=written(percent))
    return sentences(
        [
            first,
            lines,
            t("Cases presented but not answered count as incorrect."),
            _overlapping(),
        ]
    )


def matrix_caption(
    rows: pd.DataFrame, measure: str, percent: str, truth: pd.DataFrame | None = None
) -> str:
    """Say what a matrix shows; `rows` are its pairs, `truth` those with the reference standard."""
    return sentences(
        [
            said(MATRIX_CAPTIONS[measure]),
            t(
                "Below the diagonal the estimate, above it the {percent} % interval ({methods});"
                " readers first.",
                percent=written(percent),
                methods=methods_in(rows),
            ),
            t(
                "{pairs} over the cases that both answered, n = {n}.",
                pairs=tn("{n} pair of raters", "{n} pairs of raters", len(rows)),
                n=number_range(rows["n"]),
            ),
            _without_interval(rows),
            "" if truth is None else _beside_truth(truth, measure),
        ]
    )


def _without_interval(rows: pd.DataFrame) -> str:
    """Say of how many pairs there is no interval, and why."""
    reasons = rows.loc[rows["ci_low"].isna(), "undefined_because"]
    if reasons.empty:
        return ""
    counts = reasons.map(lambda reason: reason.split(": ")[-1]).value_counts()
    parts = [
        t("{reason} ({n})", reason=pieces(str(reason)), n=str(n))
        for reason, n in sorted(counts.items())
    ]
    return t("A dash where something is undefined: {reasons}.", reasons=t("; ").join(parts))


def _beside_truth(rows: pd.DataFrame, measure: str) -> str:
    """Say what the row of the reference standard is."""
    if measure == "error_consistency":
        return t("It is undefined against the reference standard, which is never wrong.")
    if rows.empty:
        return ""
    if measure == "raw":
        return t(
            "The last row and column are each rater against the reference standard, over the cases"
            " the rater answered, n = {n}: the accuracy among these.",
            n=number_range(rows["n"]),
        )
    return t(
        "The last row and column are each rater against the reference standard, over the cases"
        " the rater answered, n = {n}.",
        n=number_range(rows["n"]),
    )


def panel_caption(
    rows: pd.DataFrame, percent: str, *, origin: str = "", narrower: str = "", few: str = ""
) -> str:
    """Describe the comparison with the readers' mean.

    `origin` says where the margin comes from if it is not the protocol's, `narrower` where one
    interval is shown for both claims, and `few` why no verdict is given.
    """
    parts = [
        t(
            "Each model minus the mean of {readers} over {cases}, with {percent} % intervals"
            " ({methods}).",
            readers=readers_in(rows["n_readers"]),
            cases=cases_in(rows["n_items"]),
            percent=written(percent),
            methods=methods_in(rows),
        ),
        t(
            "Filled: against these readers. Hollow: against readers like these, who could have been"
            " others."
        ),
        narrower,
    ]
    if few:
        parts.append(t("{reason}.", reason=capital(few)))
    elif rows["margin"].notna().any():
        level = written(f"{(100 - float(percent)) / 2:g}")
        parts.append(
            t(
                "A line wholly in the shade clears the margin, at a one-sided level of {level} %;"
                " the margin was {origin}.",
                level=level,
                origin=origin,
            )
            if origin
            else t(
                "A line wholly in the shade clears the margin, at a one-sided level of {level} %.",
                level=level,
            )
        )
    return sentences(parts)


def comparisons_caption(rows: pd.DataFrame, percent: str, few: str = "") -> str:
    """Describe the comparison with every reader; `few` says why no verdict is given."""
    clustered = rows["cluster_ci_low"].notna()
    ways = [t("bootstrap over patients")] if clustered.any() else []
    if not clustered.all():
        ways.append(methods_in(rows, "ci_method"))
    return sentences(
        [
            t(
                "Model minus reader in percentage points of accuracy, on the same cases, n = {n};"
                " {percent} % intervals ({methods}).",
                n=number_range(rows["n"]),
                percent=written(percent),
                methods=t(", ").join(ways),
            ),
            tn(
                "One pair of a reader and a model: the adjusted p is its own p.",
                "The adjusted p is Holm's over all {n} pairs of a reader and a model.",
                len(rows),
            ),
            t("{reason}, regardless of p.", reason=capital(few)) if few else "",
        ]
    )


def profile_caption(rows: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Say what the profile by task shows."""
    models = (
        t(
            "The shade runs from the lowest to the highest reader, the stroke is their mean;"
            " diamonds are models, with {percent} % intervals over patients, who have several cases"
            " each (where these are too few, Wilson's or MOVER's).",
            percent=written(percent),
        )
        if clustered
        else t(
            "The shade runs from the lowest to the highest reader, the stroke is their mean;"
            " diamonds are models, with {percent} % intervals by Wilson.",
            percent=written(percent),
        )
    )
    n_readers, n_models = _count(rows, RaterKind.READER), _count(rows, RaterKind.MODEL)
    return sentences(
        [
            t("Percent correct by task, n in brackets."),
            models,
            t(
                "{readers} and {models}.",
                readers=tn("{n} reader", "{n} readers", n_readers),
                models=tn("{n} model", "{n} models", n_models),
            ),
        ]
    )


def groups_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the agreement of groups shows."""
    sizes = t(", ").join(
        f"{said(GROUPS.get(str(group), str(group)))} {number_range(part['n_raters'])}"
        for group, part in rows.groupby("raters", sort=False)
    )
    return sentences(
        [
            t(
                "Agreement of several raters at once over {cases} ({sizes}), with {percent} %"
                " intervals ({methods}).",
                cases=cases_in(rows["n_items"]),
                sizes=sizes,
                percent=written(percent),
                methods=methods_in(rows),
            ),
            t("Measures on letters change when options are permuted; the first two do not."),
        ]
    )


GROUPS = {"readers": later("readers"), "models": later("models"), "all": later("all")}
"""Who forms a group, by its name in the table."""


def task_agreement_caption(rows: pd.DataFrame, between: pd.DataFrame, percent: str) -> str:
    """Say what the agreement by task shows."""
    mixed = (
        t(
            "The hollow squares, readers with models, are means over the pairs; their distance from"
            " the readers' agreement has an interval of its own."
        )
        if len(between)
        else ""
    )
    return sentences(
        [
            t(
                "Agreement within readers and within models, {cases}, with {percent} % intervals"
                " ({methods}).",
                cases=cases_in(rows["n_items"]),
                percent=written(percent),
                methods=methods_in(rows),
            ),
            mixed,
        ]
    )


def between_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the comparison of agreements shows."""
    return sentences(
        [
            t(
                "Mean agreement over the pairs among {readers}, and of them with {models},"
                " {cases}; the difference with its {percent} % interval ({methods}).",
                readers=readers_in(rows["n_readers"]),
                models=models_in(rows["n_models"]),
                cases=cases_in(rows["n_items"]),
                percent=written(percent),
                methods=methods_in(rows),
            ),
            t("Below zero, readers agree with each other more than with models."),
        ]
    )


def difficulty_caption(rows: pd.DataFrame) -> str:
    """Say what the difficulty of items shows, and how many items not all readers have read."""
    most = rows["n_readers"].max()
    few = rows.loc[rows["n_readers"] < most, "n_readers"]
    partly = ""
    if len(few):
        partly = t(
            "{few} of them were read by fewer than {most} readers (n = {n}) and stand by the share"
            " of those who were correct.",
            few=str(len(few)),
            most=str(most),
            n=number_range(few),
        )
    return sentences(
        [
            t(
                "Number of cases by how many of {readers} and of {models} were correct, {cases}; a"
                " count, so without interval.",
                readers=tn("{n} reader", "{n} readers", int(rows["n_readers"].max())),
                models=tn("{n} model", "{n} models", int(rows["n_models"].max())),
                cases=tn("{n} case", "{n} cases", len(rows)),
            ),
            t("Lower right: hard for readers only. Upper left: hard for models only."),
            partly,
        ]
    )


def leaderboard_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the leaderboard shows."""
    return sentences(
        [
            t(
                "Accuracy and rank with {percent} % intervals ({methods}), {cases}.",
                percent=written(percent),
                methods=methods_in(rows),
                cases=cases_in(rows["n"]),
            ),
            t("Ranks overlap where the interval of one holds the rank of another."),
            t("Micro weighs every case the same, macro every task.")
            if "macro" in set(rows["group"])
            else "",
        ]
    )


def input_caption(rows: pd.DataFrame, condition: str, percent: str) -> str:
    """Say what the differences between a model's inputs show."""
    clustered = rows["cluster_ci_low"].notna().any()
    return sentences(
        [
            t(
                "Accuracy that each model loses under {condition}, compared with the cases as"
                " readers saw them, {cases}, with {percent} % intervals ({methods}).",
                condition=condition_name(condition),
                cases=cases_in(rows["n"]),
                percent=written(percent),
                methods=t("bootstrap over patients")
                if clustered
                else methods_in(rows, "ci_method"),
            ),
            t("At 0 it does as well either way."),
        ]
    )


def places_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the places of options show."""
    return sentences(
        [
            t(
                "How much more often each place among the options, as shown, was chosen than it was"
                " correct, in points of {answers}, with {percent} % intervals ({methods}).",
                answers=answers_in(rows["n"]),
                percent=written(percent),
                methods=methods_in(rows),
            ),
            t("Right of 0 a rater chooses the place too often."),
        ]
    )


def reliability_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the reliability diagram shows."""
    return sentences(
        [
            t(
                "Percent correct against mean confidence, answers in ten bins of equal width,"
                " {answers} a bin, with {percent} % intervals by Wilson.",
                answers=answers_in(rows["n"]),
                percent=written(percent),
            ),
            t("Below the dashed line a model is overconfident."),
        ]
    )


def open_gap_caption(rows: pd.DataFrame, scoring: str, percent: str) -> str:
    """Say what the difference between multiple choice and answers without options shows."""
    values = {
        "cases": cases_in(rows["n"]),
        "percent": written(percent),
        "methods": methods_in(rows),
    }
    if scoring == "strict":
        return t(
            "Accuracy on multiple choice less that without options on the same cases, where partly"
            " correct counts nothing, {cases}, with {percent} % intervals ({methods}).",
            **values,
        )
    return t(
        "Accuracy on multiple choice less that without options on the same cases, where partly"
        " correct counts half, {cases}, with {percent} % intervals ({methods}).",
        **values,
    )


def banks_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the difference between two banks shows."""
    return sentences(
        [
            t(
                "Accuracy on {bank} less that on {other_bank}, {cases}, with {percent} %"
                " intervals ({methods}).",
                bank=rows["bank"].iloc[0],
                other_bank=rows["other_bank"].iloc[0],
                cases=cases_in(rows["n"]),
                percent=written(percent),
                methods=methods_in(rows),
            ),
            t("The cases are different ones, and may differ in difficulty."),
        ]
    )


def number_range(numbers: pd.Series[int]) -> str:
    """Return the range of some whole numbers in words.

    Examples
    --------
    >>> number_range(pd.Series([198, 200])), number_range(pd.Series([200, 200]))
    ('198 to 200', '200')
    """
    low, high = (written(f"{int(end):,}") for end in (numbers.min(), numbers.max()))
    return low if low == high else t("{low} to {high}", low=low, high=high)


def methods_in(rows: pd.DataFrame, column: str = "method") -> str:
    """Return the intervals' methods; a method that names several parts names the interval last."""
    parts = (str(method).split("; ")[-1] for method in rows[column].dropna() if method)
    return t("; ").join(sorted({pieces(part) for part in parts})) or t("none")


def readers_in(numbers: pd.Series[int]) -> str:
    """Return a number of readers, or its range, with its word."""
    return tn("{count} reader", "{count} readers", int(numbers.max()), count=number_range(numbers))


def models_in(numbers: pd.Series[int]) -> str:
    """Return a number of models, or its range, with its word."""
    return tn("{count} model", "{count} models", int(numbers.max()), count=number_range(numbers))


def answers_in(numbers: pd.Series[int]) -> str:
    """Return a number of answers, or its range, with its word."""
    return tn("{count} answer", "{count} answers", int(numbers.max()), count=number_range(numbers))


def cases_in(numbers: pd.Series[int]) -> str:
    """Return a number of cases, or its range, with its word."""
    return tn("{count} case", "{count} cases", int(numbers.max()), count=number_range(numbers))


def _count(rows: pd.DataFrame, kind: RaterKind) -> int:
    return int(rows.loc[rows["rater_kind"] == kind, "rater_id"].nunique())
