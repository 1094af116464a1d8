"""Weighted kappa of pairs of raters for ordered options: the table `agreement_weighted.csv`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.arrays import Codes, Floats, Ints
from analysis.bundle.model import Bundle
from analysis.bundle.protocol import protocol_value
from analysis.figures.drawing.axes import rater_names
from analysis.options import Options
from analysis.presentation.table import (
    ReportTable,
    condition_cell,
    estimate_of,
    rater_name,
    report_table,
    whole_number,
)
from analysis.presentation.wording import cell_number, rows_by
from analysis.readings.clusters import (
    PERCENTILE_METHOD,
    WIDENED_METHOD,
    is_widened,
    percentile_limits,
    ratio,
    reason_too_few,
)
from analysis.readings.matrix import NO_LETTER
from analysis.results import Results
from analysis.statistics.agreement.pairs.counts import pairs_of
from analysis.statistics.statistic import Method, Statistic, shared_columns
from analysis.statistics.study import Study, study_of
from analysis.translation import t

LINEAR, QUADRATIC = "kappa_linear", "kappa_quadratic"
WEIGHT_NAMES = {LINEAR: "linear", QUADRATIC: "quadratic"}
NO_ITEM = "no item of the option set was answered by both"
CONSTANT = "both raters gave a single answer, or one of them did"
FEW_RESAMPLES = "interval: defined in fewer than 80 % of the resamples"


def has_ordered_options(study: Study) -> bool:
    """Return whether options were declared to be ordered, and items share an option set."""
    declared = (
        study.options.ordered or protocol_value(study.bundle.protocol, "ordered_options") is True
    )
    return declared and bool(study.matrix.members("option_set"))


FISHER_METHOD = "Fleiss, Cohen and Everitt (1969); t, n - 1, on Fisher's scale"


def agreement_weighted(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Estimate the weighted kappa of each pair of raters within each option set.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; all items of an `option_set` offer the same options in the same order.
    options : Options, optional
        Seed, number of resamples and alpha.

    Returns
    -------
    pandas.DataFrame
        The columns of `AGREEMENT_WEIGHTED`; pairs as in `agreement_pairs`, on the items that both
        answered. Estimates are from -1 to 1.

    Notes
    -----
    This is kappa [1]_ with disagreement :math:`|i - j|` (`kappa_linear`) or :math:`(i - j)^2`
    (`kappa_quadratic`) between the i-th and the j-th option, computed by statsmodels'
    `cohens_kappa`. With clusters, the interval has percentiles over resampled patients as its
    limits. Otherwise it is an interval of Student's t with n - 1 degrees of freedom around artanh
    K, whose standard error is :math:`SE / (1 - K^2)`, with the SE of Fleiss, Cohen and Everitt
    [2]_. With 50 cases, an interval around K itself contains the true kappa in only 90 to 91 % of
    studies (docs/coverage.md).

    References
    ----------
    .. [1] Cohen J. Weighted kappa: nominal scale agreement with provision for scaled disagreement
       or partial credit. Psychol Bull 1968;70:213-220. doi:10.1037/h0026256
    .. [2] Fleiss JL, Cohen J, Everitt BS. Large sample standard errors of kappa and weighted
       kappa. Psychol Bull 1969;72:323-327. doi:10.1037/h0028106
    """
    study = study_of(study, options)
    matrix = study.matrix
    rows = []
    for pair in pairs_of(matrix.columns):
        a, b = matrix.columns[pair.a], matrix.columns[pair.b]
        names = {
            "rater_a": a.rater_id,
            "rater_b": b.rater_id,
            "pair_kind": pair.kind.value,
            "condition": pair.condition,
        }
        for option_set, items in matrix.members("option_set").items():
            answers = matrix.answers[items][:, [pair.a, pair.b]]
            answered_by_both = (answers != NO_LETTER).all(axis=1)
            n_options = int(max(matrix.n_options[items].max(), answers.max(initial=0) + 1))
            for measure in WEIGHT_NAMES:
                cells = _measure_cells(
                    study, answers[answered_by_both], items[answered_by_both], n_options, measure
                )
                rows.append({**names, "scope": f"option_set={option_set}", **cells})
    return pd.DataFrame(rows, columns=AGREEMENT_WEIGHTED.header)


def _measure_cells(
    study: Study, answers: Codes, items: Ints, n_options: int, measure: str
) -> dict[str, Any]:
    cells: dict[str, Any] = {"measure": measure, "n": len(answers), "method": ""}
    cells |= dict.fromkeys(("estimate", "se", "ci_low", "ci_high"), np.nan)
    if not len(answers):
        return cells | {"undefined_because": NO_ITEM}
    if min(len(np.unique(column)) for column in answers.T) < 2:
        return cells | {"undefined_because": CONSTANT}
    # Imported here, because only runs with ordered options need it.
    from statsmodels.stats.inter_rater import cohens_kappa

    result = cohens_kappa(_option_counts(answers, n_options), wt=WEIGHT_NAMES[measure])
    estimate, se = float(result.kappa), float(result.std_kappa)
    if study.weights is None:
        half_width = float(student.isf(study.options.alpha / 2, len(answers) - 1)) * se
        low, high = limits_on_fishers_scale(estimate, half_width)
        limits: dict[str, Any] = {"ci_low": low, "ci_high": high, "method": FISHER_METHOD}
        limits |= {"undefined_because": ""}
    else:
        limits = _percentile_cells(study, study.weights, (answers, items), n_options, measure)
    return cells | {"estimate": estimate, "se": se} | limits


def limits_on_fishers_scale(kappa: float, half_width: float) -> tuple[float, float]:
    """Return the limits of a kappa; those of a kappa of -1 or 1, which has no error, equal it.

    Examples
    --------
    >>> [round(limit, 3) for limit in limits_on_fishers_scale(0.8, 0.2)]
    [0.495, 0.929]
    """
    if not abs(kappa) < 1:
        return kappa, kappa
    centre, half_on_scale = np.arctanh(kappa), half_width / (1 - kappa**2)
    return float(np.tanh(centre - half_on_scale)), float(np.tanh(centre + half_on_scale))


def _option_counts(answers: Codes, n_options: int) -> Floats:
    """Return how often each pair of options was chosen, shape (n_options, n_options)."""
    option_pair = answers[:, 0].astype(np.int64) * n_options + answers[:, 1]
    counts = np.bincount(option_pair, minlength=n_options**2).astype(np.float64)
    return counts.reshape(n_options, n_options)


def _percentile_cells(
    study: Study, weights: Floats, answered: tuple[Codes, Ints], n_options: int, measure: str
) -> dict[str, Any]:
    """Return the percentile limits over resampled patients."""
    answers, items = answered
    present, cluster = np.unique(study.matrix.clusters[items], return_inverse=True)
    by_cluster = np.zeros((len(present), n_options**2))
    option_pair = answers[:, 0].astype(np.int64) * n_options + answers[:, 1]
    np.add.at(by_cluster, (cluster, option_pair), 1.0)
    resampled_counts = (weights[:, present] @ by_cluster).reshape(-1, n_options, n_options)
    units = np.array(len(present))
    resampled = weighted_kappa(resampled_counts, disagreements(n_options, measure))
    low, high, _ = percentile_limits(resampled, study.options.alpha, units)
    few = reason_too_few(len(present), clustered=True)
    reason = f"interval: {few}" if few else FEW_RESAMPLES if np.isnan(low) else ""
    return {
        "ci_low": float(low),
        "ci_high": float(high),
        "method": WIDENED_METHOD if is_widened(units) else PERCENTILE_METHOD,
        "undefined_because": reason,
    }


def disagreements(n_options: int, measure: str) -> Floats:
    """Return the disagreement between each pair of options, for linear or quadratic weights."""
    option_pair = np.arange(n_options, dtype=np.float64)
    distance: Floats = np.abs(np.subtract.outer(option_pair, option_pair))
    return distance if measure == LINEAR else distance**2


def weighted_kappa(counts: Floats, disagreement: Floats) -> Floats:
    """Return the weighted kappa of tables of counts.

    Parameters
    ----------
    counts : numpy.ndarray of float, shape (..., k, k)
        How often the first rater chose the row and the second the column.
    disagreement : numpy.ndarray of float, shape (k, k)
        Weight of every pair of options; 0 for the same option.

    Returns
    -------
    numpy.ndarray of float, shape (...)
        nan if a table is empty or its expected disagreement is 0.

    Examples
    --------
    >>> float(weighted_kappa(np.array([[2.0, 1.0], [0.0, 1.0]]), disagreements(2, LINEAR)))
    0.5
    """
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    observed = (counts * disagreement).sum(axis=(-2, -1)) * counts.sum(axis=(-2, -1))
    expected = np.einsum("...i,ij,...j->...", rows, disagreement, columns)
    kappa: Floats = 1 - ratio(observed, expected)
    return kappa


def weighted_table(results: Results) -> Iterator[ReportTable]:
    """Show the weighted kappa of every pair within each option set."""
    names = rater_names(results.bundle)
    keys = ("rater_a", "rater_b", "condition", "scope")
    by_pair = rows_by(results, "agreement_weighted", keys, of="measure")
    yield report_table(
        name="agreement-weighted",
        title=t("Weighted kappa for ordered options"),
        note=t("Within cases that offer the same ordered options, and that both raters answered."),
        header=(
            t("Raters"),
            t("Condition"),
            t("Option set"),
            "n",
            t("Linear weights"),
            t("Quadratic weights"),
        ),
        rows=[
            (
                (rater_name(names, a), rater_name(names, b)),
                (
                    condition_cell(condition),
                    scope.removeprefix("option_set="),
                    whole_number(cell_number(rows[LINEAR], "n")),
                    estimate_of(rows[LINEAR]),
                    estimate_of(rows[QUADRATIC]),
                ),
            )
            for (a, b, condition, scope), rows in by_pair.items()
        ],
    )


AGREEMENT_WEIGHTED = Statistic(
    name="agreement_weighted",
    meaning="Weighted kappa of two raters within items that offer the same ordered options.",
    columns=shared_columns(
        "rater_a rater_b pair_kind condition scope measure n estimate se ci_low ci_high method"
        " undefined_because"
    ),
    compute=agreement_weighted,
    applies=has_ordered_options,
    methods={
        598: Method(
            "Weighted kappa",
            "For ordered options, kappa is weighted linearly and quadratically [@cohen1968]"
            " [@fleiss1969]; limits are on Fisher's scale, or percentiles over resampled patients"
            " where these have several cases.",
        )
    },
    tables={75: weighted_table},
)
