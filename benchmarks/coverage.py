"""Coverage of each interval and error rate of each test, by simulation.

Studies with known truth (`simulated_studies`) are analysed by the functions that make the tables.
Fixed claims are compared with these raters' true values, claims about readers in general with those
of the population. Tests are counted if their null hypothesis is true.

Studies of one reader and one model with four items a patient; accuracy, the difference of two
accuracies and error consistency, each with all four intervals from the same resamples.
"""

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from analysis.bundle.model import RaterKind
from analysis.options import Options
from analysis.readings.clusters import tail
from analysis.readings.matrix import Reads
from analysis.statistics.accuracy.accuracy import accuracy
from analysis.statistics.agreement.groups.table import agreement_groups
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.comparison.pairs import comparisons
from analysis.statistics.mrmc.conditions import reader_conditions
from analysis.statistics.mrmc.panel import reader_panel
from benchmarks.noninferiority import margin_rows
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


def few_rows(n_studies: int, bootstrap: int, seed: int) -> list[dict[str, Any]]:
    """Simulate; return one row an accuracy, number of patients and statistic."""
    return [
        {"accuracy": name, "patients": patients, "of": STATISTICS[i], **shares}
        for name, ability in ABILITIES.items()
        for patients in SIZES
        for i, shares in enumerate(_covered(patients, ability, n_studies, bootstrap, seed))
    ]


def _covered(
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
        for name, interval in INTERVALS.items():
            low, high = interval(*study)
            # Values of a statistic are fractions, so their quantiles are rounded.
            hit = (low <= value + 1e-12) & (value - 1e-12 <= high)
            hits[name].append(np.where(np.isfinite(low), hit, np.nan))
    return [
        {name: share(np.array(values)[:, i]) for name, values in hits.items()}
        for i in range(len(STATISTICS))
    ]


def _statistics(counts: Floats) -> Floats:
    """Turn counts (items, right, right, both right) into the statistics, along the last axis."""
    n, a, b, both = np.moveaxis(counts, -1, 0)
    same, chance = (n - a - b + 2 * both) / n, (a * b + (n - a) * (n - b)) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.where(chance < 1 - 1e-12, (same - chance) / (1 - chance), np.nan)
    return np.stack([a / n, (a - b) / n, kappa], axis=-1)


def _jackknife(sums: Floats) -> Floats:
    return _statistics(sums.sum(axis=0) - sums)


def _quantiles(drawn: Floats, level: Floats) -> Floats:
    """Return each column's quantile at its own level, over the resamples where it is defined."""
    quantiles = [
        np.quantile(column[np.isfinite(column)], at) if np.isfinite(column).any() else np.nan
        for column, at in zip(drawn.T, level, strict=True)
    ]
    return np.array(quantiles)


def _percentile(_estimate: Floats, drawn: Floats, _left_out: Floats) -> Limits:
    level = np.full(drawn.shape[1], ALPHA / 2)
    return _quantiles(drawn, level), _quantiles(drawn, 1 - level)


def _widened(_estimate: Floats, drawn: Floats, left_out: Floats) -> Limits:
    level = np.full(drawn.shape[1], float(tail(ALPHA, np.array(len(left_out)))))
    return _quantiles(drawn, level), _quantiles(drawn, 1 - level)


def _bias_corrected(estimate: Floats, drawn: Floats, left_out: Floats) -> Limits:
    """Bias-corrected and accelerated, the acceleration from the jackknife over patients."""
    below = ((drawn < estimate).sum(axis=0) + (drawn == estimate).sum(axis=0) / 2) / len(drawn)
    shift = norm.ppf(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    off = left_out.mean(axis=0) - left_out
    scale = 6 * np.maximum((off**2).sum(axis=0), 1e-30) ** 1.5
    skew = np.nan_to_num((off**3).sum(axis=0) / scale)
    ends = [shift + z for z in (norm.ppf(ALPHA / 2), norm.isf(ALPHA / 2))]
    levels = [norm.cdf(shift + end / (1 - skew * end)) for end in ends]
    low, high = (_quantiles(drawn, level) for level in levels)
    return low, high


def _linearised(estimate: Floats, _drawn: Floats, left_out: Floats) -> Limits:
    """Student's t with the jackknife's standard error over patients."""
    n = len(left_out)
    spread = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    reach = t.isf(ALPHA / 2, n - 1) * np.sqrt((n - 1) / n * spread)
    return estimate - reach, estimate + reach


INTERVALS: Mapping[str, Callable[[Floats, Floats, Floats], Limits]] = {
    "percentile": _percentile,
    "widened": _widened,
    "bias-corrected": _bias_corrected,
    "t of the jackknife": _linearised,
}


DESCRIPTION = "coverage of every interval and error of every test, by simulation"
SMALLEST = "--studies 2 --readers 3 --items 40 --bootstrap 40 --panels 10 --few 4 --margins 4"

SEED = 20250604
EQUAL, TWIN = "as good as readers are on average", "as good as the first reader"
RANDOM, FIXED = "readers like these", "these readers"
PARTS = ("tables", "panel", "few", "margin")
DIFFERENCE_SD = 0.15
"""Standard deviation of a reader's difference between two conditions, on the probit scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """An interval or test of a study."""

    what: str
    true: float
    estimate: float
    low: float
    high: float
    p: float = float("nan")
    """Result of a test whose null hypothesis is true; nan otherwise."""


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


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Simulate; return one row a design and kind of interval."""
    sizes = ("studies", "items", "bootstrap", "panels", "few", "margins")
    result: dict[str, Any] = {"sizes": {name: getattr(args, name) for name in sizes}}
    if "tables" in args.parts:
        result["rows"] = _table_rows(args)
    if "panel" in args.parts:
        result["panel"] = panel_rows(args.readers, args.panels, SEED)
    if "few" in args.parts:
        result["few"] = few_rows(args.few, args.bootstrap, SEED)
    if "margin" in args.parts:
        result["margin"] = margin_rows(args.readers, args.margins, SEED)
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
        parts.append(_table_text(result))
    if "panel" in result:
        heading = "model minus readers: shares of"
        parts.append(shares_text(heading, result["panel"], sizes["panels"], width=9))
    if "few" in result:
        heading = "few patients: coverage of 95 % intervals in"
        parts.append(shares_text(heading, result["few"], sizes["few"], width=17))
    if "margin" in result:
        heading = "a model at the margin, declared non-inferior in"
        parts.append(shares_text(heading, result["margin"], sizes["margins"], width=17))
    return "\n\n".join(parts)


def _table_text(result: Mapping[str, Any]) -> str:
    lines = [
        f"{result['sizes']['studies']} studies of {result['sizes']['items']} items a design;"
        f" {result['sizes']['bootstrap']} resamples; intervals of 95 %, tests at 5 %"
    ]
    for design in dict.fromkeys(row["design"] for row in result["rows"]):
        lines += ["", design]
        lines.append(f"  {'':58s}{'n':>7s}{'bias':>9s}{'coverage':>10s}{'± 2 se':>8s}{'error':>8s}")
        for row in result["rows"]:
            if row["design"] == design:
                lines.append(
                    f"  {row['what']:58s}{row['n']:7d}{_cell(row['bias'], 4):>9s}"
                    f"{_cell(row['coverage'], 3):>10s}{_cell(row['two_se'], 3):>8s}"
                    f"{_cell(row['type_i_error'], 3):>8s}"
                )
    return "\n".join(lines)


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _design_rows(design: Design, n_studies: int, bootstrap: int) -> list[dict[str, Any]]:
    seeds = np.random.SeedSequence(SEED).spawn(n_studies)
    simulate = partial(_study, design, bootstrap)
    counts: dict[str, list[list[Counted]]] = defaultdict(list)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for study in pool.map(simulate, seeds, chunksize=10):
            for what, seen in study.items():
                counts[what].append(seen)
    clustered = design.items_a_patient > 1
    patients = f"{design.items_a_patient} items a patient" if clustered else "one item a patient"
    return [
        {"design": f"{design.n_readers} readers, {patients}", **_row(what, studies)}
        for what, studies in counts.items()
    ]


def _row(what: str, studies: list[list[Counted]]) -> dict[str, Any]:
    """Average within studies first, because the intervals of a study are not independent."""
    seen = [interval for study in studies for interval in study]
    with_interval = [
        float(np.mean([s.low <= s.true <= s.high for s in part]))
        for study in studies
        if (part := [s for s in study if np.isfinite(s.low)])
    ]
    tests = [
        float(np.mean([s.p < 0.05 for s in part]))
        for study in studies
        if (part := [s for s in study if np.isfinite(s.p)])
    ]
    errors = [s.estimate - s.true for s in seen if np.isfinite(s.estimate)]
    n_defined = sum(np.isfinite(s.low) for s in seen)
    return {
        "what": what,
        "n": len(seen),
        "share_with_interval": n_defined / len(seen),
        "bias": float(np.mean(errors)) if errors else None,
        "coverage": float(np.mean(with_interval)) if with_interval else None,
        "two_se": 2 * float(np.std(with_interval) / np.sqrt(len(with_interval)))
        if with_interval
        else None,
        "type_i_error": float(np.mean(tests)) if tests else None,
    }


def _study(
    design: Design, bootstrap: int, seed: np.random.SeedSequence
) -> dict[str, list[Counted]]:
    generator = np.random.default_rng(seed)
    readers = design.reader_mean + design.reader_sd * generator.standard_normal(design.n_readers)
    abilities = np.r_[readers, design.equal_ability, readers[0]]
    columns = raters(design.n_readers, [EQUAL, TWIN])
    matrix = simulated(design, columns, abilities, generator)
    options = Options(bootstrap=bootstrap, seed=int(generator.integers(2**31)))
    study = Drawn(matrix, options)
    true = truths(design, abilities)
    place = {column.rater_id: i for i, column in enumerate(columns)}
    counts: dict[str, list[Counted]] = defaultdict(list)
    for seen in (
        *_accuracy(accuracy(study), true, place),
        *_pairs(agreement_pairs(study), true, place),
        *_groups(agreement_groups(study), true, design.n_readers),
        *_comparisons(comparisons(study), true, place),
        *_panel(reader_panel(study), true, design),
        *_conditions(design, readers, generator, options),
    ):
        counts[seen.what].append(seen)
    return counts


def _accuracy(table: pd.DataFrame, true: Truths, place: Mapping[str, int]) -> Iterator[Counted]:
    for row in table.loc[table["by"] == "overall"].to_dict("records"):
        value = true.accuracy[place[row["rater_id"]]]
        for name, prefix in ((str(row["ci_method"]), ""), ("bootstrap over patients", "cluster_")):
            if prefix and not np.isfinite(row["cluster_ci_low"]):
                continue
            yield Counted(
                what=f"accuracy {row['group']}: {name}",
                true=value,
                estimate=row["accuracy"],
                low=row[f"{prefix}ci_low"],
                high=row[f"{prefix}ci_high"],
            )


def _pairs(table: pd.DataFrame, true: Truths, place: Mapping[str, int]) -> Iterator[Counted]:
    values = {
        "raw": true.raw,
        "kappa_letters": true.brennan_prediger,
        "brennan_prediger": true.brennan_prediger,
        "error_consistency": true.error_consistency,
    }
    shown = table.loc[(table["scope"] == "all") & table["measure"].isin(values)]
    for row in shown.to_dict("records"):
        pair = (place[row["rater_a"]], place[row["rater_b"]])
        yield _interval(f"agreement of pairs: {row['measure']}", row, values[row["measure"]][pair])


def _groups(table: pd.DataFrame, true: Truths, n_readers: int) -> Iterator[Counted]:
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
        yield _interval(f"agreement of readers: {row['measure']}", row, values[row["measure"]])


def _interval(what: str, row: Mapping[Any, Any], true: float, p: float = float("nan")) -> Counted:
    return Counted(
        what=what,
        true=float(true),
        estimate=row.get("estimate", row.get("difference")),
        low=row["ci_low"],
        high=row["ci_high"],
        p=p,
    )


def _comparisons(table: pd.DataFrame, true: Truths, place: Mapping[str, int]) -> Iterator[Counted]:
    for row in table.loc[table["pair_kind"] == "reader-model"].to_dict("records"):
        a, b = place[row["rater_a"]], place[row["rater_b"]]
        value = true.accuracy[a] - true.accuracy[b]
        null = row["rater_a"] == "R01" and row["rater_b"] == TWIN
        yield _interval(f"difference of pairs: {row['ci_method']}", row, value)
        if np.isfinite(row["cluster_ci_low"]):
            limits = {"ci_low": row["cluster_ci_low"], "ci_high": row["cluster_ci_high"]}
            yield _interval(
                "difference of pairs: bootstrap over patients", {**row, **limits}, value
            )
        for test in ("p_exact", "p_mid", "p_clustered") if null else ():
            if np.isfinite(row[test]):
                yield _test(f"difference of pairs: {test}", row[test])


def _test(what: str, p: float) -> Counted:
    nothing = float("nan")
    return Counted(what=what, true=nothing, estimate=nothing, low=nothing, high=nothing, p=p)


def _panel(table: pd.DataFrame, true: Truths, design: Design) -> Iterator[Counted]:
    shown = table.loc[(table["model_id"] == EQUAL) & (table["metric"] == "accuracy")]
    model = true.accuracy[design.n_readers]
    values = {
        FIXED: model - true.accuracy[: design.n_readers].mean(),
        RANDOM: model - design.population_accuracy,
    }
    for row in shown.to_dict("records"):
        claim = row["claim"]
        p = row["p"] if claim == RANDOM else float("nan")
        yield _interval(f"model minus readers: {claim}", row, values[claim], p)
        if claim == RANDOM and np.isfinite(row["se"]):
            z = abs(row["difference"]) / row["se"]
            yield _test("model minus readers: normal in place of Hillis", float(2 * norm.sf(z)))
        if claim == FIXED and np.isfinite(row["se"]):
            z = abs(row["difference"]) / row["se"]
            wrong = float(2 * norm.sf(z))
            yield _test("model minus readers: these taken for readers in general", wrong)


def _conditions(
    design: Design, readers: np.ndarray, generator: np.random.Generator, options: Options
) -> Iterator[Counted]:
    shifts = DIFFERENCE_SD * generator.standard_normal((2, design.n_readers))
    abilities = np.concatenate([readers + shifts[0], readers + shifts[1]])
    columns = [
        Reads(rater_id=f"R{i + 1:02d}", kind=RaterKind.READER, condition=condition)
        for condition in ("aided", "unaided")
        for i in range(design.n_readers)
    ]
    order = sorted(range(len(columns)), key=lambda i: (columns[i].rater_id, columns[i].condition))
    matrix = simulated(design, tuple(columns[i] for i in order), abilities[order], generator)
    true = truths(design, abilities).accuracy
    own = true[: design.n_readers].mean() - true[design.n_readers :].mean()
    table = reader_conditions(Drawn(matrix, options))
    for row in table.loc[table["metric"] == "accuracy"].to_dict("records"):
        if row["claim"] == RANDOM:
            yield _interval("difference of conditions: readers like these", row, 0.0, row["p"])
        elif row["claim"] == FIXED:
            yield _interval("difference of conditions: these readers", row, own)
