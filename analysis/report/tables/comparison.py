"""Models against readers: the panel, single readers, the marginal model; two conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping

from analysis.bundle.model import PairKind
from analysis.figures.drawing.axes import RaterName, condition_name, rater_names
from analysis.presentation.table import (
    EMPTY,
    MOST_ROWS,
    ReportTable,
    TableRow,
    condition_cell,
    difference_cells,
    named,
    p_cell,
    percent_cell,
    report_table,
    whole,
    words,
)
from analysis.presentation.wording import (
    Row,
    in_a_row,
    number,
    rounded,
    rows_of,
    sentences,
)
from analysis.report.verdicts import has_margin, origin_of_margin
from analysis.results import Results
from analysis.statistics.mrmc.claims import claim_shown, narrower_notes
from analysis.translation import t


def panel_overview(results: Results) -> list[ReportTable]:
    """Show every model against the readers, under both claims."""
    names = rater_names(results.bundle)
    panel = rows_of(results, "reader_panel")
    adjusted = {_panel_key(row): row for row in rows_of(results, "panel_adjusted")}
    with_margin = any(_is_for_margin(results, row) for row in panel)
    rows = [
        _panel_row(results, row, adjusted.get(_panel_key(row), {}), names)
        for row in panel[:MOST_ROWS]
    ]
    made = [
        report_table(
            name="reader-panel",
            title=t("Models against the panel of readers"),
            note=sentences(
                [
                    t(
                        "Difference: model minus the mean of the readers. These readers: readers"
                        " fixed; readers like these: readers random (Obuchowski-Rockette, Hillis"
                        " degrees of freedom). p: two-sided, for no difference; adjusted for the"
                        " models (Holm)."
                    ),
                    narrower_notes(panel),
                    _margins(results),
                ]
            ),
            file="tables/reader_panel.csv",
            header=(
                t("Model"),
                t("Condition"),
                t("Metric"),
                t("Claim"),
                t("Readers"),
                t("Items"),
                t("Reader mean"),
                t("Model value"),
                t("Difference"),
                t("CI"),
                "SE",
                "df",
                "p",
                t("Adjusted p"),
                t("NI p"),
            ),
            rows=rows,
            total=len(panel),
            in_paper=True,
        )
    ]
    if not with_margin:
        made = [table.without(t("NI p")) for table in made]
    return made if adjusted else [table.without(t("Adjusted p")) for table in made]


def _panel_key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[column]) for column in ("model_id", "condition", "metric", "claim"))


def _is_for_margin(results: Results, row: Row) -> bool:
    """Tell whether the row's test of the margin was declared, or asked for."""
    return not math.isnan(number(row, "margin")) and has_margin(results, str(row["metric"]))


def _margins(results: Results) -> str:
    """Name the margins of the column NI p, and where they come from."""
    panel = rows_of(results, "reader_panel")
    found = {
        t("{size} points", size=rounded(100 * number(row, "margin"), 1))
        if _factor(row) == 100
        else t("{size} of area", size=rounded(number(row, "margin"), 2))
        for row in panel
        if _is_for_margin(results, row)
    }
    if not found:
        return ""
    origin = origin_of_margin(results)
    margins = in_a_row(sorted(found))
    if origin:
        return t(
            "NI p: one-sided, for the margin of {margins} ({origin}).",
            margins=margins,
            origin=origin,
        )
    return t("NI p: one-sided, for the margin of {margins}.", margins=margins)


def _panel_row(
    results: Results, row: Row, adjusted: Row, names: Mapping[str, RaterName]
) -> TableRow:
    factor = _factor(row)
    cells = (
        condition_cell(str(row["condition"])),
        t("accuracy, %") if factor == 100 else "AUC",
        claim_shown(row),
        str(int(number(row, "n_readers"))),
        whole(number(row, "n_items")),
        _value(number(row, "reader_mean"), factor),
        _value(number(row, "model_value"), factor),
        *difference_cells(row, factor),
        *_error(row, factor),
        p_cell(number(row, "p")),
        p_cell(number(adjusted, "p_adjusted")),
        p_cell(number(row, "p_noninferior")) if _is_for_margin(results, row) else EMPTY,
    )
    return (named(names, str(row["model_id"])),), cells


def comparisons_overview(results: Results) -> list[ReportTable]:
    """Show every model against every single reader."""
    names = rater_names(results.bundle)
    pairs = rows_of(results, "comparisons", pair_kind=PairKind.MIXED.value)
    rows = [_pair_row(row, names, clustered=results.clustered) for row in pairs[:MOST_ROWS]]
    return [
        report_table(
            name="comparisons",
            title=t("Models against single readers"),
            note=sentences(
                [
                    t("Difference: reader minus model, in points, with its CI (over patients).")
                    if results.clustered
                    else t(
                        "Difference: reader minus model, in points, with its CI (Tango's score"
                        " interval)."
                    ),
                    t(
                        "Only one correct: cases that only the reader, and only the model, answered"
                        " correctly. p: McNemar mid-p, Yang's test where patients have several"
                        " cases; adjusted: Holm over these pairs."
                    ),
                ]
            ),
            file="tables/comparisons.csv",
            header=(
                t("Reader and model"),
                t("Condition"),
                "n",
                t("Reader %"),
                t("Model %"),
                t("Difference"),
                t("CI"),
                t("Only one correct"),
                "p",
                t("Adjusted p"),
            ),
            rows=rows,
            total=len(pairs),
            in_paper=True,
        )
    ]


def _pair_row(row: Row, names: Mapping[str, RaterName], *, clustered: bool) -> TableRow:
    over_patients = not math.isnan(number(row, "p_clustered"))
    cells = (
        condition_cell(str(row["condition"])),
        whole(number(row, "n")),
        percent_cell(number(row, "accuracy_a")),
        percent_cell(number(row, "accuracy_b")),
        *difference_cells(row, 100, cluster=clustered),
        f"{whole(number(row, 'only_a_correct'))} : {whole(number(row, 'only_b_correct'))}"
        if not math.isnan(number(row, "only_a_correct"))
        else EMPTY,
        p_cell(number(row, "p_clustered" if over_patients else "p_mid")),
        p_cell(number(row, "p_adjusted")),
    )
    return (named(names, str(row["rater_a"])), named(names, str(row["rater_b"]))), cells


def conditions_overview(results: Results) -> list[ReportTable]:
    """Show readers under two conditions."""
    rows: list[TableRow] = []
    compared = rows_of(results, "reader_conditions")
    for row in compared:
        factor = _factor(row)
        cells = (
            t("accuracy, %") if factor == 100 else "AUC",
            claim_shown(row),
            str(int(number(row, "n_readers"))),
            whole(number(row, "n_items")),
            _value(number(row, "value_a"), factor),
            _value(number(row, "value_b"), factor),
            *difference_cells(row, factor),
            *_error(row, factor),
            p_cell(number(row, "p")),
        )
        rows.append(
            (
                (
                    words(condition_name(str(row["condition_a"]))),
                    words(condition_name(str(row["condition_b"]))),
                ),
                cells,
            )
        )
    return [
        report_table(
            name="reader-conditions",
            title=t("Readers under two conditions"),
            note=sentences(
                [
                    t("Difference: first minus second condition, the same readers and cases."),
                    narrower_notes(compared),
                ]
            ),
            file="tables/reader_conditions.csv",
            header=(
                t("Conditions"),
                t("Metric"),
                t("Claim"),
                t("Readers"),
                t("Items"),
                t("First"),
                t("Second"),
                t("Difference"),
                t("CI"),
                "SE",
                "df",
                "p",
            ),
            rows=rows,
            in_paper=True,
        )
    ]


def _factor(row: Row) -> float:
    return 1 if row.get("metric") == "auc" else 100


def _value(value: float, factor: float) -> str:
    return rounded(factor * value, 1 if factor == 100 else 3)


def _error(row: Row, factor: float) -> tuple[str, str]:
    """Write the standard error and its degrees of freedom; a normal interval has none."""
    se, df = number(row, "se"), number(row, "df")
    return _value(se, factor) if factor != 100 else rounded(100 * se, 2), rounded(df, 1)
