"""The findings in plain sentences, made from the numbers and never stronger than they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.agreement.pairing import PairKind
from analysis.bundle.words import RaterKind, Status
from analysis.figures import RaterName, rater_names
from analysis.results import Results

KIND_WORDS = {RaterKind.READER: "reader", RaterKind.MODEL: "model"}
PAIR_WORDS = {
    PairKind.READERS: "Between readers",
    PairKind.MIXED: "Between readers and models",
    PairKind.MODELS: "Between models",
}


def findings(results: Results) -> list[str]:
    """Say what was found.

    Parameters
    ----------
    results : Results
        The run.

    Returns
    -------
    list of str
        Sentences as text: who answered what, accuracy, agreement, what is missing, what the
        numbers do not say.
    """
    sentences = [_design(results), *_missing(results)]
    for condition in sorted(results.tables["accuracy"]["condition"].unique()):
        sentences += _accuracy(results, condition)
    for condition in sorted(results.tables["agreement_pairs"]["condition"].unique()):
        sentences += _agreement(results, condition)
    return [*sentences, *_order(results), *_limits(results)]


def _design(results: Results) -> str:
    accuracy, items = results.tables["accuracy"], results.bundle.items
    counts = accuracy.groupby("rater_kind")["rater_id"].nunique()
    who = " and ".join(
        _count(int(counts[kind]), KIND_WORDS[kind]) for kind in RaterKind if kind in counts
    )
    judged = int((items["truth"] != "").sum())
    if judged == 0:
        reference = "no item has a reference standard, so that accuracy is undefined and no item"
        reference += " counts as assigned"
    else:
        reference = f"{_count(judged, 'of them has', 'of them have')} a reference standard"
    clusters = ""
    if results.clustered:
        clusters = f" The items belong to {_count(results.n_clusters, 'patient')}"
        clusters += " (examinations where no patient is given)."
    return f"{who} answered {_count(len(items), 'item')}; {reference}.{clusters}"


def _missing(results: Results) -> list[str]:
    table = results.tables["missing"]
    lacking = table["n_assigned"] - table["n_answered"]
    if not table["n_assigned"].sum():
        return []
    if not lacking.sum():
        return ["Every assigned item was answered by every rater."]
    kinds = [
        f"{int(table[f'n_{status}'].sum())} {status.value.replace('_', ' ')}"
        for status in Status
        if status is not Status.ANSWERED and table[f"n_{status}"].sum()
    ]
    total = int(table["n_assigned"].sum())
    return [
        f"{int(lacking.sum())} of {total} assigned readings have no answer ({', '.join(kinds)});"
        " they count as wrong."
    ]


def _accuracy(results: Results, condition: str) -> list[str]:
    accuracy = results.tables["accuracy"]
    overall = (accuracy["by"] == "overall") & (accuracy["group"] == "micro")
    here = overall & (accuracy["condition"] == condition)
    rows = accuracy.loc[here & accuracy["accuracy"].notna()]
    names, sentences = rater_names(results.bundle), []
    for kind in RaterKind:
        part = rows.loc[rows["rater_kind"] == kind].sort_values(
            ["accuracy", "rater_id"], ascending=[False, True]
        )
        if not len(part):
            continue
        best, worst = part.iloc[0].to_dict(), part.iloc[-1].to_dict()
        under = f" under {condition}" if condition else ""
        if len(part) == 1:
            sentences.append(f"Accuracy of the one {KIND_WORDS[kind]}{under}: {_one(best, names)}.")
        elif best["n_correct"] == worst["n_correct"]:
            sentences.append(
                f"The {len(part)} {KIND_WORDS[kind]}s{under} have the same accuracy, as"
                f" {_one(best, names)}."
            )
        else:
            sentences.append(
                f"Accuracy of the {len(part)} {KIND_WORDS[kind]}s{under}: highest"
                f" {_one(best, names)}, lowest {_one(worst, names)}."
            )
    return sentences


def _one(row: Mapping[Any, Any], names: Mapping[str, RaterName]) -> str:
    value, low, high = (100 * row[c] for c in ("accuracy", "ci_low", "ci_high"))
    name = names[str(row["rater_id"])].in_sentence
    return f"{name}, {value:.1f} % [{low:.1f} to {high:.1f}; {row['n_correct']} of {row['n']}]"


def _agreement(results: Results, condition: str) -> list[str]:
    pairs = results.tables["agreement_pairs"]
    rows = pairs.loc[
        (pairs["scope"] == "all")
        & (pairs["measure"] == "brennan_prediger")
        & (pairs["condition"] == condition)
    ]
    names, sentences = rater_names(results.bundle), []
    for kind in PairKind:
        part = rows.loc[(rows["pair_kind"] == kind) & rows["estimate"].notna()]
        if not len(part):
            continue
        under = f" under {condition}" if condition else ""
        opening = f"{PAIR_WORDS[kind]}{under}, agreement beyond guessing (Brennan-Prediger)"
        if len(part) == 1:
            sentences.append(f"{opening} is {_pair(part.iloc[0].to_dict(), names)}.")
            continue
        ordered = part.sort_values("estimate", kind="stable")
        lowest, highest = ordered.iloc[0].to_dict(), ordered.iloc[-1].to_dict()
        sentences.append(
            f"{opening} over {len(part)} pairs has the median"
            f" {float(np.median(part['estimate'])):.2f}; lowest {_pair(lowest, names)},"
            f" highest {_pair(highest, names)}."
        )
    return sentences


def _pair(row: Mapping[Any, Any], names: Mapping[str, RaterName]) -> str:
    a, b = (names[str(row[key])].in_sentence for key in ("rater_a", "rater_b"))
    estimate, low, high = (row[c] for c in ("estimate", "ci_low", "ci_high"))
    # At full agreement the formulas give an interval without width, which would claim certainty.
    empty = np.isnan(low) or low == high
    interval = "no informative interval" if empty else f"{low:.2f} to {high:.2f}"
    return f"{estimate:.2f} [{interval}] ({a} and {b}, n = {row['n']})"


def _order(results: Results) -> list[str]:
    accuracy = results.tables["accuracy"]
    overall = accuracy.loc[accuracy["by"] == "overall"]
    wide = overall.pivot(index=["rater_id", "condition"], columns="group", values="accuracy")
    wide = wide.dropna().round(12)
    if len(wide) < 2 or (wide["micro"].rank() == wide["macro"].rank()).all():
        return []
    return [
        "The order of the raters is not the same by micro (every item weighs the same) and by macro"
        " accuracy (every task weighs the same): a ranking must name which it uses."
    ]


def _limits(results: Results) -> list[str]:
    if not results.tables["accuracy"]["accuracy"].notna().any():
        return []
    return [
        f"Brackets hold {results.options.confidence_percent} % intervals, those of accuracy by"
        " Wilson. Each describes one rater, or one pair, alone. Whether two raters differ needs a"
        " paired comparison on the same items, which overlapping or separate intervals do not"
        " replace."
    ]


def _count(n: int, word: str, plural: str | None = None) -> str:
    return f"{n:,} {word}" if n == 1 else f"{n:,} {plural or word + 's'}"
