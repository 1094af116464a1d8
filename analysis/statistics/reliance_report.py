"""The report of how readers use a model's answers: a table and a figure of `reliance.csv`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from analysis.bundle.model import RaterKind
from analysis.figures.drawing.axes import RaterName, rater_names
from analysis.figures.robustness import differences_chart
from analysis.presentation.table import (
    ReportTable,
    TableRow,
    percent_with_range,
    rater_name,
    report_table,
    row_label,
    whole_number,
)
from analysis.presentation.wording import Row, cell_number, join_sentences, rows_by
from analysis.results import Results
from analysis.statistics.statistic import Figure
from analysis.translation import later, localised, t, translated

ALL_READERS = "readers"
AIDED = "aided"

MEASURES = {
    "agreed_before": later("agreed before"),
    "switched": later("switched to the model"),
    "corrected": later("corrected"),
    "misled": later("misled"),
    "gain": later("gain"),
    "automation_bias": later("automation bias"),
    "complementarity": later("complementarity"),
}
"""Words for the measures that the report shows."""
RowByMeasure = Mapping[str, Row]
"""The row of each measure, for one reader and model."""

CHARTED_MEASURES = ("corrected", "misled", "gain", "automation_bias")


def reliance_table(results: Results) -> Iterator[ReportTable]:
    """Show how every reader uses the model's answers, over all cases and planted errors."""
    yield report_table(
        name="reliance",
        title=t("Use of a model's answers"),
        note=t(
            "Percent of pairs of readings without and with the model's answer, with bootstrap"
            " intervals; gain, automation bias and complementarity in points. Corrected: of wrong"
            " answers, with a correct answer of the model; misled: of correct answers, with a wrong"
            " one. Results by task and arm are in the file."
        ),
        header=use_header(MEASURES),
        rows=use_rows(
            results,
            "reliance",
            "gain",
            lambda parts: (
                whole_number(max(cell_number(row, "n") for row in parts.values())),
                *(percent_with_range(parts[measure], "estimate") for measure in MEASURES),
            ),
        ),
        in_paper=True,
    )


def use_header(measures: Mapping[str, str]) -> tuple[str, ...]:
    """Return the header of a table of readers and models with these measures."""
    titles = (translated(title) for title in measures.values())
    return (t("Reader"), t("Model"), t("Shown"), t("Pairs"), "n", *titles)


def use_rows(
    results: Results,
    name: str,
    counted_measure: str,
    cells: Callable[[RowByMeasure], tuple[str, ...]],
) -> list[TableRow]:
    """Return the rows of a table of readers and models, over all cases and planted errors.

    Parameters
    ----------
    results : Results
        The results with the table.
    name : str
        Name of the table.
    counted_measure : str
        A row is left out if `n` of this measure is 0.
    cells : callable
        Formats n and the measures of a row.
    """
    keys = ("rater_id", "aid_model", "aid", "planted")
    rows = rows_by(results, name, keys, of="measure", by="overall")
    names = rater_names(results.bundle)
    return [
        (
            (reader_name(names, rater),),
            (
                rater_name(names, model).full,
                translated(AID_TIME_WORDS.get(when, when)),
                translated(PLANTED_WORDS[planted]),
                *cells(parts),
            ),
        )
        for (rater, model, when, planted), parts in rows.items()
        if planted != "no" and cell_number(parts[counted_measure], "n")
    ]


AID_TIME_WORDS = {
    "first": later("with the case"),
    "on demand": later("on request"),
    "after": later("after the first answer"),
}
PLANTED_WORDS = {"all": later("all"), "yes": later("planted errors")}


def reader_name(names: Mapping[str, RaterName], rater: str) -> RaterName:
    """Return a reader's name, or the words for all readers."""
    return row_label(t("All readers")) if rater == ALL_READERS else rater_name(names, rater)


def reliance_figures(results: Results, condition: str) -> Iterator[Figure]:
    """Summarise the use of each model's answers: corrected, misled, gain and automation bias."""
    if condition != AIDED:
        return
    names = rater_names(results.bundle)
    table = results.tables["reliance"]
    rows = table[(table["by"] == "overall") & (table["planted"] == "all")]
    rows = rows[rows["measure"].isin(CHARTED_MEASURES)]
    rows = rows.sort_values(
        "measure", key=lambda names: names.map(CHARTED_MEASURES.index), kind="stable"
    )
    titles = {measure: translated(MEASURES[measure]) for measure in CHARTED_MEASURES}
    for place, ((model, when), part) in enumerate(rows.groupby(["aid_model", "aid"]), start=1):
        lacks_interval = bool((part["estimate"].notna() & part["ci_low"].isna()).any())
        charted = part.assign(
            panel=part["measure"].map(titles),
            difference=part["estimate"],
            rater_kind=RaterKind.READER.value,
        )
        yield Figure(
            "comparison",
            f"reliance-{place}",
            t("Use of the answers of {model}", model=rater_name(names, str(model)).label),
            join_sentences(
                [
                    t(
                        "The model's answer was shown {when}. Corrected: share of the reader's"
                        " wrong answers that became correct when the model was correct. Misled:"
                        " share of correct answers that became wrong when the model was wrong."
                        " Gain: accuracy with minus without the model's answer; automation bias:"
                        " accuracy without minus with it, if the model was wrong. {percent} %"
                        " bootstrap intervals.",
                        when=translated(AID_TIME_WORDS.get(str(when), str(when))),
                        percent=localised(results.options.confidence_percent),
                    ),
                    t(
                        "Points without an interval rest on too few patients, or on answers that"
                        " are all alike."
                    )
                    if lacks_interval
                    else "",
                ]
            ),
            differences_chart(
                charted,
                axis_title=t("Percent or points"),
                names={**names, ALL_READERS: row_label(t("All readers"))},
            ),
        )
