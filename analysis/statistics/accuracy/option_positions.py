"""Raters' preference for positions of options: the table `option_positions.csv`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Codes, Ints
from analysis.bundle.model import LETTERS, Bundle
from analysis.figures.drawing.axes import rater_names, rows_in_condition
from analysis.figures.robustness import differences_chart
from analysis.options import Options
from analysis.presentation.captions import answer_range, interval_methods
from analysis.presentation.table import (
    EMPTY_CELL,
    ReportTable,
    condition_cell,
    percent_with_range,
    rater_name,
    report_table,
)
from analysis.presentation.wording import Row, cell_number, join_sentences, rows_of
from analysis.readings.clusters import (
    ratio,
)
from analysis.readings.matrix import (
    NO_LETTER,
    READING_KEY,
    ReadingMatrix,
    cells_of,
    first_readings,
)
from analysis.results import Results
from analysis.statistics.accuracy.means import mean_over_items, wilson_interval
from analysis.statistics.statistic import Column, Figure, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import localised, t


def option_positions(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Compare how often each position of options is chosen with how often it is correct.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `shown_order` is the order in which a reading's options were shown, by
        default the item's order.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `OPTION_POSITIONS`. One row per rater, condition and position (from 1) that
        occurs in an answered item; readers first.

    Notes
    -----
    `n` is the number of a rater's answers to items with a reference standard, a known number of
    options and an option at the position. `n_chosen` is the number of answers at the position, and
    `n_reference` the number of correct options at it. Answers whose `shown_order` is not an order
    of the item's letters are omitted. `difference` is `n_chosen` minus `n_reference` as a share of
    `n`, which is above 0 if a rater chooses the position too often. It is a mean over items, with t
    over patients if they have several items, otherwise over items. `accuracy` is the share of
    correct answers among `n_reference`, with Wilson's interval; it does not depend on the position
    if a rater ignores the order of options.

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
    places = _shown_positions(study.bundle, matrix)
    positions = (
        position
        for column in range(len(matrix.columns))
        for position in _answers_by_position(matrix, places, column)
    )
    rows = []
    for key, chosen, reference, clusters, is_correct in positions:
        values = chosen.astype(np.float64) - reference
        mean = mean_over_items(values, clusters, alpha, no_items_reason="", limits=(-1.0, 1.0))
        n_reference, n_correct = reference.sum(), float((reference & is_correct).sum())
        total = np.array([float(n_reference)])
        low, high = wilson_interval(np.array([n_correct]), total, alpha)
        reason = [str(mean["undefined_because"])] if mean["undefined_because"] else []
        rows.append(
            {
                **key,
                "n": len(values),
                "n_chosen": int(chosen.sum()),
                "n_reference": int(n_reference),
                "difference": mean["estimate"],
                "ci_low": mean["ci_low"],
                "ci_high": mean["ci_high"],
                "method": mean["method"],
                "n_correct": int(n_correct),
                "accuracy": ratio(np.array([n_correct]), total)[0],
                "accuracy_low": low[0],
                "accuracy_high": high[0],
                "undefined_because": "; ".join(
                    reason + ([] if n_reference else [NO_REFERENCE_AT_POSITION])
                ),
            }
        )
    return pd.DataFrame(rows, columns=OPTION_POSITIONS.header)


NO_REFERENCE_AT_POSITION = "accuracy: the reference standard never has this position"


def _shown_positions(bundle: Bundle, matrix: ReadingMatrix) -> Codes:
    """Return the position at which each letter was shown, from 0; -1 if unknown.

    The shape is (n_items, n_columns, 26).
    """
    first_read = first_readings(bundle.readings[[*READING_KEY, "repeat", "shown_order"]])
    orders = first_read["shown_order"].str.strip().str.upper().to_numpy(dtype=object)
    item, column = cells_of(first_read, matrix.item_ids, matrix.columns)
    item_order = np.arange(len(LETTERS), dtype=np.int8)
    places = np.tile(item_order, (*matrix.answers.shape, 1))
    for order in set(orders) - {""}:
        chosen = orders == order
        positions_of_letters = np.full(len(LETTERS), NO_LETTER, dtype=np.int8)
        if sorted(order) == list(LETTERS[: len(order)]):
            positions_of_letters[[LETTERS.index(letter) for letter in order]] = item_order[
                : len(order)
            ]
        places[item[chosen], column[chosen]] = positions_of_letters
    return places


def _answers_by_position(
    matrix: ReadingMatrix, places: Codes, column: int
) -> Iterator[tuple[dict[str, object], Bools, Bools, Ints, Bools]]:
    """Yield the cells of a row for each position, and four arrays with one element per answer.

    The arrays are: whether the answer is at the position, whether the reference standard is at it,
    the cluster, and whether the answer is correct.
    """
    answered = matrix.is_counted[:, column] & (matrix.answers[:, column] != NO_LETTER)
    items = np.flatnonzero(answered & (matrix.n_options > 0))
    chosen = places[items, column, matrix.answers[items, column]]
    truth = places[items, column, matrix.truth[items]]
    known = (chosen != NO_LETTER) & (truth != NO_LETTER)
    items, chosen, truth = items[known], chosen[known], truth[known]
    offered = matrix.n_options[items]
    reads = matrix.columns[column]
    for place in range(int(offered.max(initial=0))):
        has_position = offered > place
        key: dict[str, object] = {
            "rater_id": reads.rater_id,
            "rater_kind": reads.kind.value,
            "condition": reads.condition,
            "place": place + 1,
        }
        yield (
            key,
            chosen[has_position] == place,
            truth[has_position] == place,
            matrix.clusters[items][has_position],
            matrix.correct[items, column][has_position],
        )


_MOST_POSITIONS = 6


def positions_table(results: Results) -> Iterator[ReportTable]:
    """Show raters' preference for positions of options."""
    names = rater_names(results.bundle)
    rows = [row for row in rows_of(results, "option_positions") if _is_in_report(row)]
    by_rater: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        key = (str(row["rater_id"]), str(row["condition"]))
        by_rater.setdefault(key, {})[int(cell_number(row, "place"))] = row
    places = sorted({int(cell_number(row, "place")) for row in rows})
    yield report_table(
        name="option-positions",
        title=t("Position of the option chosen"),
        note=t(
            "How much more often the option at each position, as shown, was chosen than it was"
            " correct: points of the answers, with CI. Above 0 where a rater prefers the"
            " position. Accuracy by position is in the file."
        ),
        header=(t("Rater"), t("Condition"), *(t("Option {n}", n=place) for place in places)),
        rows=[
            (
                (rater_name(names, rater),),
                (
                    condition_cell(condition),
                    *(_difference_cell(row_by_position.get(place)) for place in places),
                ),
            )
            for (rater, condition), row_by_position in by_rater.items()
        ],
    )


def _is_in_report(row: Row) -> bool:
    return cell_number(row, "place") <= _MOST_POSITIONS


def _difference_cell(row: Row | None) -> str:
    return percent_with_range(row, "difference") if row else EMPTY_CELL


def positions_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show how much more often each position is chosen than it is correct."""
    rows = rows_in_condition(results.tables["option_positions"], condition)
    rows = rows.loc[rows["place"] <= _MOST_POSITIONS]
    rows = rows.assign(panel=rows["place"].map(lambda place: t("Option {n}", n=int(place))))
    percent = results.options.confidence_percent
    yield Figure(
        "robustness",
        "option-places",
        t("Position of the option chosen"),
        _positions_caption(rows, percent) if len(rows) else "",
        differences_chart(
            rows, axis_title=t("Chosen minus correct, points"), names=rater_names(results.bundle)
        ),
    )


def _positions_caption(rows: pd.DataFrame, percent: str) -> str:
    """Describe the figure of the positions of options."""
    return join_sentences(
        [
            t(
                "How much more often the option at each position, as shown, was chosen than it was"
                " correct, in points of {answers}, with {percent} % intervals ({methods}).",
                answers=answer_range(rows["n"]),
                percent=localised(percent),
                methods=interval_methods(rows),
            ),
            t("To the right of 0 a rater chooses the position too often."),
        ]
    )


OPTION_POSITIONS = Statistic(
    name="option_positions",
    meaning="How often a rater chooses the option at one position.",
    columns=(
        *shared_columns("rater_id rater_kind condition"),
        Column("place", "Position among the options as shown, from 1.", "number"),
        *shared_columns("n"),
        Column("n_chosen", "Answers at this position.", "count"),
        Column("n_reference", "Reference answers at this position.", "count"),
        Column("difference", "Share chosen minus share correct.", "proportion"),
        *shared_columns("ci_low ci_high method"),
        Column(
            "n_correct",
            "Correct answers among the items whose reference answer is at this position.",
            "count",
        ),
        Column("accuracy", "Share of these items that were answered correctly.", "proportion"),
        Column("accuracy_low", "Lower limit of the interval of `accuracy`.", "proportion"),
        Column("accuracy_high", "Upper limit of the interval of `accuracy`.", "proportion"),
        *shared_columns("undefined_because"),
    ),
    compute=option_positions,
    tables={210: positions_table},
    figures={100: positions_figure},
)
