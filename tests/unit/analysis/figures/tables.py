"""Readers and models with the tables of their figures, for tests of figures."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from analysis import Bundle, Options, Results, bundle_from_tables
from analysis.registry import STATISTICS
from analysis.statistics.study import Study

TASKS = (
    "Differential Diagnosis",
    "Geometric Information Assessment",
    "Location and Distribution Assessment",
    "Negation Assessment",
    "Presence Assessment",
)
READERS = ("R1", "R2", "R3")
MODELS = (
    "Eagle2-9B",
    "Gemini-1.5-Pro",
    "Janus-Pro-7B",
    "LLaVA-1.5-7B",
    "MedGemma-4B-it",
    "Phi-3.5-Vision",
    "Qwen2-VL-7B",
    "Qwen2.5-VL-7B",
)


def study(
    *,
    readers: tuple[str, ...] = READERS,
    models: tuple[str, ...] = MODELS,
    n: int = 200,
    seed: int = 7,
) -> Bundle:
    """Return a bundle of raters with accuracies between 0.45 and 0.85, with times and positions."""
    random = np.random.default_rng(seed)
    tasks = random.choice(TASKS, size=n, p=[0.21, 0.02, 0.06, 0.36, 0.35])
    truth = random.choice(list("ABCD"), size=n)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:04d}" for i in range(n)],
            "truth": truth,
            "n_options": 4,
            "task": tasks,
            "patient_id": [f"p{i:04d}" for i in range(n)],
        }
    )
    hardness = random.normal(0, 0.8, size=n)
    parts = []
    for k, rater in enumerate((*readers, *models)):
        skill = 0.2 + 1.2 * ((k * 7) % 11) / 10
        right = random.random(n) < 1 / (1 + np.exp(-(skill - hardness)))
        wrong = [chr(65 + (ord(t) - 64 + random.integers(3)) % 4) for t in truth]
        answer = np.where(right, truth, wrong)
        part = pd.DataFrame({"rater_id": rater, "item_id": items["item_id"], "answer": answer})
        if rater in readers:
            order = random.permutation(n) + 1
            times = np.exp(random.normal(9.4 - 0.2 * right - order / n / 3, 0.5)).round()
            part = part.assign(position=order, response_ms=times)
        parts.append(part)
    raters = pd.DataFrame({"rater_id": [*readers, *models]})
    raters["rater_kind"] = ["reader"] * len(readers) + ["model"] * len(models)
    return bundle_from_tables(items, pd.concat(parts, ignore_index=True), raters)


def results(bundle: Bundle, options: Options, names: Collection[str]) -> Results:
    """Return the results of a bundle with the named tables that apply to it."""
    study = Study(bundle, options)
    tables = {
        statistic.name: study.table(statistic.compute)
        for statistic in STATISTICS
        if statistic.name in names and statistic.applies(study)
    }
    return Results(
        bundle=bundle,
        options=options,
        tables=tables,
        n_clusters=study.matrix.n_clusters,
        clustered=study.matrix.clustered,
    )
