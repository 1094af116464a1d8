"""Where errors are everybody's, and where they are the readers' or the models' alone."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from analysis.agreement.pairing import PairKind
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Theme, under
from analysis.report.numbers import count
from analysis.report.rows import conditions_in, number, rows_of
from analysis.results import Results

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
    for condition in conditions_in(results, "agreement_pairs")[:MOST_CONDITIONS]:
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
    parts = [f"everybody missed {notes[EVERYBODY_MISSED]:,}"]
    if both:
        parts += [
            f"all readers missed {notes[READERS_MISSED]:,} that a model had right",
            f"all models missed {notes[MODELS_MISSED]:,} that a reader had right",
        ]
    parts.append(f"everybody had {notes[EVERYBODY_RIGHT]:,} right")
    return [f"Of {count(total, 'item')}{under(condition)}, {', '.join(parts)}."]


def _same_wrong(results: Results, condition: str) -> list[str]:
    rows = rows_of(
        results, "agreement_pairs", condition=condition, scope="all", measure="same_wrong"
    )
    parts = []
    for kind in PairKind:
        shares = [
            number(row, "estimate")
            for row in rows
            if row["pair_kind"] == kind and not math.isnan(number(row, "estimate"))
        ]
        if shares:
            middle = f"{100 * float(np.median(shares)):.0f} %"
            pairs = f" (median of {len(shares):,} pairs)" if len(shares) > 1 else ""
            parts.append(f"{PAIR_WORDS[kind]} {middle}{pairs}")
    if not parts:
        return []
    opening = f"Where both were wrong{under(condition)}, the same wrong option was chosen by"
    return [f"{opening} {', by '.join(parts)}."]
