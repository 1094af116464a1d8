"""Obuchowski and Rockette's method for one and for two treatments, and the claims it supports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.stats import norm, t

from analysis.arrays import Floats, Ints
from analysis.statistics.claims import NARROWER_NOTE
from analysis.statistics.merits import Merits, differences
from analysis.translation import later

# Smaller variances are rounding errors: one item of 40,000 changes a difference by more.
ZERO_VARIANCE = 1e-18
ROUNDING_SHARE = 1e-10
"""A sum below this share of its terms is taken as a rounding error, even for a million items."""

NO_VARIANCE = later("the answers leave no variance to estimate")
NEGATIVE_VARIANCE = later("the variance comes out negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """An estimate with its standard error, interval and test against 0.

    Parameters
    ----------
    estimate : float
        A proportion, an area, or a difference between two of these.
    se : float
        Standard error of the estimate; nan if undefined.
    df : float
        Degrees of freedom of Student's t; inf for the normal distribution.
    ci_low, ci_high : float
        Confidence limits; not truncated to the range of the estimate.
    p : float
        Two-sided p-value for the hypothesis that the true value is 0.
    undefined_because : str
        Why standard error, interval and p are nan; empty if they are defined.
    """

    estimate: float
    se: float
    df: float
    ci_low: float
    ci_high: float
    p: float
    undefined_because: str = ""

    @property
    def statistic(self) -> float:
        """The estimate divided by its standard error."""
        return self.estimate / self.se

    def p_noninferior(self, margin: float) -> float:
        r"""Return the one-sided p for the hypothesis that the estimate is `-margin` or less.

        Parameters
        ----------
        margin : float
            The margin, 0 or larger, in the unit of the estimate.

        Returns
        -------
        float
            :math:`P(T > (estimate + margin) / SE)`; nan if the standard error is undefined.

        Examples
        --------
        >>> round(infer(-0.01, 0.0004, math.inf, alpha=0.05).p_noninferior(0.05), 4)
        0.0228
        """
        return _tail_p((self.estimate + margin) / self.se, self.df)


def beyond_rounding(value: float, scale: float) -> float:
    """Return a sum of numbers of both signs, or 0 if it is only a rounding error.

    Parameters
    ----------
    value : float
        The sum; if it is nan, the result is nan.
    scale : float
        Size of the numbers that were added.

    Examples
    --------
    >>> beyond_rounding(0.1 + 0.2 - 0.3, scale=0.3), beyond_rounding(0.1, scale=0.3)
    (0.0, 0.1)
    """
    return 0.0 if abs(value) <= ROUNDING_SHARE * scale else value


def infer(estimate: float, variance: float, df: float, alpha: float) -> Inference:
    """Return the t or normal interval and test of an estimate.

    Parameters
    ----------
    estimate, variance : float
        The estimate and the square of its standard error.
    df : float
        Degrees of freedom; inf for the normal distribution.
    alpha : float
        Two-sided error rate of the interval.

    Returns
    -------
    Inference
        Standard error, interval and p are undefined if the variance is 0 or negative, because a
        variance of 0 would suggest certainty.

    Examples
    --------
    >>> inference = infer(0.1, 0.0025, 8, alpha=0.05)
    >>> round(inference.ci_low, 4), round(inference.ci_high, 4), round(inference.p, 4)
    (-0.0153, 0.2153, 0.0805)
    >>> infer(0.0, 0.0, 8, alpha=0.05).undefined_because
    'the answers leave no variance to estimate'
    """
    if not variance > ZERO_VARIANCE:
        return undefined_inference(
            estimate, NEGATIVE_VARIANCE if variance < -ZERO_VARIANCE else NO_VARIANCE
        )
    se = math.sqrt(variance)
    half_width = float(norm.isf(alpha / 2) if math.isinf(df) else t.isf(alpha / 2, df)) * se
    return Inference(
        estimate=estimate,
        se=se,
        df=df,
        ci_low=estimate - half_width,
        ci_high=estimate + half_width,
        p=2 * _tail_p(abs(estimate) / se, df),
    )


def _tail_p(value: float, df: float) -> float:
    return float(norm.sf(value) if math.isinf(df) else t.sf(value, df))


def undefined_inference(estimate: float, reason: str) -> Inference:
    """Return an estimate that has no standard error, with the reason.

    Examples
    --------
    >>> undefined_inference(0.1, "a single reader").se
    nan
    """
    nan = math.nan
    return Inference(
        estimate=estimate, se=nan, df=nan, ci_low=nan, ci_high=nan, p=nan, undefined_because=reason
    )


NEGATIVE_COVARIANCE = "negative covariance between readers taken as 0"
NO_TEST = "standard error, interval and p"
# Largest relative difference between equal widths that are computed in two ways.
LIMIT_ROUNDING = 1e-12
# Largest possible difference between two proportions or areas.
LARGEST_DIFFERENCE = 1.0


class Claim(StrEnum):
    """The readers or items about which an inference makes a claim."""

    THESE_READERS = "these readers"
    READERS_LIKE_THESE = "readers like these"
    THESE_ITEMS = "these items"


def inference_cells(inference: Inference, claim: Claim, no_value: str) -> dict[str, object]:
    """Return the cells of a row for an inference.

    Parameters
    ----------
    inference : Inference
        The inference in the row.
    claim : Claim
        The claim of the inference.
    no_value : str
        Why a rater's value is undefined; empty if none is.

    Returns
    -------
    dict
        `claim, difference, se, df, ci_low, ci_high, p, undefined_because`; limits are truncated at
        the largest possible difference.

    Examples
    --------
    >>> from analysis.statistics.mrmc.obuchowski_rockette import undefined_inference
    >>> inference = undefined_inference(0.1, "a single reader")
    >>> inference_cells(inference, Claim.READERS_LIKE_THESE, "")["undefined_because"]
    'standard error, interval and p: a single reader'
    """
    return {
        "claim": claim.value,
        "difference": inference.estimate,
        "se": inference.se,
        "df": inference.df,
        "ci_low": -LARGEST_DIFFERENCE
        if inference.ci_low < -LARGEST_DIFFERENCE
        else inference.ci_low,
        "ci_high": LARGEST_DIFFERENCE
        if inference.ci_high > LARGEST_DIFFERENCE
        else inference.ci_high,
        "p": inference.p,
        "undefined_because": _undefined_reason(inference, no_value),
    }


def _undefined_reason(inference: Inference, no_value: str) -> str:
    if math.isnan(inference.estimate):
        return no_value or inference.undefined_because
    return f"{NO_TEST}: {inference.undefined_because}" if inference.undefined_because else ""


def wider_inference(random: Inference, fixed: Inference) -> tuple[Inference, str]:
    """Return the inference for readers like these, but never a narrower one than for these readers.

    If readers differ less than expected by chance, the interval with random readers is narrower
    than that with fixed readers. In this case, the standard error, df, limits and p with fixed
    readers are used for both claims, because the narrower interval has a coverage of only 80 %
    (docs/coverage.md).

    Parameters
    ----------
    random, fixed : Inference
        The inferences of a difference for readers like these and for these readers.

    Returns
    -------
    Inference
        The inference with the wider interval.
    str
        A note if the inference is that with fixed readers; otherwise empty.

    Examples
    --------
    >>> from analysis.statistics.mrmc.obuchowski_rockette import infer
    >>> fixed = infer(0.1, 0.04, 30, alpha=0.05)
    >>> wider, note = wider_inference(infer(0.1, 0.01, 4, alpha=0.05), fixed)
    >>> wider == fixed, note[:21]
    (True, 'came out narrower tha')
    >>> wider_inference(infer(0.1, 0.04, 4, alpha=0.05), fixed)[1]
    ''
    """
    widths = [inference.ci_high - inference.ci_low for inference in (random, fixed)]
    return (fixed, NARROWER_NOTE) if widths[0] < widths[1] * (1 - LIMIT_ROUNDING) else (random, "")


def method_of_claim(methods: Mapping[Claim, str], claim: Claim, narrower: str) -> str:
    """Return the method of a claim; both methods if `wider_inference` chose the fixed interval.

    Parameters
    ----------
    methods : mapping of Claim to str
        The method of each claim.
    claim : Claim
        The claim of the row.
    narrower : str
        The note of `wider_inference`; empty if it has none.

    Examples
    --------
    >>> methods = {Claim.THESE_READERS: "fixed; t", Claim.READERS_LIKE_THESE: "random; t"}
    >>> method_of_claim(methods, Claim.READERS_LIKE_THESE, "")
    'random; t'
    >>> method_of_claim(methods, Claim.READERS_LIKE_THESE, NARROWER_NOTE)
    'random; t, came out narrower; shown instead: fixed; t'
    """
    method = methods[claim]
    if claim is not Claim.READERS_LIKE_THESE or not narrower:
        return method
    return f"{method}, came out narrower; shown instead: {methods[Claim.THESE_READERS]}"


def join_nonempty(parts: Iterable[str]) -> str:
    """Join nonempty strings with semicolons.

    Examples
    --------
    >>> join_nonempty(["one", "", "two"])
    'one; two'
    """
    return "; ".join(part for part in parts if part)


# Smaller mean squares are rounding errors: half a tie among 40,000 items changes them by more.
ZERO_MEAN_SQUARE = 1e-24
ONE_READER = later("a single reader does not show how readers vary")
NO_ESTIMATE = later("a figure of merit is undefined")


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleTreatment:
    """A mean over readers, with inferences for random or fixed readers and items.

    Parameters
    ----------
    n_readers : int
        Number of readers, J.
    msr : float
        Mean square of readers; nan with a single reader.
    var, cov2 : float
        Mean variance, and mean covariance between readers (nan with a single reader).
    var_reader : float
        MSR - Var + Cov2, the variance of the readers' true figures of merit; may be negative.
    random_readers : Inference
        Readers and items are samples: the claim about readers like these.
    fixed_readers : Inference
        Items are a sample: the claim about these readers.
    fixed_items : Inference
        Readers are a sample: the claim about these items.
    """

    n_readers: int
    msr: float
    var: float
    cov2: float
    var_reader: float
    random_readers: Inference
    fixed_readers: Inference
    fixed_items: Inference


def single_treatment(
    merits: Merits,
    alpha: float = 0.05,
    *,
    constrain: bool = True,
    items_df: float = math.inf,
) -> SingleTreatment:
    r"""Infer the mean of readers' figures of merit.

    Parameters
    ----------
    merits : Merits
        One figure of merit per reader; for a model against readers, the differences (model minus
        reader) from `differences`.
    alpha : float, default 0.05
        Two-sided error rate of the intervals.
    constrain : bool, default True
        Whether a negative Cov2 is set to 0; it is not in MRMCaov's interval for fixed readers.
    items_df : float, default inf
        Degrees of freedom of the claim about fixed readers. The reference programs use the normal
        distribution; with few items (or patients), t with their number minus 1 controls the error.

    Returns
    -------
    SingleTreatment
        The components and the three inferences.

    Notes
    -----
    With J readers, MSR the variance of their figures of merit (ddof 1), Var the mean of the
    diagonal of the covariance matrix and Cov2 the mean of its other cells, the variance of the mean
    is

    - readers and items random: :math:`(MSR + \max(J\,Cov_2, 0)) / J`, t with Hillis' degrees of
      freedom [1]_ :math:`(MSR + \max(J\,Cov_2, 0))^2 / (MSR^2 / (J - 1))`;
    - readers fixed: :math:`(Var + (J - 1) \max(Cov_2, 0)) / J`, normal, or t
      with `items_df`;
    - items fixed: :math:`MSR / J`, t with J - 1.

    Applied to the differences from a standalone model, this is the comparison of Hillis and of
    Chakraborty [2]_ [3]_: the model is a fixed rater, and its error over items is part of every
    difference. If all figures are equal, MSR is 0, the degrees of freedom are infinite, and t is
    the normal distribution.

    References
    ----------
    .. [1] Hillis SL. A comparison of denominator degrees of freedom methods for multiple observer
       ROC analysis. Stat Med 2007;26:596-619. doi:10.1002/sim.2532
    .. [2] Hillis SL, Obuchowski NA, Berbaum KS. Power estimation for multireader ROC methods: an
       updated and unified approach. Acad Radiol 2011;18:129-142. doi:10.1016/j.acra.2010.09.007
    .. [3] Chakraborty DP. Observer performance methods for diagnostic imaging. CRC Press 2017,
       chapter 22. doi:10.1201/9781351228190

    Examples
    --------
    >>> merits = Merits(
    ...     values=np.array([0.03, 0.05, 0.10]), covariance=0.0004 * (np.eye(3) + np.ones((3, 3))))
    >>> single = single_treatment(merits)
    >>> round(single.random_readers.se, 4), round(single.random_readers.df, 2)
    (0.0289, 7.4)
    >>> round(single.fixed_readers.se, 4)
    0.0231
    """
    values, j = merits.values, len(merits.values)
    estimate = float(values.mean()) if j else math.nan
    msr = mean_square(values)
    var, mean_covariance = cell_means(merits.covariance)
    cov2 = beyond_rounding(mean_covariance, var)
    no_estimate = NO_ESTIMATE if math.isnan(estimate) else ""
    reason = merits.no_covariance or no_estimate
    used_cov2 = max(cov2, 0.0) if constrain else cov2
    return SingleTreatment(
        n_readers=j,
        msr=msr,
        var=var,
        cov2=cov2,
        var_reader=beyond_rounding(msr - var + cov2, msr + var),
        random_readers=_random_readers_inference(estimate, msr, j * used_cov2, j, alpha, reason),
        fixed_readers=_fixed_readers_inference(
            estimate, _fixed_variance(var, used_cov2, j), items_df, alpha, reason
        ),
        fixed_items=_random_readers_inference(estimate, msr, 0.0, j, alpha, no_estimate and reason),
    )


def _random_readers_inference(
    estimate: float, msr: float, items_variance: float, j: int, alpha: float, reason: str
) -> Inference:
    if reason or j < 2:
        return undefined_inference(estimate, reason or ONE_READER)
    denominator = msr + items_variance
    df = denominator**2 / (msr**2 / (j - 1)) if msr else math.inf
    return infer(estimate, denominator / j, df, alpha)


def _fixed_variance(var: float, cov2: float, j: int) -> float:
    """Return the variance of the mean of these readers; nan without readers."""
    between = (j - 1) * cov2 if j > 1 else 0.0
    return beyond_rounding(var + between, var) / j if j else math.nan


def _fixed_readers_inference(
    estimate: float, variance: float, df: float, alpha: float, reason: str
) -> Inference:
    return undefined_inference(estimate, reason) if reason else infer(estimate, variance, df, alpha)


def mean_square(values: Floats) -> float:
    """Return the variance of figures of merit; 0 if it is a rounding error, nan for one figure."""
    if len(values) < 2:
        return math.nan
    square = float(values.var(ddof=1))
    return 0.0 if square < ZERO_MEAN_SQUARE else square


def cell_means(covariance: Floats) -> tuple[float, float]:
    """Return the means of the diagonal and of the other cells; nan for a matrix of one cell.

    Examples
    --------
    >>> cell_means(np.array([[4.0, 1.0], [1.0, 2.0]]))
    (3.0, 1.0)
    """
    j = len(covariance)
    diagonal = float(np.trace(covariance))
    off_diagonal = (float(covariance.sum()) - diagonal) / (j * (j - 1)) if j > 1 else math.nan
    return diagonal / j if j else math.nan, off_diagonal


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTreatments:
    """The difference between two treatments, with the components of its variance.

    Parameters
    ----------
    n_readers : int
        Number of readers, J.
    value_a, value_b : float
        Mean figure of merit under each treatment.
    mst, msr, mstr : float
        Mean squares of treatments, readers, and their interaction; the last two are nan with a
        single reader.
    var, cov1, cov2, cov3 : float
        Mean variance, and mean covariances of the same reader under different treatments, of two
        readers under the same treatment, and of two readers under different treatments.
    cov_difference : float
        Cov2 - Cov3; the tests use 0 if it is negative.
    var_reader, var_treatment_reader : float
        Variances of readers, and of readers' true differences; may be negative.
    random_readers, fixed_readers, fixed_items : Inference
        RRRC, FRRC and RRFC inferences for a minus b.
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
        Positions of the readers in `merits` under the first and under the second treatment.
    alpha : float, default 0.05
        Two-sided error rate of the intervals.
    constrain : bool, default True
        Whether a negative Cov2 - Cov3 is set to 0; it is in OR-DBM, but not in MRMCaov's interval
        for fixed readers.
    items_df : float, default inf
        Degrees of freedom of FRRC, see `single_treatment`.

    Returns
    -------
    TwoTreatments
        The components and the three inferences.

    Notes
    -----
    This is Obuchowski and Rockette's model [1]_ with Hillis' degrees of freedom [2]_. The variance
    of the difference between the means over J readers is

    - RRRC: :math:`\frac{2}{J} (MSTR + \max(J (Cov_2 - Cov_3), 0))`, t with degrees of freedom equal
      to the square of the bracket divided by :math:`MSTR^2 / (J - 1)`;
    - FRRC: :math:`\frac{2}{J} (Var - Cov_1 + (J - 1) \max(Cov_2 - Cov_3, 0))`, normal,
      or t with `items_df`;
    - RRFC: :math:`\frac{2}{J} MSTR`, t with J - 1.

    They are computed by applying `single_treatment` to the readers' differences, whose MSR is 2
    MSTR, whose Var is 2 (Var - Cov1) and whose Cov2 is 2 (Cov2 - Cov3). F is the square of the
    statistic. The variances are :math:`\sigma^2_R = (MSR - MSTR) / 2 - Cov_1 + Cov_3` and
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
    >>> from analysis.statistics.merits import percent_correct
    >>> aided = np.array([[1, 1], [1, 1], [0, 1], [1, 0], [1, 1], [1, 1]], dtype=bool)
    >>> unaided = np.array([[1, 0], [0, 1], [0, 1], [1, 0], [0, 0], [1, 1]], dtype=bool)
    >>> merits = percent_correct(np.hstack([aided, unaided]))
    >>> two = two_treatments(merits, a=np.array([0, 1]), b=np.array([2, 3]))
    >>> round(two.value_a - two.value_b, 4), round(two.random_readers.se, 4)
    (0.3333, 0.1054)
    """
    single = single_treatment(
        differences(merits, a, b), alpha, constrain=constrain, items_df=items_df
    )
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
        cov_difference=single.cov2 / 2,
        var_reader=beyond_rounding((msr - mstr) / 2 - cov1 + cov3, msr + mstr + var),
        var_treatment_reader=beyond_rounding(mstr - var + cov1 + cov2 - cov3, mstr + var),
        random_readers=single.random_readers,
        fixed_readers=single.fixed_readers,
        fixed_items=single.fixed_items,
    )


def _mean_squares(a: Floats, b: Floats) -> tuple[float, float]:
    """Return the mean squares of readers and of their interaction with treatments."""
    if len(a) < 2:
        return float("nan"), float("nan")
    return 2 * float(((a + b) / 2).var(ddof=1)), float((a - b).var(ddof=1)) / 2


def _covariances(covariance: Floats, a: Ints, b: Ints) -> tuple[float, float, float, float]:
    """Return Var, Cov1, Cov2 and Cov3, which are means over cells of the same kind."""
    within = (covariance[np.ix_(a, a)] + covariance[np.ix_(b, b)]) / 2
    between = (covariance[np.ix_(a, b)] + covariance[np.ix_(b, a)]) / 2
    (var, cov2), (cov1, cov3) = cell_means(within), cell_means(between)
    return var, cov1, cov2, cov3
