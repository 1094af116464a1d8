"""Artificial tables in the format of the analysis, for tests of figures."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from analysis import Bundle, bundle_from_tables

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


def reader_panel(models: tuple[str, ...] = MODELS) -> pd.DataFrame:
    """Return both claims for every model, for accuracy only."""
    rows = []
    for i, model in enumerate(models):
        difference = 0.12 - 0.035 * i
        for claim, half in (("these readers", 0.05), ("readers like these", 0.09)):
            rows.append(
                {
                    "model_id": model,
                    "condition": "",
                    "metric": "accuracy",
                    "claim": claim,
                    "n_readers": 3,
                    "n_items": 200,
                    "reader_mean": 0.7,
                    "model_value": 0.7 + difference,
                    "difference": difference,
                    "se": half / 1.96,
                    "df": np.nan if claim == "these readers" else 2.4,
                    "ci_low": difference - half,
                    "ci_high": difference + half,
                    "p": 0.03,
                    "margin": 0.05,
                    "p_noninferior": 0.01,
                    "method": "Obuchowski-Rockette",
                    "note": "",
                    "undefined_because": "",
                }
            )
    return pd.DataFrame(rows)


def comparisons(
    readers: tuple[str, ...] = READERS, models: tuple[str, ...] = MODELS
) -> pd.DataFrame:
    """Return all pairs of readers and models, and of one kind."""
    rows = []
    for i, (a, b) in enumerate(combinations((*readers, *models), 2)):
        kind = f"{'reader' if a in readers else 'model'}-{'reader' if b in readers else 'model'}"
        difference = 0.2 - 0.013 * (i % 31)
        p = min(1.0, 0.001 + 0.03 * (i % 9))
        rows.append(
            {
                "rater_a": a,
                "rater_b": b,
                "pair_kind": kind,
                "condition": "",
                "n": 200,
                "accuracy_a": 0.7,
                "accuracy_b": 0.7 - difference,
                "difference": difference,
                "ci_low": difference - 0.08,
                "ci_high": difference + 0.07,
                "ci_method": "Tango score",
                "cluster_ci_low": np.nan,
                "cluster_ci_high": np.nan,
                "only_a_correct": 40,
                "only_b_correct": 30,
                "p_exact": p,
                "p_mid": p,
                "p_clustered": np.nan,
                "clustered_method": "",
                "p_adjusted": p if kind == "reader-model" else np.nan,
                "family": "",
                "undefined_because": "",
            }
        )
    return pd.DataFrame(rows)


def agreement_groups() -> pd.DataFrame:
    """Return group agreement at every scope."""
    measures = (
        "brennan_prediger",
        "error_consistency",
        "fleiss_kappa_letters",
        "conger_kappa_letters",
        "krippendorff_alpha_letters",
        "ac1_letters",
    )
    rows = []
    for i, raters in enumerate(("readers", "models", "all")):
        for j, scope in enumerate(("all", *(f"task={task}" for task in TASKS))):
            for k, measure in enumerate(measures if scope == "all" else measures[:2]):
                estimate = 0.62 - 0.12 * i + 0.05 * j - 0.07 * k
                half = 0.05 + 0.03 * j
                rows.append(
                    {
                        "raters": raters,
                        "condition": "",
                        "scope": scope,
                        "measure": measure,
                        "n_raters": (3, 8, 11)[i],
                        "n_items": 200 if scope == "all" else 40,
                        "estimate": estimate,
                        "se": half / 1.97,
                        "ci_low": estimate - half,
                        "ci_high": min(estimate + half, 1.0),
                        "method": "t, n - 1",
                        "undefined_because": "",
                    }
                )
    return pd.DataFrame(rows)


def agreement_between() -> pd.DataFrame:
    """Return agreement among readers and of readers with models, at every scope."""
    rows = []
    for j, scope in enumerate(("all", *(f"task={task}" for task in TASKS))):
        for k, measure in enumerate(("raw", "brennan_prediger", "error_consistency")):
            among, mixed = 0.72 - 0.09 * k, 0.6 - 0.08 * k + 0.02 * j
            rows.append(
                {
                    "condition": "",
                    "scope": scope,
                    "measure": measure,
                    "n_readers": 3,
                    "n_models": 8,
                    "n_items": 200,
                    "among_readers": among,
                    "readers_models": mixed,
                    "readers_models_low": mixed - 0.05,
                    "readers_models_high": mixed + 0.05,
                    "among_models": 0.5,
                    "difference": mixed - among,
                    "ci_low": mixed - among - 0.06,
                    "ci_high": mixed - among + 0.05,
                    "method": "bootstrap over items",
                    "undefined_because": "",
                }
            )
    return pd.DataFrame(rows)


def times(readers: tuple[str, ...] = READERS) -> pd.DataFrame:
    """Return response times overall, by correctness and by quarter of the session."""
    quarters = ("first quarter", "second quarter", "third quarter", "fourth quarter")
    groups = [("overall", "micro", 1.0), ("correct", "correct", 0.9), ("correct", "wrong", 1.3)]
    groups += [("position", name, 1.2 - 0.12 * i) for i, name in enumerate(quarters)]
    rows = []
    for i, reader in enumerate(readers):
        for by, group, factor in groups:
            median = (9000 + 3500 * (i % 7)) * factor
            rows.append(
                {
                    "rater_id": reader,
                    "condition": "",
                    "by": by,
                    "group": group,
                    "n": 200 if by == "overall" else 50,
                    "median_ms": median,
                    "q1_ms": 0.62 * median,
                    "q3_ms": 1.7 * median,
                    "geometric_mean_ms": 1.03 * median,
                    "n_flagged": 2,
                    "undefined_because": "",
                }
            )
    return pd.DataFrame(rows)


def item_difficulty(n_readers: int = 3, n_models: int = 8, n: int = 200) -> pd.DataFrame:
    """Return the number of raters who answered each item correctly."""
    random = np.random.default_rng(3)
    easy = random.beta(2.2, 1.1, size=n)
    return pd.DataFrame(
        {
            "item_id": [f"q{i:04d}" for i in range(n)],
            "condition": "",
            "task": TASKS[0],
            "category": "",
            "subcategory": "",
            "examination_id": "",
            "n_readers": n_readers,
            "n_readers_correct": random.binomial(n_readers, easy),
            "n_models": n_models,
            "n_models_correct": random.binomial(n_models, easy),
            "note": "",
        }
    )


def leaderboard(
    readers: tuple[str, ...] = READERS, models: tuple[str, ...] = MODELS
) -> pd.DataFrame:
    """Return different ranks by micro and by macro accuracy."""
    raters, rows = (*readers, *models), []
    for group in ("micro", "macro"):
        for i, rater in enumerate(raters):
            place = (i * 7 + (group == "macro") * (i % 2)) % len(raters)
            accuracy = 0.85 - 0.4 * place / len(raters)
            rows.append(
                {
                    "rater_id": rater,
                    "rater_kind": "reader" if rater in readers else "model",
                    "condition": "",
                    "by": "overall",
                    "group": group,
                    "n": 200,
                    "accuracy": accuracy,
                    "ci_low": accuracy - 0.06,
                    "ci_high": accuracy + 0.06,
                    "rank": place + 1,
                    "rank_low": max(place - 1, 1),
                    "rank_high": min(place + 3, len(raters)),
                    "method": "bootstrap over items",
                    "undefined_because": "",
                }
            )
    return pd.DataFrame(rows)
