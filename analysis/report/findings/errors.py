"""Where errors are everybody's, and where they are the readers' or the models' alone."""

from __future__ import annotations

from collections import Counter

from analysis.figures.drawing.names import conditions_of
from analysis.figures.kappa_matrix import pairs_in_condition
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Theme
from analysis.report.wording.numbers import count
from analysis.report.wording.rows import Row, conditions_in, number, rows_of, under
from analysis.results import Results
from analysis.statistics.agreement.pairs.pairing import PairKind

READERS_MISSED = "all readers missed it, a model did not"
MODELS_MISSED = "all models missed it, a reader did not"
EVERYBODY_MISSED = "everybody missed it"
EVERYBODY_RIGHT = "everybody had it right"
PAIR_WORDS = {
    PairKind.READERS: "two readers",
    PairKind.MIXED: "a reader and a model",
    PairKind.MODELS: "two models",
}


def error_findings(results: Results) -> list[Finding]:
    """Count the items by who missed them, and the wrong options that two raters share."""
    texts = []
    for condition in conditions_in(results, "item_difficulty")[:MOST_CONDITIONS]:
        texts += _items(results, condition)
    for condition in conditions_of(results.tables["accuracy"])[:MOST_CONDITIONS]:
        texts += _same_wrong(results, condition)
    return [Finding(theme=Theme.ERRORS, text=text) for text in texts]


def _items(results: Results, condition: str) -> list[str]:
    rows = rows_of(results, "item_difficulty", condition=condition)
    notes = Counter(str(row["note"]) for row in rows)
    total = sum(1 for row in rows if number(row, "n_readers") + number(row, "n_models") > 0)
    if not total:
        return []
    both = any(number(row, "n_models") > 0 for row in rows) and any(
        number(row, "n_readers") > 0 for row in rows
    )
    parts = [f"{notes[EVERYBODY_MISSED]:,} missed by everybody"]
    if both:
        parts += [
            f"{notes[READERS_MISSED]:,} missed by all readers but not by all models",
            f"{notes[MODELS_MISSED]:,} missed by all models but not by all readers",
        ]
    parts.append(f"{notes[EVERYBODY_RIGHT]:,} answered correctly by everybody")
    text = f"Of {count(total, 'case')}{under(results, condition)}: {', '.join(parts)}."
    return [text + _few(rows) + (_numbers(rows) if both else "")]


def _few(rows: list[Row]) -> str:
    """Say how many items fewer readers have read than the others: they count by those alone."""
    most = max(number(row, "n_readers") for row in rows)
    few = sum(1 for row in rows if 0 < number(row, "n_readers") < most)
    if not few:
        return ""
    readers = count(int(most), "reader")
    counted = "and counts" if few == 1 else "and count"
    return f" {count(few, 'was', 'were')} read by fewer than {readers}, {counted} for those alone."


def _numbers(rows: list[Row]) -> str:
    """Say why the two counts do not compare: of many, one is right more easily."""
    n_readers, n_models = (
        int(max(number(row, column) for row in rows)) for column in ("n_readers", "n_models")
    )
    if n_readers == n_models:
        return ""
    return (
        f" With {count(n_readers, 'reader')} and {count(n_models, 'model')}, the larger group is"
        " more likely to include one who is correct."
    )


def _same_wrong(results: Results, condition: str) -> list[str]:
    table = results.tables["agreement_pairs"]
    wanted = table.loc[(table["scope"] == "all") & (table["measure"] == "same_wrong")]
    rows = pairs_in_condition(wanted, condition)
    options = results.bundle.items["n_options"].dropna()
    if len(options) and options.max() < 3:
        # Where there is one wrong option, all who are wrong choose it.
        return []
    parts = []
    for kind in PairKind:
        shares = rows.loc[rows["pair_kind"] == kind, "estimate"].dropna()
        if len(shares):
            middle = f"{100 * float(shares.median()):.0f} %"
            pairs = f" (median of {len(shares):,} pairs)" if len(shares) > 1 else ""
            parts.append(f"{middle} of cases by {PAIR_WORDS[kind]}{pairs}")
    if not parts:
        return []
    opening = f"Where both raters were incorrect{under(results, condition)}, the same option was"
    return [f"{opening} chosen in {', '.join(parts)}{_by_chance(results)}."]


def _by_chance(results: Results) -> str:
    """Say what picking among the wrong options would give, where all items have as many."""
    options = results.bundle.items["n_options"].dropna().unique()
    if len(options) != 1 or options[0] < 3:
        return ""
    wrong = int(options[0]) - 1
    return (
        f"; choosing any of the {wrong} incorrect options at random would give {100 / wrong:.0f} %"
    )
