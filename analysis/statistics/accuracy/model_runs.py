"""What running a model again changes, and what it was shown.

`model_runs.csv`, `model_conditions.csv`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle, RaterKind, Status
from analysis.options import Options
from analysis.readings.clusters import cluster_codes
from analysis.readings.matrix import NO_LETTER
from analysis.statistics.accuracy.means import mean_over_items
from analysis.statistics.agreement.pairs.pairing import pairs_of
from analysis.statistics.columns import COLUMNS
from analysis.statistics.comparison.by_task import OF_A_PAIR, by_task, groups_of
from analysis.statistics.study import Study, study_of

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
