"""Coverage of each interval and error rate of each test, by simulation.

Studies with known truth (`simulated_studies`) are analysed by the functions that make the tables.
Claims about these raters are compared with their true values, and claims about readers in general
with those of the population. Tests are counted if their null hypothesis is true.

For few patients, studies have one reader and one model with four items per patient. Four kinds of
intervals for accuracy, the difference of two accuracies and error consistency are computed from the
same resamples.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from analysis.bundle.model import RaterKind
from analysis.options import Options
from analysis.readings.clusters import tail_probability
from analysis.readings.matrix import RaterColumn
from analysis.statistics.accuracy.accuracy import accuracy
from analysis.statistics.agreement.groups.table import agreement_groups
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.comparison.pairs import comparisons
from analysis.statistics.mrmc.conditions import reader_conditions
from analysis.statistics.mrmc.panel import reader_panel
from benchmarks.areas_at_margin import area_rows
from benchmarks.counted import IntervalOrTest, interval, interval_rows, interval_text
from benchmarks.noninferiority import class_rows, margin_rows
from benchmarks.simulated_advice import reliance_rows
from benchmarks.simulated_designs import design_rows
from benchmarks.simulated_models import model_rows
from benchmarks.simulated_studies import (
    Design,
    Drawn,
    Floats,
    Truths,
    panel_rows,
    raters,
    simulated,
    truths,
)
from benchmarks.summary import share, shares_text

SIZES = (8, 12, 20, 29, 50, 100)
ITEMS_A_PATIENT, ALPHA = 4, 0.05
STATISTICS = ("accuracy", "difference", "error consistency")
ABILITIES = {"77 %": 1.1, "93 %": 2.4}

Limits = tuple[Floats, Floats]


def few_rows(
    n_studies: int, bootstrap: int, seed: int, n_sizes: int | None = None
) -> list[dict[str, Any]]:
    """Simulate studies of few patients; return a row per accuracy, number of patients, statistic.

    In this and the functions of other parts, `n_sizes` limits the simulation to the first sizes.
    """
    return [
        {"accuracy": name, "patients": patients, "of": STATISTICS[i], **shares}
        for name, ability in ABILITIES.items()
        for patients in SIZES[:n_sizes]
        for i, shares in enumerate(_coverage_shares(patients, ability, n_studies, bootstrap, seed))
    ]


def _coverage_shares(
    patients: int, ability: float, n_studies: int, bootstrap: int, seed: int
) -> list[dict[str, float | None]]:
    design = Design(
        n_readers=1,
        n_items=patients * ITEMS_A_PATIENT,
        items_a_patient=ITEMS_A_PATIENT,
        reader_mean=ability,
    )
    generator = np.random.default_rng([seed, patients])
    abilities = np.full(2, ability)
    true = truths(design, abilities)
    value = _statistics(np.array([1.0, *true.accuracy, true.both_right[0, 1]]))
    hits: dict[str, list[Floats]] = {name: [] for name in INTERVALS}
    for _ in range(n_studies):
        matrix = simulated(design, raters(1, ["M"]), abilities, generator)
        a, b = matrix.correct.T.astype(np.float64)
        counts = np.column_stack([np.ones(len(a)), a, b, a * b])
        sums = counts.reshape(patients, ITEMS_A_PATIENT, 4).sum(axis=1)
        drawn = generator.multinomial(patients, np.full(patients, 1 / patients), size=bootstrap)
        study = (_statistics(sums.sum(axis=0)), _statistics(drawn @ sums), _jackknife(sums))
        for name, limits in INTERVALS.items():
            low, high = limits(*study)
            # The values of a statistic are fractions, so that equal ones can differ by rounding.
            hit = (low <= value + 1e-12) & (value - 1e-12 <= high)
            hits[name].append(np.where(np.isfinite(low), hit, np.nan))
    return [
        {name: share(np.array(values)[:, i]) for name, values in hits.items()}
        for i in range(len(STATISTICS))
    ]


def _statistics(counts: Floats) -> Floats:
    """Compute the statistics from the numbers of items, right by each rater, and right by both."""
    n, a, b, both = np.moveaxis(counts, -1, 0)
    same, chance = (n - a - b + 2 * both) / n, (a * b + (n - a) * (n - b)) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.where(chance < 1 - 1e-12, (same - chance) / (1 - chance), np.nan)
    return np.stack([a / n, (a - b) / n, kappa], axis=-1)


def _jackknife(sums: Floats) -> Floats:
    return _statistics(sums.sum(axis=0) - sums)


def _quantiles(drawn: Floats, level: Floats) -> Floats:
    """Return the quantile of each column at its level, over the resamples where it is defined."""
    quantiles = [
        np.quantile(column[np.isfinite(column)], at) if np.isfinite(column).any() else np.nan
        for column, at in zip(drawn.T, level, strict=True)
    ]
    return np.array(quantiles)


def _percentile(_estimate: Floats, drawn: Floats, _left_out: Floats) -> Limits:
    level = np.full(drawn.shape[1], ALPHA / 2)
    return _quantiles(drawn, level), _quantiles(drawn, 1 - level)


def _widened(_estimate: Floats, drawn: Floats, left_out: Floats) -> Limits:
    level = np.full(drawn.shape[1], float(tail_probability(ALPHA, np.array(len(left_out)))))
    return _quantiles(drawn, level), _quantiles(drawn, 1 - level)


def _bias_corrected(estimate: Floats, drawn: Floats, left_out: Floats) -> Limits:
    """Return BCa intervals, with the acceleration from the jackknife over patients."""
    below = ((drawn < estimate).sum(axis=0) + (drawn == estimate).sum(axis=0) / 2) / len(drawn)
    shift = norm.ppf(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    deviations = left_out.mean(axis=0) - left_out
    scale = 6 * np.maximum((deviations**2).sum(axis=0), 1e-30) ** 1.5
    skew = np.nan_to_num((deviations**3).sum(axis=0) / scale)
    ends = [shift + z for z in (norm.ppf(ALPHA / 2), norm.isf(ALPHA / 2))]
    levels = [norm.cdf(shift + end / (1 - skew * end)) for end in ends]
    low, high = (_quantiles(drawn, level) for level in levels)
    return low, high


def _jackknife_t(estimate: Floats, _drawn: Floats, left_out: Floats) -> Limits:
    """Return t intervals with the standard error of the jackknife over patients."""
    n = len(left_out)
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    reach = t.isf(ALPHA / 2, n - 1) * np.sqrt((n - 1) / n * spread)
    return estimate - reach, estimate + reach


INTERVALS: Mapping[str, Callable[[Floats, Floats, Floats], Limits]] = {
    "percentile": _percentile,
    "widened": _widened,
    "bias-corrected": _bias_corrected,
    "t of the jackknife": _jackknife_t,
}


DESCRIPTION = "coverage of every interval and error of every test, by simulation"
SMALLEST = (
    "--studies 1 --readers 3 --items 40 --bootstrap 40 --panels 2 --few 1 --margins 1"
    " --designs 1 --models 1 --sizes 1"
)
SEED = 20250604
EQUAL, TWIN = "as good as readers are on average", "as good as the first reader"
RANDOM, FIXED = "readers like these", "these readers"
PARTS = ("tables", "panel", "few", "margin", "classes", "areas", "designs", "reliance", "models")
DIFFERENCE_SD = 0.15
"""Standard deviation of a reader's difference between two conditions, on the probit scale."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies a design")
    parser.add_argument("--readers", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--bootstrap", type=int, default=1000)
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what is simulated"
    )
    parser.add_argument("--panels", type=int, default=10_000, help="studies a design of the panel")
    parser.add_argument("--few", type=int, default=2000, help="studies of few patients a size")
    parser.add_argument("--margins", type=int, default=4000, help="studies at the margin a design")
    parser.add_argument(
        "--designs", type=int, default=1000, help="studies of two conditions a size"
    )
    parser.add_argument(
        "--models", type=int, default=300, help="studies of sites, times, grades, calibration"
    )
    parser.add_argument("--sizes", type=int, help="only the first sizes of each part (all)")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Simulate studies; return a row per design and kind of interval."""
    sizes = ("studies", "items", "bootstrap", "panels", "few", "margins", "designs", "models")
    result: dict[str, Any] = {"sizes": {name: getattr(args, name) for name in sizes}}
    if "tables" in args.parts:
        result["rows"] = _table_rows(args)
    if "panel" in args.parts:
        result["panel"] = panel_rows(args.readers, args.panels, SEED, args.sizes)
    if "few" in args.parts:
        result["few"] = few_rows(args.few, args.bootstrap, SEED, args.sizes)
    if "margin" in args.parts:
        result["margin"] = margin_rows(args.readers, args.margins, SEED, args.sizes)
    if "classes" in args.parts:
        result["classes"] = class_rows(args.readers, args.margins, SEED, args.sizes)
    if "areas" in args.parts:
        result["areas"] = area_rows(args.readers, args.margins, SEED, args.sizes)
    if "designs" in args.parts:
        result["designs"] = design_rows(args.designs, SEED, args.sizes)
    if "reliance" in args.parts:
        result["reliance"] = reliance_rows(args.designs, SEED, args.sizes)
    if "models" in args.parts:
        result["models"] = model_rows(args.models, SEED, args.sizes)
    return result


def _table_rows(args: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for n_readers in args.readers:
        for items_a_patient in (1, 4):
            design = Design(
                n_readers=n_readers, n_items=args.items, items_a_patient=items_a_patient
            )
            print(f"{n_readers} readers, {items_a_patient} items a patient", file=sys.stderr)
            rows += _design_rows(design, args.studies, args.bootstrap)
    return rows


def text(result: Mapping[str, Any]) -> str:
    """Return a table for each design."""
    sizes, parts = result["sizes"], []
    if "rows" in result:
        heading = (
            f"{sizes['studies']} studies of {sizes['items']} items a design;"
            f" {sizes['bootstrap']} resamples; intervals of 95 %, tests at 5 %"
        )
        parts.append(interval_text(heading, result["rows"]))
    if "panel" in result:
        heading = "model minus readers: shares of"
        parts.append(shares_text(heading, result["panel"], sizes["panels"], width=9))
    if "few" in result:
        heading = "few patients: coverage of 95 % intervals in"
        parts.append(shares_text(heading, result["few"], sizes["few"], width=17))
    if "margin" in result:
        heading = "a model at the margin, declared non-inferior in"
        parts.append(shares_text(heading, result["margin"], sizes["margins"], width=17))
    if "classes" in result:
        heading = "sensitivity or specificity at the margin, declared non-inferior or superior in"
        parts.append(shares_text(heading, result["classes"], sizes["margins"], width=17))
    if "areas" in result:
        heading = "an area at the margin, declared non-inferior in"
        parts.append(shares_text(heading, result["areas"], sizes["margins"], width=17))
    if "designs" in result:
        heading = f"two conditions, arms and groups: {sizes['designs']} studies a size"
        parts.append(interval_text(heading, result["designs"]))
    if "reliance" in result:
        heading = f"readers and a model's answers: {sizes['designs']} studies a size"
        parts.append(interval_text(heading, result["reliance"]))
    if "models" in result:
        heading = f"sites, times, grades and calibration: {sizes['models']} studies a design"
        parts.append(interval_text(heading, result["models"]))
    return "\n\n".join(parts)


def _design_rows(design: Design, n_studies: int, bootstrap: int) -> list[dict[str, Any]]:
    clustered = design.items_a_patient > 1
    patients = f"{design.items_a_patient} items a patient" if clustered else "one item a patient"
    names = {"design": f"{design.n_readers} readers, {patients}"}
    return interval_rows(partial(_study, design, bootstrap), names, n_studies, SEED)


def _study(
    design: Design, bootstrap: int, seed: np.random.SeedSequence
) -> Iterator[IntervalOrTest]:
    generator = np.random.default_rng(seed)
    readers = design.reader_mean + design.reader_sd * generator.standard_normal(design.n_readers)
    abilities = np.r_[readers, design.equal_ability, readers[0]]
    columns = raters(design.n_readers, [EQUAL, TWIN])
    matrix = simulated(design, columns, abilities, generator)
    options = Options(bootstrap=bootstrap, seed=int(generator.integers(2**31)))
    study = Drawn(matrix, options)
    true = truths(design, abilities)
    place = {column.rater_id: i for i, column in enumerate(columns)}
    yield from _accuracy(accuracy(study), true, place)
    yield from _pairs(agreement_pairs(study), true, place)
    yield from _groups(agreement_groups(study), true, design.n_readers)
    yield from _comparisons(comparisons(study), true, place)
    yield from _panel(reader_panel(study), true, design)
    yield from _conditions(design, readers, generator, options)


def _accuracy(
    table: pd.DataFrame, true: Truths, place: Mapping[str, int]
) -> Iterator[IntervalOrTest]:
    for row in table.loc[table["by"] == "overall"].to_dict("records"):
        value = true.accuracy[place[row["rater_id"]]]
        for name, prefix in ((str(row["ci_method"]), ""), ("bootstrap over patients", "cluster_")):
            if prefix and not np.isfinite(row["cluster_ci_low"]):
                continue
            yield IntervalOrTest(
                what=f"accuracy {row['group']}: {name}",
                true=value,
                estimate=row["accuracy"],
                low=row[f"{prefix}ci_low"],
                high=row[f"{prefix}ci_high"],
            )


def _pairs(table: pd.DataFrame, true: Truths, place: Mapping[str, int]) -> Iterator[IntervalOrTest]:
    values = {
        "raw": true.raw,
        "kappa_letters": true.brennan_prediger,
        "brennan_prediger": true.brennan_prediger,
        "error_consistency": true.error_consistency,
    }
    shown = table.loc[(table["scope"] == "all") & table["measure"].isin(values)]
    for row in shown.to_dict("records"):
        pair = (place[row["rater_a"]], place[row["rater_b"]])
        yield interval(f"agreement of pairs: {row['measure']}", row, values[row["measure"]][pair])


def _groups(table: pd.DataFrame, true: Truths, n_readers: int) -> Iterator[IntervalOrTest]:
    group = range(n_readers)
    values = {
        "brennan_prediger": true.mean_brennan_prediger(group),
        "error_consistency": true.fleiss_error_consistency(group),
        "fleiss_kappa_letters": true.mean_brennan_prediger(group),
        "conger_kappa_letters": true.mean_brennan_prediger(group),
        "krippendorff_alpha_letters": true.mean_brennan_prediger(group),
        "ac1_letters": true.mean_brennan_prediger(group),
    }
    shown = table.loc[(table["scope"] == "all") & (table["raters"] == "readers")]
    for row in shown.loc[shown["measure"].isin(values)].to_dict("records"):
        yield interval(f"agreement of readers: {row['measure']}", row, values[row["measure"]])


def _comparisons(
    table: pd.DataFrame, true: Truths, place: Mapping[str, int]
) -> Iterator[IntervalOrTest]:
    for row in table.loc[table["pair_kind"] == "reader-model"].to_dict("records"):
        a, b = place[row["rater_a"]], place[row["rater_b"]]
        value = true.accuracy[a] - true.accuracy[b]
        null = row["rater_a"] == "R01" and row["rater_b"] == TWIN
        yield interval(f"difference of pairs: {row['ci_method']}", row, value)
        if np.isfinite(row["cluster_ci_low"]):
            limits = {"ci_low": row["cluster_ci_low"], "ci_high": row["cluster_ci_high"]}
            yield interval("difference of pairs: bootstrap over patients", {**row, **limits}, value)
        for test in ("p_exact", "p_mid", "p_clustered") if null else ():
            if np.isfinite(row[test]):
                yield _test(f"difference of pairs: {test}", row[test])


def _test(label: str, p: float) -> IntervalOrTest:
    nothing = float("nan")
    return IntervalOrTest(
        what=label, true=nothing, estimate=nothing, low=nothing, high=nothing, p=p
    )


def _panel(table: pd.DataFrame, true: Truths, design: Design) -> Iterator[IntervalOrTest]:
    shown = table.loc[(table["model_id"] == EQUAL) & (table["metric"] == "accuracy")]
    model = true.accuracy[design.n_readers]
    values = {
        FIXED: model - true.accuracy[: design.n_readers].mean(),
        RANDOM: model - design.population_accuracy,
    }
    for row in shown.to_dict("records"):
        claim = row["claim"]
        p = row["p"] if claim == RANDOM else float("nan")
        yield interval(f"model minus readers: {claim}", row, values[claim], p)
        if claim == RANDOM and np.isfinite(row["se"]):
            z = abs(row["difference"]) / row["se"]
            yield _test("model minus readers: normal in place of Hillis", float(2 * norm.sf(z)))
        if claim == FIXED and np.isfinite(row["se"]):
            z = abs(row["difference"]) / row["se"]
            wrong = float(2 * norm.sf(z))
            yield _test("model minus readers: these taken for readers in general", wrong)


def _conditions(
    design: Design, readers: np.ndarray, generator: np.random.Generator, options: Options
) -> Iterator[IntervalOrTest]:
    shifts = DIFFERENCE_SD * generator.standard_normal((2, design.n_readers))
    abilities = np.concatenate([readers + shifts[0], readers + shifts[1]])
    columns = [
        RaterColumn(rater_id=f"R{i + 1:02d}", kind=RaterKind.READER, condition=condition)
        for condition in ("aided", "unaided")
        for i in range(design.n_readers)
    ]
    order = sorted(range(len(columns)), key=lambda i: (columns[i].rater_id, columns[i].condition))
    matrix = simulated(design, tuple(columns[i] for i in order), abilities[order], generator)
    true = truths(design, abilities).accuracy
    own_difference = true[: design.n_readers].mean() - true[design.n_readers :].mean()
    table = reader_conditions(Drawn(matrix, options))
    for row in table.loc[table["metric"] == "accuracy"].to_dict("records"):
        if row["claim"] == RANDOM:
            yield interval("difference of conditions: readers like these", row, 0.0, row["p"])
        elif row["claim"] == FIXED:
            yield interval("difference of conditions: these readers", row, own_difference)
