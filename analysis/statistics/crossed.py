"""Linear mixed model with crossed readers and items, by restricted maximum likelihood.

Items are eliminated in closed form, and items with the same number of readings are summed together.
One evaluation therefore takes the same time for 200 items as for 40,000; the remaining system has
one equation per reader.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from analysis.arrays import Floats, Ints
from analysis.readings.clusters import sums_by_cluster

SD_RATIO_GRID = (0.0, 0.1, 0.3, 0.6, 1.0, 2.0, 4.0, 10.0)
# Ratio of a standard deviation to that of the residual, above which the residual is negligible.
LARGEST_SD_RATIO = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossedFit:
    """The estimates of a fitted model.

    Parameters
    ----------
    estimates : numpy.ndarray of float, shape (n_terms,)
        The fixed effects.
    covariance : numpy.ndarray of float, shape (n_terms, n_terms)
        Covariances of the fixed effects, at the estimated variances.
    sd_readers, sd_items, sd_residual : float
        Standard deviations between readers, between items and of the residual. The first is 0 with
        a single reader, the second if no item was read twice.
    deviance : float
        Minus twice the restricted log-likelihood, without its constant.
    """

    estimates: Floats
    covariance: Floats
    sd_readers: float
    sd_items: float
    sd_residual: float
    deviance: float


def fit_crossed(outcome: Floats, design: Floats, readers: Ints, items: Ints) -> CrossedFit | None:
    r"""Fit a linear mixed model with crossed random intercepts of readers and items.

    Parameters
    ----------
    outcome : numpy.ndarray of float, shape (n,)
        The outcome.
    design : numpy.ndarray of float, shape (n, n_terms)
        The fixed effects, of full column rank, n larger than n_terms.
    readers : numpy.ndarray of int, shape (n,)
        Numbers of the readers, from 0 without gaps.
    items : numpy.ndarray of int, shape (n,)
        Numbers of the items, ascending.

    Returns
    -------
    CrossedFit or None
        None if no residual variance remains or the search does not converge. Centre `outcome` and
        `design` (except the intercept) for better convergence.

    Notes
    -----
    :math:`y = X\beta + Z_r u + Z_i v + e`, with independent normal u, v and e. With
    :math:`V = I + \theta_r^2 Z_r Z_r' + \theta_i^2 Z_i Z_i'` the restricted deviance, profiled over
    :math:`\beta` and the residual variance, is :math:`\ln|V| + \ln|X'V^{-1}X| +
    (n - p) \ln(r^2 / (n - p))`, r2 the generalised residual sum of squares [1]_. It is minimised
    over the two ratios of standard deviations, on a grid and then by Nelder and Mead's simplex.

    References
    ----------
    .. [1] Bates D, Mächler M, Bolker B, Walker S. Fitting linear mixed-effects models using lme4.
       J Stat Softw 2015;67(1):1-48. doi:10.18637/jss.v067.i01

    Examples
    --------
    A balanced two-way layout; its residual mean square is 7/6.

    >>> y = np.array([1.0, 2.0, 2.0, 5.0, 3.0, 7.0])
    >>> fit = fit_crossed(y, np.ones((6, 1)), np.array([0, 1] * 3), np.repeat([0, 1, 2], 2))
    >>> fit.estimates.round(4).tolist(), round(fit.sd_residual**2, 4)
    ([3.3333], 1.1667)
    """
    sums = _CrossProducts.of(outcome, design, readers, items)
    best = _minimise_deviance(sums)
    return None if best is None else sums.fit(best)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _CrossProducts:
    """Cross-products of the terms, the outcome and the readers' indicators, in this order.

    There are `n` readings and `p` terms. `total` is summed over readings. `by_size[k]` has the
    cross-products of item sums, over the `n_items[k]` items with `sizes[k]` readings each.
    """

    n: int
    p: int
    total: Floats
    by_size: Floats
    sizes: Floats
    n_items: Floats

    @classmethod
    def of(cls, outcome: Floats, design: Floats, readers: Ints, items: Ints) -> _CrossProducts:
        n_readers = int(readers.max()) + 1
        stacked = np.column_stack([design, outcome, np.eye(n_readers)[readers]])
        by_item, _ = sums_by_cluster(stacked, items)
        sizes = by_item[:, -n_readers:].sum(axis=1)
        distinct_sizes, size_number = np.unique(sizes, return_inverse=True)
        sums_by_size = [by_item[size_number == k] for k in range(len(distinct_sizes))]
        return cls(
            n=len(outcome),
            p=design.shape[1],
            total=stacked.T @ stacked,
            by_size=np.array([item_sums.T @ item_sums for item_sums in sums_by_size]),
            sizes=distinct_sizes,
            n_items=np.array([len(item_sums) for item_sums in sums_by_size], dtype=np.float64),
        )

    @property
    def n_readers(self) -> int:
        return len(self.total) - self.p - 1

    def free(self) -> tuple[bool, bool]:
        """Return whether the variances of readers and of items can be estimated."""
        return self.n_readers > 1, bool((self.sizes > 1).any())

    def solve(self, theta_readers: float, theta_items: float) -> tuple[Floats, float]:
        """Return the cross-products of terms and outcome under V, and ln|V|."""
        g, h = theta_items**2, theta_readers**2
        shrinkage = g / (1 + g * self.sizes)
        within = self.total - np.tensordot(shrinkage, self.by_size, axes=1)
        log_det = float(self.n_items @ np.log1p(g * self.sizes))
        n_fixed = self.p + 1
        inner = np.eye(self.n_readers) + h * within[n_fixed:, n_fixed:]
        factor = cho_factor(inner, lower=True)
        crossed = within[:n_fixed, n_fixed:]
        outer = within[:n_fixed, :n_fixed] - h * crossed @ cho_solve(factor, crossed.T)
        return outer, log_det + 2 * float(np.log(np.diag(factor[0])).sum())

    def deviance(self, thetas: Floats) -> float:
        """Return the profiled restricted deviance; infinite where there is none."""
        try:
            outer, log_det = self.solve(float(thetas[0]), float(thetas[1]))
            factor = cho_factor(outer[: self.p, : self.p], lower=True)
        except LinAlgError:
            return float("inf")
        rss = self._rss(outer)
        if rss <= 1e-12 * self.total[self.p, self.p]:
            return float("inf")
        df = self.n - self.p
        return float(log_det + 2 * np.log(np.diag(factor[0])).sum() + df * np.log(rss / df))

    def _rss(self, outer: Floats) -> float:
        p = self.p
        estimates = np.linalg.solve(outer[:p, :p], outer[:p, p])
        return float(outer[p, p] - outer[p, :p] @ estimates)

    def fit(self, thetas: Floats) -> CrossedFit:
        outer, _ = self.solve(float(thetas[0]), float(thetas[1]))
        p = self.p
        inverse = np.linalg.inv(outer[:p, :p])
        variance = self._rss(outer) / (self.n - p)
        sd = float(np.sqrt(variance))
        return CrossedFit(
            estimates=inverse @ outer[:p, p],
            covariance=np.asarray(variance * inverse, dtype=np.float64),
            sd_readers=sd * float(thetas[0]),
            sd_items=sd * float(thetas[1]),
            sd_residual=sd,
            deviance=self.deviance(thetas),
        )


def _minimise_deviance(sums: _CrossProducts) -> Floats | None:
    free = np.array(sums.free())
    grids = [SD_RATIO_GRID if is_free else (0.0,) for is_free in free]
    starts = [np.array([r, i]) for r in grids[0] for i in grids[1]]
    deviances = [sums.deviance(start) for start in starts]
    best = starts[int(np.argmin(deviances))]
    if not np.isfinite(min(deviances)):
        return None
    if not free.any():
        return best

    def deviance(thetas: Floats) -> float:
        return sums.deviance(_with_free_values(best, free, thetas))

    optimum = minimize(
        deviance,
        best[free],
        method="Nelder-Mead",
        bounds=[(0.0, LARGEST_SD_RATIO)] * int(free.sum()),
        options={
            "xatol": 1e-9,
            "fatol": 1e-11,
            "maxiter": 2000,
            "initial_simplex": _simplex(best[free]),
        },
    )
    has_converged = optimum.success and (optimum.x < LARGEST_SD_RATIO / 2).all()
    return _with_free_values(best, free, optimum.x) if has_converged else None


def _simplex(start: Floats) -> Floats:
    """Return the start, and a step from it along each axis towards larger values."""
    return np.vstack([start, start + np.diag(0.2 + 0.2 * start)])


def _with_free_values(thetas: Floats, free: Floats, values: Floats) -> Floats:
    result = thetas.copy()
    result[free] = values
    return result
