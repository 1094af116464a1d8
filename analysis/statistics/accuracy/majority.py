"""The majority vote of the readers as a rater: the table `majority_vote.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.arrays import Codes, Floats, Ints
from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    difference_cells,
    percent_with_range,
    rater_name,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, rows_of
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.accuracy.means import mean_over_items
from analysis.statistics.mrmc.conditions import columns_of_readers
from analysis.statistics.mrmc.panel import panels_of
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t

FEWEST_READERS = 3
NO_ITEM = "no item with a reference standard was given to all readers"


def has_majority(study: Study) -> bool:
    """Return whether at least three readers read under the same condition."""
    return any(len(c) >= FEWEST_READERS for c in columns_of_readers(study.matrix).values())


def majority_vote(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate the accuracy of the readers' majority vote, and its difference from each model.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `MAJORITY_VOTE`: for each condition with at least three readers, a row with
        an empty `model_id`, then a row for each model. Proportions are from 0 to 1. `difference` is
        the model minus the vote or, if `model_id` is empty, the vote minus the mean of the readers.

    Notes
    -----
    The vote is the answer that most readers gave. Readers without an answer do not vote; on an item
    without answers, the vote is incorrect. If k answers tie for the most votes, each of them counts
    1/k, which is the mean over all ways to break the tie. The items are those presented to all
    readers; if these are fewer than 80 % of the items, the rows are undefined. Intervals use t over
    patients (`mean_over_items`).

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = majority_vote(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("pqrs"), "truth": list("AAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(["R1", "R2", "R3"], 4), "item_id": list("pqrs") * 3,
    ...         "answer": ["A", "A", "B", "", "A", "B", "B", "", "A", "C", "A", ""],
    ...     }),
    ... ))
    >>> table[["n", "n_tied", "vote", "difference"]].round(3).values.tolist()
    [[4.0, 1.0, 0.333, -0.083]]
    """
    study = study_of(study, options)
    matrix = study.matrix
    models: dict[str, dict[str, int]] = {}
    for panel in panels_of(matrix):
        models.setdefault(panel.condition, {})[panel.model_id] = panel.model
    rows = [
        row
        for condition, readers in sorted(columns_of_readers(matrix).items())
        if len(readers) >= FEWEST_READERS
        for row in _vote_rows(
            study, condition, np.array([*readers.values()]), models.get(condition, {})
        )
    ]
    return pd.DataFrame(rows, columns=MAJORITY_VOTE.header)


def _vote_rows(
    study: Study, condition: str, readers: Ints, models: dict[str, int]
) -> Iterator[dict[str, Any]]:
    matrix, alpha = study.matrix, study.options.alpha
    for model_id, columns in (
        ("", readers),
        *((name, np.append(readers, column)) for name, column in models.items()),
    ):
        items = shared_by_panel(matrix, columns)
        is_used = items.items if not items.reason else np.zeros_like(items.items)
        share, is_tied = vote_credit(matrix.answers[is_used][:, readers], matrix.truth[is_used])
        correct = matrix.correct[is_used].astype(np.float64)
        mean = correct[:, readers].mean(axis=1)
        difference = correct[:, models[model_id]] - share if model_id else share - mean
        clusters, no_items_reason = matrix.clusters[is_used], items.reason or NO_ITEM
        vote = mean_over_items(share, clusters, alpha, no_items_reason=no_items_reason)
        mean_difference = mean_over_items(
            difference, clusters, alpha, no_items_reason=no_items_reason, limits=(-1.0, 1.0)
        )
        yield {
            "condition": condition,
            "model_id": model_id,
            "n_readers": len(readers),
            "n": int(is_used.sum()),
            "n_tied": int(is_tied.sum()),
            "vote": vote["estimate"],
            "vote_low": vote["ci_low"],
            "vote_high": vote["ci_high"],
            "difference": mean_difference["estimate"],
            "ci_low": mean_difference["ci_low"],
            "ci_high": mean_difference["ci_high"],
            "method": mean_difference["method"],
            "note": items.note,
            "undefined_because": mean_difference["undefined_because"],
        }


def vote_credit(answers: Codes, truth: Codes) -> tuple[Floats, Floats]:
    """Return the credit of the most frequent answer, and whether it is tied.

    Parameters
    ----------
    answers : numpy.ndarray of int8, shape (n_items, n_readers)
        0 for A, 1 for B and so on; -1 for no answer.
    truth : numpy.ndarray of int8, shape (n_items,)
        The reference standard.

    Returns
    -------
    credit, is_tied : numpy.ndarray of float, shape (n_items,)
        The credit is 1/k if the truth is among the k answers with the most votes, otherwise 0;
        `is_tied` is 1 if k is above 1.

    Examples
    --------
    >>> answers = np.array([[0, 0, 1], [0, 1, -1], [-1, -1, -1]], dtype=np.int8)
    >>> credit, is_tied = vote_credit(answers, np.zeros(3, dtype=np.int8))
    >>> credit.tolist(), is_tied.tolist()
    ([1.0, 0.5, 0.0], [0.0, 1.0, 0.0])
    """
    n_letters = max(int(answers.max(initial=0)), int(truth.max(initial=0))) + 1
    votes = np.stack([(answers == letter).sum(axis=1) for letter in range(n_letters)], axis=1)
    most_votes = votes.max(axis=1)
    winners = (votes == most_votes[:, None]) & (most_votes > 0)[:, None]
    n_winners = winners.sum(axis=1)
    is_correct = winners[np.arange(len(truth)), truth]
    credit = np.where(is_correct, 1.0 / np.maximum(n_winners, 1), 0.0)
    return credit, (n_winners > 1).astype(np.float64)


def majority_table(results: Results) -> Iterator[ReportTable]:
    """Show the majority vote, and its difference from each model."""
    names = rater_names(results.bundle)
    rows = rows_of(results, "majority_vote")
    yield report_table(
        name="majority-vote",
        title=t("Majority vote of the readers"),
        note=t(
            "The answer that most readers gave; tied answers count in equal parts. Difference:"
            " model minus vote; in the row of the vote, vote minus the mean of the readers."
        ),
        header=(
            t("Compared"),
            t("Condition"),
            t("Readers"),
            t("Items"),
            t("Tied"),
            t("Vote %"),
            t("Difference"),
            t("CI"),
        ),
        rows=[
            (
                (
                    rater_name(names, str(row["model_id"]))
                    if row["model_id"]
                    else row_label(t("Vote")),
                ),
                _row_cells(row),
            )
            for row in rows
        ],
    )


def _row_cells(row: Row) -> tuple[str, ...]:
    return (
        condition_cell(str(row["condition"])),
        whole_number(cell_number(row, "n_readers")),
        whole_number(cell_number(row, "n")),
        whole_number(cell_number(row, "n_tied")),
        percent_with_range(row, "vote", "vote_low", "vote_high"),
        *difference_cells(row, 100),
    )


MAJORITY_VOTE = Statistic(
    name="majority_vote",
    meaning="The readers' majority vote, by itself or against a model.",
    columns=(
        *shared_columns("condition"),
        Column("model_id", "Model; empty for the vote against the mean of the readers."),
        *shared_columns("n_readers n"),
        Column("n_tied", "Items where several answers have the most votes.", "count"),
        Column("vote", "Accuracy of the vote.", "proportion"),
        Column("vote_low", "Lower limit of the interval of `vote`.", "proportion"),
        Column("vote_high", "Upper limit of the interval of `vote`.", "proportion"),
        Column("difference", "Model minus vote, or vote minus mean of the readers.", "proportion"),
        *shared_columns("ci_low ci_high method note undefined_because"),
    ),
    compute=majority_vote,
    applies=has_majority,
    methods={
        595: Method(
            "Majority vote of the readers",
            "The readers' majority vote is treated as a further rater; tied answers count in equal"
            " parts, and intervals are t over patients.",
        )
    },
    tables={24: majority_table},
)
