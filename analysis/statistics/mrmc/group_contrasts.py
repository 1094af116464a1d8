"""Differences between groups of readers who read the same items, and which groups there are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from analysis.arrays import Ints
from analysis.bundle.model import RaterKind
from analysis.readings.shared_items import Shared
from analysis.statistics.merits import FigureOfMerit, Merits, differences
from analysis.statistics.mrmc.conditions import columns_of_readers
from analysis.statistics.mrmc.metrics import Metrics
from analysis.statistics.mrmc.obuchowski_rockette import (
    Inference,
    cell_means,
    infer,
    mean_square,
    undefined,
)
from analysis.statistics.mrmc.panel import panels_of
from analysis.statistics.study import Study

FACTORS = ("level", "site", "arm")
YEARS = "years"
LEAD_METRIC = "lead"
MODEL = "model "
SINGLE_READER = "a group has a single reader, which does not show how readers vary"


@dataclass(frozen=True, slots=True, kw_only=True)
class BetweenGroups:
    """The difference of the means of two groups of readers.

    Parameters
    ----------
    value_a, value_b : float
        Mean figure of merit of each group.
    cov_difference : float
        Cov2_a + Cov2_b - 2 Cov2_ab; a negative one is taken as 0.
    inference : Inference
        Of a minus b.
    """

    value_a: float
    value_b: float
    cov_difference: float
    inference: Inference


def between_groups(merits: Merits, a: Ints, b: Ints, alpha: float = 0.05) -> BetweenGroups:
    r"""Compare two groups of readers who read the same items.

    Parameters
    ----------
    merits : Merits
        One figure of merit per reader.
    a, b : numpy.ndarray of int, shape (n_readers,)
        Positions of each group's readers in `merits`; no reader is in both.
    alpha : float, default 0.05
        Two-sided error of the interval.

    Returns
    -------
    BetweenGroups
        Without standard error, interval and p if a group has a single reader.

    Notes
    -----
    Readers are random within their group and items are random. With J readers, MS the variance of
    a group's figures (ddof 1), and Cov2 the mean covariance of two different readers, the variance
    of the difference is

    .. math:: V = MS_a / J_a + MS_b / J_b + \max(Cov_{2a} + Cov_{2b} - 2 Cov_{2ab}, 0),

    which extends Obuchowski and Rockette's model [1]_ to a factor between readers. The degrees of
    freedom are Satterthwaite's [2]_ with the covariances taken as known, as in Hillis [3]_:
    :math:`V^2 / ((MS_a / J_a)^2 / (J_a - 1) + (MS_b / J_b)^2 / (J_b - 1))`.

    References
    ----------
    .. [1] Obuchowski NA, Rockette HE. Hypothesis testing of diagnostic accuracy for multiple
       readers and multiple tests: an ANOVA approach with dependent observations. Commun Stat
       Simul Comput 1995;24:285-308. doi:10.1080/03610919508813243
    .. [2] Satterthwaite FE. An approximate distribution of estimates of variance components.
       Biometrics Bull 1946;2:110-114. doi:10.2307/3002019
    .. [3] Hillis SL. A marginal-mean ANOVA approach for analyzing multireader multicase
       radiological imaging data. Stat Med 2014;33:330-360. doi:10.1002/sim.5926

    Examples
    --------
    >>> merits = Merits(values=np.array([0.8, 0.9, 0.6, 0.7]), covariance=np.zeros((4, 4)))
    >>> groups = between_groups(merits, np.array([0, 1]), np.array([2, 3]))
    >>> round(groups.inference.estimate, 3), round(groups.inference.se, 4), groups.inference.df
    (0.2, 0.0707, 2.0)
    """
    value_a, value_b = (float(merits.values[group].mean()) for group in (a, b))
    parts = [mean_square(merits.values[group]) / len(group) for group in (a, b)]
    within = [cell_means(merits.covariance[np.ix_(group, group)])[1] for group in (a, b)]
    between = float(merits.covariance[np.ix_(a, b)].mean())
    cov_difference = sum(within) - 2 * between
    estimate = value_a - value_b
    if merits.no_covariance or min(len(a), len(b)) < 2:
        reason = merits.no_covariance or SINGLE_READER
        inference = undefined(estimate, reason)
    else:
        variance = sum(parts) + max(cov_difference, 0.0)
        spread = sum(part**2 / (len(g) - 1) for part, g in zip(parts, (a, b), strict=True))
        inference = infer(estimate, variance, variance**2 / spread if spread else math.inf, alpha)
    return BetweenGroups(
        value_a=value_a, value_b=value_b, cov_difference=cov_difference, inference=inference
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupContrast:
    """A value of each reader of two groups: one column of the matrix, or one minus another.

    Parameters
    ----------
    names : mapping of str to str
        The cells that name the row, except for the metric of a value that is not a lead.
    a, b : numpy.ndarray of int, shape (n_readers,)
        The readers' columns.
    minus_a, minus_b : numpy.ndarray of int, shape (n_readers,)
        The columns subtracted from them; empty if nothing is subtracted.
    note : str
        What a reader of the row should know.
    """

    names: Mapping[str, str]
    a: Ints
    b: Ints
    minus_a: Ints = field(default_factory=lambda: np.array([], dtype=np.int64))
    minus_b: Ints = field(default_factory=lambda: np.array([], dtype=np.int64))
    note: str = ""

    @property
    def columns(self) -> Ints:
        """All columns, each once."""
        return np.unique(np.concatenate([self.a, self.b, self.minus_a, self.minus_b]))

    def figures(self, study: Study, shared: Shared, metrics: Metrics) -> Iterator[FigureOfMerit]:
        """Yield the readers' values on shared items by metric, those of group a first."""
        columns = self.columns
        first = np.searchsorted(columns, np.concatenate([self.a, self.b]))
        second = np.searchsorted(columns, np.concatenate([self.minus_a, self.minus_b]))
        for figure in metrics(study, shared, columns, columns):
            merits = figure.merits
            merits = differences(merits, first, second) if len(second) else merits.take(first)
            yield replace(figure, merits=merits)


def members_of(study: Study) -> Iterator[tuple[str, dict[str, frozenset[str]]]]:
    """Yield every factor with its groups of readers, by name in order.

    Factors are level, site and arm and, if a limit is declared, years of experience. Readers
    without a value are in no group.
    """
    raters = study.bundle.raters
    readers = raters[raters["rater_kind"] == RaterKind.READER]
    for factor in FACTORS:
        groups = {str(name): frozenset(ids) for name, ids in readers.groupby(factor)["rater_id"]}
        yield factor, {name: groups[name] for name in sorted(groups) if name}
    if limit := study.years_limit:
        years = years_of(study)
        groups = {
            f"< {limit:g}": frozenset(years.index[years < limit]),
            f">= {limit:g}": frozenset(years.index[years >= limit]),
        }
        yield YEARS, {name: members for name, members in groups.items() if members}


def years_of(study: Study) -> pd.Series[float]:
    """Return the years of experience of the readers who stated a number, by reader."""
    raters = study.bundle.raters.set_index("rater_id")
    readers = raters[raters["rater_kind"] == RaterKind.READER]
    years: pd.Series[float] = pd.to_numeric(readers["years"], errors="coerce").astype(np.float64)
    return years[np.isfinite(years)]


def _groups(study: Study) -> Iterator[tuple[str, str, str, frozenset[str], frozenset[str]]]:
    """Yield every factor with each pair of its groups of readers, in order of name."""
    for factor, members in members_of(study):
        for a, b in combinations(members, 2):
            yield factor, a, b, members[a], members[b]


def _columns_of(columns: Mapping[str, int], readers: Iterable[str]) -> Ints:
    """Return the columns of the readers who have one, in order of id."""
    places = [columns[reader] for reader in sorted(readers) if reader in columns]
    return np.array(places, dtype=np.int64)


def contrasts_of(study: Study) -> Iterator[GroupContrast]:
    """Yield each pair of groups under every condition: accuracy, then the lead of each model."""
    columns = columns_of_readers(study.matrix)
    models: dict[str, dict[str, int]] = {}
    for panel in panels_of(study.matrix):
        models.setdefault(panel.condition, {})[panel.model_id] = panel.model
    for factor, group_a, group_b, of_a, of_b in _groups(study):
        for under_a, under_b in _conditions(columns, of_a, of_b, factor):
            condition = under_a if under_a == under_b else f"{under_a} - {under_b}"
            a, b = _columns_of(columns[under_a], of_a), _columns_of(columns[under_b], of_b)
            names = {"factor": factor, "group_a": group_a, "group_b": group_b}
            names["condition"] = condition
            yield GroupContrast(names=names, a=a, b=b)
            for model_id, model in models.get(under_a, {}).items():
                if models.get(under_b, {}).get(model_id) == model:
                    yield GroupContrast(
                        names={**names, "metric": LEAD_METRIC},
                        a=np.full(len(a), model),
                        b=np.full(len(b), model),
                        minus_a=a,
                        minus_b=b,
                        note=f"{MODEL}{model_id}",
                    )


def _conditions(
    columns: Mapping[str, Mapping[str, int]],
    of_a: frozenset[str],
    of_b: frozenset[str],
    factor: str,
) -> list[tuple[str, str]]:
    """Return the conditions under which two groups are compared.

    The conditions that both have. Arms without a common condition are compared under their own
    ones.
    """
    of_both = [[c for c in sorted(columns) if group & columns[c].keys()] for group in (of_a, of_b)]
    common = [(name, name) for name in of_both[0] if name in of_both[1]]
    return common if common or factor != "arm" else list(product(of_both[0], of_both[1]))


def gains_of(study: Study) -> Iterator[GroupContrast]:
    """Yield pairs of groups with the difference of pairs of conditions, reader by reader."""
    columns = columns_of_readers(study.matrix)
    for factor, group_a, group_b, of_a, of_b in _groups(study):
        for first, second in combinations(sorted(columns), 2):
            both = columns[first].keys() & columns[second].keys()
            a, b = of_a & both, of_b & both
            if a and b:
                yield GroupContrast(
                    names={
                        "factor": factor,
                        "group_a": group_a,
                        "group_b": group_b,
                        "condition_a": first,
                        "condition_b": second,
                    },
                    a=_columns_of(columns[first], a),
                    b=_columns_of(columns[first], b),
                    minus_a=_columns_of(columns[second], a),
                    minus_b=_columns_of(columns[second], b),
                )
