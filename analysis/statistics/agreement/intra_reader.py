"""Agreement of raters with themselves: the table `intra_reader.csv`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle, PairKind
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    estimate_of,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, records
from analysis.readings.matrix import READING_KEY, ReadingMatrix, reading_matrix
from analysis.results import Results
from analysis.statistics.agreement.display import displayed_agreement, measure_words
from analysis.statistics.agreement.pairs.counts import Pair, pair_names
from analysis.statistics.agreement.pairs.measures import (
    BRENNAN_PREDIGER,
    ERROR_CONSISTENCY,
    KAPPA_LETTERS,
    NO_ITEM,
    NO_ITEM_WITH_TRUTH,
    RAW,
    Partition,
)
from analysis.statistics.agreement.pairs.table import (
    NO_SE_EQUAL_SCORES,
    NO_SE_ONE_ANSWER,
    partition_rows,
)
from analysis.statistics.statistic import Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import capitalise, t

MEASURES = (RAW, BRENNAN_PREDIGER, ERROR_CONSISTENCY, KAPPA_LETTERS)
FIRST_PREFIX, SECOND_PREFIX = ("first reading of ", "second reading of ")
# Reasons that name two raters, reworded for two readings of one rater.
REWORDED_REASONS = {
    NO_ITEM: "no item was answered twice",
    NO_ITEM_WITH_TRUTH: "no item with a reference standard was answered twice",
    "each rater gave a single answer throughout": "each time a single answer was given throughout",
    "each rater was always right or always wrong": "each time every answer was right, or wrong",
    NO_SE_ONE_ANSWER: "standard error and interval: one time a single answer was given throughout",
    NO_SE_EQUAL_SCORES: "standard error and interval: one time every answer was right, or wrong",
}


def intra_reader(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    """Estimate the agreement of raters with themselves on repeated items.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; `repeat` distinguishes a rater's readings of an item.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `INTRA_READER`; one row per measure, rater and condition with repeated
        items, readers first.

    Notes
    -----
    The first reading is compared with the second (those with the two smallest values of `repeat`),
    over the items answered both times. Measures, standard errors and intervals are computed as in
    `agreement_pairs`.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = intra_reader(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": "R1", "item_id": list("wxyz") * 2, "answer": list("ABAA" "ABBA"),
    ...         "repeat": [0] * 4 + [1] * 4,
    ...     }),
    ... ))
    >>> table[["rater_id", "measure", "n", "estimate"]].values.tolist()[:2]
    [['R1', 'raw', 4, 0.75], ['R1', 'brennan_prediger', 4, 0.5]]
    """
    study = study_of(study, options)
    bundle, matrix, options, weights = study.bundle, study.matrix, study.options, study.weights
    both_readings = _first_and_second(bundle.readings)
    if not len(both_readings):
        return pd.DataFrame(columns=INTRA_READER.header)
    readings = both_readings.assign(rater_id=both_readings["time"] + both_readings["rater_id"])
    raters = pd.concat(
        [
            bundle.raters.assign(rater_id=time + bundle.raters["rater_id"])
            for time in (FIRST_PREFIX, SECOND_PREFIX)
        ]
    )
    repeats = reading_matrix(
        Bundle(
            items=bundle.items,
            raters=raters,
            readings=readings.drop(columns="time"),
            protocol=bundle.protocol,
        )
    )
    pairs, names = _pairs_of_readings(matrix, repeats)
    all_items = np.arange(len(repeats.truth))
    partition = Partition(order=0, names=("all",), members=(all_items,), measures=MEASURES)
    columns = partition_rows(repeats, pairs, partition, options, weights)
    rows = pair_names(repeats.columns, pairs, len(MEASURES)).assign(
        rater_id=np.repeat(np.array(names, dtype=object), len(MEASURES)),
        **{name: cells.ravel() for name, cells in columns.items()},
    )
    rows["undefined_because"] = rows["undefined_because"].replace(REWORDED_REASONS)
    return rows[INTRA_READER.header]


def _first_and_second(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the first two readings of items read more than once; `time` tells which is which."""
    repeated = readings.loc[readings.duplicated(READING_KEY, keep=False)]
    ordered = repeated.sort_values([*READING_KEY, "repeat"], kind="stable")
    ordinal = ordered.groupby(READING_KEY, sort=False).cumcount()
    first_two = ordered.loc[ordinal < 2]
    return first_two.assign(
        time=np.where(ordinal.loc[first_two.index] == 0, FIRST_PREFIX, SECOND_PREFIX)
    )


def _pairs_of_readings(
    matrix: ReadingMatrix, repeats: ReadingMatrix
) -> tuple[list[Pair], list[str]]:
    """Pair each rater's two readings; return pairs and raters in order of the first readings."""
    column_numbers = {
        (column.rater_id, column.condition): i for i, column in enumerate(repeats.columns)
    }
    pairs, names = [], []
    for column in matrix.columns:
        first = column_numbers.get((FIRST_PREFIX + column.rater_id, column.condition))
        if first is not None:
            second = column_numbers[SECOND_PREFIX + column.rater_id, column.condition]
            pairs.append(Pair(a=first, b=second, kind=PairKind.READERS, condition=column.condition))
            names.append(column.rater_id)
    return pairs, names


def repeats_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement of each rater's first and second readings."""
    names = rater_names(results.bundle)
    repeated = results.tables.get("intra_reader")
    if repeated is None or not len(repeated):
        return
    rows: list[TableRow] = [
        (
            (rater_name(names, str(row["rater_id"])),),
            (
                condition_cell(str(row["condition"])),
                measure_words(str(row["measure"])),
                whole_number(cell_number(row, "n")),
                estimate_of(row),
            ),
        )
        for row in records(displayed_agreement(results, repeated))
    ]
    yield report_table(
        name="intra-reader",
        title=t("Agreement with oneself: first and second reading"),
        note=t("Over the cases that were read twice; estimate and interval."),
        header=(t("Rater"), t("Condition"), capitalise(t("measure")), "n", t("Estimate and CI")),
        rows=rows,
    )


INTRA_READER = Statistic(
    name="intra_reader",
    meaning="Agreement of a rater's first and second reading, by one measure.",
    columns=(
        *shared_columns(
            "rater_id condition measure n estimate se ci_low ci_high method undefined_because"
        ),
    ),
    compute=intra_reader,
    tables={180: repeats_table},
)
