"""What running a model again changes, and what it was shown: `model_runs.csv` and beside it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle, RaterKind, Status
from analysis.options import Options
from analysis.readings.clusters import cluster_codes
from analysis.statistics.comparison.pairs import comparisons
from analysis.statistics.study import Study, study_of

RUN_COLUMNS = (
    "model_id",
    "condition",
    "measure",
    "n_runs",
    "n_items",
    "estimate",
    "se",
    "ci_low",
    "ci_high",
    "method",
    "undefined_because",
)
CONDITION_COLUMNS = (
    "model_id",
    "condition_a",
    "condition_b",
    "n",
    "accuracy_a",
    "accuracy_b",
    "difference",
    "ci_low",
    "ci_high",
    "ci_method",
    "cluster_ci_low",
    "cluster_ci_high",
    "only_a_correct",
    "only_b_correct",
    "p_exact",
    "p_mid",
    "undefined_because",
)
RAW, MEAN, VARIANCE = ("raw_agreement", "mean_accuracy", "run_variance")
_SIDES = ("a", "b")


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
    return pd.DataFrame(rows, columns=list(RUN_COLUMNS))


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
    names, places = np.unique(clusters, return_inverse=True)
    n, k = len(values), len(names)
    nothing = dict.fromkeys(("estimate", "se", "ci_low", "ci_high"), np.nan)
    whom = "items" if k == n else "patients"
    method = f"mean over items, t over {whom}"
    if not n:
        return nothing | {
            "method": method,
            "undefined_because": "no item has an answer of two runs",
        }
    mean = float(values.mean())
    found: dict[str, object] = nothing | {"estimate": mean / scale, "method": method}
    residuals = np.bincount(places, weights=values - mean)
    if k < 2 or not residuals.any():
        why = "a single cluster" if k < 2 else "every item has the same value"
        return found | {"undefined_because": f"standard error and interval: {why}"}
    se = float(np.sqrt(k / (k - 1) * (residuals**2).sum()) / n)
    reach = float(stats.t.ppf(1 - alpha / 2, k - 1)) * se
    highest = np.inf if scale > 1 else 1.0
    return found | {
        "se": se / scale,
        "ci_low": max(mean - reach, 0.0) / scale,
        "ci_high": min(mean + reach, highest) / scale,
        "undefined_because": "",
    }


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
        Columns as of `comparisons`, with `condition_a` for the standing answers and `condition_b`
        for the others; one row a model and condition that no reader had. Over the items with a
        reading under both; an answer that is none is wrong.

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
    >>> table[["condition_b", "n", "accuracy_a", "accuracy_b", "difference"]].values.tolist()
    [['image-absent', 4, 1.0, 0.5, 0.5]]
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
            items = set(mine["item_id"]) & set(other["item_id"])
            sides = [
                part.loc[part["item_id"].isin(items)].assign(rater_id=side, condition="")
                for side, part in zip(_SIDES, (mine, other), strict=True)
            ]
            rater = bundle.raters.loc[bundle.raters["rater_id"] == model]
            raters = pd.concat([rater.assign(rater_id=side) for side in _SIDES])
            both = Bundle(
                items=bundle.items.loc[bundle.items["item_id"].isin(items)],
                raters=raters,
                readings=pd.concat(sides),
            )
            if len(items):
                row = comparisons(Study(both, study.options)).assign(
                    model_id=model, condition_a=mine["condition"].iloc[0], condition_b=condition
                )
                parts.append(row[list(CONDITION_COLUMNS)])
    return pd.concat(parts) if parts else pd.DataFrame(columns=list(CONDITION_COLUMNS))
