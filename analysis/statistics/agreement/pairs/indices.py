"""Prevalence and bias indices of kappas: the table `agreement_indices.csv`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.arrays import Floats, Ints
from analysis.bundle.model import Bundle, PairKind
from analysis.figures.drawing.axes import rater_names
from analysis.presentation.table import (
    MAX_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    estimate_of,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, format_number, rows_of
from analysis.readings.clusters import ratio
from analysis.readings.matrix import ReadingMatrix
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import (
    Pair,
    PairCounts,
    correctness_tables,
    count_pairs,
    pair_names,
    pairs_of,
)
from analysis.statistics.agreement.pairs.measures import (
    ERROR_CONSISTENCY,
    KAPPA,
    NO_ITEM,
    NO_ITEM_WITH_TRUTH,
    Partition,
    partitions,
)
from analysis.statistics.statistic import Column, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import capitalise, later, t, translated


def agreement_indices(study: Study | Bundle) -> pd.DataFrame:
    r"""Compute the prevalence and bias indices of every kappa with two categories.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.

    Returns
    -------
    pandas.DataFrame
        The columns of `AGREEMENT_INDICES`; in the order of `agreement_pairs`. There are rows for
        error consistency in all scopes, and for kappa in option sets whose items all offer two
        options.

    Notes
    -----
    Let a and d be the shares of items that both raters put into the first and into the second
    category, b the share that only the first rater put into the first category, and c the share
    that only the second rater did. The prevalence index is :math:`a - d` and the bias index
    :math:`b - c` [1]_, both from -1 to 1. The first category is `correct` for error consistency,
    and option A for kappa. A prevalence index far from 0 means that kappa is low in view of the
    observed agreement; a bias index far from 0 means that the two raters use the categories
    differently.

    References
    ----------
    .. [1] Byrt T, Bishop J, Carlin JB. Bias, prevalence and kappa. J Clin Epidemiol
       1993;46:423-429. doi:10.1016/0895-4356(93)90018-V

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = agreement_indices(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB")}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4,
    ...         "item_id": list("wxyz") * 2,
    ...         "answer": list("ABAB") + list("ABBB"),
    ...     }),
    ... ))
    >>> table[["n", "prevalence_index", "bias_index"]].values.tolist()
    [[4.0, 0.75, 0.25]]
    """
    study = study_of(study, None)
    matrix = study.matrix
    pairs = pairs_of(matrix.columns)
    names = pair_names(matrix.columns, pairs).assign(pair=np.arange(len(pairs)))
    tables = [
        part.assign(partition=partition.order)
        for partition in partitions(matrix)
        for part in _partition_rows(matrix, pairs, partition, names)
    ]
    table = pd.concat(tables, ignore_index=True)
    table = table.sort_values(["pair", "partition", "scope_order", "measure_order"])
    return table.reset_index(drop=True)[AGREEMENT_INDICES.header]


def _partition_rows(
    matrix: ReadingMatrix, pairs: Sequence[Pair], partition: Partition, names: pd.DataFrame
) -> Iterator[pd.DataFrame]:
    counts = count_pairs(matrix, pairs, partition.items, partition.cells, len(partition.names))
    has_two_options = np.array(
        [_all_have_two_options(matrix, items) for items in partition.members], dtype=bool
    )
    every_scope = np.ones(len(partition.names), dtype=bool)
    measure_tables = [
        (0, ERROR_CONSISTENCY.name, NO_ITEM_WITH_TRUTH, correctness_tables(counts), every_scope)
    ]
    if KAPPA in partition.measures and has_two_options.any():
        measure_tables.append((1, KAPPA.name, NO_ITEM, _letter_tables(counts), has_two_options))
    for order, measure, reason, tables, is_included in measure_tables:
        chosen = np.flatnonzero(is_included)
        rows = names.loc[names.index.repeat(len(chosen))].reset_index(drop=True)
        rows["scope_order"] = np.tile(chosen, len(names))
        rows["scope"] = np.array(partition.names, dtype=object)[rows["scope_order"]]
        pair_tables = tables[:, chosen].reshape(-1, 2, 2)
        n = pair_tables.sum(axis=(-2, -1))
        yield rows.assign(
            measure=measure,
            measure_order=order,
            n=n.astype(np.int64),
            prevalence_index=ratio(pair_tables[:, 0, 0] - pair_tables[:, 1, 1], n),
            bias_index=ratio(pair_tables[:, 0, 1] - pair_tables[:, 1, 0], n),
            undefined_because=np.where(n == 0, reason, ""),
        )


def _letter_tables(counts: PairCounts) -> Floats:
    """Return the counts of the first two letters; cells of letters that do not occur are 0."""
    tables = np.zeros((*counts.letters.shape[:2], 2, 2))
    n_letters = min(counts.letters.shape[-1], 2)
    tables[..., :n_letters, :n_letters] = counts.letters[..., :n_letters, :n_letters]
    return tables


def _all_have_two_options(matrix: ReadingMatrix, items: Ints) -> bool:
    return bool((matrix.n_options[items] == 2).all())


KAPPA_WORDS = {"error_consistency": later("error consistency"), "kappa": later("kappa")}


def indices_table(results: Results) -> Iterator[ReportTable]:
    """Show prevalence and bias indices of kappas over all items, and in sets of two options."""
    ranks = {kind.value: rank for rank, kind in enumerate(PairKind)}
    rows = [row for row in rows_of(results, "agreement_indices") if _is_shown(row)]
    rows.sort(key=lambda row: (ranks[row["pair_kind"]], str(row["scope"]) != "all"))
    kappas = _kappa_rows(results, {str(row["scope"]) for row in rows[:MAX_ROWS]})
    yield report_table(
        name="agreement-indices",
        title=t("Prevalence and bias behind each kappa"),
        note=t(
            "Prevalence: how unequal the two categories are, from 0 to 1; bias: the"
            " difference between the two raters' shares. A kappa is low where prevalence is"
            " unequal, however often the raters agree (Byrt, Bishop and Carlin 1993). Tasks are"
            " in"
            " the file."
        ),
        header=(
            t("Pair"),
            t("Condition"),
            t("Items"),
            capitalise(t("measure")),
            "n",
            t("Kappa"),
            t("Prevalence"),
            t("Bias"),
        ),
        rows=[_index_row(results, row, kappas) for row in rows[:MAX_ROWS]],
        total=len(rows),
    )


def _is_shown(row: Row) -> bool:
    return str(row["scope"]) == "all" or str(row["measure"]) == "kappa"


def _kappa_key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[c]) for c in ("rater_a", "rater_b", "condition", "scope", "measure"))


def _kappa_rows(results: Results, scopes: set[str]) -> dict[tuple[str, ...], Row]:
    return {
        _kappa_key(row): row
        for scope in sorted(scopes)
        for measure in KAPPA_WORDS
        for row in rows_of(results, "agreement_pairs", scope=scope, measure=measure)
    }


def _index_row(results: Results, row: Row, kappas: dict[tuple[str, ...], Row]) -> TableRow:
    names = rater_names(results.bundle)
    cells = (
        condition_cell(str(row["condition"])),
        translated(str(row["scope"]).removeprefix("option_set=")),
        translated(KAPPA_WORDS.get(str(row["measure"]), str(row["measure"]))),
        whole_number(cell_number(row, "n")),
        estimate_of(kappas.get(_kappa_key(row), {})),
        *(format_number(cell_number(row, f"{name}_index"), 2) for name in ("prevalence", "bias")),
    )
    return (rater_name(names, str(row["rater_a"])), rater_name(names, str(row["rater_b"]))), cells


AGREEMENT_INDICES = Statistic(
    name="agreement_indices",
    meaning="Prevalence and bias index of a pair's two-by-two table.",
    columns=(
        *shared_columns("rater_a rater_b pair_kind condition scope measure n"),
        Column("prevalence_index", "How unequal the two categories are.", "proportion"),
        Column("bias_index", "How differently the two raters use the categories.", "proportion"),
        *shared_columns("undefined_because"),
    ),
    compute=agreement_indices,
    methods={
        340: Method("Agreement", "Prevalence and bias indices accompany the kappas [@byrt1993].")
    },
    tables={170: indices_table},
)
