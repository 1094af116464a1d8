"""How often an area at the margin is declared non-inferior, by t and on the logit scale.

The readers' areas are 0.85 to 0.98. The model's area is smaller by exactly the margin or, for
power, equal to theirs. Scores are normal and include an effect of the case that all raters share.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtri

from analysis.statistics.merits import AucCovariance, empirical_auc
from analysis.statistics.mrmc.logit_test import area_difference
from analysis.statistics.mrmc.panel import claims_of, model_against_readers
from benchmarks.noninferiority import random_readers
from benchmarks.simulated_studies import ALPHA, MARGIN, Floats
from benchmarks.summary import share

AREAS = (0.85, 0.95, 0.98)
SIZES = ((25, 25), (50, 50), (100, 100), (25, 175))
"""Numbers of positive and negative cases."""
CASE, READER_CASE, SEPARATION_SD = 0.6, 0.4, 0.35
"""Standard deviations between cases, between readings of a case, and between random readers."""
TESTS = ("t these", "logit these", "t like", "logit like")


def area_rows(
    readers: Sequence[int], n_studies: int, seed: int, n_sizes: int | None = None
) -> list[dict[str, Any]]:
    """Simulate studies; return a row for each area, number of cases and number of readers."""
    cells = list(product(AREAS, SIZES[:n_sizes], readers))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(_row, n_studies=n_studies, seed=seed), cells))


def _row(cell: tuple[float, tuple[int, int], int], n_studies: int, seed: int) -> dict[str, Any]:
    area, cases, n_readers = cell
    generator = np.random.default_rng([seed, round(1000 * area), *cases, n_readers])
    shown = np.array(
        [
            [
                *_declarations(area, cases, (n_readers, 0.0), generator),
                *_declarations(area, cases, (n_readers, SEPARATION_SD), generator),
            ]
            for _ in range(n_studies)
        ]
    ).reshape(n_studies, 2, 2, 4)
    names = {"area": area, "cases": f"{cases[0]} + {cases[1]}", "readers": n_readers}
    own_scores, like = shown[:, 0, :, :2], shown[:, 1, :, 2:]
    columns = np.concatenate([own_scores[:, 0], like[:, 0], own_scores[:, 1], like[:, 1]], axis=1)
    counted = [*TESTS, *(f"power {test}" for test in TESTS)]
    return {**names, **{name: share(columns[:, i]) for i, name in enumerate(counted)}}


def _declarations(
    area: float,
    cases: tuple[int, int],
    readers: tuple[int, float],
    generator: np.random.Generator,
) -> list[float]:
    """Return which of `TESTS` declare a model at the margin, and a model as good as the readers."""
    positive = np.arange(sum(cases)) < cases[0]
    (n_readers, between), noise = readers, CASE**2 + 1
    reader_noise = noise + READER_CASE**2
    mean = ndtri(area) * np.sqrt(2 * reader_noise + between**2)
    separations = mean + between * generator.standard_normal(n_readers)
    case = CASE * generator.standard_normal(len(positive))[:, None]
    own_scores = np.sqrt(READER_CASE**2 + 1) * generator.standard_normal((len(positive), n_readers))
    models = ndtri([area - MARGIN, area]) * np.sqrt(2 * noise)
    raw = case + generator.standard_normal((len(positive), 1))
    read = case + positive[:, None] * separations + own_scores
    return [
        hit
        for model in models
        for hit in _test_results(np.hstack([read, raw + positive[:, None] * model]), positive)
    ]


def _test_results(ratings: Floats, positive: np.ndarray) -> list[float]:
    merits = empirical_auc(ratings, positive, covariance=AucCovariance.JACKKNIFE)
    result = model_against_readers(merits, ALPHA, len(positive) - 1)
    patients = int(positive.sum()), int((~positive).sum())
    declared = []
    for (_, inference, *_), readers in zip(claims_of(result), random_readers(result), strict=True):
        areas = area_difference(merits, patients, patients[0] * patients[1], readers)
        by_t = inference.ci_low > -MARGIN
        declared += [by_t, by_t and areas.p(MARGIN) < ALPHA / 2]
    return [float(hit) for hit in declared]
