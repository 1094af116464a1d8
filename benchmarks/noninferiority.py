"""How often a model at the margin is declared non-inferior, by t and by the score test.

Readers have an accuracy of 75 to 98 %, and the model is worse by exactly the margin or, for power,
equally accurate. Sensitivity and specificity are the accuracy on the cases of a class, so that the
same studies apply with the number of cases in the class. With a margin of 0, the model is exactly
as accurate as the readers and the claim is superiority; for power, the model then makes half as
many errors as the readers.
"""

import os
from collections.abc import Iterable, Sequence
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
CLASS_VALUES, CLASS_SIZES, CLASS_MARGINS = (0.85, 0.95, 0.98), (25, 50, 100), (MARGIN, 0.0)
TESTS = ("t these", "score these", "t like", "score like")


def margin_rows(
    readers: Sequence[int], n_studies: int, seed: int, n_sizes: int | None = None
) -> list[dict[str, Any]]:
    """Simulate studies; return a row for each combination of sizes and accuracy."""
    cells = product((1, 4), readers, ACCURACIES, SIZES[:n_sizes], (MARGIN,))
    return _rows(cells, n_studies, seed)


def class_rows(
    readers: Sequence[int], n_studies: int, seed: int, n_sizes: int | None = None
) -> list[dict[str, Any]]:
    """Simulate a class of cases; return a row for each combination of sizes, value and margin."""
    cells = product((1,), readers, CLASS_VALUES, CLASS_SIZES[:n_sizes], CLASS_MARGINS)
    rows = _rows(cells, n_studies, seed)
    return [{name: value for name, value in row.items() if name != "items"} for row in rows]


Cell = tuple[int, int, float, int, float]
"""Items per patient, number of readers, their accuracy, number of patients, and the margin."""


def _rows(cells: Iterable[Cell], n_studies: int, seed: int) -> list[dict[str, Any]]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(_row, n_studies=n_studies, seed=seed), cells))


def _row(cell: Cell, n_studies: int, seed: int) -> dict[str, Any]:
    items_a_patient, n_readers, accuracy, patients, margin = cell

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
    shown = np.array([_study(design, curve, margin, generator) for _ in range(n_studies)])
    names = {
        "items": items_a_patient,
        "readers": n_readers,
        "accuracy": f"{accuracy:.0%}",
        "patients": patients,
        "margin": margin,
    }
    columns = [*TESTS, *(f"power {test}" for test in TESTS)]
    return {**names, **{name: share(shown[:, i]) for i, name in enumerate(columns)}}


def _study(
    design: Design, curve: Floats, margin: float, generator: np.random.Generator
) -> list[float]:
    """Return which tests declare a model at the margin, and a model that is as good or better."""
    j = design.n_readers
    readers = design.reader_mean + design.reader_sd * generator.standard_normal(j)
    these = float(np.interp(readers, ABILITIES, curve).mean())
    good = these if margin else (1 + these) / 2
    target_accuracies = [these - margin, design.population_accuracy - margin, good]
    models = np.interp(target_accuracies, curve, ABILITIES)
    right = right_answers(design, np.r_[readers, models][None], generator)[0]
    at_these, at_all, as_good = (
        _declarations(right[:, [*range(j), j + k]], design.items_a_patient, margin)
        for k in range(3)
    )
    return [*at_these[:2], *at_all[2:], *as_good]


def _declarations(right: Floats, items_a_patient: int, margin: float) -> list[float]:
    """Return whether each of `TESTS` declares the model, which is last, non-inferior."""
    n_items, n_raters = right.shape
    clusters = np.arange(n_items) // items_a_patient
    merits = percent_correct(right > 0, clusters)
    n_readers = n_raters - 1
    lead = differences(merits, np.full(n_readers, n_readers), np.arange(n_readers))
    n_clusters = int(clusters[-1]) + 1
    result = single_treatment(lead, ALPHA, items_df=n_clusters - 1)
    difference = right[:, -1] - right[:, :-1].mean(axis=1)
    sums = difference.reshape(n_clusters, -1).sum(axis=1)
    sizes = np.full(n_clusters, float(items_a_patient))
    declared = []
    for (_, inference, *_), readers in zip(claims_of(result), random_readers(result), strict=True):
        by_t = inference.ci_low > -margin
        declared += [by_t, by_t and score_test(sums, sizes, margin, readers).p < ALPHA / 2]
    return [float(hit) for hit in declared]


def random_readers(result: SingleTreatment) -> list[tuple[float, float, int]]:
    """Return the variation of readers for the claims about fixed and about random readers."""
    n = result.n_readers
    return [(0.0, 0.0, 1), (max(result.var_reader, 0.0) / n, result.msr / n, n)]
