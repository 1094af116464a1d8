"""A run with every table of the report and random values from a seed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from analysis import Bundle, Options, bundle_from_tables
from analysis.results import Results
from analysis.statistics.accuracy.accuracy import accuracy
from analysis.statistics.accuracy.items import model_disagreements
from analysis.statistics.accuracy.missing import missing
from analysis.statistics.agreement.intra_reader import intra_reader
from analysis.statistics.agreement.pairs.indices import agreement_indices
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.agreement.with_truth import agreement_with_truth
from analysis.statistics.mrmc.components import variance_components
from analysis.statistics.mrmc.panel import adjusted
from analysis.statistics.study import Study

TASKS = ("Presence Assessment", "Negation Assessment", "Differential Diagnosis", "Location")
CLAIMS = ("these readers", "readers like these")
CHOICES = ("missing dropped", "missing as right", "flagged times dropped", "macro")
GROUP_MEASURES = ("brennan_prediger", "error_consistency", "fleiss_kappa_letters", "ac1_letters")


def study(
    n_readers: int = 3, n_models: int = 4, n_items: int = 60, *, conditions: tuple[str, ...] = ("",)
) -> Bundle:
    """Return a bundle with four options, four tasks and two items per patient."""
    rng = np.random.default_rng(7)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:04d}" for i in range(n_items)],
            "truth": [str(t) for t in rng.choice(list("ABCD"), n_items)],
            "n_options": 4,
            "options": '["Effusion", "Pneumothorax & more", "50 % of #_$", "None"]',
            "question": [f"Which finding is present on film {i}? 😀" for i in range(n_items)],
            "task": [TASKS[i % len(TASKS)] for i in range(n_items)],
            "patient_id": [f"p{i // 2}" for i in range(n_items)],
        }
    )
    raters = [f"R{i + 1}" for i in range(n_readers)] + [f"M{i + 1}" for i in range(n_models)]
    rows: list[dict[str, Any]] = []
    for number, rater in enumerate(raters):
        share = 0.5 + 0.35 * (number % 5) / 5
        own = (
            conditions
            if rater.startswith("R")
            else ("",)
            if conditions == ("",)
            else conditions[:1]
        )
        for condition in own:
            right = rng.random(n_items) < share
            other = rng.choice(list("ABCD"), n_items)
            values = np.where(right, items["truth"], other)
            values[rng.random(n_items) < 0.02] = ""
            rows += [
                {
                    "rater_id": rater,
                    "item_id": item,
                    "answer": answer,
                    "condition": condition,
                    "response_ms": "12000" if rater.startswith("R") else "",
                }
                for item, answer in zip(items["item_id"], values, strict=True)
            ]
    return bundle_from_tables(
        items,
        pd.DataFrame(rows),
        pd.DataFrame(
            {
                "rater_id": raters,
                "rater_kind": ["reader"] * n_readers + ["model"] * n_models,
                "label": [f"Resident {i + 1}" for i in range(n_readers)]
                + [f"Model-{i + 1}_x" for i in range(n_models)],
            }
        ),
    )


def full_run(bundle: Bundle, options: Options | None = None, seed: int = 3) -> Results:
    """Return a run whose tables of claims have artificial rows, so that sentences vary."""
    study = Study(bundle, options or Options(bootstrap=20, margin=0.05))
    computed = {
        "accuracy": accuracy(study),
        "agreement_pairs": agreement_pairs(study),
        "missing": missing(study),
        "model_disagreements": model_disagreements(study),
        "variance_components": variance_components(study),
        "agreement_indices": agreement_indices(study),
        "agreement_with_truth": agreement_with_truth(study),
        "intra_reader": intra_reader(study),
    }
    rng = np.random.default_rng(seed)
    kinds = dict(zip(bundle.raters["rater_id"], bundle.raters["rater_kind"], strict=True))
    readers = [rater for rater, kind in kinds.items() if kind == "reader"]
    models = [rater for rater, kind in kinds.items() if kind == "model"]
    conditions = sorted(bundle.readings["condition"].unique())
    made = {
        "agreement_groups": _groups(rng, conditions),
        "agreement_between": _between(rng, conditions),
        "comparisons": _comparisons(rng, readers, models, conditions),
        "reader_panel": _panel(rng, models, conditions, len(readers)),
        "reader_conditions": _conditions(rng, conditions),
        "times": _times(rng, readers, conditions),
        "sensitivity": _sensitivity(rng, computed["accuracy"]),
        "sensitivity_panel": _sensitivity_panel(rng, models, conditions),
        "leaderboard": _leaderboard(computed["accuracy"]),
        "item_difficulty": _difficulty(bundle, conditions),
        "time_model": _time_model(conditions),
        "gee": _gee(rng, models, conditions),
    }
    tables = {name: pd.DataFrame(rows) for name, rows in made.items() if rows}
    if models:
        computed["panel_adjusted"] = adjusted(
            tables["reader_panel"], bundle.labels, bundle.protocol
        )
    return Results(
        bundle=bundle,
        options=study.options,
        tables={**computed, **tables},
        n_clusters=study.matrix.n_clusters,
        clustered=study.matrix.clustered,
    )


def _limits(rng: np.random.Generator, middle: float, width: float = 0.08) -> dict[str, float]:
    return {
        "ci_low": middle - width * float(rng.uniform(0.2, 1)),
        "ci_high": middle + width * float(rng.uniform(0.2, 1)),
    }


def panel_row(**values: Any) -> dict[str, Any]:
    """Return a row of `reader_panel` with `values` over it."""
    row: dict[str, Any] = {
        "model_id": "M1",
        "condition": "",
        "metric": "accuracy",
        "claim": CLAIMS[0],
        "n_readers": 3,
        "n_items": 60,
        "reader_mean": 0.772,
        "model_value": 0.838,
        "difference": 0.066,
        "se": 0.02,
        "df": np.nan,
        "ci_low": 0.012,
        "ci_high": 0.12,
        "p": 0.02,
        "margin": 0.05,
        "p_noninferior": 0.001,
        "method": "Obuchowski-Rockette",
        "note": "",
        "undefined_because": "",
    }
    return {**row, **values}


def _panel(
    rng: np.random.Generator, models: list[str], conditions: list[str], n_readers: int
) -> list[dict[str, Any]]:
    rows = []
    for condition, model in product(conditions, models):
        difference = float(rng.normal(0.03, 0.07))
        for claim, width in zip(CLAIMS, (0.06, 0.16), strict=True):
            rows.append(
                panel_row(
                    model_id=model,
                    condition=condition,
                    claim=claim,
                    n_readers=n_readers,
                    model_value=0.75 + difference,
                    reader_mean=0.75,
                    difference=difference,
                    **_limits(rng, difference, width),
                )
            )
    return rows


def _sensitivity_panel(
    rng: np.random.Generator, models: list[str], conditions: list[str]
) -> list[dict[str, Any]]:
    return [
        {
            "analysis": choice,
            "model_id": model,
            "condition": condition,
            "metric": "accuracy",
            "claim": claim,
            "n_readers": 3,
            "n_items": 60,
            "difference": difference,
            "se": 0.03,
            "df": np.nan,
            **_limits(rng, difference),
            "p": 0.2,
            "method": "Obuchowski-Rockette",
            "note": "",
            "undefined_because": "",
        }
        for choice, condition, model, claim in product(CHOICES, conditions, models, CLAIMS)
        for difference in [float(rng.normal(0.03, 0.05))]
    ]


def _groups(rng: np.random.Generator, conditions: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "raters": raters,
            "condition": condition,
            "scope": "all",
            "measure": measure,
            "n_raters": 3,
            "n_items": 60,
            "estimate": estimate,
            "se": 0.03,
            **_limits(rng, estimate),
            "method": "Gwet",
            "undefined_because": "",
        }
        for condition, raters, measure in product(
            conditions, ("readers", "models", "all"), GROUP_MEASURES
        )
        for estimate in [float(rng.uniform(0.2, 0.7))]
    ]


def _between(rng: np.random.Generator, conditions: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "condition": condition,
            "scope": "all",
            "measure": measure,
            "n_readers": 3,
            "n_models": 4,
            "n_items": 60,
            "among_readers": 0.55,
            "readers_models": 0.55 + difference,
            "readers_models_low": 0.5 + difference,
            "readers_models_high": 0.6 + difference,
            "among_models": 0.4,
            "difference": difference,
            **_limits(rng, difference, 0.1),
            "method": "bootstrap over patients",
            "undefined_because": "",
        }
        for condition, measure in product(
            conditions, ("raw", "brennan_prediger", "error_consistency")
        )
        for difference in [float(rng.normal(-0.08, 0.08))]
    ]


def _comparisons(
    rng: np.random.Generator, readers: list[str], models: list[str], conditions: list[str]
) -> list[dict[str, Any]]:
    rows = []
    for condition, reader, model in product(conditions, readers, models):
        difference = float(rng.normal(-0.03, 0.08))
        low_high = _limits(rng, difference, 0.1)
        rows.append(
            {
                "rater_a": reader,
                "rater_b": model,
                "pair_kind": "reader-model",
                "condition": condition,
                "n": 60,
                "accuracy_a": 0.75,
                "accuracy_b": 0.75 - difference,
                "difference": difference,
                **low_high,
                "ci_method": "Tango",
                "cluster_ci_low": low_high["ci_low"] - 0.01,
                "cluster_ci_high": low_high["ci_high"] + 0.01,
                "only_a_correct": 10,
                "only_b_correct": 14,
                "p_exact": 0.03,
                "p_mid": 0.02,
                "p_clustered": 0.025,
                "clustered_method": "Yang",
                "p_adjusted": 0.04 if abs(difference) > 0.1 else 0.4,
                "family": "reader-model",
                "undefined_because": "",
            }
        )
    return rows


def _conditions(rng: np.random.Generator, conditions: list[str]) -> list[dict[str, Any]]:
    if len(conditions) < 2:
        return []
    return [
        {
            "condition_a": conditions[0],
            "condition_b": conditions[1],
            "metric": "accuracy",
            "claim": claim,
            "n_readers": 3,
            "n_items": 60,
            "value_a": 0.8,
            "value_b": 0.75,
            "difference": 0.05,
            "se": 0.02,
            "df": 3.1,
            **_limits(rng, 0.05, 0.06),
            "p": 0.1,
            "method": "Obuchowski-Rockette",
            "note": "",
            "undefined_because": "",
        }
        for claim in CLAIMS
    ]


def _times(
    rng: np.random.Generator, readers: list[str], conditions: list[str]
) -> list[dict[str, Any]]:
    return [
        {
            "rater_id": reader,
            "condition": condition,
            "by": "overall",
            "group": "micro",
            "n": 60,
            "median_ms": median,
            "q1_ms": 0.7 * median,
            "q3_ms": 1.5 * median,
            "geometric_mean_ms": 1.05 * median,
            "n_flagged": 2,
            "undefined_because": "",
        }
        for reader, condition in product(readers, conditions)
        for median in [float(rng.uniform(8000, 40000))]
    ]


def _time_model(conditions: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "term": term,
            "condition": "",
            "n": 180,
            "estimate": float(np.log(ratio)),
            "se": 0.05,
            "ratio": ratio,
            "ci_low": ratio - 0.1,
            "ci_high": ratio + 0.1,
            "p": 0.01,
            "method": "mixed model",
            "undefined_because": "",
        }
        for term, ratio in (
            ("wrong answers", 1.31),
            ("each further 10 items", 0.97),
            *((f"condition {name} against {conditions[-1]}", 0.8) for name in conditions[:-1]),
            (f"task {TASKS[1]} against {TASKS[0]}", 1.2),
        )
    ]


def _sensitivity(rng: np.random.Generator, table: pd.DataFrame) -> list[dict[str, Any]]:
    micro = table.loc[(table["by"] == "overall") & (table["group"] == "micro")]
    return [
        {
            "analysis": choice,
            "rater_id": row["rater_id"],
            "condition": row["condition"],
            "n": row["n"],
            "accuracy": row["accuracy"] + shift,
            "ci_low": row["ci_low"] + shift,
            "ci_high": row["ci_high"] + shift,
        }
        for choice in ("missing as wrong", *CHOICES[:3])
        for row in micro.to_dict("records")
        for shift in [0.0 if choice == "missing as wrong" else float(rng.uniform(0, 0.02))]
    ]


def _leaderboard(table: pd.DataFrame) -> list[dict[str, Any]]:
    overall = table.loc[table["by"] == "overall"].copy()
    overall["rank"] = overall.groupby(["condition", "group"])["accuracy"].rank(
        ascending=False, method="min"
    )
    overall["rank_low"] = (overall["rank"] - 1).clip(lower=1)
    overall["rank_high"] = overall["rank"] + 1
    overall["method"] = "bootstrap over patients"
    columns = [
        "rater_id",
        "rater_kind",
        "condition",
        "by",
        "group",
        "n",
        "accuracy",
        "ci_low",
        "ci_high",
        "rank",
        "rank_low",
        "rank_high",
        "method",
        "undefined_because",
    ]
    rows: list[dict[str, Any]] = overall[columns].to_dict("records")  # type: ignore[assignment]
    return rows


def _difficulty(bundle: Bundle, conditions: list[str]) -> list[dict[str, Any]]:
    notes = (
        "all readers missed it, a model did not",
        "all models missed it, a reader did not",
        "everybody missed it",
        "everybody had it right",
        "",
    )
    return [
        {
            "item_id": item["item_id"],
            "condition": condition,
            "task": item["task"],
            "category": "",
            "subcategory": "",
            "examination_id": "",
            "n_readers": 3,
            "n_readers_correct": 0,
            "n_models": 4,
            "n_models_correct": 2,
            "note": notes[min(i % 9, 4)],
        }
        for condition in conditions
        for i, item in enumerate(bundle.items.to_dict("records"))
    ]


def _gee(
    rng: np.random.Generator, models: list[str], conditions: list[str]
) -> list[dict[str, Any]]:
    return [
        {
            "contrast": model,
            "condition": condition,
            "n_readings": 400,
            "n_items": 60,
            "n_clusters": 30,
            "estimate": 0.03,
            "se": 0.02,
            **_limits(rng, 0.03),
            "p": 0.1,
            "scale": "risk difference",
            "method": "GEE",
            "undefined_because": "",
        }
        for condition, model in product(conditions, models)
    ]
