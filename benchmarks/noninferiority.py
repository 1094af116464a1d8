"""How often a model at the margin is declared non-inferior, by t and by the score test.

Readers of 75 to 98 % accuracy, a model that is worse than they are by exactly the margin; and, for
power, a model as accurate as they are.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import brentq

from analysis.statistics.merits import differences, percent_correct
from analysis.statistics.mrmc.noninferiority import score_test
from analysis.statistics.mrmc.obuchowski_rockette import SingleTreatment, single_treatment
from analysis.statistics.mrmc.panel import claims_of
from benchmarks.simulated_studies import ABILITIES, ALPHA, MARGIN, Design, Floats, right_answers
from benchmarks.summary import share

ACCURACIES = (0.75, 0.85, 0.95, 0.98)
SIZES = (10, 20, 40, 198)
TESTS = ("t these", "score these", "t like", "score like")


def margin_rows(readers: Sequence[int], n_studies: int, seed: int) -> list[dict[str, Any]]:
    """Simulate; return one row per number of items per patient, readers, accuracy and patients."""
    cells = list(product((1, 4), readers, ACCURACIES, SIZES))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(_row, n_studies=n_studies, seed=seed), cells))


def _row(cell: tuple[int, int, float, int], n_studies: int, seed: int) -> dict[str, Any]:
    items_a_patient, n_readers, accuracy, patients = cell

    def excess(ability: float) -> float:
        return Design(n_readers=n_readers, reader_mean=ability).population_accuracy - accuracy

    design = Design(
        n_readers=n_readers,
        n_items=patients * items_a_patient,
        items_a_patient=items_a_patient,
        reader_mean=float(brentq(excess, -3, 8)),
    )
    generator = np.random.default_rng([seed, n_readers, patients, round(1000 * accuracy)])
    curve = design.accuracy_of(ABILITIES)
    shown = np.array([_study(design, curve, generator) for _ in range(n_studies)])
    names = {
        "items": items_a_patient,
        "readers": n_readers,
        "accuracy": f"{accuracy:.0%}",
        "patients": patients,
    }
    counted = [*TESTS, *(f"power {test}" for test in TESTS)]
    return {**names, **{name: share(shown[:, i]) for i, name in enumerate(counted)}}


def _study(design: Design, curve: Floats, generator: np.random.Generator) -> list[float]:
    """Return which tests declare a model at the margin non-inferior, and one that is as good."""
    j = design.n_readers
    readers = design.reader_mean + design.reader_sd * generator.standard_normal(j)
    these = float(np.interp(readers, ABILITIES, curve).mean())
    wanted = [these - MARGIN, design.population_accuracy - MARGIN, these]
    models = np.interp(wanted, curve, ABILITIES)
    right = right_answers(design, np.r_[readers, models][None], generator)[0]
    at_these, at_all, equal = (
        _declared(right[:, [*range(j), j + k]], design.items_a_patient) for k in range(3)
    )
    return [*at_these[:2], *at_all[2:], *equal]


def _declared(right: Floats, items_a_patient: int) -> list[float]:
    """Return whether each of `TESTS` declares the model, which is last, non-inferior."""
    n_items, n_raters = right.shape
    clusters = np.arange(n_items) // items_a_patient
    merits = percent_correct(right > 0, clusters)
    n_readers = n_raters - 1
    ahead = differences(merits, np.full(n_readers, n_readers), np.arange(n_readers))
    n_clusters = int(clusters[-1]) + 1
    result = single_treatment(ahead, ALPHA, items_df=n_clusters - 1)
    difference = right[:, -1] - right[:, :-1].mean(axis=1)
    sums = difference.reshape(n_clusters, -1).sum(axis=1)
    sizes = np.full(n_clusters, float(items_a_patient))
    declared = []
    for (_, inference, *_), readers in zip(claims_of(result), random_readers(result), strict=True):
        score = score_test(sums, sizes, MARGIN, readers).p
        declared += [inference.ci_low > -MARGIN, score < ALPHA / 2 and inference.ci_low > -MARGIN]
    return [float(hit) for hit in declared]


def random_readers(result: SingleTreatment) -> list[tuple[float, float, int]]:
    """Return the variation of readers under both claims: fixed, then random."""
    n = result.n_readers
    return [(0.0, 0.0, 1), (max(result.var_reader, 0.0) / n, result.msr / n, n)]
