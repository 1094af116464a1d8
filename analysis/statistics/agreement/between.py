"""Agreement of readers with models against that among readers: `agreement_between.csv`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle, PairKind
from analysis.figures.comparisons import between_chart
from analysis.options import Options
from analysis.presentation.captions import case_range, interval_methods, model_range, reader_range
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    condition_cell,
    range_cell,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import cell_number, format_number, join_sentences, rows_of
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
    resample_weights,
)
from analysis.readings.matrix import NO_LETTER, ReadingMatrix
from analysis.results import Results
from analysis.statistics.agreement.display import measure_words
from analysis.statistics.agreement.pairs.counts import Pair, Sums, count_pairs, pairs_of, sums_of
from analysis.statistics.agreement.pairs.measures import (
    BRENNAN_PREDIGER,
    brennan_prediger,
    error_consistency,
    kappa_letters,
    partitions,
    raw_agreement,
)
from analysis.statistics.agreement.pairs.resampling import FEW_RESAMPLES, sums_of_resamples
from analysis.statistics.statistic import Column, Figure, Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import capitalise, later, localised, t, translated

Estimate = Callable[[Sums], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairMeans:
    """The mean agreement of pairs of raters, by measure.

    Parameters
    ----------
    mean : numpy.ndarray of float, shape (n_measures,)
        nan if no pair has a defined agreement.
    defined : numpy.ndarray of bool, shape (n_measures, n_pairs)
        The pairs that are averaged.
    """

    mean: Floats
    defined: Bools


def pair_means(
    matrix: ReadingMatrix, pairs: Sequence[Pair], items: Ints, estimates: Sequence[Estimate]
) -> PairMeans:
    """Return the mean agreement over pairs of raters, for each measure.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_items,)
        Positions of the items.
    estimates : sequence of callable
        The measures.

    Returns
    -------
    PairMeans
        Pairs whose agreement is undefined are not averaged.
    """
    one_cell = np.zeros(len(items), dtype=np.int64)
    sums = sums_of(count_pairs(matrix, pairs, items, one_cell, 1))
    values = np.array([estimate(sums)[:, 0] for estimate in estimates])
    defined = np.isfinite(values)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    return PairMeans(mean=ratio(total, defined.sum(axis=-1)), defined=defined)


def resampled_means(
    matrix: ReadingMatrix,
    pairs: Sequence[Pair],
    items: Ints,
    estimates: Sequence[Estimate],
    defined: Bools,
    weights: Floats,
) -> Floats:
    """Return the mean agreement over pairs of raters in every resample, for each measure.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    pairs : sequence of Pair
        The pairs.
    items : numpy.ndarray of int, shape (n_items,)
        Positions of the items, ascending.
    estimates : sequence of callable
        The measures.
    defined : numpy.ndarray of bool, shape (n_measures, n_pairs)
        The pairs that are averaged.
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters)
        Number of times each cluster was drawn in each resample.

    Returns
    -------
    numpy.ndarray of float, shape (n_measures, n_resamples)
        The means over those pairs whose agreement is defined in the resample.
    """
    total = np.zeros((len(estimates), len(weights)))
    count = np.zeros((len(estimates), len(weights)))
    for block, sums in sums_of_resamples(matrix, pairs, items, weights):
        for m, estimate in enumerate(estimates):
            values = estimate(sums)[defined[m, block]]
            total[m] += np.where(np.isfinite(values), values, 0.0).sum(axis=0)
            count[m] += np.isfinite(values).sum(axis=0)
    return ratio(total, count)


MEASURES: tuple[tuple[str, Estimate], ...] = (
    ("raw", raw_agreement),
    ("brennan_prediger", brennan_prediger),
    ("error_consistency", error_consistency),
    ("kappa_letters", kappa_letters),
)
ESTIMATES = tuple(estimate for _, estimate in MEASURES)

MEANS_METHOD = "means over pairs of raters (after Vanbelle and Albert 2009)"
OVER_ITEMS = later("percentile bootstrap over items")
ONE_READER = later("fewer than two readers")
NO_READERS = later("no two readers have a defined agreement")
NO_READER_MODEL_PAIR = later("no reader and model have a defined agreement")
# Size of a block of resamples over items: 128 MiB of float64.
LARGEST_ARRAY_SIZE = 2**24

Row = dict[str, object]


def agreement_between(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare the agreement between readers and models with that among readers.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `AGREEMENT_BETWEEN`; in order of condition, scope (all, tasks) and measure.
        A condition has rows only if it has a reader and a model.

    Notes
    -----
    Each kind of agreement is the mean over its pairs of raters of the estimates of
    `agreement_pairs`; `difference` is `readers_models` minus `among_readers`, which is below 0 if
    models agree with readers less than readers agree with each other. Pairs with undefined
    agreement are omitted, and so are pairs of models that were run under different conditions,
    which are not in `agreement_pairs` either. The intervals of the difference and of
    `readers_models` are percentile intervals over resampled patients (over items if every patient
    has one item); all pairs use the same resamples. Without missing answers, the mean raw agreement
    of reader-model pairs is the observed agreement between two groups of Vanbelle and Albert [1]_,
    who relate it to its maximum given the agreement within the groups; `agreement_between` reports
    the agreement within both groups.

    `n_items` is the number of items that a reader and another rater answered; error consistency
    counts only those with a reference standard.

    References
    ----------
    .. [1] Vanbelle S, Albert A. Agreement between two independent groups of raters. Psychometrika
       2009;74:477-491. doi:10.1007/s11336-009-9116-1

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = agreement_between(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4 + ["M1"] * 4,
    ...         "item_id": list("wxyz") * 3,
    ...         "answer": list("ABAA") + list("ABAB") + list("BBAB"),
    ...     }),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1", "R2", "M1"], "rater_kind": ["reader", "reader", "model"],
    ...     }),
    ... ))
    >>> columns = ["measure", "among_readers", "readers_models", "difference"]
    >>> table[columns].values.tolist()[:2]
    [['raw', 0.75, 0.625, -0.125], ['brennan_prediger', 0.5, 0.25, -0.25]]
    """
    study = study_of(study, options)
    matrix, options, weights = study.matrix, study.options, study.weights
    comparisons = [
        _comparison(matrix, condition, pairs, name, items)
        for condition, pairs in _by_condition(matrix).items()
        for partition in list(partitions(matrix))[:2]  # all items, tasks
        for name, items in zip(partition.names, partition.members, strict=True)
    ]
    parts: list[list[Floats]] = [[] for _ in comparisons]
    if comparisons:
        for block in _weight_blocks(matrix, options, weights):
            means_of_items: dict[
                tuple[str, bytes], Floats
            ] = {}  # in a study of one task, the task contains all items
            for parts_of_comparison, comparison in zip(parts, comparisons, strict=True):
                key = comparison.condition, comparison.items.tobytes()
                if key not in means_of_items:
                    means_of_items[key] = comparison.resampled(block)
                parts_of_comparison.append(means_of_items[key])
    rows = [
        row
        for comparison, parts_of_comparison in zip(comparisons, parts, strict=True)
        for row in comparison.rows(np.concatenate(parts_of_comparison, axis=-1), options.alpha)
    ]
    return pd.DataFrame(rows, columns=AGREEMENT_BETWEEN.header)


def _by_condition(matrix: ReadingMatrix) -> dict[str, list[Pair]]:
    """Return the pairs of each condition that has a reader and a model."""
    pairs = pairs_of(matrix.columns)
    mixed = sorted({pair.condition for pair in pairs if pair.kind is PairKind.MIXED})
    by_condition: dict[str, list[Pair]] = {condition: [] for condition in mixed}
    for pair in pairs:
        if pair.condition in by_condition and pair.kind is not PairKind.MODELS:
            by_condition[pair.condition].append(pair)
    for condition, condition_pairs in by_condition.items():
        models = sorted({pair.b for pair in condition_pairs if pair.kind is PairKind.MIXED})
        condition_pairs.extend(
            Pair(a=a, b=b, kind=PairKind.MODELS, condition=condition)
            for i, a in enumerate(models)
            for b in models[i + 1 :]
            if matrix.columns[a].condition == matrix.columns[b].condition
        )
    return by_condition


def _weight_blocks(
    matrix: ReadingMatrix, options: Options, weights: Floats | None
) -> Iterator[Floats]:
    """Yield the resamples; those over items in blocks that fit into memory."""
    if weights is not None:
        yield weights
        return
    size = max(1, LARGEST_ARRAY_SIZE // matrix.n_clusters)
    for block, start in enumerate(range(0, options.bootstrap, size)):
        n_resamples = min(size, options.bootstrap - start)
        yield resample_weights(matrix.n_clusters, n_resamples, options.seed + block)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Comparison:
    """The agreements that are compared under a condition, within a scope of items."""

    matrix: ReadingMatrix
    condition: str
    scope: str
    items: Ints
    pairs: Mapping[PairKind, Sequence[Pair]]
    means: Mapping[PairKind, PairMeans]

    def resampled(self, weights: Floats) -> Floats:
        """Return the difference and `readers_models` in every resample.

        The shape is (2, n_measures, n_resamples).
        """
        among, mixed = (
            resampled_means(
                self.matrix,
                self.pairs[kind],
                self.items,
                ESTIMATES,
                self.means[kind].defined,
                weights,
            )
            for kind in (PairKind.READERS, PairKind.MIXED)
        )
        return np.stack([mixed - among, mixed])

    def rows(self, resampled: Floats, alpha: float) -> Iterator[Row]:
        """Yield a row for each measure."""
        among, mixed, models = (self.means[kind].mean for kind in PairKind)
        for m, (name, _) in enumerate(MEASURES):
            readers, others = self._answered_items(with_truth=name == "error_consistency")
            n_answers = readers.sum(axis=1) + others.sum(axis=1)
            is_counted = readers.any(axis=1) & (n_answers >= 2)
            n_units = np.array(len(np.unique(self.matrix.clusters[self.items[is_counted]])))
            (low, low_mixed), (high, high_mixed), _ = (
                limits.tolist() for limits in percentile_limits(resampled[:, m], alpha, n_units)
            )
            reason = self._reason(among[m], mixed[m], low, int(n_units))
            yield {
                "condition": self.condition,
                "scope": self.scope,
                "measure": name,
                "n_readers": int(readers.any(axis=0).sum()),
                "n_models": int(others.any(axis=0).sum()),
                "n_items": int(is_counted.sum()),
                "among_readers": among[m],
                "readers_models": mixed[m],
                "readers_models_low": low_mixed,
                "readers_models_high": high_mixed,
                "among_models": models[m],
                "difference": mixed[m] - among[m],
                "ci_low": np.nan if reason else low,
                "ci_high": np.nan if reason else high,
                "method": f"{MEANS_METHOD}; {self._method(n_units)}",
                "undefined_because": reason,
            }

    def _answered_items(self, *, with_truth: bool) -> tuple[Bools, Bools]:
        """Return whether each reader, and each model, gave an answer that is counted."""
        answered = self.matrix.answers[self.items] != NO_LETTER
        if with_truth:
            answered &= self.matrix.has_truth[self.items, None]
        mixed = self.pairs[PairKind.MIXED]
        readers, models = sorted({pair.a for pair in mixed}), sorted({pair.b for pair in mixed})
        return answered[:, readers], answered[:, models]

    def _method(self, n_units: Ints) -> str:
        if self.matrix.clustered:
            return WIDENED_METHOD if is_widened(n_units) else PERCENTILE_METHOD
        return f"{OVER_ITEMS}, levels widened for few" if is_widened(n_units) else OVER_ITEMS

    def _reason(self, among: float, mixed: float, low: float, n_units: int) -> str:
        if not self.pairs[PairKind.READERS]:
            return ONE_READER
        if np.isnan(among):
            return NO_READERS
        if np.isnan(mixed):
            return NO_READER_MODEL_PAIR
        if few := reason_too_few(n_units, clustered=self.matrix.clustered):
            return f"interval: {few}"
        return FEW_RESAMPLES if np.isnan(low) else ""


def _comparison(
    matrix: ReadingMatrix, condition: str, pairs: Sequence[Pair], scope: str, items: Ints
) -> _Comparison:
    by_kind = {kind: [pair for pair in pairs if pair.kind is kind] for kind in PairKind}
    means = {
        kind: pair_means(matrix, of_kind, items, ESTIMATES) for kind, of_kind in by_kind.items()
    }
    return _Comparison(
        matrix=matrix, condition=condition, scope=scope, items=items, pairs=by_kind, means=means
    )


def between_table(results: Results) -> Iterator[ReportTable]:
    """Show the agreement among readers and that of readers with models."""
    rows: list[TableRow] = [
        (
            (row_label(measure_words(str(row["measure"]))),),
            (
                condition_cell(str(row["condition"])),
                whole_number(cell_number(row, "n_items")),
                *(
                    format_number(cell_number(row, column), 2)
                    for column in ("among_readers", "readers_models", "among_models", "difference")
                ),
                range_cell(
                    cell_number(row, "ci_low"), cell_number(row, "ci_high"), factor=1, decimals=2
                ),
            ),
        )
        for row in rows_of(results, "agreement_between", scope="all")
    ]
    yield report_table(
        name="agreement-between",
        title=t("Agreement among readers, and of readers with models"),
        note=t("Means over pairs, all cases. Difference: readers with models minus among readers."),
        header=(
            capitalise(t("measure")),
            t("Condition"),
            t("Items"),
            t("Among readers"),
            t("Readers with models"),
            t("Among models"),
            t("Difference"),
            t("CI"),
        ),
        rows=rows,
        in_paper=True,
    )


def between_figure(results: Results, condition: str) -> Iterator[Figure]:
    """Show the agreement among readers, that of readers with models, and their difference."""
    between = results.tables["agreement_between"]
    rows = between.loc[
        (between["measure"] == "brennan_prediger")
        & (between["condition"] == condition)
        & between["difference"].notna()
    ]
    yield Figure(
        "agreement",
        "readers-and-models",
        t("Agreement among readers, and of readers with models"),
        _between_caption(rows, results.options.confidence_percent) if len(rows) else "",
        between_chart(between, title=translated(BRENNAN_PREDIGER.title), condition=condition),
    )


def _between_caption(rows: pd.DataFrame, percent: str) -> str:
    """Describe the figure that compares the agreements."""
    return join_sentences(
        [
            t(
                "Mean agreement over the pairs among {readers}, and of them with {models},"
                " {cases}; the difference with its {percent} % interval ({methods}).",
                readers=reader_range(rows["n_readers"]),
                models=model_range(rows["n_models"]),
                cases=case_range(rows["n_items"]),
                percent=localised(percent),
                methods=interval_methods(rows),
            ),
            t("A value below zero means that readers agree more with each other than with models."),
        ]
    )


AGREEMENT_BETWEEN = Statistic(
    name="agreement_between",
    meaning="Agreement among readers compared with that of readers with models, by one measure.",
    columns=(
        *shared_columns("condition scope measure n_readers n_models n_items"),
        Column("among_readers", "Mean over the pairs of readers.", "that of the measure"),
        Column(
            "readers_models", "Mean over the pairs of a reader and a model.", "that of the measure"
        ),
        Column("readers_models_low", "Lower limit of `readers_models`.", "that of the measure"),
        Column("readers_models_high", "Upper limit of `readers_models`.", "that of the measure"),
        Column("among_models", "Mean over the pairs of models.", "that of the measure"),
        Column("difference", "`readers_models` minus `among_readers`.", "that of the measure"),
        *shared_columns("ci_low ci_high method undefined_because"),
    ),
    compute=agreement_between,
    methods={
        330: Method(
            "Agreement",
            "Agreement among readers is compared with that of readers with models"
            " [@vanbelle2009]; the interval of the difference is a bootstrap's.",
        )
    },
    tables={60: between_table},
    figures={80: between_figure},
)
