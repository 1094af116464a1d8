"""Words for claims about these readers and about readers like these."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.presentation.table import difference_cells, p_cell
from analysis.presentation.wording import Row, cell_number, format_number
from analysis.translation import later, t, translated

NARROWER_NOTE = "came out narrower than for these readers, whose se, df, limits and p are used"
FAMILY_COLUMNS = ["metric", "claim", "condition"]
"""The columns that have the same values for all tests of a family."""
PAIR_WEIGHTED = "U-statistic (BDG)"
"""The method of the table `uncrossed` that decides a pair-weighted endpoint."""
THESE_READERS, READERS_LIKE_THESE = "these readers", "readers like these"
CLAIMS = {THESE_READERS: later("these readers"), READERS_LIKE_THESE: later("readers like these")}
COMPARATOR_WORDS = {
    THESE_READERS: later("against these readers"),
    READERS_LIKE_THESE: later("against readers like these"),
}


def claim_words(claim: str) -> str:
    """Return the words for the readers of a claim."""
    return translated(CLAIMS.get(claim, claim))


def comparator_words(claim: str) -> str:
    """Return "against" and the words for the readers of a claim."""
    return (
        translated(COMPARATOR_WORDS[claim])
        if claim in COMPARATOR_WORDS
        else t("against {claim}", claim=claim)
    )


def has_fixed_interval(row: Row) -> bool:
    """Return whether a row about readers like these has the interval for these readers."""
    return row.get("claim") == READERS_LIKE_THESE and NARROWER_NOTE in str(row.get("note") or "")


def narrower_note(*rows: Row) -> str:
    """Return a sentence on rows that show the interval for these readers; empty without them."""
    if not any(map(has_fixed_interval, rows)):
        return ""
    return t(
        "The interval for readers like these came out narrower than the one for these readers,"
        " which is shown instead."
    )


def narrower_notes(rows: Sequence[Row]) -> str:
    """Return a sentence on the rows of a table that show one interval for both claims."""
    if not any(map(has_fixed_interval, rows)):
        return ""
    return t(
        "Where the interval for readers like these came out narrower than the one for these"
        " readers, the latter is shown, with its standard error, degrees of freedom and p."
    )


def displayed_claim(row: Row) -> str:
    """Return the words for a row's claim, and for its interval's claim if that is different."""
    claimed_readers = claim_words(str(row["claim"]))
    if not has_fixed_interval(row):
        return claimed_readers
    return t("{claim} (interval for these readers)", claim=claimed_readers)


def factor_of(row: Row) -> float:
    """Return the factor by which a row's numbers are multiplied for display; 1 for an AUC."""
    return 1 if row.get("metric") == "auc" else 100


def value_cell(value: float, factor: float) -> str:
    """Format the value of a metric."""
    return format_number(factor * value, 1 if factor == 100 else 3)


def error_cells(row: Row, factor: float) -> tuple[str, str]:
    """Format the standard error and its degrees of freedom, which normal intervals do not have."""
    se, df = cell_number(row, "se"), cell_number(row, "df")
    return value_cell(se, factor) if factor != 100 else format_number(100 * se, 2), format_number(
        df, 1
    )


def comparison_header(first: str, second: str) -> tuple[str, ...]:
    """Return the column headings of a comparison; `first` and `second` are those of the values."""
    return (first, second, t("Difference"), t("CI"), "SE", "df", "p")


def comparison_cells(row: Row, first: str = "value_a", second: str = "value_b") -> tuple[str, ...]:
    """Format two values of a metric, from two columns of a row, and their difference."""
    factor = factor_of(row)
    return (
        value_cell(cell_number(row, first), factor),
        value_cell(cell_number(row, second), factor),
        *difference_cells(row, factor),
        *error_cells(row, factor),
        p_cell(cell_number(row, "p")),
    )
