"""Obuchowski-Rockette for two treatments read by the same readers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.arrays import Floats, Ints
from analysis.statistics.merits.merits import Merits, differences
from analysis.statistics.mrmc.inference import Inference, beyond_rounding
from analysis.statistics.mrmc.single_treatment import cell_means, single_treatment


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTreatments:
    """The difference of two treatments with the components of its variance.

    Parameters
    ----------
    n_readers : int
        Readers, J.
    value_a, value_b : float
        Mean figure of merit under each treatment.
    mst, msr, mstr : float
        Mean squares of treatments, readers, and their interaction; the last two are nan with one
        reader.
    var, cov1, cov2, cov3 : float
        Mean variance; mean covariance of the same reader under both treatments, of two readers
        under one, of two readers under both.
    cov_difference : float
        Cov2 - Cov3; where it is negative the tests take it as 0.
    var_reader, var_treatment_reader : float
        Variances of readers, and of readers' true differences; may come out negative.
    random_readers, fixed_readers, fixed_items : Inference
        RRRC, FRRC and RRFC of a minus b.
    """

    n_readers: int
    value_a: float
    value_b: float
    mst: float
    msr: float
    mstr: float
    var: float
    cov1: float
    cov2: float
    cov3: float
    cov_difference: float
    var_reader: float
    var_treatment_reader: float
    random_readers: Inference
    fixed_readers: Inference
    fixed_items: Inference


def two_treatments(
    merits: Merits,
    a: Ints,
    b: Ints,
    alpha: float = 0.05,
    *,
    constrain: bool = True,
    items_df: float = math.inf,
) -> TwoTreatments:
    r"""Compare two treatments (conditions, modalities) read by the same readers.

    Parameters
    ----------
    merits : Merits
        Figures of merit of every reader under every treatment.
    a, b : numpy.ndarray of int, shape (n_readers,)
        Where each reader stands in `merits` under the first and under the second treatment.
    alpha : float, default 0.05
        Two-sided error of the intervals.
    constrain : bool, default True
        Take a negative Cov2 - Cov3 as 0. MRMCaov's fixed-reader interval does not; OR-DBM does.
    items_df : float, default inf
        Degrees of freedom of FRRC; see `single_treatment`.

    Returns
    -------
    TwoTreatments
        The components and the three inferences.

    Notes
    -----
    Obuchowski and Rockette's model [1]_ with Hillis' degrees of freedom [2]_. The variance of the
    difference of the means over J readers is

    - RRRC: :math:`\frac{2}{J} (MSTR + \max(J (Cov_2 - Cov_3), 0))`, t with the square of the
      bracket over :math:`MSTR^2 / (J - 1)` degrees of freedom;
    - FRRC: :math:`\frac{2}{J} (Var - Cov_1 + (J - 1) \max(Cov_2 - Cov_3, 0))`, normal,
      or t with `items_df`;
    - RRFC: :math:`\frac{2}{J} MSTR`, t with J - 1.

    Each is what `single_treatment` says of the readers' differences, whose MSR is 2 MSTR, whose Var
    is 2 (Var - Cov1) and whose Cov2 is 2 (Cov2 - Cov3); it is computed so. F is the square of the
    statistic. :math:`\sigma^2_R = (MSR - MSTR) / 2 - Cov_1 + Cov_3` and
    :math:`\sigma^2_{TR} = MSTR - Var + Cov_1 + Cov_2 - Cov_3` [3]_.

    References
    ----------
    .. [1] Obuchowski NA, Rockette HE. Hypothesis testing of diagnostic accuracy for multiple
       readers and multiple tests: an ANOVA approach with dependent observations. Commun Stat
       Simul Comput 1995;24:285-308. doi:10.1080/03610919508813243
    .. [2] Hillis SL. A comparison of denominator degrees of freedom methods for multiple observer
       ROC analysis. Stat Med 2007;26:596-619. doi:10.1002/sim.2532
    .. [3] Hillis SL. A marginal-mean ANOVA approach for analyzing multireader multicase
       radiological imaging data. Stat Med 2014;33:330-360. doi:10.1002/sim.5926

    Examples
    --------
    >>> from analysis.statistics.merits.merits import percent_correct
    >>> aided = np.array([[1, 1], [1, 1], [0, 1], [1, 0], [1, 1], [1, 1]], dtype=bool)
    >>> unaided = np.array([[1, 0], [0, 1], [0, 1], [1, 0], [0, 0], [1, 1]], dtype=bool)
    >>> merits = percent_correct(np.hstack([aided, unaided]))
    >>> two = two_treatments(merits, a=np.array([0, 1]), b=np.array([2, 3]))
    >>> round(two.value_a - two.value_b, 4), round(two.random_readers.se, 4)
    (0.3333, 0.1054)
    """
    one = single_treatment(differences(merits, a, b), alpha, constrain=constrain, items_df=items_df)
    msr, mstr = _mean_squares(merits.values[a], merits.values[b])
    var, cov1, cov2, cov3 = _covariances(merits.covariance, a, b)
    value_a, value_b = float(merits.values[a].mean()), float(merits.values[b].mean())
    return TwoTreatments(
        n_readers=len(a),
        value_a=value_a,
        value_b=value_b,
        mst=len(a) * (value_a - value_b) ** 2 / 2,
        msr=msr,
        mstr=mstr,
        var=var,
        cov1=cov1,
        cov2=cov2,
        cov3=cov3,
        cov_difference=one.cov2 / 2,
        var_reader=beyond_rounding((msr - mstr) / 2 - cov1 + cov3, msr + mstr + var),
        var_treatment_reader=beyond_rounding(mstr - var + cov1 + cov2 - cov3, mstr + var),
        random_readers=one.random_readers,
        fixed_readers=one.fixed_readers,
        fixed_items=one.fixed_items,
    )


def _mean_squares(a: Floats, b: Floats) -> tuple[float, float]:
    """Return the mean squares of readers and of their interaction with treatments."""
    if len(a) < 2:
        return float("nan"), float("nan")
    return 2 * float(((a + b) / 2).var(ddof=1)), float((a - b).var(ddof=1)) / 2


def _covariances(covariance: Floats, a: Ints, b: Ints) -> tuple[float, float, float, float]:
    """Return Var, Cov1, Cov2 and Cov3: means over cells of one kind."""
    within = (covariance[np.ix_(a, a)] + covariance[np.ix_(b, b)]) / 2
    between = (covariance[np.ix_(a, b)] + covariance[np.ix_(b, a)]) / 2
    (var, cov2), (cov1, cov3) = cell_means(within), cell_means(between)
    return var, cov1, cov2, cov3
