"""What is said under the figures: what is drawn, of how many, with which interval."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.bundle.model import RaterKind

AGREEMENT_CAPTIONS: Mapping[str, str] = {
    "kappa_letters": "Cohen's kappa on the answers, for comparison with published matrices. Letters"
    " are canonical, those of the question bank, whatever order the options were shown in. They are"
    " arbitrary labels: permuting the options of the questions changes kappa, but not"
    " Brennan-Prediger.",
    "brennan_prediger": "Agreement beyond guessing among the options offered (chance: the mean of"
    " 1/k). Relabelling the options does not change it.",
    "error_consistency": "Cohen's kappa on correct and incorrect: whether two raters fail on the"
    " same cases more often than their accuracies alone would lead one to expect.",
    "raw": "Share of cases with the same answer, not corrected for chance.",
}
MATRIX_CAPTIONS: Mapping[str, str] = {
    **AGREEMENT_CAPTIONS,
    # Of the items of one set of options.
    "kappa": "Cohen's kappa on the answers to questions with the same options.",
    "ac1": "Gwet's AC1 on the answers to questions with the same options.",
}
CLUSTERED = (
    "over patients, who have several cases each (where these are too few, Wilson's or MOVER's)"
)


def overview_caption(rows: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Say what the first figure shows; `rows` are the micro accuracies."""
    return (
        f"Accuracy over all cases, n = {span(rows['n'])}; lines are {percent} % intervals"
        f" {CLUSTERED if clustered else 'by Wilson'}. Overlapping intervals are no test of a"
        " difference: raters answered the same cases."
    )


def accuracy_caption(accuracy: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Say what the forest plot of accuracy shows; `accuracy` holds the rows that are drawn."""
    kinds = set(accuracy["rater_kind"])
    who = {RaterKind.READER: "circles are readers", RaterKind.MODEL: "diamonds are models"}
    shapes = " and ".join(who[kind] for kind in RaterKind if kind in kinds)
    macro = " (macro: MOVER)" if "macro" in set(accuracy["group"]) else ""
    return (
        f"Percent correct of the cases given; {shapes}. Lines are {percent} % intervals"
        f" {CLUSTERED if clustered else f'by Wilson{macro}'}. Cases presented but not"
        " answered count as incorrect. Overlapping intervals are no test of a difference: raters"
        " answered the same cases."
    )


def matrix_caption(
    rows: pd.DataFrame, measure: str, percent: str, truth: pd.DataFrame | None = None
) -> str:
    """Say what a matrix shows; `rows` are its pairs, `truth` those with the reference standard."""
    return (
        f"{MATRIX_CAPTIONS[measure]} Below the diagonal the"
        f" estimate, above it the {percent} % interval ({_methods(rows)}); readers first."
        f" {len(rows)} pairs of raters over the cases that both answered, n = {span(rows['n'])}."
        + _without_interval(rows)
        + ("" if truth is None else _beside_truth(truth, measure))
    )


def _without_interval(rows: pd.DataFrame) -> str:
    """Say of how many pairs there is no interval, and why."""
    reasons = rows.loc[rows["ci_low"].isna(), "undefined_because"]
    if reasons.empty:
        return ""
    counts = reasons.map(lambda reason: reason.split(": ")[-1]).value_counts()
    told = "; ".join(f"{reason} ({n})" for reason, n in sorted(counts.items()))
    return f" A dash where something is undefined: {told}."


def _beside_truth(rows: pd.DataFrame, measure: str) -> str:
    """Say what the row of the reference standard is."""
    if measure == "error_consistency":
        return " It is undefined against the reference standard, which is never wrong."
    if rows.empty:
        return ""
    what = ": the accuracy among these" if measure == "raw" else ""
    return (
        " The last row and column are each rater against the reference standard, over the cases"
        f" the rater answered, n = {span(rows['n'])}{what}."
    )


def panel_caption(rows: pd.DataFrame, percent: str, origin: str = "") -> str:
    """Say what the comparison with the readers' mean shows.

    `origin` tells where the margin comes from if it is not the protocol's.
    """
    readers, items = span(rows["n_readers"]), span(rows["n_items"])
    margin = rows["margin"].notna().any()
    return (
        f"Each model minus the mean of {readers} readers over {items} cases, with"
        f" {percent} % intervals ({_methods(rows)}). Filled: against these readers. Hollow: against"
        " readers like these, who could have been others."
        + (
            f" A line wholly in the shade clears the margin, at a one-sided level of"
            f" {(100 - float(percent)) / 2:g} %{f'; the margin was {origin}' if origin else ''}."
            if margin
            else ""
        )
    )


def comparisons_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the comparison with every reader shows."""
    clustered = rows["cluster_ci_low"].notna()
    ways = ["bootstrap over patients"] if clustered.any() else []
    if not clustered.all():
        ways.append(_methods(rows, "ci_method"))
    return (
        "Model minus reader in percentage points of accuracy, on the same cases,"
        f" n = {span(rows['n'])}; {percent} % intervals ({', '.join(ways)}). The adjusted p"
        f" is Holm's over all {len(rows)} pairs of a reader and a model."
    )


def profile_caption(rows: pd.DataFrame, percent: str, *, clustered: bool) -> str:
    """Say what the profile by task shows."""
    return (
        "Percent correct by task, n in brackets. The shade runs from the lowest to the highest"
        f" reader, the stroke is their mean; diamonds are models, with {percent} % intervals"
        f" {CLUSTERED if clustered else 'by Wilson'}. {_count(rows, RaterKind.READER)} and"
        f" {_count(rows, RaterKind.MODEL)}."
    )


def groups_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the agreement of groups shows."""
    sizes = ", ".join(
        f"{group} {span(part['n_raters'])}" for group, part in rows.groupby("raters", sort=False)
    )
    return (
        f"Agreement of several raters at once over n = {span(rows['n_items'])} cases ({sizes}),"
        f" with {percent} % intervals ({_methods(rows)}). Measures on letters change when options"
        " are permuted; the first two do not."
    )


def task_agreement_caption(rows: pd.DataFrame, between: pd.DataFrame, percent: str) -> str:
    """Say what the agreement by task shows."""
    mixed = (
        " The hollow squares, readers with models, are means over the pairs; their distance from"
        " the readers' agreement has an interval of its own."
        if len(between)
        else ""
    )
    return (
        f"Agreement within readers and within models, n = {span(rows['n_items'])} cases, with"
        f" {percent} % intervals ({_methods(rows)}).{mixed}"
    )


def between_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the comparison of agreements shows."""
    return (
        f"Mean agreement over the pairs among {span(rows['n_readers'])} readers, and of them with"
        f" {span(rows['n_models'])} models, n = {span(rows['n_items'])} cases; the difference with"
        f" its {percent} % interval ({_methods(rows)}). Below zero, readers agree with each other"
        " more than with models."
    )


def times_caption(rows: pd.DataFrame) -> str:
    """Say what the response times show."""
    return (
        "Seconds from display to answer, for what was answered: median and quartiles of every"
        f" rater, n = {span(rows['n'])} answers. The axis is logarithmic. The bars show the"
        " spread of the times, not the uncertainty of the median."
    )


def speed_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what speed against accuracy shows."""
    return (
        f"Percent correct with its {percent} % Wilson interval against the median response time,"
        f" n = {span(rows['n'])} answers a rater. It describes these raters and tests"
        " nothing."
    )


def drift_caption(rows: pd.DataFrame) -> str:
    """Say what the drift shows."""
    return (
        "Median response time in the quarters of each reader's session,"
        f" n = {span(rows['n'])} answers a quarter; no interval: a description."
    )


def difficulty_caption(rows: pd.DataFrame) -> str:
    """Say what the difficulty of items shows, and how many items not all readers have read."""
    most = rows["n_readers"].max()
    few = rows.loc[rows["n_readers"] < most, "n_readers"]
    partly = ""
    if len(few):
        partly = (
            f" {len(few)} of them were read by fewer than {most} readers (n = {span(few)}) and"
            " stand by the share of those who were correct."
        )
    return (
        f"Number of cases by how many of {rows['n_readers'].max()} readers and of"
        f" {rows['n_models'].max()} models were correct, n = {len(rows)} cases; a count, so"
        " without interval. Lower right: hard for readers only. Upper left: hard for models only."
        f"{partly}"
    )


def leaderboard_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the leaderboard shows."""
    return (
        f"Accuracy and rank with {percent} % intervals ({_methods(rows)}), n = {span(rows['n'])}"
        " cases. Ranks overlap where the interval of one holds the rank of another."
        + (
            " Micro weighs every case the same, macro every task."
            if "macro" in set(rows["group"])
            else ""
        )
    )


def input_caption(rows: pd.DataFrame, condition: str, percent: str) -> str:
    """Say what the differences between a model's inputs show."""
    clustered = rows["cluster_ci_low"].notna().any()
    way = "bootstrap over patients" if clustered else _methods(rows, "ci_method")
    return (
        f"Accuracy that each model loses under {condition}, compared with the cases as readers saw"
        f" them, n = {span(rows['n'])} cases, with {percent} % intervals ({way}). At 0 it does as"
        " well either way."
    )


def places_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the places of options show."""
    return (
        "How much more often each place among the options, as shown, was chosen than it was"
        f" correct, in points of n = {span(rows['n'])} answers, with {percent} % intervals"
        f" ({_methods(rows)}). Right of 0 a rater chooses the place too often."
    )


def reliability_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the reliability diagram shows."""
    return (
        "Percent correct against mean confidence, answers in ten bins of equal width,"
        f" n = {span(rows['n'])} answers a bin, with {percent} % intervals by Wilson. Below the"
        " dashed line a model is overconfident."
    )


def open_gap_caption(rows: pd.DataFrame, scoring: str, percent: str) -> str:
    """Say what the difference between multiple choice and answers without options shows."""
    partly = "nothing" if scoring == "strict" else "half"
    return (
        "Accuracy on multiple choice less that without options on the same cases, where partly"
        f" correct counts {partly}, n = {span(rows['n'])} cases, with {percent} % intervals"
        f" ({_methods(rows)})."
    )


def banks_caption(rows: pd.DataFrame, percent: str) -> str:
    """Say what the difference between two banks shows."""
    return (
        f"Accuracy on {rows['bank'].iloc[0]} less that on {rows['other_bank'].iloc[0]},"
        f" n = {span(rows['n'])} cases, with {percent} % intervals ({_methods(rows)}). The cases"
        " are different ones, and may differ in difficulty."
    )


def span(numbers: pd.Series[int]) -> str:
    """Return the range of some whole numbers in words.

    Examples
    --------
    >>> span(pd.Series([198, 200])), span(pd.Series([200, 200]))
    ('198 to 200', '200')
    """
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _methods(rows: pd.DataFrame, column: str = "method") -> str:
    """Return the intervals' methods; a method that names several parts names the interval last."""
    parts = (str(method).split("; ")[-1] for method in rows[column].dropna() if method)
    return "; ".join(sorted(set(parts))) or "none"


def _count(rows: pd.DataFrame, kind: RaterKind) -> str:
    n = rows.loc[rows["rater_kind"] == kind, "rater_id"].nunique()
    return f"{n} {kind.value}{'' if n == 1 else 's'}"
