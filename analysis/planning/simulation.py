"""Estimate the power of a planned study by simulating studies and analysing them as in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from analysis.arrays import Bools, Floats
from analysis.errors import OptionsError
from analysis.options import DEFAULT_ALPHA
from analysis.planning.designs import PlanDesign, Size, group_sizes
from analysis.planning.power import PlanClaim, Power, PowerPlan
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.merits import Merits
from analysis.statistics.mrmc.group_contrasts import between_groups
from analysis.statistics.mrmc.obuchowski_rockette import (
    Inference,
    infer,
    single_treatment,
    undefined_inference,
    wider_inference,
)
from analysis.statistics.mrmc.second_moments import Observations
from analysis.statistics.mrmc.u_statistics import u_statistic


def simulated_power(plan: PowerPlan, size: Size, n_studies: int) -> Iterator[Power]:
    r"""Yield the share of simulated studies that show the effect, for each claim.

    Parameters
    ----------
    plan : PowerPlan
        The planned study.
    size : Size
        Readers, cases and reads per case.
    n_studies : int
        Number of studies to simulate.

    Yields
    ------
    Power
        In the order of `PlanClaim`; for incomplete designs and arms only the claim about readers
        like these. `low` and `high` are Wilson's limits for the share.

    Notes
    -----
    The score of reader j on case k is a difference of two conditions, or of the model and the
    reader: :math:`d + r_j + c_k + e_{jk}`, the sum of the effect d and of independent normal terms
    for the reader, for the case (which readers share) and for the reading, with the variances of
    the components. For the claim about these readers, the r are centred in each study, and for the
    claim about these cases the c, so that the effect among these readers, or on these cases, is d.
    The functions of the report analyse each study: covariances over cases, Obuchowski-Rockette, and
    the wider of two intervals for the claim about readers like these. If not all readers read all
    cases, they are U-statistics with BDG's degrees of freedom, as in `uncrossed.csv`. For parallel
    arms, scores under one condition, with the covariances within and between arms, are compared as
    in `reader_groups.csv`.
    """
    generator = np.random.default_rng([plan.seed, size.readers, size.cases])
    analyse, claims = _analysis_of(plan, size)
    hits = np.zeros(len(claims))
    for _ in range(n_studies):
        hits += [shows_effect(plan, inference) for inference in analyse(plan, size, generator)]
    low, high = wilson_interval(hits, np.full(len(claims), float(n_studies)), DEFAULT_ALPHA)
    for i, claim in enumerate(claims):
        yield Power(
            claim=claim,
            ncp=np.nan,
            df=np.nan,
            power=float(hits[i]) / n_studies,
            low=float(low[i]),
            high=float(high[i]),
            method=f"simulation, {n_studies} studies",
        )


def check_simulation(plan: PowerPlan, size: Size) -> None:
    """Refuse to simulate parallel arms whose readers do not read all cases.

    The report compares reader groups on the cases that all of their readers have read.

    Raises
    ------
    OptionsError
        The design has parallel arms, and some reader does not read all cases.
    """
    if plan.design is PlanDesign.ARMS and size.reads < max(group_sizes(size, plan.design)):
        raise OptionsError(
            "arms are simulated only if every reader reads all cases; leave out --simulate or"
            " --reads-per-case"
        )


_Analysis = Callable[[PowerPlan, Size, np.random.Generator], tuple[Inference, ...]]


def _analysis_of(plan: PowerPlan, size: Size) -> tuple[_Analysis, tuple[PlanClaim, ...]]:
    """Return the function that analyses simulated studies of a design, and its claims."""
    if plan.design is PlanDesign.ARMS:
        return _analyse_arms, (PlanClaim.READERS_LIKE_THESE,)
    if size.reads < size.readers:
        return _analyse_incomplete, (PlanClaim.READERS_LIKE_THESE,)
    return _analyse_crossed, tuple(PlanClaim)


def _analyse_crossed(
    plan: PowerPlan, size: Size, generator: np.random.Generator
) -> tuple[Inference, ...]:
    return simulated_inferences(plan, size, generator)[1:]


def _analyse_incomplete(
    plan: PowerPlan, size: Size, generator: np.random.Generator
) -> tuple[Inference, ...]:
    """Analyse a study in which only some readers read each case, by U-statistics (BDG)."""
    scores = _draw_scores(plan, size, generator)[0].T
    is_read = _draw_assignment(plan.design, size, generator)
    statistic = u_statistic(
        Observations(kernel=scores * is_read, design=is_read.astype(np.float64))
    )
    if statistic.undefined_because:
        return (undefined_inference(statistic.estimate, statistic.undefined_because),)
    return (infer(statistic.estimate, statistic.variance, statistic.df_bdg, plan.alpha),)


def _draw_assignment(design: PlanDesign, size: Size, generator: np.random.Generator) -> Bools:
    """Draw which reader reads which case; return an array of shape (n_readers, n_cases)."""
    readers, cases = np.arange(size.readers), np.arange(size.cases)
    if design is PlanDesign.BLOCKS:
        n_blocks = -(-size.readers // size.reads)
        blocks: Bools = (readers % n_blocks)[:, None] == cases % n_blocks
        return blocks
    order = generator.permuted(np.tile(readers, (size.cases, 1)), axis=1)
    chosen: Bools = (order < size.reads).T
    return chosen


def _analyse_arms(
    plan: PowerPlan, size: Size, generator: np.random.Generator
) -> tuple[Inference, ...]:
    """Analyse a study with parallel arms in the same way as `reader_groups.csv`."""
    spread, (n_a, n_b) = plan.spread, group_sizes(size, plan.design)
    arm_variance = max(float(spread.shared), 0.0) / 2
    case_effects = _draw_normal(
        generator, spread.cases * (spread.within - arm_variance), size.cases
    )
    arm_effects = _draw_normal(generator, spread.cases * arm_variance, (size.cases, 2))
    is_b = np.arange(size.readers) >= n_a
    scores = (
        np.where(is_b, 0.0, plan.effect)
        + _draw_normal(generator, spread.reader, size.readers)
        + case_effects[:, None]
        + arm_effects[:, is_b.astype(int)]
        + _draw_normal(generator, spread.cases * spread.own, (size.cases, size.readers))
    )
    merits = Merits(
        values=scores.mean(axis=0), covariance=np.cov(scores, rowvar=False) / size.cases
    )
    groups = between_groups(merits, np.arange(n_a), n_a + np.arange(n_b), plan.alpha)
    return (groups.inference,)


def simulated_inferences(
    plan: PowerPlan, size: Size, generator: np.random.Generator
) -> tuple[Inference, Inference, Inference, Inference]:
    """Simulate a study and return its inferences.

    Parameters
    ----------
    plan : PowerPlan
        The planned study, with the crossed design.
    size : Size
        Readers and cases.
    generator : numpy.random.Generator
        The generator that the study is drawn from.

    Returns
    -------
    tuple of four Inference
        For readers like these, by Obuchowski and Rockette alone and as stated in a report; for
        these readers; for these cases.
    """
    scores, readers, cases = _draw_scores(plan, size, generator)
    n_cases = size.cases
    values, covariance = scores.mean(axis=0), np.cov(scores, rowvar=False) / n_cases
    results = [
        single_treatment(
            Merits(values=values - shift, covariance=covariance),
            plan.alpha,
            items_df=float(n_cases - 1),
        )
        for shift in (0.0, readers.mean(), cases.mean())
    ]
    sampled, same_readers, same_cases = results
    random = sampled.random_readers
    reported, _ = wider_inference(random, sampled.fixed_readers)
    return random, reported, same_readers.fixed_readers, same_cases.fixed_items


def _draw_scores(
    plan: PowerPlan, size: Size, generator: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Draw scores of shape (n_cases, n_readers); return them with the reader and case effects."""
    spread = plan.spread
    readers = _draw_normal(generator, spread.reader, size.readers)
    cases = _draw_normal(generator, spread.cases * spread.shared, size.cases)
    own_variance = spread.cases * (spread.own + min(float(spread.shared), 0.0))
    errors = _draw_normal(generator, own_variance, (size.cases, size.readers))
    return plan.effect + readers + cases[:, None] + errors, readers, cases


def _draw_normal(
    generator: np.random.Generator, variance: float | Floats, shape: int | tuple[int, int]
) -> Floats:
    drawn: Floats = np.sqrt(max(float(variance), 0.0)) * generator.standard_normal(shape)
    return drawn


def shows_effect(plan: PowerPlan, inference: Inference) -> bool:
    """Return whether the planned test, of no difference or of the margin, rejects."""
    if plan.margin is None:
        return inference.p < plan.alpha
    return inference.p_noninferior(plan.margin) < plan.alpha / 2
