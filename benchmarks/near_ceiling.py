"""How often a model at the margin passes in area or sensitivity, by t and by its score limit.

Readers of 75 to 98 %, a model that is worse than they are by exactly the margin of 5 points; and,
for power, a model as good as they are. Scores are those of `simulated_designs`.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtri

from analysis.statistics.merits import FigureOfMerit, Metric, empirical_auc, percent_correct
from analysis.statistics.mrmc.ceiling import ceiling_limit
from analysis.statistics.mrmc.panel import claims_of, model_against_readers
from benchmarks.simulated_designs import CASE, CRITERION_SD, READER_CASE, SEPARATION_SD, merits
from benchmarks.simulated_studies import ALPHA, MARGIN
from benchmarks.summary import share

VALUES = (0.75, 0.85, 0.95, 0.98)
SIZES = (50, 200)
READERS = (4, 8)
NOISE, OF_MODEL = CASE**2 + READER_CASE**2 + 1, CASE**2 + 1
CLAIMS = ("these", "like")


def ceiling_rows(n_studies: int, seed: int) -> list[dict[str, Any]]:
    """Simulate; return one row per metric, readers, their value and number of cases."""
    cells = list(product((Metric.AUC, Metric.SENSITIVITY), READERS, VALUES, SIZES))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(_row, n_studies=n_studies, seed=seed), cells))


def _row(cell: tuple[Metric, int, float, int], n_studies: int, seed: int) -> dict[str, Any]:
    metric, n_readers, value, n_cases = cell
    generator = np.random.default_rng([seed, n_readers, n_cases, round(100 * value)])
    shown: dict[str, float | None] = {}
    for claim, worse in product(CLAIMS, (MARGIN, 0.0)):
        name = f"{'' if worse else 'power '}{{}} {claim}"
        passed = np.array([_passed(cell, claim, worse, generator) for _ in range(n_studies)])
        for place, test in enumerate(("t", "score")):
            shown[name.format(test)] = share(passed[:, place])
    names = {"metric": metric.value, "readers": n_readers, "value": value, "cases": n_cases}
    return {**names, **shown}


def _passed(
    cell: tuple[Metric, int, float, int], claim: str, worse: float, generator: np.random.Generator
) -> list[float]:
    """Return whether the limits of t, and with them the score limit, clear the margin."""
    metric, n_readers, value, n_cases = cell
    normal, is_area = generator.standard_normal, metric is Metric.AUC
    positive = np.arange(n_cases) % 2 == 0
    side, cases = np.where(positive, 0.5, -0.5), CASE * normal(n_cases)
    between = SEPARATION_SD**2 / 2 if is_area else SEPARATION_SD**2 / 4 + CRITERION_SD**2
    mean = _separation(value, NOISE + between, is_area=is_area)
    separation = mean + SEPARATION_SD * normal(n_readers)
    criterion = CRITERION_SD * normal(n_readers)
    own = merits(separation, criterion, NOISE)[metric.value].mean()
    of_model = _separation((own if claim == "these" else value) - worse, OF_MODEL, is_area=is_area)
    noise = READER_CASE * normal((n_cases, n_readers)) + normal((n_cases, n_readers))
    readers = side[:, None] * separation - criterion + cases[:, None] + noise
    scores = np.column_stack([readers, side * of_model + cases + normal(n_cases)])
    values = empirical_auc(scores, positive) if is_area else percent_correct(scores[positive] > 0)
    n_items, n_positive = n_cases if is_area else int(positive.sum()), int(positive.sum())
    figure = FigureOfMerit(
        metric=metric,
        n_items=n_items,
        n_clusters=n_items,
        merits=values,
        covariances="",
        no_value="",
        notes=(),
        classes=(n_positive, n_cases - n_positive),
    )
    claims = list(claims_of(model_against_readers(values, ALPHA, figure.items_df)))
    inference = claims[CLAIMS.index(claim)][1]
    by_t = inference.ci_low > -MARGIN
    return [by_t, by_t and ceiling_limit(figure, inference, ALPHA) > -MARGIN]


def _separation(value: float, variance: float, *, is_area: bool) -> float:
    """Return the d of a rater with an area, or with a sensitivity at a criterion of 0."""
    factor = np.sqrt(2) if is_area else 2.0
    return float(factor * np.sqrt(variance) * ndtri(value))
