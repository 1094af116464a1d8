"""Agreement between every two raters: the table `agreement_pairs.csv`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.statistics.agreement.pairs.pairing import pair_names, pairs_of
from analysis.statistics.agreement.pairs.rows import partition_rows
from analysis.statistics.agreement.pairs.scopes import partitions
from analysis.statistics.study import Study, study_of

COLUMNS = (
    "rater_a",
    "rater_b",
    "pair_kind",
    "condition",
    "scope",
    "measure",
    "n",
    "estimate",
    "se",
    "ci_low",
    "ci_high",
    "method",
    "undefined_because",
)


def agreement_pairs(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the agreement of every two raters.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        Columns `rater_a, rater_b, pair_kind, condition, scope, measure, n, estimate, se, ci_low,
        ci_high, method, undefined_because`; in order of condition, kind of pair, ids, scope (all,
        tasks, option sets) and measure.

    Notes
    -----
    Items that both raters answered count; for error consistency those of them with a reference
    standard, for `same_wrong` those that both got wrong. Standard errors are analytic throughout.
    Intervals are percentile intervals over resampled patients where clusters exist; else normal
    for the kappas and t with n - 1 degrees of freedom for the others, the upper limit cut at 1.
    A kappa of two constant raters is undefined; where one rater is constant it is 0 by
    construction, its standard error undefined, and so its interval.

    See Also
    --------
    analysis.statistics.agreement.pairs.measures,
    analysis.statistics.agreement.pairs.standard_errors

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> table = agreement_pairs(bundle_from_tables(
    ...     pd.DataFrame({"item_id": list("wxyz"), "truth": list("ABAB"), "n_options": 2}),
    ...     pd.DataFrame({
    ...         "rater_id": ["R1"] * 4 + ["R2"] * 4,
    ...         "item_id": list("wxyz") * 2,
    ...         "answer": list("ABAA") + list("ABBB"),
    ...     }),
    ... ))
    >>> raw = table.loc[table["measure"] == "raw"]
    >>> raw[["rater_a", "rater_b", "n", "estimate"]].values.tolist()
    [['R1', 'R2', 4, 0.5]]
    """
    study = study_of(study, options)
    matrix, options, weights = study.matrix, study.options, study.weights
    pairs = pairs_of(matrix.columns)
    parts = [
        partition_rows(matrix, pairs, partition, options, weights)
        for partition in partitions(matrix)
    ]
    n_rows = sum(part["measure"].shape[1] for part in parts)
    table = pair_names(matrix.columns, pairs, n_rows)
    for name in COLUMNS[len(table.columns) :]:
        table[name] = np.concatenate([part[name] for part in parts], axis=1).ravel()
        for part in parts:
            part.pop(name)  # the pairs of 200 raters are two million rows: one column at a time
    return table
