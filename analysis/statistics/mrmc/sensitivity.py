"""Models against readers under other choices of the analysis: `sensitivity_panel.csv`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.arrays import Bools, Floats, Ints
from analysis.bundle.model import Bundle
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    EMPTY_CELL,
    MAX_PRINTED_ROWS_IMPORTANT,
    MAX_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    p_cell,
    range_cell,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import (
    Row,
    cell_number,
    format_number,
    join_sentences,
    join_words,
    rows_of,
)
from analysis.readings.circumstances import faulty_items, marked_readings
from analysis.readings.clusters import sums_by_cluster
from analysis.readings.matrix import NO_LETTER, ReadingMatrix, reading_matrix
from analysis.readings.open_answers import matrices_by_rules
from analysis.readings.shared_items import shared_by_panel
from analysis.results import Results
from analysis.statistics.claims import displayed_claim, narrower_notes
from analysis.statistics.merits import (
    Merits,
    Metric,
    differences,
    mean_of_own_items,
    no_covariance,
    percent_correct,
    without_covariance,
)
from analysis.statistics.mrmc.noninferiority import (
    differences_by_patient,
    score_test,
    tested_margins,
    variances_of_readers,
)
from analysis.statistics.mrmc.obuchowski_rockette import (
    Claim,
    SingleTreatment,
    inference_cells,
    join_nonempty,
    single_treatment,
)
from analysis.statistics.mrmc.panel import ReaderPanel, claims_of, panels_of
from analysis.statistics.statistic import Column, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import later, t, tn, translate_pieces, translated

NO_TASK = later("no item with a reference standard names its task")
ITEMS_ANSWERED = "items that every rater of the row answered"
UNFLAGGED_NOTE = "without the readings whose time is in doubt"
ALL_FLAGGED = later("every reading of a reader is flagged")
ABSENT_NOTE = "a case that was never presented counts as wrong"
ITEMS_NOT_FAULTY = "items that were not found faulty"
ITEMS_NOT_EXCLUDED = "items where no reading of the row was excluded"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ChoiceResult:
    """The comparison of a panel under a choice of the analysis.

    `differences` are model minus reader. `by_patient` has the arguments `differences` and `sizes`
    of `score_test`, if all raters of the row have the same items with equal weights.
    """

    differences: Merits
    n_items: int
    n_clusters: int
    note: str
    by_patient: tuple[Floats, Floats] | None = None


Choice = Callable[[ReaderPanel], _ChoiceResult]


def sensitivity_panel(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Compare every model with the readers under each choice of the analysis.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Its alpha is used.

    Returns
    -------
    pandas.DataFrame
        The columns of `SENSITIVITY_PANEL`; in order of analysis, then in the order of
        `reader_panel`. The metric is always accuracy.

    Notes
    -----
    - `missing as wrong` is the primary analysis, over the items that all readers were given. If
      these are too few, all choices are undefined except `absent as wrong`.
    - `absent as wrong` includes all items, and counts those never assigned to a reader as
      incorrect.
    - `missing dropped` and `excluded readings dropped` drop an item for all raters of the row if
      any of them has no answer, or an excluded reading.
    - `flagged times dropped` drops only the readings with a flag that casts doubt on the time. Each
      reader is compared with the model over the remaining items of both, with linearised
      covariances.
    - `missing as right` counts missing answers as correct.
    - `macro` gives all tasks the same weight: it is the mean of the tasks' accuracies, with
      linearised covariances. An item of task t contributes :math:`(x_{ij} - p_{jt}) / (T n_t)
      \sqrt{C_t / (C_t - 1)}`, summed by patient, where :math:`C_t` is the number of patients with
      an item of the task. With a single patient per task there is no standard error.
    - `excluded readings counted` is the other choice if the protocol drops excluded readings from
      the primary analysis.
    - `faulty questions dropped` and `marked questions dropped` drop, for all raters, the items that
      an expert review found faulty (`Options.faulty`), or that a reader marked as faulty, if there
      are any.
    - `model answers read by strict rules`, `standard rules` and `loose rules` use the answers
      parsed by these rules, if they change an answer of a model.

    With a margin, `p_margin` and `p_superior` are the p-values of `noninferiority` under the
    choice; choices that weight items or readings unequally have none.

    See Also
    --------
    analysis.statistics.mrmc.obuchowski_rockette, analysis.reader_panel

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
    absent as wrong 6 0.25
    flagged times dropped 6 0.25
    excluded readings dropped 6 0.25
    macro 6 nan
    """
    study = study_of(study, options)
    bundle, matrix, options = study.bundle, study.matrix, study.options
    panels, margin = panels_of(matrix), tested_margins(study)[Metric.ACCURACY]
    rows = [
        row
        for name, choice in _choices(bundle, matrix, options.faulty).items()
        for panel in panels
        for row in _claim_rows(name, panel, choice(panel), options.alpha, margin)
    ]
    return pd.DataFrame(rows, columns=SENSITIVITY_PANEL.header)


def _choices(bundle: Bundle, matrix: ReadingMatrix, faulty: Sequence[str]) -> Mapping[str, Choice]:
    answered = matrix.answers != NO_LETTER
    correct = matrix.correct
    correct_or_missing = matrix.has_truth[:, None] & (correct | ~answered)
    none_dropped = np.zeros_like(answered)
    flagged, excluded = (
        marked_readings(bundle, matrix, column) for column in ("flags", "excluded")
    )
    choices = {
        "missing as wrong": _drop_items(matrix, correct, none_dropped, ""),
        "missing dropped": _drop_items(matrix, correct, ~answered, ITEMS_ANSWERED),
        "missing as right": _drop_items(matrix, correct_or_missing, none_dropped, ""),
        "absent as wrong": _count_absent_as_wrong(matrix),
        "flagged times dropped": _drop_readings(matrix, flagged),
        "excluded readings dropped": _drop_items(matrix, correct, excluded, ITEMS_NOT_EXCLUDED),
        "macro": _weight_tasks_equally(matrix),
    }
    for name, is_faulty in faulty_items(bundle, matrix, faulty).items():
        all_items = np.broadcast_to(is_faulty[:, None], answered.shape)
        choices[name] = _drop_items(matrix, correct, all_items, ITEMS_NOT_FAULTY)
    for name, reparsed in matrices_by_rules(bundle).items():
        choices[name] = _drop_items(reparsed, reparsed.correct, none_dropped, "")
    if matrix.left_out.any():
        with_excluded = reading_matrix(bundle, count_excluded=True)
        choices["excluded readings counted"] = _drop_items(
            with_excluded, with_excluded.correct, none_dropped, ""
        )
    return choices


def _drop_items(matrix: ReadingMatrix, correct: Bools, dropped: Bools, condition: str) -> Choice:
    """Drop an item for all raters of the row if the reading of any of them is dropped."""

    def compare(panel: ReaderPanel) -> _ChoiceResult:
        shared = shared_by_panel(matrix, panel.columns)
        is_dropped: Bools = shared.items & np.any(dropped[:, panel.columns], axis=1)
        items = shared.items & ~is_dropped
        no_items_reason = (
            f"there are no {condition}" if is_dropped.any() and not items.any() else ""
        )
        note = join_nonempty([condition if is_dropped.any() else "", shared.note])
        reason = shared.reason or no_items_reason
        return _equally_weighted(matrix, correct[items][:, panel.columns], items, reason, note)

    return compare


def _count_absent_as_wrong(matrix: ReadingMatrix) -> Choice:
    """Count all items; those never assigned to a reader are incorrect."""

    def compare(panel: ReaderPanel) -> _ChoiceResult:
        items = matrix.has_truth & ~np.any(matrix.left_out[:, panel.columns], axis=1)
        has_absent = not matrix.presented[items][:, panel.readers].all()
        correct = matrix.correct[items][:, panel.columns]
        return _equally_weighted(matrix, correct, items, "", ABSENT_NOTE if has_absent else "")

    return compare


def _drop_readings(matrix: ReadingMatrix, dropped: Bools) -> Choice:
    """Compare the model with each reader over the items for which neither reading is dropped."""
    compare_all = _drop_items(matrix, matrix.correct, np.zeros_like(dropped), "")

    def compare(panel: ReaderPanel) -> _ChoiceResult:
        shared = shared_by_panel(matrix, panel.columns)
        is_dropped = dropped[:, panel.readers] | dropped[:, [panel.model]]
        is_left = shared.items[:, None] & ~is_dropped
        items = np.any(is_left, axis=1)
        if shared.reason or not (shared.items[:, None] & is_dropped).any():
            return compare_all(panel)
        correct = matrix.correct.astype(np.float64)
        difference = np.where(is_left, correct[:, [panel.model]] - correct[:, panel.readers], 0.0)
        model_minus_readers = mean_of_own_items(
            difference[items], is_left[items], matrix.clusters[items], ALL_FLAGGED
        )
        return _choice_result(
            matrix, items, model_minus_readers, join_nonempty([UNFLAGGED_NOTE, shared.note])
        )

    return compare


def _weight_tasks_equally(matrix: ReadingMatrix) -> Choice:
    """Compare the means of the tasks' accuracies."""

    def compare(panel: ReaderPanel) -> _ChoiceResult:
        shared = shared_by_panel(matrix, panel.columns)
        tasks = [items[shared.items[items]] for items in matrix.members("task").values()]
        tasks = [items for items in tasks if len(items)]
        if shared.reason or not tasks:
            undefined = np.full(len(panel.columns), np.nan)
            reason = shared.reason or NO_TASK
            merits = without_covariance(undefined, reason)
            return _choice_result(matrix, shared.items, _model_minus_readers(merits), shared.note)
        items = np.zeros(len(shared.items), dtype=np.bool_)
        items[np.concatenate(tasks)] = True
        correct = matrix.correct[:, panel.columns].astype(np.float64)
        merits = _mean_of_tasks(correct, tasks, matrix.clusters)
        return _choice_result(matrix, items, _model_minus_readers(merits), shared.note)

    return compare


def _mean_of_tasks(correct: Floats, tasks: Sequence[Ints], clusters: Ints) -> Merits:
    influence = np.zeros_like(correct)
    means = np.array([correct[members].mean(axis=0) for members in tasks])
    values = means.mean(axis=0)
    for members, mean in zip(tasks, means, strict=True):
        n_clusters = len(np.unique(clusters[members]))
        if reason := no_covariance(len(members), n_clusters):
            return without_covariance(values, f"in a task, {reason}")
        scale = math.sqrt(n_clusters / (n_clusters - 1)) / (len(tasks) * len(members))
        influence[members] = (correct[members] - mean) * scale
    sums, _ = sums_by_cluster(influence, clusters)
    covariance: Floats = sums.T @ sums
    return Merits(values=values, covariance=covariance)


def _model_minus_readers(merits: Merits, reason: str = "") -> Merits:
    """Return the model, which is the last rater, minus each of the other raters."""
    readers = np.arange(len(merits.values) - 1)
    if reason:
        return without_covariance(np.full(len(readers), np.nan), reason)
    return differences(merits, np.full(len(readers), len(readers)), readers)


def _choice_result(
    matrix: ReadingMatrix, items: Bools, model_minus_readers: Merits, note: str
) -> _ChoiceResult:
    n_clusters = len(np.unique(matrix.clusters[items]))
    return _ChoiceResult(
        differences=model_minus_readers, n_items=int(items.sum()), n_clusters=n_clusters, note=note
    )


def _equally_weighted(
    matrix: ReadingMatrix, correct: Bools, items: Bools, reason: str, note: str
) -> _ChoiceResult:
    """Compare the last rater with the others over the same items, which have equal weights."""
    clusters = matrix.clusters[items]
    model_minus_readers = _model_minus_readers(percent_correct(correct, clusters), reason)
    chosen = _choice_result(matrix, items, model_minus_readers, note)
    return replace(chosen, by_patient=None if reason else differences_by_patient(correct, clusters))


def _score_tests(
    choice: _ChoiceResult, result: SingleTreatment, margin: float | None
) -> dict[Claim, dict[str, float]]:
    """Return, by claim, the margin and the p-values of the score test with and without it."""
    undefined = dict.fromkeys(("margin", "p_margin", "p_superior"), math.nan)
    tests = dict.fromkeys(Claim, undefined)
    if margin is None or choice.by_patient is None or choice.differences.no_covariance:
        return tests
    for claim, readers in variances_of_readers(result).items():
        if claim is Claim.THESE_READERS or result.n_readers > 1:
            p, superior = (score_test(*choice.by_patient, m, readers).p for m in (margin, 0.0))
            tests[claim] = {"margin": margin, "p_margin": p, "p_superior": superior}
    return tests


def _claim_rows(
    name: str, panel: ReaderPanel, choice: _ChoiceResult, alpha: float, margin: float | None
) -> Iterator[dict[str, object]]:
    model_minus_readers = choice.differences
    result = single_treatment(
        model_minus_readers, alpha, items_df=float(max(choice.n_clusters - 1, 1))
    )
    tests = _score_tests(choice, result, margin)
    no_value = (
        model_minus_readers.no_covariance if np.isnan(model_minus_readers.values).any() else ""
    )
    for claim, inference, method, key in claims_of(result):
        yield {
            "analysis": name,
            "model_id": panel.model_id,
            "condition": panel.condition,
            "metric": Metric.ACCURACY.value,
            "n_readers": result.n_readers,
            "n_items": choice.n_items,
            **inference_cells(inference, claim, no_value),
            "method": method,
            "note": join_nonempty([key, choice.note]),
            **tests[claim],
        }


PRIMARY = "missing as wrong"


def panel_choices_table(results: Results) -> Iterator[ReportTable]:
    """Show the primary comparison with the readers, and the choices that give other results."""
    names = rater_names(results.bundle)
    panel = rows_of(results, "sensitivity_panel")
    primary = {_comparison_key(row): row for row in panel if row["analysis"] == PRIMARY}
    others = [row for row in panel if row["analysis"] != PRIMARY]
    differing_rows = [
        row
        for row in others
        if _compared_cells(row) != _compared_cells(primary.get(_comparison_key(row), {}))
    ]
    differing_keys = {_comparison_key(row) for row in differing_rows}
    shown_rows = [
        row
        for row in panel
        if row["analysis"] == PRIMARY and _comparison_key(row) in differing_keys
    ]
    order = {
        key: position for position, key in enumerate(dict.fromkeys(map(_comparison_key, panel)))
    }
    shown_rows = sorted([*shown_rows, *differing_rows], key=lambda row: order[_comparison_key(row)])
    table_rows: list[TableRow] = [
        (
            (rater_name(names, str(row["model_id"])),),
            (
                condition_cell(str(row["condition"])),
                displayed_claim(row),
                translate_pieces(str(row["analysis"])),
                *_compared_cells(row),
                p_cell(cell_number(row, "p_margin")),
            ),
        )
        for row in shown_rows[:MAX_ROWS]
    ]
    n_same = len(others) - len(differing_rows)
    difference = t("Difference: model minus the mean of the readers, in points.")
    note = join_sentences([difference, narrower_notes(shown_rows), _score_note(shown_rows)])
    if n_same:
        omitted_note = tn(
            "Left out: {n} row equal to the primary analysis ({name}).",
            "Left out: {n} rows equal to the primary analysis ({name}).",
            n_same,
            name=translated(PRIMARY),
        )
        note = join_sentences([note, omitted_note])
    table = report_table(
        name="sensitivity-panel",
        title=t("Effect of other choices on models against the panel"),
        note=note,
        header=(
            t("Model"),
            t("Condition"),
            t("Claim"),
            t("Choice"),
            t("Items"),
            t("Difference"),
            t("CI"),
            t("Note"),
            t("Score test p"),
        ),
        rows=table_rows,
        total=len(shown_rows),
        max_printed_rows=MAX_PRINTED_ROWS_IMPORTANT,
    )
    yield table if _score_note(shown_rows) else table.without_column(t("Score test p"))


def _score_note(rows: Sequence[Row]) -> str:
    """Return a sentence on the score test in these rows; empty if none of them has a margin."""
    margins = {
        cell_number(row, "margin") for row in rows if not math.isnan(cell_number(row, "p_margin"))
    }
    sizes = [t("{size} points", size=format_number(100 * margin, 1)) for margin in sorted(margins)]
    return (
        t("Score test p: one-sided, margin {margins}.", margins=join_words(sizes)) if sizes else ""
    )


def _comparison_key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("model_id", "condition", "metric", "claim"))


def _compared_cells(row: Row) -> tuple[str, ...]:
    n = cell_number(row, "n_items")
    low, high = cell_number(row, "ci_low"), cell_number(row, "ci_high")
    return (
        EMPTY_CELL if math.isnan(n) else whole_number(n),
        format_number(100 * cell_number(row, "difference"), 1),
        range_cell(low, high),
        translate_pieces(str(row.get("undefined_because") or "")),
    )


SENSITIVITY_PANEL = Statistic(
    name="sensitivity_panel",
    meaning="A row of `reader_panel` under one choice of the analysis.",
    columns=(
        Column("analysis", "The choice, such as `missing as wrong` (primary)."),
        *shared_columns(
            "model_id condition metric claim n_readers n_items"
            " difference se df ci_low ci_high p method note undefined_because"
        ),
        Column("margin", "Margin of the score test; empty if there is none.", "proportion"),
        Column("p_margin", "One-sided p of the score test for the margin.", "probability"),
        Column("p_superior", "One-sided p of the score test without a margin.", "probability"),
    ),
    compute=sensitivity_panel,
    tables={260: panel_choices_table},
)
