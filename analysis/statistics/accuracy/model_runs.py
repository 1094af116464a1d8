"""Variation of a model's answers between runs: the table `model_runs.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle, RaterKind, Status
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    estimate_of,
    percent_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, rows_by
from analysis.readings.clusters import (
    cluster_codes,
)
from analysis.results import Results
from analysis.statistics.accuracy.means import mean_over_items
from analysis.statistics.statistic import Column, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t

RAW, MEAN, VARIANCE = ("raw_agreement", "mean_accuracy", "run_variance")
NO_PAIR_OF_RUNS = "no item has an answer of two runs"


def model_runs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate the agreement of a model's runs, and the variance that they add to its accuracy.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `run` distinguishes a model's runs.
    options : Options, optional
        Alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `MODEL_RUNS`; three rows for each model and condition with several runs.

    Notes
    -----
    Only items with a reading in every run are counted. `raw_agreement` is the share of pairs of
    runs with the same answer among the pairs in which both runs answered, averaged over items.
    `mean_accuracy` is the mean over items and runs; missing answers are incorrect. `run_variance`
    is the variance that the randomness of a single run adds to its accuracy: the variance of
    correctness between the runs of an item, averaged over items and divided by the number of items.
    Intervals are those of means over items: t over patients if they have several items, otherwise
    over items.

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
    readings = pd.concat([part.loc[part["run"] != ""] for part in (bundle.readings, bundle.aside)])
    cluster_of_item = dict(zip(bundle.items["item_id"], cluster_codes(bundle.items), strict=True))
    truth = dict(zip(bundle.items["item_id"], bundle.items["truth"], strict=True))
    rows: list[dict[str, object]] = []
    for model in model_ids(bundle):
        of_model = readings.loc[readings["rater_id"] == model]
        for condition, group in of_model.groupby("condition", sort=True):
            answers = _answers_by_run(group)
            if answers.shape[1] < 2:
                continue
            clusters = np.array([cluster_of_item[item] for item in answers.index], dtype=np.int64)
            reference = np.array([truth[item] for item in answers.index], dtype=object)
            key = {"model_id": model, "condition": condition, "n_runs": answers.shape[1]}
            for measure, values, value_clusters, divisor in _measures(answers, reference, clusters):
                rows.append(
                    key
                    | {"measure": measure, "n_items": len(values)}
                    | _mean_cells(values, value_clusters, alpha, divisor)
                )
    return pd.DataFrame(rows, columns=MODEL_RUNS.header)


def model_ids(bundle: Bundle) -> list[str]:
    """Return the models of a bundle in order of id."""
    kinds = bundle.raters["rater_kind"] == RaterKind.MODEL.value
    return sorted(bundle.raters.loc[kinds, "rater_id"])


def _answers_by_run(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the answers by item and run, for items in all runs; missing answers are empty."""
    answered = readings["status"] == Status.ANSWERED.value
    answers = readings["answer"].where(answered, "")
    table = readings.assign(answer=answers).pivot(
        index="item_id", columns="repeat", values="answer"
    )
    return table.dropna()


def _measures(
    answers: pd.DataFrame, truth: np.ndarray, clusters: Ints
) -> Iterator[tuple[str, Floats, Ints, float]]:
    """Yield each measure's values by item, the items' clusters, and the divisor of the mean."""
    cells = answers.to_numpy(dtype=object)
    pairs = list(combinations(range(cells.shape[1]), 2))
    n_both_answered = np.array([(cells[:, a] != "") & (cells[:, b] != "") for a, b in pairs]).sum(
        axis=0
    )
    is_same_answer = np.array(
        [(cells[:, a] == cells[:, b]) & (cells[:, a] != "") for a, b in pairs]
    )
    has_pair = n_both_answered > 0
    yield (
        RAW,
        is_same_answer.sum(axis=0)[has_pair] / n_both_answered[has_pair],
        clusters[has_pair],
        1.0,
    )
    has_truth = truth != ""
    is_correct = (cells[has_truth] == truth[has_truth, None]).astype(np.float64)
    n = max(len(is_correct), 1)
    yield MEAN, is_correct.mean(axis=1), clusters[has_truth], 1.0
    yield VARIANCE, is_correct.var(axis=1, ddof=1), clusters[has_truth], float(n)


def _mean_cells(values: Floats, clusters: Ints, alpha: float, divisor: float) -> dict[str, object]:
    """Return the cells of a mean over items; for variances they are divided by `divisor`."""
    limits = (0.0, 1.0 if divisor <= 1 else math.inf)
    cells = mean_over_items(values, clusters, alpha, no_items_reason=NO_PAIR_OF_RUNS, limits=limits)
    return cells | {name: cells[name] / divisor for name in ("estimate", "se", "ci_low", "ci_high")}


def runs_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of a model's runs, and the variance between them."""
    names = rater_names(results.bundle)
    of_runs = rows_by(results, "model_runs", ("model_id", "condition"), of="measure")
    runs: list[TableRow] = [
        (
            (rater_name(names, model),),
            (
                whole_number(cell_number(measures[RAW], "n_runs")),
                whole_number(cell_number(measures[MEAN], "n_items")),
                estimate_of(measures[RAW]),
                percent_cell(cell_number(measures[MEAN], "estimate")),
                percent_cell(math.sqrt(cell_number(measures[VARIANCE], "estimate"))),
            ),
        )
        for (model, _), measures in of_runs.items()
    ]
    yield report_table(
        name="model-runs",
        title=t("Runs of models"),
        note=t(
            "Over the cases in every run. The standard deviation is the variation that chance adds"
            " to the accuracy of a single run."
        ),
        header=(
            t("Model"),
            t("Runs"),
            "n",
            t("Agreement and CI"),
            t("Mean accuracy"),
            t("SD of a run"),
        ),
        rows=runs,
    )


MODEL_RUNS = Statistic(
    name="model_runs",
    meaning="Agreement or accuracy over the runs of a model, by one measure.",
    columns=(
        *shared_columns("model_id condition measure"),
        Column("n_runs", "Runs of the model.", "count"),
        *shared_columns("n_items estimate se ci_low ci_high method undefined_because"),
    ),
    compute=model_runs,
    tables={190: runs_table},
)
