"""Intervals of agreement as the report shows them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.results import Results
from analysis.statistics.accuracy.means import wilson_interval

SHARES = ("raw", "same_wrong")
"""Measures of agreement that are shares of cases."""


def agreement_shown(results: Results, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of agreement with the intervals that are shown, which the files do not hold.

    The formulas give a share of 0 or 1 an interval without width: Wilson's is shown, over patients
    where they have several cases. No limit is beyond what the measure can be.
    """
    is_share = table["measure"].isin(SHARES).to_numpy()
    at_end = is_share & table["estimate"].isin((0.0, 1.0)).to_numpy()
    n = np.minimum(table["n"].to_numpy(dtype=np.float64), results.n_clusters)
    estimate = table["estimate"].to_numpy(dtype=np.float64)
    limits = wilson_interval(np.where(at_end, estimate * n, 0.0), n, results.options.alpha)
    limits_of_table = (table[column].to_numpy(dtype=np.float64) for column in ("ci_low", "ci_high"))
    low, high = (np.where(at_end, *ends) for ends in zip(limits, limits_of_table, strict=True))
    return table.assign(
        ci_low=np.maximum(low, np.where(is_share, 0.0, -1.0)),
        ci_high=np.minimum(high, 1.0),
        method=table["method"].mask(at_end, "Wilson"),
    )
