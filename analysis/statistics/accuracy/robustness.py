"""What accuracy rests on: bank, place among the options, way of counting, run and input of a model.

`banks.csv`, `option_positions.csv`, `sensitivity.csv`, `model_runs.csv`, `model_conditions.csv`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Codes, Floats, Ints
from analysis.bundle.model import LETTERS, Bundle, RaterKind, Status
from analysis.options import Options
from analysis.readings.circumstances import faulty_items, marked
from analysis.readings.clusters import (
    PERCENTILE,
    WIDENED,
    cluster_codes,
    is_widened,
    percentile_limits,
    ratio,
    too_few,
)
from analysis.readings.matrix import (
    NO_LETTER,
    UNIT,
    ReadingMatrix,
    cells_of,
    first_readings,
    reading_matrix,
)
from analysis.readings.open_answers import read_by_rules
from analysis.statistics.accuracy.accuracy import FEW_RESAMPLES, NOT_GIVEN, resampled_accuracy
from analysis.statistics.accuracy.means import mean_over_items, mover_difference, wilson_interval
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.comparison.pairs import OF_A_PAIR, by_task, groups_of
from analysis.statistics.study import COLUMNS, Study, study_of
from analysis.translation import later

MOVER = later("MOVER over the banks' Wilson limits")
NONE_IN_ONE = f"of one of the banks, {NOT_GIVEN}"


def has_banks(study: Study) -> bool:
    """Return whether items of more than one bank were drawn."""
    return len(study.matrix.members("bank")) > 1


def banks(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the difference of every rater's accuracy between two banks, overall and by task.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; items of several banks name theirs in `bank`.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_id, rater_kind, condition, by, group, bank, other_bank, n, n_other,
        accuracy, accuracy_other, difference, ci_low, ci_high, method, undefined_because`.
        Proportions 0 to 1, `difference` from -1 to 1. One row a rater, condition, group and pair
        of banks, in order of their names; none where there is one bank.

    Notes
    -----
    `difference` is `accuracy` of `bank` minus `accuracy_other` of `other_bank`, on what counts for
    the rater (see `accuracy`): two sets of different items, so it is not paired. Where every item
    is a patient of its own the interval is MOVER over the two Wilson limits [1]_, which is
    Newcombe's hybrid score interval; where some patient has several items, the percentile interval
    over resampled patients, of whom one may have items in both banks. Its levels go by the bank
    with fewer patients.

    References
    ----------
    .. [1] Zou GY, Huang W, Zhang X. A note on confidence interval estimation for a linear function
       of binomial proportions. Comput Stat Data Anal 2009;53:1080-1085.
       doi:10.1016/j.csda.2008.09.033

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = banks(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": "A", "bank": list("xxyy")}),
    ...     pd.DataFrame({"rater_id": "R1", "item_id": list("abcd"), "answer": list("AAAB")}),
    ... ))
    >>> table[["bank", "other_bank", "n", "n_other", "difference"]].values.tolist()
    [['x', 'y', 2, 2, 0.5]]
    """
    study = study_of(study, options)
    table = pd.DataFrame(
        list(_between_banks(study)), columns=["column", *COLUMNS["bank_differences"]]
    )
    table = table.sort_values("column", kind="stable", ignore_index=True)
    return table.drop(columns="column")


def _between_banks(study: Study) -> Iterator[dict[str, Any]]:
    matrix = study.matrix
    every = np.arange(len(matrix.truth))
    groups = [("overall", "micro", every)]
    groups += [("task", name, items) for name, items in matrix.members("task").items()]
    for by, group, items in groups:
        for (bank, one), (other_bank, other) in combinations(matrix.members("bank").items(), 2):
            named = {"by": by, "group": group, "bank": bank, "other_bank": other_bank}
            parts = (np.intersect1d(items, one), np.intersect1d(items, other))
            for column, found in enumerate(_differences(study, parts)):
                reads = matrix.columns[column]
                yield {
                    "column": column,
                    "rater_id": reads.rater_id,
                    "rater_kind": reads.kind.value,
                    "condition": reads.condition,
                    **named,
                    **found,
                }


def _differences(study: Study, parts: tuple[Ints, Ints]) -> Iterator[dict[str, Any]]:
    """Yield each column's difference between two sets of items."""
    matrix, alpha = study.matrix, study.options.alpha
    given, correct = matrix.given, matrix.correct
    n, n_correct = (
        np.array([counted[part].sum(axis=0) for part in parts], dtype=np.float64)
        for counted in (given, correct)
    )
    accuracy = ratio(n_correct, n)
    low, high = mover_difference(accuracy, *wilson_interval(n_correct, n, alpha))
    n_patients = np.min([_n_clusters(matrix, part) for part in parts], axis=0)
    clustered = study.weights is not None
    if study.weights is not None:
        one, other = (resampled_accuracy(matrix, part, study.weights) for part in parts)
        low, high, _ = percentile_limits(one - other, alpha, n_patients)
    for column in range(len(matrix.columns)):
        empty = not n[:, column].all()
        because = NONE_IN_ONE if empty else ""
        if not empty and np.isnan(low[column]):
            because = too_few(int(n_patients[column]), clustered=True) or FEW_RESAMPLES
        widened = is_widened(n_patients)[column]
        yield {
            "n": int(n[0, column]),
            "n_other": int(n[1, column]),
            "accuracy": accuracy[0, column],
            "accuracy_other": accuracy[1, column],
            "difference": accuracy[0, column] - accuracy[1, column],
            "ci_low": np.nan if empty else low[column],
            "ci_high": np.nan if empty else high[column],
            "method": (WIDENED if widened else PERCENTILE) if clustered else MOVER,
            "undefined_because": because,
        }


def _n_clusters(matrix: ReadingMatrix, items: Ints) -> Ints:
    """Return of how many patients each column was given an item."""
    given = matrix.given[items]
    return np.array(
        [len(np.unique(matrix.clusters[items][column])) for column in given.T], dtype=np.int64
    )


def option_positions(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare how often each place among the options is chosen with how often it is correct.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `shown_order` says in which order a reading's options stood, without it
        they stood in the item's own.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_id, rater_kind, condition, place, n, n_chosen, n_reference, difference,
        ci_low, ci_high, method, n_correct, accuracy, accuracy_low, accuracy_high,
        undefined_because`. One row a rater, condition and place, from 1, that some answered item
        has; readers first.

    Notes
    -----
    Over a rater's answers to items with a reference standard and a known number of options, `n` of
    which have an option at that place: `n_chosen` were it, `n_reference` should have been. An
    answer whose `shown_order` is no order of the item's letters does not count.
    `difference` is the first less the second as a share of `n`: above 0 where a rater prefers the
    place whatever the image shows. It is a mean over items, t over clusters, patients where they
    cluster. `accuracy`: of the `n_reference`, how many were answered correctly, with Wilson's
    interval; a model that is robust against the order of options has the same everywhere.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = option_positions(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": "M", "item_id": list("wxyz"), "answer": list("AAAB"),
    ...         "shown_order": ["AB", "AB", "AB", "BA"],
    ...     }),
    ... ))
    >>> for row in table[["place", "n_chosen", "n_reference", "difference", "accuracy"]].values:
    ...     print(*row)
    1.0 4.0 3.0 0.25 1.0
    2.0 0.0 1.0 -0.25 0.0
    """
    study = study_of(study, options)
    matrix, alpha = study.matrix, study.options.alpha
    places = _places(study.bundle, matrix)
    rows = [
        row for column in range(len(matrix.columns)) for row in _by_place(matrix, places, column)
    ]
    found = []
    for about, chosen, reference, clusters, right in rows:
        values = chosen.astype(np.float64) - reference
        mean = mean_over_items(values, clusters, alpha, nothing="", limits=(-1.0, 1.0))
        n_reference, n_correct = reference.sum(), float((reference & right).sum())
        of = np.array([float(n_reference)])
        low, high = wilson_interval(np.array([n_correct]), of, alpha)
        because = [str(mean["undefined_because"])] if mean["undefined_because"] else []
        found.append(
            {
                **about,
                "n": len(values),
                "n_chosen": int(chosen.sum()),
                "n_reference": int(n_reference),
                "difference": mean["estimate"],
                "ci_low": mean["ci_low"],
                "ci_high": mean["ci_high"],
                "method": mean["method"],
                "n_correct": int(n_correct),
                "accuracy": ratio(np.array([n_correct]), of)[0],
                "accuracy_low": low[0],
                "accuracy_high": high[0],
                "undefined_because": "; ".join(because + ([] if n_reference else [NEVER_THERE])),
            }
        )
    return pd.DataFrame(found, columns=COLUMNS["option_positions"])


NEVER_THERE = "accuracy: the reference standard never stands there"


def _places(bundle: Bundle, matrix: ReadingMatrix) -> Codes:
    """Return at which place each letter of each answer was shown, from 0; -1 where not known.

    Shape (n_items, n_columns, 26).
    """
    shown = first_readings(bundle.readings[[*UNIT, "repeat", "shown_order"]])
    orders = shown["shown_order"].str.strip().str.upper().to_numpy(dtype=object)
    item, column = cells_of(shown, matrix.item_ids, matrix.columns)
    own = np.arange(len(LETTERS), dtype=np.int8)
    places = np.tile(own, (*matrix.answers.shape, 1))
    for order in set(orders) - {""}:
        those = orders == order
        at = np.full(len(LETTERS), NO_LETTER, dtype=np.int8)
        if sorted(order) == list(LETTERS[: len(order)]):
            at[[LETTERS.index(letter) for letter in order]] = own[: len(order)]
        places[item[those], column[those]] = at
    return places


def _by_place(
    matrix: ReadingMatrix, places: Codes, column: int
) -> Iterator[tuple[dict[str, object], Bools, Bools, Ints, Bools]]:
    """Yield of each place: whose it is; whether it was chosen and should have been; clusters."""
    answered = matrix.given[:, column] & (matrix.answers[:, column] != NO_LETTER)
    items = np.flatnonzero(answered & (matrix.n_options > 0))
    chosen = places[items, column, matrix.answers[items, column]]
    truth = places[items, column, matrix.truth[items]]
    known = (chosen != NO_LETTER) & (truth != NO_LETTER)
    items, chosen, truth = items[known], chosen[known], truth[known]
    offered = matrix.n_options[items]
    reads = matrix.columns[column]
    for place in range(int(offered.max(initial=0))):
        there = offered > place
        about: dict[str, object] = {
            "rater_id": reads.rater_id,
            "rater_kind": reads.kind.value,
            "condition": reads.condition,
            "place": place + 1,
        }
        yield (
            about,
            chosen[there] == place,
            truth[there] == place,
            matrix.clusters[items][there],
            matrix.correct[items, column][there],
        )


def sensitivity(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate every rater's accuracy under each way of counting what is missing or doubtful.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns `analysis, rater_id, condition, n, accuracy, ci_low, ci_high`; proportions 0 to 1.
        In order of analysis; within it one row a rater and condition, readers first. Empty where
        an analysis leaves no reading.

    Notes
    -----
    What counts is, of the items with a reference standard, those that a reader was given, and all
    for a model. `missing as wrong`, the primary analysis: correct answers over these. `missing
    dropped`: over those of them that were answered. `missing as right`: an item without an answer
    is correct; the first and this one bound what the missing answers can have been. `absent as
    wrong`: a reader's items that were never presented count as well, as wrong. `flagged times
    dropped`: as the first, without the items whose reading has a flag that puts its time in doubt.
    `faulty questions dropped` and `marked questions dropped`, where there are any: as the first,
    without the items that an expert review found faulty (`Options.faulty`), or that one reader or
    more marked so.
    `model answers read by strict rules`, `standard rules`, `loose rules`, where these read any of a
    model's words otherwise than they stand: as the first, with the answers so read.
    `excluded readings dropped`, where any is excluded: as the first, without the items whose
    reading was set aside. Where the protocol has done so in the primary analysis, `excluded
    readings counted` is the other choice. Intervals are Wilson's [1]_.

    References
    ----------
    .. [1] Wilson EB. Probable inference, the law of succession, and statistical inference. J Am
       Stat Assoc 1927;22:209-212. doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = sensitivity(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("abcd"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": list("abc"), "answer": ["A", "A", ""],
    ...         "flags": ["", "too_fast", ""],
    ...     }),
    ... ))
    >>> for row in table[["analysis", "n", "accuracy"]].round(3).values.tolist():
    ...     print(*row)
    missing as wrong 3 0.667
    missing dropped 2 1.0
    missing as right 3 1.0
    absent as wrong 4 0.5
    flagged times dropped 2 0.5
    """
    study = study_of(study, options)
    bundle, matrix, options = study.bundle, study.matrix, study.options
    tables = [
        _accuracies(matrix, name, counted, correct, options.alpha)
        for name, (counted, correct) in _analyses(bundle, matrix, options.faulty).items()
    ]
    return pd.concat(tables, ignore_index=True)[COLUMNS["sensitivity"]]


def _analyses(
    bundle: Bundle, matrix: ReadingMatrix, faulty: Sequence[str]
) -> Mapping[str, tuple[Bools, Bools]]:
    """Return what counts, and what of it is correct; each of shape (n_items, n_columns)."""
    given, correct = matrix.given, matrix.correct
    answered = matrix.answers != NO_LETTER
    flagged, excluded = (marked(bundle, matrix, column) for column in ("flags", "excluded"))
    analyses = {
        later("missing as wrong"): (given, correct),
        later("missing dropped"): (given & answered, correct),
        later("missing as right"): (given, correct | ~answered),
        later("absent as wrong"): (matrix.assigned[:, None] & ~matrix.left_out, correct),
        later("flagged times dropped"): (given & ~flagged, correct),
    }
    if excluded.any():
        analyses[later("excluded readings dropped")] = (given & ~excluded, correct)
    if matrix.left_out.any():
        counting = reading_matrix(bundle, count_excluded=True)
        analyses[later("excluded readings counted")] = (counting.given, counting.correct)
    for name, gone in faulty_items(bundle, matrix, faulty).items():
        analyses[name] = (given & ~gone[:, None], correct)
    for name, again in read_by_rules(bundle).items():
        analyses[name] = (again.given, again.correct)
    return analyses


def _accuracies(
    matrix: ReadingMatrix, name: str, counted: Bools, correct: Bools, alpha: float
) -> pd.DataFrame:
    n = counted.sum(axis=0, dtype=np.int64)
    n_correct = (counted & correct).sum(axis=0).astype(np.float64)
    low, high = wilson_interval(n_correct, n.astype(np.float64), alpha)
    return pd.DataFrame(
        {
            "analysis": name,
            "rater_id": [column.rater_id for column in matrix.columns],
            "condition": [column.condition for column in matrix.columns],
            "n": n,
            "accuracy": ratio(n_correct, n.astype(np.float64)),
            "ci_low": low,
            "ci_high": high,
        }
    )


CONDITION_COLUMNS = (
    "model_id",
    "condition_a",
    "condition_b",
    *OF_A_PAIR,
    "n_both_answered",
    "same_answer",
    "same_low",
    "same_high",
)
RAW, MEAN, VARIANCE = ("raw_agreement", "mean_accuracy", "run_variance")
_SIDES = ("a", "b")
NO_TWO = "no item has an answer of two runs"


def model_runs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate how far a model's runs agree, and the variance they add to its accuracy.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `run` tells a model's runs apart.
    options : Options, optional
        Alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `model_id, condition, measure, n_runs, n_items, estimate, se, ci_low, ci_high,
        method, undefined_because`; three rows for each model and condition with several runs.

    Notes
    -----
    Over the items that every run has a reading of. `raw_agreement`: the share of pairs of runs with
    the same answer, of an item's pairs in which both answered, averaged over items.
    `mean_accuracy`: over items and runs, no answer being wrong. `run_variance`: what the chance of
    a single run adds to the variance of its accuracy: the variance of right and wrong between the
    runs of an item, averaged over items and divided by their number. Intervals are of means over
    items: t over clusters, patients where they cluster.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_runs(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": "M", "item_id": list("wxyz") * 2, "answer": list("AAAB" "AABB"),
    ...         "run": ["1"] * 4 + ["2"] * 4,
    ...     }),
    ...     pd.DataFrame({"rater_id": ["M"], "rater_kind": "model"}),
    ... ))
    >>> table[["measure", "n_runs", "n_items", "estimate"]].values.tolist()
    [['raw_agreement', 2, 4, 0.75], ['mean_accuracy', 2, 4, 0.625], ['run_variance', 2, 4, 0.03125]]
    """
    study = study_of(study, options)
    bundle, alpha = study.bundle, study.options.alpha
    readings = pd.concat([bundle.readings, bundle.aside])
    codes = dict(zip(bundle.items["item_id"], cluster_codes(bundle.items), strict=True))
    truth = dict(zip(bundle.items["item_id"], bundle.items["truth"], strict=True))
    rows: list[dict[str, object]] = []
    for model in _models(bundle):
        of = readings.loc[(readings["rater_id"] == model) & (readings["run"] != "")]
        for condition, group in of.groupby("condition", sort=True):
            answers = _by_run(group)
            if answers.shape[1] < 2:
                continue
            clusters = np.array([codes[item] for item in answers.index], dtype=np.int64)
            given = np.array([truth[item] for item in answers.index], dtype=object)
            about = {"model_id": model, "condition": condition, "n_runs": answers.shape[1]}
            for measure, values, of_clusters, scale in _measures(answers, given, clusters):
                rows.append(
                    about
                    | {"measure": measure, "n_items": len(values)}
                    | _mean(values, of_clusters, alpha, scale)
                )
    return pd.DataFrame(rows, columns=COLUMNS["model_runs"])


def _models(bundle: Bundle) -> list[str]:
    kinds = bundle.raters["rater_kind"] == RaterKind.MODEL.value
    return sorted(bundle.raters.loc[kinds, "rater_id"])


def _by_run(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the answers by item and run, empty where none was given; items that all runs have."""
    answered = readings["status"] == Status.ANSWERED.value
    answers = readings["answer"].where(answered, "")
    table = readings.assign(answer=answers).pivot(
        index="item_id", columns="repeat", values="answer"
    )
    return table.dropna()


def _measures(
    answers: pd.DataFrame, truth: np.ndarray, clusters: Ints
) -> Iterator[tuple[str, Floats, Ints, float]]:
    """Yield each measure's value by item, the items' clusters, and what its mean is divided by."""
    cells = answers.to_numpy(dtype=object)
    pairs = list(combinations(range(cells.shape[1]), 2))
    both = np.array([(cells[:, a] != "") & (cells[:, b] != "") for a, b in pairs]).sum(axis=0)
    same = np.array([(cells[:, a] == cells[:, b]) & (cells[:, a] != "") for a, b in pairs])
    said = both > 0
    yield RAW, same.sum(axis=0)[said] / both[said], clusters[said], 1.0
    judged = truth != ""
    right = (cells[judged] == truth[judged, None]).astype(np.float64)
    n = max(len(right), 1)
    yield MEAN, right.mean(axis=1), clusters[judged], 1.0
    yield VARIANCE, right.var(axis=1, ddof=1), clusters[judged], float(n)


def _mean(values: Floats, clusters: Ints, alpha: float, scale: float) -> dict[str, object]:
    """Return a mean over items, divided by `scale`; of what is a variance if that is not 1."""
    limits = (0.0, 1.0 if scale <= 1 else math.inf)
    found = mean_over_items(values, clusters, alpha, nothing=NO_TWO, limits=limits)
    return found | {name: found[name] / scale for name in ("estimate", "se", "ci_low", "ci_high")}


def model_conditions(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare a model's answers under each other condition with those that stand for it.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `model_id, condition_a, condition_b`, the standing answers' and the others'; those
        of `model_pairs` from `by` on, a minus b; and `n_both_answered, same_answer, same_low,
        same_high`: of the items answered under both, the share with the same answer, with its
        interval. One row a model, condition that no reader had, and group: overall (`micro`), then
        the tasks.

    Notes
    -----
    Over the items with a reading under both; an answer that is none is wrong. With options in
    another order `same_answer` says how often the order did not matter, for answers are compared as
    options and not as places. Its interval is of a mean over items: t over clusters, patients where
    they cluster; empty where every item has the same value.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = model_conditions(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": "A"}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R"] + ["M"] * 8, "item_id": ["w", *"wxyz", *"wxyz"],
    ...         "answer": list("A" "AAAA" "ABBA"), "condition": [""] * 5 + ["image-absent"] * 4,
    ...     }),
    ...     pd.DataFrame({"rater_id": ["R", "M"], "rater_kind": ["reader", "model"]}),
    ... ))
    >>> table[["condition_b", "n", "difference", "same_answer"]].values.tolist()
    [['image-absent', 4, 0.5, 0.5]]
    """
    study = study_of(study, options)
    bundle, parts = study.bundle, []
    for model in _models(bundle):
        own = bundle.readings.loc[bundle.readings["rater_id"] == model]
        aside = bundle.aside.loc[bundle.aside["rater_id"] == model]
        first = aside.loc[aside["repeat"] == own["repeat"].min()]
        for condition, other in first.groupby("condition", sort=True):
            if condition in set(own["condition"]):
                continue
            mine = own.loc[own["condition"] == sorted(own["condition"])[0]]
            if set(mine["item_id"]) & set(other["item_id"]):
                about = {
                    "model_id": model,
                    "condition_a": mine["condition"].iloc[0],
                    "condition_b": condition,
                }
                parts.append(_beside(bundle, mine, other, study.options).assign(**about))
    if not parts:
        return pd.DataFrame(columns=list(CONDITION_COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(CONDITION_COLUMNS)]


def _beside(
    bundle: Bundle, mine: pd.DataFrame, other: pd.DataFrame, options: Options
) -> pd.DataFrame:
    """Compare two sets of a model's readings as two raters, over the items that both have."""
    items = set(mine["item_id"]) & set(other["item_id"])
    sides = [
        part.loc[part["item_id"].isin(items)].assign(rater_id=side, condition="")
        for side, part in zip(_SIDES, (mine, other), strict=True)
    ]
    rater = bundle.raters.loc[bundle.raters["rater_id"] == mine["rater_id"].iloc[0]]
    both = Study(
        Bundle(
            items=bundle.items.loc[bundle.items["item_id"].isin(items)],
            raters=pd.concat([rater.assign(rater_id=side) for side in _SIDES]),
            readings=pd.concat(sides),
        ),
        options,
    )
    matrix = both.matrix
    table = by_task(both, pairs_of(matrix.columns)).reset_index(drop=True)
    answered = (matrix.answers != NO_LETTER).all(axis=1)
    same = (matrix.answers[:, 0] == matrix.answers[:, 1]).astype(np.float64)
    found = []
    for _, _, those in groups_of(matrix):
        counted = answered & those
        clusters = matrix.clusters[counted]
        mean = mean_over_items(same[counted], clusters, options.alpha, nothing="")
        found.append([int(counted.sum()), *(mean[c] for c in ("estimate", "ci_low", "ci_high"))])
    names = ["n_both_answered", "same_answer", "same_low", "same_high"]
    return table.join(pd.DataFrame(found, columns=names))
