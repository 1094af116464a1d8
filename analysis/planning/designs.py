"""The variance of a difference as a function of the readers, cases and design of a study."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.arrays import Floats
from analysis.errors import OptionsError
from analysis.planning.components import Comparison, Components, reader_variance

Number = float | Floats


class PlanDesign(StrEnum):
    """Which readers read which cases: all, blocks, or different readers for each condition."""

    CROSSED = "crossed"
    BLOCKS = "blocks"
    ARMS = "arms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The components of the variance of a difference, for one reader.

    Parameters
    ----------
    reader : float or numpy.ndarray
        Variance of the true values between readers.
    own : float or numpy.ndarray
        Error variance that a reader does not share with other readers, at `cases` cases.
    shared : float or numpy.ndarray
        Error covariance of the difference between readers, at `cases` cases.
    within : float or numpy.ndarray
        Error covariance between readers of one group; `shared` unless there are parallel arms.
    cases : int
        Number of cases that `own`, `shared` and `within` refer to.
    readers : int
        Number of readers in the study that the components were estimated from.
    clusters : int or None
        Number of patients in that study, if they have several cases.
    own_df, joint_df : float or None
        Degrees of freedom of `own` and of `own` + J `shared`; None: those of normal errors.
    """

    reader: Number
    own: Number
    shared: Number
    within: Number
    cases: int
    readers: int
    clusters: int | None = None
    own_df: float | None = None
    joint_df: float | None = None

    @property
    def normal_df(self) -> tuple[int, int]:
        """Degrees of freedom of `own` and of `own` + J `shared` with normal errors."""
        df_cases = (self.clusters or self.cases) - 1
        return (self.readers - 1) * df_cases, df_cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a planned study: readers, cases, and readers per case (in each arm)."""

    readers: int
    cases: int
    reads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """The variance of a difference with its degrees of freedom; inf for the normal distribution."""

    value: Number
    df: Number


def spread_of(components: Components, comparison: Comparison, design: PlanDesign) -> Spread:
    r"""Return the components of the variance of the planned difference.

    Parameters
    ----------
    components : Components
        For `panel`, components of the differences model minus reader; otherwise components of
        readers under two conditions.
    comparison : Comparison
        The comparison.
    design : PlanDesign
        The design; parallel arms require a comparison of two conditions.

    Raises
    ------
    OptionsError
        Parallel arms with a panel, or components of two conditions for a panel.

    Notes
    -----
    Two conditions: a reader's difference has the true variance :math:`2\sigma^2_{TR}`, the error
    variance :math:`2(Var - Cov_1)` and the covariance :math:`2(Cov_2 - Cov_3)` with another
    reader's. Parallel arms: a reader's value has the true variance
    :math:`\sigma^2_R + \sigma^2_{TR}` and the unshared error :math:`Var - Cov_2`; the means of the
    arms share all error except :math:`2(Cov_2 - Cov_3)`.
    """
    var, cov1 = components.var_error, components.cov1
    cov2, cov3 = components.cov2, components.cov3
    if design is PlanDesign.ARMS:
        if comparison is not Comparison.CONDITIONS:
            raise OptionsError("design arms compares two conditions; give comparison conditions")
        reader, reader_share = reader_variance(components) + components.var_tr, var - cov2
        shared, within = 2 * (cov2 - cov3), cov2
    elif comparison is Comparison.PANEL:
        if cov1 or cov3:
            raise OptionsError(
                "with comparison panel the components are those of the differences model minus"
                " reader, which have no cov1 and no cov3; set both to 0, or give comparison"
                " conditions"
            )
        reader, reader_share, shared, within = components.var_tr, var - cov2, cov2, cov2
    else:
        shared = within = 2 * (cov2 - cov3)
        reader, reader_share = 2 * components.var_tr, 2 * (var - cov1) - shared
    return Spread(
        reader=reader,
        own=reader_share,
        shared=shared,
        within=within,
        cases=components.cases,
        readers=components.readers,
        clusters=components.clusters,
        own_df=components.own_df,
        joint_df=components.joint_df,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variances:
    """The variances of a planned difference under its three claims."""

    random_readers: Variance
    fixed_readers: Variance
    fixed_cases: Variance


def group_sizes(size: Size, design: PlanDesign) -> tuple[int, ...]:
    """Return the number of readers in each arm, or in the study if there are no arms.

    Examples
    --------
    >>> group_sizes(Size(readers=5, cases=100, reads=2), PlanDesign.ARMS)
    (3, 2)
    """
    if design is not PlanDesign.ARMS:
        return (size.readers,)
    return (size.readers - size.readers // 2, size.readers // 2)


def variances(spread: Spread, size: Size, design: PlanDesign) -> Variances:
    r"""Return the variance of a difference and its degrees of freedom, for every claim.

    Parameters
    ----------
    spread : Spread
        Components estimated by a study, or arrays of draws from their uncertainty.
    size : Size
        The size of the planned study, with at least two readers in each group.
    design : PlanDesign
        Which readers read which cases.

    Returns
    -------
    Variances
        In squared units of the metric.

    Notes
    -----
    With s the ratio of the cases of the components to the planned cases, J readers and R readers
    per case, the variance of the mean over readers is

    .. math:: V = \sigma^2 / J + s\,(own / R + \max(shared, 0)),

    which for R = J is the variance of Hillis, Obuchowski and Berbaum [1]_. Its degrees of freedom
    are :math:`V^2 / \sum_g (m_g^2 / \nu_g)`, where m is the expected mean square of readers divided
    by J:

    - crossed: :math:`m = \sigma^2 / J + s\,own / J`, :math:`\nu = J - 1`;
    - each case read by R of J readers, with the same number of shared cases for every pair: two
      readers share only some cases, so that their covariance is smaller, which adds
      :math:`s\,within\,(J - R) / (R (J - 1))` to m; :math:`\nu = J - 1`;
    - blocks (split-plot [2]_): J / R blocks of R readers, who read all cases of their block;
      :math:`m = \sigma^2 / J + s\,own / R`, :math:`\nu = J - \lceil J / R \rceil`; blocks of one
      reader are treated as in the previous case;
    - arms: one group g per arm; V is the sum over arms with the shared part counted once
      (Satterthwaite).

    With fixed readers, V has no :math:`\sigma^2` and the distribution is normal. With fixed cases,
    the variance is the sum of m without the part that readers share. A negative :math:`\sigma^2`
    counts as 0.

    References
    ----------
    .. [1] Hillis SL, Obuchowski NA, Berbaum KS. Power estimation for multireader ROC methods: an
       updated and unified approach. Acad Radiol 2011;18:129-142. doi:10.1016/j.acra.2010.09.007
    .. [2] Obuchowski NA, Gallas BD, Hillis SL. Multi-reader ROC studies with split-plot designs: a
       comparison of statistical methods. Acad Radiol 2012;19:1508-1517.
       doi:10.1016/j.acra.2012.09.012

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> spread = spread_of(PUBLISHED["van-dyke"], Comparison.CONDITIONS, PlanDesign.CROSSED)
    >>> crossed = variances(spread, Size(readers=10, cases=165, reads=10), PlanDesign.CROSSED)
    >>> round(float(crossed.random_readers.df), 4)
    62.7073
    """
    s = spread.cases / size.cases
    reader = np.maximum(spread.reader, 0.0)
    shared = s * np.maximum(spread.shared, 0.0)
    own_variance = s * (spread.own + np.minimum(spread.shared, 0.0))
    value, terms, fixed_cases = shared, [], []
    for n_readers in group_sizes(size, design):
        reads = min(size.reads, n_readers)
        value = value + reader / n_readers + own_variance / reads
        unshared, df = _incomplete_mean_square(spread, n_readers, reads, design)
        terms.append((reader / n_readers + own_variance / reads + s * unshared, df))
        fixed_cases.append((reader / n_readers + s * spread.own / reads, df))
    readers = sum(reader / n for n in group_sizes(size, design))
    return Variances(
        random_readers=Variance(value=value, df=_satterthwaite_df(value, terms)),
        fixed_readers=Variance(value=value - readers, df=np.inf),
        fixed_cases=Variance(
            value=sum(m for m, _ in fixed_cases),
            df=_satterthwaite_df(sum(m for m, _ in fixed_cases), fixed_cases),
        ),
    )


def _incomplete_mean_square(
    spread: Spread, n_readers: int, reads: int, design: PlanDesign
) -> tuple[Number, float]:
    """Return the mean square that incomplete reading adds, and the readers' degrees of freedom."""
    if design is PlanDesign.BLOCKS and reads > 1:
        return 0.0, float(n_readers - -(-n_readers // reads))
    share = (n_readers - reads) / (reads * (n_readers - 1))
    return np.maximum(spread.within, 0.0) * share, float(n_readers - 1)


def _satterthwaite_df(value: Number, terms: list[tuple[Number, float]]) -> Number:
    with np.errstate(divide="ignore"):
        return np.asarray(value) ** 2 / sum(np.asarray(m) ** 2 / df for m, df in terms)
