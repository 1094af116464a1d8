"""Differences between groups of readers who read the same items, and the groups themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
import pandas as pd

from analysis.arrays import Ints
from analysis.bundle.model import RaterKind
from analysis.readings.shared_items import SharedItems
from analysis.statistics.merits import FigureOfMerit, Merits, differences
from analysis.statistics.mrmc.conditions import columns_of_readers
from analysis.statistics.mrmc.metrics import Metrics
from analysis.statistics.mrmc.obuchowski_rockette import (
    Inference,
    cell_means,
    infer,
    mean_square,
    undefined_inference,
)
from analysis.statistics.mrmc.panel import panels_of
from analysis.statistics.study import Study

FACTORS = ("level", "site", "arm")
YEARS = "years"
LEAD_METRIC = "lead"
MODEL_NOTE_PREFIX = "model "
SINGLE_READER = "a group has a single reader, which does not show how readers vary"


@dataclass(frozen=True, slots=True, kw_only=True)
class BetweenGroups:
    """The difference between the means of two groups of readers.

    Parameters
    ----------
    value_a, value_b : float
        Mean figure of merit of each group.
    cov_difference : float
        Cov2_a + Cov2_b - 2 Cov2_ab; the inference uses 0 if it is negative.
    inference : Inference
        The inference for a minus b.
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
        Positions of each group's readers in `merits`; no reader is in both groups.
    alpha : float, default 0.05
        Two-sided error rate of the interval.

    Returns
    -------
    BetweenGroups
        Standard error, interval and p are undefined if a group has a single reader.

    Notes
    -----
    Readers are random within their group, and items are random. With J readers, MS the variance of
    a group's figures of merit (ddof 1), and Cov2 the mean covariance of two different readers, the
    variance of the difference is

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
        inference = undefined_inference(estimate, reason)
    else:
        variance = sum(parts) + max(cov_difference, 0.0)
        df_denominator = sum(part**2 / (len(g) - 1) for part, g in zip(parts, (a, b), strict=True))
        inference = infer(
            estimate, variance, variance**2 / df_denominator if df_denominator else math.inf, alpha
        )
    return BetweenGroups(
        value_a=value_a, value_b=value_b, cov_difference=cov_difference, inference=inference
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupContrast:
    """A value for each reader of two groups: a column of the matrix, or one minus another.

    Parameters
    ----------
    names : mapping of str to str
        The cells that identify the row; the metric is included only for a lead.
    a, b : numpy.ndarray of int, shape (n_readers,)
        The columns of each group.
    minus_a, minus_b : numpy.ndarray of int, shape (n_readers,)
        The columns that are subtracted from these; empty if nothing is subtracted.
    note : str
        The note of the row.
    """

    names: Mapping[str, str]
    a: Ints
    b: Ints
    minus_a: Ints = field(default_factory=lambda: np.array([], dtype=np.int64))
    minus_b: Ints = field(default_factory=lambda: np.array([], dtype=np.int64))
    note: str = ""

    @property
    def columns(self) -> Ints:
        """All distinct columns."""
        return np.unique(np.concatenate([self.a, self.b, self.minus_a, self.minus_b]))

    def figures_of_merit(
        self, study: Study, shared: SharedItems, metrics: Metrics
    ) -> Iterator[FigureOfMerit]:
        """Yield the readers' values on shared items for each metric; group a comes first."""
        columns = self.columns
        first = np.searchsorted(columns, np.concatenate([self.a, self.b]))
        second = np.searchsorted(columns, np.concatenate([self.minus_a, self.minus_b]))
        for figure in metrics(study, shared, columns, columns):
            merits = figure.merits
            merits = differences(merits, first, second) if len(second) else merits.take(first)
            yield replace(figure, merits=merits)


def readers_by_group(study: Study) -> Iterator[tuple[str, dict[str, frozenset[str]]]]:
    """Yield every factor with its groups of readers, in order of their names.

    Factors are level, site, arm and, if a limit is declared, years of experience. Readers without a
    value are in no group.
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


def _group_pairs(study: Study) -> Iterator[tuple[str, str, str, frozenset[str], frozenset[str]]]:
    """Yield every factor with each pair of its groups of readers, in order of name."""
    for factor, members in readers_by_group(study):
        for a, b in combinations(members, 2):
            yield factor, a, b, members[a], members[b]


def _columns_of_readers(columns: Mapping[str, int], readers: Iterable[str]) -> Ints:
    """Return the columns of the readers who have one, in order of id."""
    reader_columns = [columns[reader] for reader in sorted(readers) if reader in columns]
    return np.array(reader_columns, dtype=np.int64)


def contrasts_of(study: Study) -> Iterator[GroupContrast]:
    """Yield each pair of groups under every condition: accuracy, then the lead of each model."""
    columns = columns_of_readers(study.matrix)
    models: dict[str, dict[str, int]] = {}
    for panel in panels_of(study.matrix):
        models.setdefault(panel.condition, {})[panel.model_id] = panel.model
    for factor, group_a, group_b, readers_a, readers_b in _group_pairs(study):
        for condition_a, condition_b in _condition_pairs(columns, readers_a, readers_b, factor):
            condition = (
                condition_a if condition_a == condition_b else f"{condition_a} - {condition_b}"
            )
            a, b = (
                _columns_of_readers(columns[condition_a], readers_a),
                _columns_of_readers(columns[condition_b], readers_b),
            )
            names = {"factor": factor, "group_a": group_a, "group_b": group_b}
            names["condition"] = condition
            yield GroupContrast(names=names, a=a, b=b)
            for model_id, model in models.get(condition_a, {}).items():
                if models.get(condition_b, {}).get(model_id) == model:
                    yield GroupContrast(
                        names={**names, "metric": LEAD_METRIC},
                        a=np.full(len(a), model),
                        b=np.full(len(b), model),
                        minus_a=a,
                        minus_b=b,
                        note=f"{MODEL_NOTE_PREFIX}{model_id}",
                    )


def _condition_pairs(
    columns: Mapping[str, Mapping[str, int]],
    readers_a: frozenset[str],
    readers_b: frozenset[str],
    factor: str,
) -> list[tuple[str, str]]:
    """Return the pairs of conditions under which two groups are compared.

    These are the conditions that both groups have. Arms without a common condition are compared
    under their own conditions.
    """
    conditions_of_groups = [
        [c for c in sorted(columns) if group & columns[c].keys()]
        for group in (readers_a, readers_b)
    ]
    common = [(name, name) for name in conditions_of_groups[0] if name in conditions_of_groups[1]]
    return (
        common
        if common or factor != "arm"
        else list(product(conditions_of_groups[0], conditions_of_groups[1]))
    )


def gain_contrasts(study: Study) -> Iterator[GroupContrast]:
    """Yield each pair of groups with each reader's difference between each pair of conditions."""
    columns = columns_of_readers(study.matrix)
    for factor, group_a, group_b, readers_a, readers_b in _group_pairs(study):
        for first, second in combinations(sorted(columns), 2):
            in_both = columns[first].keys() & columns[second].keys()
            a, b = readers_a & in_both, readers_b & in_both
            if a and b:
                yield GroupContrast(
                    names={
                        "factor": factor,
                        "group_a": group_a,
                        "group_b": group_b,
                        "condition_a": first,
                        "condition_b": second,
                    },
                    a=_columns_of_readers(columns[first], a),
                    b=_columns_of_readers(columns[first], b),
                    minus_a=_columns_of_readers(columns[second], a),
                    minus_b=_columns_of_readers(columns[second], b),
                )
