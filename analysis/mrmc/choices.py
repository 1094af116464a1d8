"""Models against readers under every other way of counting: the table `sensitivity_panel.csv`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats
from analysis.bundle.model import Bundle
from analysis.circumstances import marked
from analysis.clusters import sums_by_cluster
from analysis.matrix import NO_LETTER, ReadingMatrix, reading_matrix
from analysis.mrmc.claims import NEGATIVE_COVARIANCE, Claim, below, inference_cells, joined
from analysis.mrmc.figures_of_merit import Metric
from analysis.mrmc.merits import Merits, differences, without_covariance
from analysis.mrmc.panel import METHODS, Panel, panels_of
from analysis.mrmc.percent_correct import no_covariance, percent_correct
from analysis.mrmc.single_treatment import single_treatment
from analysis.options import Options

COLUMNS = (
    "analysis",
    "model_id",
    "condition",
    "metric",
    "claim",
    "n_readers",
    "n_items",
    "difference",
    "se",
    "df",
    "ci_low",
    "ci_high",
    "p",
    "method",
    "note",
    "undefined_because",
)
NO_TASK = "no item with a reference standard names its task"
COMPLETE = "items that every rater of the row answered"
UNFLAGGED = "items where no reading of the row is flagged"
KEPT = "items where no reading of the row was excluded"

# From a panel to its figures of merit (readers first, the model last), items and note.
Choice = Callable[[Panel], tuple[Merits, int, str]]


def sensitivity_panel(bundle: Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare every model with the readers under each other choice that could have been made.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        Columns `analysis, model_id, condition, metric, claim, n_readers, n_items, difference, se,
        df, ci_low, ci_high, p, method, note, undefined_because`; in order of analysis, then as
        `reader_panel`. Metric is accuracy throughout.

    Notes
    -----
    `missing as wrong` is the primary analysis. `missing dropped`, `flagged times dropped` and
    `excluded readings dropped` leave out an item for all raters of the row where any of them has no
    answer, a flag or an exclusion, so that the comparison stays paired. `missing as right` counts
    missing answers as correct. `macro` weighs tasks alike: the mean of the tasks' accuracies, its
    covariances by linearisation: an item of task t contributes :math:`(x_{ij} - p_{jt}) / (T n_t)
    \sqrt{C_t / (C_t - 1)}`, summed by patient, :math:`C_t` being the patients with an item of the
    task. Where a task has a single patient there is no standard error.

    See Also
    --------
    analysis.mrmc.single_treatment, analysis.reader_panel

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids, raters = list("abcdef"), ["M1", "R1", "R2"]
    >>> table = sensitivity_panel(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": list("AAAAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(raters, 6), "item_id": ids * 3,
    ...         "answer": ["A", "A", "A", "A", "A", "B", "A", "A", "B", "A", "", "A",
    ...                    "A", "B", "A", "A", "B", "B"],
    ...     }),
    ...     pd.DataFrame({"rater_id": raters, "rater_kind": ["model", "reader", "reader"]}),
    ... ))
    >>> shown = table.loc[table["claim"] == "these readers"]
    >>> for row in shown[["analysis", "n_items", "difference"]].round(3).values.tolist():
    ...     print(*row)
    missing as wrong 6 0.25
    missing dropped 5 0.1
    missing as right 6 0.167
    flagged times dropped 6 0.25
    excluded readings dropped 6 0.25
    macro 6 nan
    """
    return sensitivity_panel_table(bundle, reading_matrix(bundle), options or Options())


def sensitivity_panel_table(
    bundle: Bundle, matrix: ReadingMatrix, options: Options
) -> pd.DataFrame:
    """Return the table of `sensitivity_panel` for readings that are arranged already.

    Parameters
    ----------
    bundle : Bundle
        The checked tables, for flags and exclusions.
    matrix : ReadingMatrix
        The bundle's readings as arrays.
    options : Options
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        As `sensitivity_panel` says.
    """
    panels = panels_of(matrix)
    rows = [
        row
        for name, choice in _choices(bundle, matrix).items()
        for panel in panels
        for row in _rows(name, panel, choice(panel), options.alpha)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _choices(bundle: Bundle, matrix: ReadingMatrix) -> Mapping[str, Choice]:
    answered = matrix.answers != NO_LETTER
    correct = matrix.correct
    or_missing = matrix.assigned[:, None] & (correct | ~answered)
    nowhere = np.zeros_like(answered)
    return {
        "missing as wrong": _dropping(matrix, correct, nowhere, ""),
        "missing dropped": _dropping(matrix, correct, ~answered, COMPLETE),
        "missing as right": _dropping(matrix, or_missing, nowhere, ""),
        "flagged times dropped": _dropping(
            matrix, correct, marked(bundle, matrix, "flags"), UNFLAGGED
        ),
        "excluded readings dropped": _dropping(
            matrix, correct, marked(bundle, matrix, "excluded"), KEPT
        ),
        "macro": _macro(matrix),
    }


def _dropping(matrix: ReadingMatrix, correct: Bools, dropped: Bools, note: str) -> Choice:
    def merits(panel: Panel) -> tuple[Merits, int, str]:
        gone: Bools = np.any(dropped[:, panel.columns], axis=1)
        items = np.flatnonzero(matrix.assigned & ~gone)
        figures = percent_correct(correct[np.ix_(items, panel.columns)], matrix.clusters[items])
        return figures, len(items), note if gone[matrix.assigned].any() else ""

    return merits


def _macro(matrix: ReadingMatrix) -> Choice:
    tasks = [items[matrix.assigned[items]] for items in matrix.members("task").values()]
    tasks = [items for items in tasks if len(items)]
    items = np.sort(np.concatenate([*tasks, np.zeros(0, dtype=np.int64)]))

    def merits(panel: Panel) -> tuple[Merits, int, str]:
        correct = matrix.correct[:, panel.columns].astype(np.float64)
        if not tasks:
            nothing = np.full(len(panel.columns), np.nan)
            return without_covariance(nothing, NO_TASK), int(matrix.assigned.sum()), ""
        influence = np.zeros_like(correct)
        means = np.array([correct[members].mean(axis=0) for members in tasks])
        values = means.mean(axis=0)
        for members, mean in zip(tasks, means, strict=True):
            n_clusters = len(np.unique(matrix.clusters[members]))
            if reason := no_covariance(len(members), n_clusters):
                return without_covariance(values, f"in a task, {reason}"), len(items), ""
            scale = math.sqrt(n_clusters / (n_clusters - 1)) / (len(tasks) * len(members))
            influence[members] = (correct[members] - mean) * scale
        sums, _ = sums_by_cluster(influence[items], matrix.clusters[items])
        covariance: Floats = sums.T @ sums
        return Merits(values=values, covariance=covariance), len(items), ""

    return merits


def _rows(
    name: str, panel: Panel, found: tuple[Merits, int, str], alpha: float
) -> Iterator[dict[str, object]]:
    merits, n_items, note = found
    n_readers = len(panel.readers)
    model = np.full(n_readers, n_readers)
    result = single_treatment(differences(merits, model, np.arange(n_readers)), alpha)
    fixed, random = result.fixed_readers, result.random_readers
    negative = NEGATIVE_COVARIANCE if result.cov2 < 0 else ""
    no_value = merits.no_covariance if np.isnan(merits.values).any() else ""
    for claim, one, about in (
        (Claim.THESE_READERS, fixed, ""),
        (Claim.READERS_LIKE_THESE, random, below(random, fixed)),
    ):
        yield {
            "analysis": name,
            "model_id": panel.model_id,
            "condition": panel.condition,
            "metric": Metric.ACCURACY.value,
            "n_readers": result.n_readers,
            "n_items": n_items,
            **inference_cells(one, claim, no_value),
            "method": METHODS[claim],
            "note": joined([about, negative, note]),
        }
