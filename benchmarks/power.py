"""How far the planned power is from the power of simulated studies, and whether its limits hold.

Studies of normal scores with given components are drawn and analysed by the functions behind
``analysis power --simulate``. Studies of right and wrong answers
(`benchmarks/simulated_studies.py`) have other distributions, and components that are computed as
integrals; pilots drawn from them give limits of the power, which should contain the true power in
95 % of cases.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.options import Options
from analysis.planning import (
    PUBLISHED,
    Comparison,
    Components,
    PlanClaim,
    PlanDesign,
    PowerPlan,
    components_for,
    draw_spread,
    expected_power,
    pilot_components,
    power,
    published_components,
)
from analysis.planning.simulation import shows_effect, simulated_inferences, simulated_power
from analysis.statistics.merits import Metric
from benchmarks.simulated_studies import (
    MARGIN,
    Claims,
    Design,
    Drawn,
    claims,
    raters,
    right_answers,
    simulated,
    truths,
)
from benchmarks.summary import shares_text

Floats = NDArray[np.float64]

DESCRIPTION = "planned power compared with the power of simulated studies, and limits from pilots"
SMALLEST = "--studies 1 --pilots 1 --readers 3 --cases 40"

SEED = 20250604
EFFECT = 0.05
MODELS_LEAD = 0.06
"""Effects: between conditions, and of a model that is superior to readers."""

PILOTS = ((3, 50), (5, 100), (5, 200))
PLANNED = (8, 200)
"""Readers and cases of the pilots, and of the study that is planned with them."""

PlannedDesign = tuple[PlanDesign, int | None, int, int]
DESIGNS: tuple[PlannedDesign, ...] = (
    (PlanDesign.CROSSED, 2, 6, 200),
    (PlanDesign.CROSSED, 3, 6, 200),
    (PlanDesign.BLOCKS, 3, 6, 200),
    (PlanDesign.BLOCKS, 4, 12, 200),
    (PlanDesign.ARMS, None, 6, 200),
    (PlanDesign.ARMS, None, 12, 200),
    (PlanDesign.ARMS, None, 24, 200),
)
"""Designs in which not every reader reads every case, with reads per case, readers and cases."""

EVERY_DESIGN: tuple[PlannedDesign, ...] = (
    (PlanDesign.CROSSED, None, 5, 200),
    (PlanDesign.CROSSED, 3, 6, 200),
    (PlanDesign.BLOCKS, 3, 6, 200),
    (PlanDesign.ARMS, None, 12, 200),
)
"""The designs for which every comparison is simulated."""

COMPONENTS = {
    "van-dyke": PUBLISHED["van-dyke"],
    "accuracy": Components(
        metric=Metric.ACCURACY,
        readers=5,
        cases=200,
        var_error=0.0009,
        cov1=0.0004,
        cov2=0.0004,
        cov3=0.0003,
        var_tr=0.0004,
        var_r=0.001,
    ),
}

AT_ONCE = 250
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--studies", type=int, default=10_000, help="simulated studies a size")
    parser.add_argument("--pilots", type=int, default=1000, help="simulated pilots a size")
    parser.add_argument("--readers", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--cases", type=int, nargs="+", default=[100, 200])


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Simulate; return one row for each size, with power in percent."""
    sizes = [(readers, cases) for readers in args.readers for cases in args.cases]
    tasks = [
        *((_score_row, name, margin) for name in PUBLISHED for margin in (None, MARGIN)),
        *((_answer_row, "answers", margin) for margin in (None, MARGIN)),
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        futures = [
            pool.submit(partial(task, name, margin, *size, args.studies))
            for task, name, margin in tasks
            for size in sizes
        ]
        futures += [
            pool.submit(partial(_design_row, *cell, args.studies))
            for cell in [
                *(("van-dyke", Comparison.CONDITIONS, None, design) for design in DESIGNS),
                *_other_cells(),
            ]
        ]
        rows = []
        for future in futures:
            rows += future.result()
            print(f"{len(rows)} rows", file=sys.stderr)
        limits = []
        for pilot in PILOTS:
            seeds = np.random.SeedSequence(SEED).spawn(args.pilots)
            means = np.mean(list(pool.map(partial(_pilot, pilot), seeds)), axis=0)
            shares = dict(zip((claim.value for claim in PlanClaim), means.tolist(), strict=True))
            limits.append({"readers": pilot[0], "cases": pilot[1], **shares})
    return {"studies": args.studies, "pilots": args.pilots, "rows": rows, "limits": limits}


def text(result: Mapping[str, Any]) -> str:
    """Return both tables."""
    lines = [
        f"Power in percent, {result['studies']} studies a size; two standard errors at most"
        f" {100 / np.sqrt(result['studies']):.1f}",
        f"{'components':42s}{'claim':20s}{'readers':>8s}{'cases':>7s}{'formula':>9s}{'expected':>10s}"
        f"{'test':>7s}{'report':>8s}",
    ]
    lines += [
        f"{row['components']:42s}{row['claim']:20s}{row['readers']:8d}{row['cases']:7d}"
        f"{row['formula']:9.1f}{_cell(row['expected']):>10s}{row['test']:7.1f}{row['report']:8.1f}"
        for row in result["rows"]
    ]
    heading = "limits of a pilot's power that contain the true power in"
    return (
        "\n".join(lines)
        + "\n\n"
        + shares_text(heading, result["limits"], result["pilots"], width=20)
    )


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _score_row(
    name: str, margin: float | None, readers: int, cases: int, n_studies: int
) -> list[dict[str, Any]]:
    """Simulate normal scores: two conditions, or with a margin a model against readers."""
    comparison = Comparison.CONDITIONS if margin is None else Comparison.PANEL
    plan = PowerPlan(
        components=published_components(name, comparison),
        comparison=comparison,
        effect=EFFECT if margin is None else 0.0,
        margin=margin,
    )
    size = plan.size(readers, cases)
    generator = np.random.default_rng([SEED, readers, cases])
    hits = np.array(
        [
            [shows_effect(plan, claim) for claim in simulated_inferences(plan, size, generator)]
            for _ in range(n_studies)
        ]
    ).mean(axis=0)
    tested = dict(zip(PlanClaim, hits[[0, 2, 3]], strict=True))
    stated = dict(zip(PlanClaim, hits[1:], strict=True))
    label = f"{name}, {comparison.value}{', margin' if margin else ''}"
    return _rows(plan, label, (readers, cases), tested, stated)


def _other_cells() -> Iterator[tuple[str, Comparison, float | None, PlannedDesign]]:
    """Yield components, comparison and margin of the designs, apart from the first ones."""
    for name, comparison, margin, design in product(
        COMPONENTS, Comparison, (None, MARGIN), EVERY_DESIGN
    ):
        is_first = name == "van-dyke" and comparison is Comparison.CONDITIONS and margin is None
        arms = design[0] is PlanDesign.ARMS
        if not is_first and not (arms and comparison is Comparison.PANEL):
            yield name, comparison, margin, design


def _design_row(
    name: str,
    comparison: Comparison,
    margin: float | None,
    planned: PlannedDesign,
    n_studies: int,
) -> list[dict[str, Any]]:
    """Simulate normal scores in a design; with a margin the true difference is 0."""
    design, reads, readers, cases = planned
    plan = PowerPlan(
        components=components_for(COMPONENTS[name], comparison),
        comparison=comparison,
        design=design,
        effect=EFFECT if margin is None else 0.0,
        margin=margin,
        reads=reads,
    )
    simulated = next(simulated_power(plan, plan.size(readers, cases), n_studies))
    shares = {simulated.claim: simulated.power}
    label = f"{name}, {comparison.value}, {design.value}"
    label += (f", {reads} reads" if reads else "") + (", margin" if margin else "")
    return _rows(plan, label, (readers, cases), shares, shares)


def _rows(
    plan: PowerPlan,
    label: str,
    size: tuple[int, int],
    tested: Mapping[PlanClaim, float],
    stated: Mapping[PlanClaim, float],
) -> list[dict[str, Any]]:
    planned_size = plan.size(*size)
    crossed = plan.design is PlanDesign.CROSSED and planned_size.reads == planned_size.readers
    return [
        {
            "components": label,
            "claim": planned.claim.value,
            "readers": size[0],
            "cases": size[1],
            "formula": 100 * planned.power,
            "expected": 100 * expected_power(plan, planned_size)
            if crossed and planned.claim is PlanClaim.READERS_LIKE_THESE
            else None,
            "test": 100 * float(tested[planned.claim]),
            "report": 100 * float(stated[planned.claim]),
        }
        for planned in power(plan, planned_size)
        if planned.claim in tested
    ]


def true_components(design: Design, model: float) -> Components:
    """Return the components of the differences model minus reader, by integration.

    Parameters
    ----------
    design : Design
        Readers and cases of single patients.
    model : float
        The model's ability, on the probit scale.
    """
    abilities = np.append(design.reader_mean + design.reader_sd * NODES, model)
    weights = WEIGHTS / WEIGHTS.sum()
    true = truths(design, abilities)
    covariance = true.both_right - np.outer(true.accuracy, true.accuracy)
    values, shared = true.accuracy[:-1], covariance[:-1, -1]
    own_variance = true.accuracy * (1 - true.accuracy)
    mean = weights @ values
    return Components(
        metric=Metric.ACCURACY,
        readers=design.n_readers,
        cases=design.n_items,
        var_error=float(own_variance[-1] + weights @ (own_variance[:-1] - 2 * shared))
        / design.n_items,
        cov1=0.0,
        cov2=float(
            own_variance[-1] - 2 * weights @ shared + weights @ covariance[:-1, :-1] @ weights
        )
        / design.n_items,
        cov3=0.0,
        var_tr=float(weights @ (values - mean) ** 2),
    )


def _answer_plan(design: Design, margin: float | None) -> tuple[PowerPlan, float]:
    """Return a plan with true components, and the ability of its model."""
    effect = MODELS_LEAD if margin is None else 0.0
    grid = np.linspace(-3, 6, 20_001)
    model = float(np.interp(design.population_accuracy + effect, design.accuracy_of(grid), grid))
    return PowerPlan(
        components=true_components(design, model),
        comparison=Comparison.PANEL,
        effect=effect,
        margin=margin,
    ), model


def _answer_row(
    name: str, margin: float | None, readers: int, cases: int, n_studies: int
) -> list[dict[str, Any]]:
    """Simulate right and wrong answers of a model and readers, as in `coverage --parts panel`."""
    design = Design(n_readers=readers, n_items=cases)
    plan, model = _answer_plan(design, margin)
    generator = np.random.default_rng([SEED, readers, cases])
    tested: list[Floats] = []
    stated: list[Floats] = []
    for start in range(0, n_studies, AT_ONCE):
        n = min(AT_ONCE, n_studies - start)
        drawn = design.reader_mean + design.reader_sd * generator.standard_normal((n, readers))
        abilities = np.column_stack([drawn, np.full(n, model)])
        study = claims(right_answers(design, abilities, generator), 1)
        tested.append(_rejects(study, study.random_reach, margin))
        reach = np.fmax(study.random_reach, study.fixed_reach)
        stated.append(_rejects(study, reach, margin))
    label = f"{name}, panel{', margin' if margin else ''}"
    shares = [
        {PlanClaim.READERS_LIKE_THESE: float(np.concatenate(hits).mean())}
        for hits in (tested, stated)
    ]
    return _rows(plan, label, (readers, cases), *shares)


def _rejects(study: Claims, reach: Floats, margin: float | None) -> Floats:
    if margin is None:
        return (np.abs(study.difference) > reach).astype(np.float64)
    return (study.difference - reach > -margin).astype(np.float64)


def _pilot(sizes: tuple[int, int], seed: np.random.SeedSequence) -> list[bool]:
    """Return for each claim whether the limits from a pilot contain the true power."""
    generator = np.random.default_rng(seed)
    n_readers, n_cases = sizes
    design = Design(n_readers=n_readers, n_items=n_cases)
    plan, model = _answer_plan(design, None)
    abilities = design.reader_mean + design.reader_sd * generator.standard_normal(n_readers)
    matrix = simulated(design, raters(n_readers, ["M"]), np.append(abilities, model), generator)
    (components,) = pilot_components(Drawn(matrix, Options()), Comparison.PANEL)
    estimated = replace(plan, components=components)
    size = plan.size(*PLANNED)
    limits = power(estimated, size, draw_spread(estimated.spread, int(generator.integers(2**31))))
    return [
        bool(limit.low <= planned.power <= limit.high)
        for planned, limit in zip(power(plan, size), limits, strict=True)
    ]
