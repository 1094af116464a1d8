"""Answers in words, beside multiple choice, and the agreement of those who scored them."""

from __future__ import annotations

from analysis.figures.drawing.names import rater_names
from analysis.report.tables.table import (
    EMPTY,
    ReportTable,
    estimate_of,
    estimate_with_range,
    named,
    percent_cell,
    report_table,
    whole,
    words,
)
from analysis.report.wording.numbers import sentences
from analysis.report.wording.rows import Row, number, rows_of
from analysis.results import Results
from analysis.statistics.accuracy.open_ended import CORRECT, HALF, INCORRECT, PARTLY, SCORE, STRICT
from analysis.statistics.agreement.scoring import BRENNAN, KAPPA, LEVEL, LEVELS, RAW, THIRD
from analysis.translation import later, said, t

_KINDS = {"answer": later("Answers"), "explanation": later("Explanations")}
_LEVELS = {
    "correct": later("Correct"),
    "partly correct": later("Partly correct"),
    "incorrect": later("Incorrect"),
}


def open_ended_overview(results: Results) -> list[ReportTable]:
    """Show how right answers in words are, the gap to multiple choice, and the scorers."""
    return [_answers(results), _gap(results), _agreement(results), _scorers(results)]


def _answers(results: Results) -> ReportTable:
    names = rater_names(results.bundle)
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows_of(results, "open_ended"):
        key = tuple(str(row[c]) for c in ("rater_id", "kind", "condition", "by", "group"))
        found.setdefault(key, {})[str(row["measure"])] = row
    return report_table(
        name="open-ended",
        title=t("Answers without options"),
        note=t(
            "Scored by people who did not know whose words they read. Not answered: incorrect."
            " Not scored: in no estimate. Mean score: partly correct counts half. Percent."
        ),
        file="tables/open_ended.csv",
        header=(
            t("Rater"),
            t("Condition"),
            t("Of"),
            t("Cases"),
            "n",
            t("Not answered"),
            t("Not scored"),
            t("Correct (CI)"),
            t("Partly"),
            t("Incorrect"),
            t("Mean score (CI)"),
        ),
        rows=[
            (
                (named(names, rater),),
                (
                    condition or EMPTY,
                    said(_KINDS[kind]),
                    t("All") if by == "overall" else group,
                    *(
                        whole(number(of[CORRECT], column))
                        for column in ("n", "n_missing", "n_unscored")
                    ),
                    _percent(of[CORRECT], "estimate"),
                    percent_cell(number(of[PARTLY], "estimate")),
                    percent_cell(number(of[INCORRECT], "estimate")),
                    _percent(of[SCORE], "estimate"),
                ),
            )
            for (rater, kind, condition, by, group), of in found.items()
        ],
    )


def _gap(results: Results) -> ReportTable:
    names = rater_names(results.bundle)
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows_of(results, "open_gap"):
        key = tuple(str(row[c]) for c in ("rater_id", "condition", "open_condition", "by", "group"))
        found.setdefault(key, {})[str(row["scoring"])] = row
    return report_table(
        name="open-gap",
        title=t("Multiple choice minus open-ended"),
        note=sentences(
            [
                t(
                    "Paired, on the cases asked both ways. Strict: only correct counts. Half"
                    " credit: partly correct counts half. Percent and percentage points."
                ),
                t("CI: over patients.")
                if results.clustered
                else t("CI: Tango (strict), t (half credit)."),
            ]
        ),
        file="tables/open_gap.csv",
        header=(
            t("Rater"),
            t("Condition"),
            t("Cases"),
            "n",
            t("Multiple choice"),
            t("Open-ended"),
            t("Gap, strict (CI)"),
            t("Gap, half credit (CI)"),
        ),
        rows=[
            (
                (named(names, rater),),
                (
                    condition or EMPTY,
                    t("All") if by == "overall" else group,
                    f"{int(number(of[STRICT], 'n')):,}",
                    percent_cell(number(of[STRICT], "multiple_choice")),
                    percent_cell(number(of[STRICT], "open_ended")),
                    _percent(of[STRICT], "difference"),
                    _percent(of[HALF], "difference"),
                ),
            )
            for (rater, condition, _, by, group), of in found.items()
        ],
    )


def _agreement(results: Results) -> ReportTable:
    found: dict[str, dict[str, Row]] = {}
    for row in rows_of(results, "open_scoring", scorer=""):
        found.setdefault(str(row["kind"]), {})[str(row["measure"])] = row
    return report_table(
        name="open-scoring",
        title=t("Agreement of the scorers"),
        note=t(
            "Of the two blind scores: how many are the same, kappa with linear weights, and"
            " Brennan-Prediger. A third scorer is needed where they differ."
        ),
        file="tables/open_scoring.csv",
        header=(
            t("Of"),
            "n",
            t("Same, %"),
            t("Weighted kappa"),
            t("Brennan-Prediger"),
            t("Third needed, %"),
        ),
        rows=[
            (
                (words(said(_KINDS[kind])),),
                (
                    f"{int(number(of[RAW], 'n')):,}",
                    _percent(of[RAW], "estimate"),
                    estimate_of(of[KAPPA]),
                    estimate_of(of[BRENNAN]),
                    percent_cell(number(of[THIRD], "estimate")),
                ),
            )
            for kind, of in found.items()
        ],
    )


def _scorers(results: Results) -> ReportTable:
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows_of(results, "open_scoring", measure=LEVEL):
        found.setdefault((str(row["kind"]), str(row["scorer"])), {})[str(row["level"])] = row
    return report_table(
        name="open-scorers",
        title=t("Levels each scorer gave"),
        note=t("Share of a scorer's scores, percent with Wilson's interval."),
        file="tables/open_scoring.csv",
        header=(t("Scorer"), t("Of"), "n", *(said(_LEVELS[level]) for level in LEVELS)),
        rows=[
            (
                (words(scorer),),
                (
                    said(_KINDS[kind]),
                    f"{int(number(of[LEVELS[0]], 'n')):,}",
                    *(_percent(of[level], "estimate") for level in LEVELS),
                ),
            )
            for (kind, scorer), of in found.items()
        ],
    )


def _percent(row: Row, column: str) -> str:
    return estimate_with_range(*(100 * number(row, c) for c in (column, "ci_low", "ci_high")))
