"""The power of a planned study by simulation: studies are drawn and analysed as a report would."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.arrays import Floats
from analysis.options import DEFAULT_ALPHA
from analysis.planning.designs import Size
from analysis.planning.power import PlanClaim, Power, PowerPlan
from analysis.statistics.accuracy.means import wilson_interval
from analysis.statistics.merits import Merits
from analysis.statistics.mrmc.obuchowski_rockette import (
    Inference,
    never_surer,
    single_treatment,
)


def simulated_power(plan: PowerPlan, size: Size, n_studies: int) -> Iterator[Power]:
    r"""Yield the share of simulated studies that show the effect, under each claim.

    Parameters
    ----------
    plan : PowerPlan
        What is planned, in the crossed design.
    size : Size
        Readers and cases.
    n_studies : int
        Studies to simulate.

    Yields
    ------
    Power
        In the order of `PlanClaim`; `low` and `high` are Wilson's limits of the simulation.

    Notes
    -----
    The score of reader j on case k is :math:`d + r_j + c_k + e_{jk}`, independent normal with the
    variances of the components: r of readers, c of cases, which readers share, e of both. It is a
    difference: of two conditions, or of the model and the reader. For the claim about these
    readers the r, for the claim about these cases the c are centred in each study: then the effect
    among these readers, or on these cases, is d. Each study is analysed by the functions of the
    report: covariances over cases, Obuchowski-Rockette, and the wider of two intervals for the
    claim about readers like these.
    """
    generator = np.random.default_rng([plan.seed, size.readers, size.cases])
    hits = np.zeros(len(PlanClaim))
    for _ in range(n_studies):
        _, *claims = simulated_claims(plan, size, generator)
        hits += [shows_effect(plan, claim) for claim in claims]
    low, high = wilson_interval(hits, np.full(len(PlanClaim), float(n_studies)), DEFAULT_ALPHA)
    for i, claim in enumerate(PlanClaim):
        yield Power(
            claim=claim,
            ncp=np.nan,
            df=np.nan,
            power=float(hits[i]) / n_studies,
            low=float(low[i]),
            high=float(high[i]),
            method=f"simulation, {n_studies} studies",
        )


def simulated_claims(
    plan: PowerPlan, size: Size, generator: np.random.Generator
) -> tuple[Inference, Inference, Inference, Inference]:
    """Return the inferences of a simulated study.

    Parameters
    ----------
    plan : PowerPlan
        What is planned, in the crossed design.
    size : Size
        Readers and cases.
    generator : numpy.random.Generator
        Draws the study.

    Returns
    -------
    tuple of four Inference
        Readers like these by Obuchowski and Rockette alone; the same as a report states it; these
        readers; these cases.
    """
    spread, n_cases = plan.spread, size.cases
    readers = _normal(generator, spread.reader, size.readers)
    cases = _normal(generator, spread.cases * spread.shared, n_cases)
    own = spread.cases * (spread.own + min(float(spread.shared), 0.0))
    errors = _normal(generator, own, (n_cases, size.readers))
    scores = plan.effect + readers + cases[:, None] + errors
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
    reported, _ = never_surer(random, sampled.fixed_readers)
    return random, reported, same_readers.fixed_readers, same_cases.fixed_items


def _normal(
    generator: np.random.Generator, variance: float | Floats, shape: int | tuple[int, int]
) -> Floats:
    drawn: Floats = np.sqrt(max(float(variance), 0.0)) * generator.standard_normal(shape)
    return drawn


def shows_effect(plan: PowerPlan, inference: Inference) -> bool:
    """Return whether the planned test rejects: of no difference, or of the margin."""
    if plan.margin is None:
        return inference.p < plan.alpha
    return inference.p_noninferior(plan.margin) < plan.alpha / 2
