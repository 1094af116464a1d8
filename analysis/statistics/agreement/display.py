"""Agreement in the report: its intervals, and the words for its measures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.agreement import SHARE_MEASURES
from analysis.results import Results
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.agreement.pairs.measures import MEASURES
from analysis.translation import capitalise, later, translated


def displayed_agreement(results: Results, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of agreement with the intervals that the report shows instead of the files'.

    The formulas give a share of 0 or 1 an interval without width. The report shows Wilson's
    interval instead, based on the number of patients if they have several cases. Limits are
    truncated to the measure's range.
    """
    is_share = table["measure"].isin(SHARE_MEASURES).to_numpy()
    is_zero_or_one = is_share & table["estimate"].isin((0.0, 1.0)).to_numpy()
    n = np.minimum(table["n"].to_numpy(dtype=np.float64), results.n_clusters)
    estimate = table["estimate"].to_numpy(dtype=np.float64)
    limits = wilson_interval(np.where(is_zero_or_one, estimate * n, 0.0), n, results.options.alpha)
    limits_of_table = (table[column].to_numpy(dtype=np.float64) for column in ("ci_low", "ci_high"))
    low, high = (
        np.where(is_zero_or_one, *ends) for ends in zip(limits, limits_of_table, strict=True)
    )
    return table.assign(
        ci_low=np.maximum(low, np.where(is_share, 0.0, -1.0)),
        ci_high=np.minimum(high, 1.0),
        method=table["method"].mask(is_zero_or_one, "Wilson"),
    )


LETTERS_NOTE = later(
    "Letters are canonical, those of the question bank; permuting the options of the questions"
    " changes this kappa."
)
NEVER_WRONG_NOTE = later(
    "Error consistency with the reference standard is undefined: it is never wrong."
)
MEASURE_WORDS = {
    **{measure.name: measure.words for measure in MEASURES.values()},
    "fleiss_kappa_letters": later("Fleiss' kappa on letters"),
    "conger_kappa_letters": later("Conger's kappa on letters"),
    "krippendorff_alpha_letters": later("Krippendorff's alpha on letters"),
    "ac1_letters": later("AC1 on letters"),
    "fleiss_kappa": later("Fleiss' kappa"),
    "conger_kappa": later("Conger's kappa"),
    "krippendorff_alpha": later("Krippendorff's alpha"),
}


def measure_words(measure: str) -> str:
    """Return a measure's name for use within a sentence."""
    return translated(MEASURE_WORDS.get(measure, measure))


def measure_heading(measure: str) -> str:
    """Return a measure's name for use as a column heading."""
    return capitalise(measure_words(measure))
