"""Simulated studies for the claims of models: random effects, reading times, kappa, calibration.

Sites: each reader has a probability of a right answer; on the probit scale it varies between sites
and between readers. Times: log times with effects of cases, of readers, and of readers under a
condition. Weighted kappa: two readers grade a latent value, each with independent errors, into four
grades. Agreement with other raters: `simulated_studies`. Calibration: a model is right with the
probability expit(a + b logit c), where c is its confidence.
"""

import sys
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri
from scipy.stats import norm

from analysis.bundle import Bundle, bundle_from_tables
from analysis.options import Options
from analysis.statistics.accuracy.recalibration import model_recalibration
from analysis.statistics.agreement.groups.raters import agreement_raters
from analysis.statistics.agreement.weighted import LINEAR, agreement_weighted, disagreements
from analysis.statistics.agreement.weighted import weighted_kappa as kappa_of
from analysis.statistics.mrmc.heterogeneity import heterogeneity
from analysis.statistics.time_model import time_model
from benchmarks.counted import IntervalOrTest, interval, interval_rows
from benchmarks.simulated_studies import Design, Drawn, Floats, raters, simulated, truths

SITE_SD, READER_SD, SITE_MEAN, READERS_A_SITE = 0.25, 0.2, 1.0, 4
TIME_SD, CASE_TIME_SD, READER_TIME_SD = 0.4, 0.3, 0.3
GRADES, GRADE_CORRELATION = np.array([0.4, 0.7, 0.9]), 0.8
INTERCEPT, SLOPE, CONFIDENCE_MEAN = 0.2, 0.7, 1.0
NODES = ndtri((np.arange(60) + 0.5) / 60)
"""Quantiles of the normal distribution, which represent the population of readers."""


def model_rows(n_studies: int, seed: int, n_sizes: int | None = None) -> list[dict[str, Any]]:
    """Simulate; return one row per design and kind of interval."""
    designs: dict[str, Any] = {
        **{f"{n} sites": partial(sites, n) for n in (4, 8)[:n_sizes]},
        **{
            f"times, 4 readers, 50 cases, SD {sd} between readers": partial(times, sd)
            for sd in (0.0, 0.15)[:n_sizes]
        },
        **{f"grades, {n} cases": partial(grades, n) for n in (50, 200)[:n_sizes]},
        **{
            f"agreement, {n} readers, 200 items": partial(other_raters, n)
            for n in (3, 5, 10)[:n_sizes]
        },
        **{f"calibration, {n} answers": partial(calibration, n) for n in (50, 200)[:n_sizes]},
    }
    rows = []
    for name, simulate in designs.items():
        print(name, file=sys.stderr)
        rows += interval_rows(simulate, {"design": name}, n_studies, seed)
    return rows


def sites(
    n_sites: int, seed: np.random.SeedSequence, n_items: int = 100
) -> Iterator[IntervalOrTest]:
    """Yield the random-effects interval of the mean, and the prediction interval of a new site."""
    generator = np.random.default_rng(seed)
    site = SITE_MEAN + SITE_SD * generator.standard_normal(n_sites + 1)
    readers = np.repeat(site[:-1], READERS_A_SITE)
    ability = readers + READER_SD * generator.standard_normal(len(readers))
    right = generator.random((len(ability), n_items)) < ndtr(ability)[:, None]
    ids = [f"R{i:02d}" for i in range(len(ability))]
    kinds = {"rater_id": ids, "rater_kind": "reader", "site": np.repeat(np.arange(n_sites), 4)}
    table = heterogeneity(_answered(ids, np.where(right, "A", "B"), kinds))
    [row] = table[table["factor"] == "site"].to_dict("records")
    mean, new = (
        ndtr(at / np.sqrt(1 + READER_SD**2 + of_sites))
        for at, of_sites in ((SITE_MEAN, SITE_SD**2), (site[-1], 0.0))
    )
    yield interval("sites: mean", row, mean)
    limits = {"ci_low": row["prediction_low"], "ci_high": row["prediction_high"]}
    yield interval("sites: prediction of another site", {**row, **limits}, new)


def times(gain_sd: float, seed: np.random.SeedSequence) -> Iterator[IntervalOrTest]:
    """Yield the ratio of a condition's times, for these readers and for the population."""
    generator = np.random.default_rng(seed)
    normal, shape = generator.standard_normal, (2, 4, 50)
    gain = gain_sd * normal(4)
    log_ms = 10 + CASE_TIME_SD * normal(50) + READER_TIME_SD * normal((4, 1))
    log_ms = log_ms + TIME_SD * normal(shape)
    log_ms[0] += gain[:, None]
    condition, reader, case = (each.ravel() for each in np.indices(shape))
    items = [f"q{i:02d}" for i in range(50)]
    readings = pd.DataFrame(
        {
            "rater_id": [f"R{i}" for i in reader],
            "item_id": np.array(items)[case],
            "condition": np.array(["aided", "unaided"])[condition],
            "answer": "A",
            "response_ms": np.exp(log_ms).ravel().round(),
        }
    )
    table = time_model(bundle_from_tables(pd.DataFrame({"item_id": items}), readings))
    [row] = table[table["condition"] == "aided"].to_dict("records")
    shown = {**row, "estimate": row["ratio"]}
    yield interval("ratio of the time model: these readers", shown, float(np.exp(gain.mean())))
    yield interval("ratio of the time model: readers like these", shown, 1.0)


def grades(n_cases: int, seed: np.random.SeedSequence) -> Iterator[IntervalOrTest]:
    """Yield both weighted kappas of two readers."""
    generator = np.random.default_rng(seed)
    latent = np.sqrt(GRADE_CORRELATION) * generator.standard_normal(n_cases)
    own_grades = np.sqrt(1 - GRADE_CORRELATION) * generator.standard_normal((2, n_cases))
    letters = np.array(list("ABCD"))[np.searchsorted(ndtri(GRADES), latent + own_grades)]
    bundle = _answered(["R1", "R2"], letters, {"rater_id": ["R1", "R2"], "rater_kind": "reader"})
    for row in agreement_weighted(bundle, Options(ordered=True)).to_dict("records"):
        yield interval(str(row["measure"]), row, _true_kappas()[row["measure"]])


@cache
def _true_kappas() -> dict[str, float]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    cuts = np.r_[-np.inf, ndtri(GRADES), np.inf]
    centred = cuts[:, None] - np.sqrt(GRADE_CORRELATION) * nodes
    cell = np.diff(norm.cdf(centred / np.sqrt(1 - GRADE_CORRELATION)), axis=0)
    counts = (cell * weights / weights.sum()) @ cell.T
    names = (LINEAR, "kappa_quadratic")
    return {name: float(kappa_of(counts, disagreements(4, name))) for name in names}


def other_raters(n_readers: int, seed: np.random.SeedSequence) -> Iterator[IntervalOrTest]:
    """Yield the agreement of raters like these."""
    generator = np.random.default_rng(seed)
    design = Design(n_readers=n_readers)
    ability = design.reader_mean + design.reader_sd * generator.standard_normal(n_readers)
    study = Drawn(simulated(design, raters(n_readers, []), ability, generator), Options())
    table = agreement_raters(study)
    for measure, true in _population(design).items():
        [row] = table.query(f"raters == 'readers' and measure == '{measure}'").to_dict("records")
        yield interval(f"agreement of other raters: {measure}", row, true)


@cache
def _population(design: Design) -> dict[str, float]:
    everyone = truths(design, design.reader_mean + design.reader_sd * NODES)
    group = range(len(NODES))
    return {
        "brennan_prediger": everyone.mean_brennan_prediger(group),
        "error_consistency": everyone.fleiss_error_consistency(group),
    }


def calibration(n_answers: int, seed: np.random.SeedSequence) -> Iterator[IntervalOrTest]:
    """Yield the calibration slope, and the intercept at a slope of 1."""
    generator = np.random.default_rng(seed)
    logits = CONFIDENCE_MEAN + generator.standard_normal(n_answers)
    right = generator.random(n_answers) < expit(INTERCEPT + SLOPE * logits)
    kinds = {"rater_id": ["M"], "rater_kind": "model"}
    bundle = _answered(["M"], np.where(right, "A", "B")[None], kinds, expit(logits))
    true = {"slope": SLOPE, "intercept": _true_intercept()}
    for row in model_recalibration(bundle, Options(confidence="answer")).to_dict("records"):
        yield interval(f"calibration: {row['measure']}", row, true[row["measure"]])


@cache
def _true_intercept() -> float:
    """Return a for which expit(a + logit c) has the mean of the probabilities of right answers."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    logits, weights = CONFIDENCE_MEAN + nodes, weights / weights.sum()
    target = float(weights @ expit(INTERCEPT + SLOPE * logits))
    return float(brentq(lambda a: float(weights @ expit(a + logits)) - target, -5, 5))


def _answered(
    ids: list[str],
    answers: np.ndarray,
    kinds: dict[str, Any],
    confidence: Floats | None = None,
) -> Bundle:
    """Return a study of one option set, with one answer for each rater and item."""
    items = [f"q{i:03d}" for i in range(answers.shape[1])]
    readings = {
        "rater_id": np.repeat(ids, len(items)),
        "item_id": items * len(ids),
        "answer": answers.ravel(),
        **({} if confidence is None else {"confidence": confidence.astype(str)}),
    }
    table = pd.DataFrame({"item_id": items, "truth": "A", "n_options": 4, "option_set": "grade"})
    return bundle_from_tables(table, pd.DataFrame(readings), pd.DataFrame(kinds).astype(str))
