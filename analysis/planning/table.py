"""The table `power.csv`, and sentences about the size that a study needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from analysis.errors import OptionsError, quoted
from analysis.planning.designs import Size, variances
from analysis.planning.expected import power_of_analysis
from analysis.planning.power import (
    TARGET_POWER,
    PlanClaim,
    Power,
    PowerPlan,
    cases_needed,
    draw_spread,
    largest_power,
    power,
)
from analysis.planning.simulation import check_simulation, simulated_power

COLUMNS = (
    *("comparison", "design", "claim", "metric", "n_readers", "n_cases", "reads_per_case"),
    *("effect", "margin", "alpha", "ncp", "df", "power", "power_low", "power_high", "method"),
    "power_of_analysis",
)
MAX_SIZES = 20_000
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The numbers of readers and of cases in a table, in ascending order."""

    readers: tuple[int, ...]
    cases: tuple[int, ...]


def parse_range(text: str, name: str) -> tuple[int, ...]:
    """Parse a range `FROM:TO[:STEP]` or a single number.

    Parameters
    ----------
    text : str
        The value of the option.
    name : str
        The name of the option in messages.

    Raises
    ------
    OptionsError
        The text is not a number or range, or a number is smaller than 2.

    Examples
    --------
    >>> parse_range("50:200:50", "cases"), parse_range("3", "readers")
    ((50, 100, 150, 200), (3,))
    """
    try:
        parts = [int(part) for part in text.split(":")]
        first, last, step = (*parts, *(parts[0], 1)[len(parts) - 1 :])
        numbers = tuple(range(first, last + 1, step)) if 1 <= len(parts) <= 3 else ()
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 2:
        raise OptionsError(
            f"{name} is {quoted(text)}; give a whole number, 2 or larger, or a range"
            " FROM:TO[:STEP], such as 50:400:50"
        )
    return numbers


def power_table(plans: Sequence[PowerPlan], sizes: Sizes, n_simulated: int = 0) -> pd.DataFrame:
    """Return the power of plans by readers, cases and claim.

    Parameters
    ----------
    plans : sequence of PowerPlan
        One plan per metric.
    sizes : Sizes
        Numbers of readers and of cases.
    n_simulated : int, default 0
        Number of studies to simulate for each size.

    Returns
    -------
    pandas.DataFrame
        The columns `COLUMNS`, in the order of plan, claim, readers and cases; a simulation follows
        the closed form of the same size. `ncp` and `df` of a simulation are empty;
        `power_of_analysis` is empty if it is not known.

    Raises
    ------
    OptionsError
        The design needs more readers, the simulation is not available, or the table is too large.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05)
    >>> table = power_table([plan], Sizes(readers=(6,), cases=(170, 251)))
    >>> table[["claim", "n_cases", "power"]].round(3).values.tolist()[:2]
    [['readers like these', 170, 0.802], ['readers like these', 251, 0.892]]
    """
    if len(sizes.readers) * len(sizes.cases) > MAX_SIZES:
        raise OptionsError(f"more than {MAX_SIZES:,} sizes; give shorter ranges or a step")
    rows = [row for plan in plans for row in _rows(plan, sizes, n_simulated)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(plan: PowerPlan, sizes: Sizes, n_simulated: int) -> list[dict[str, object]]:
    spread_samples = draw_spread(plan.spread, plan.seed)
    for readers in sizes.readers if n_simulated else ():
        check_simulation(plan, plan.size(readers, sizes.cases[0]))
    results = [
        (size, result)
        for readers in sizes.readers
        for cases in sizes.cases
        for size in (plan.size(readers, cases),)
        for result in (
            *power(plan, size, spread_samples),
            *(simulated_power(plan, size, n_simulated) if n_simulated else ()),
        )
    ]
    claims = list(PlanClaim)
    return [
        _row(plan, size, result)
        for size, result in sorted(results, key=lambda pair: claims.index(pair[1].claim))
    ]


def _row(plan: PowerPlan, size: Size, result: Power) -> dict[str, object]:
    return {
        "comparison": plan.comparison.value,
        "design": plan.design.value,
        "claim": result.claim.value,
        "metric": plan.components.metric.value,
        "n_readers": size.readers,
        "n_cases": size.cases,
        "reads_per_case": size.reads,
        "effect": plan.effect,
        "margin": np.nan if plan.margin is None else plan.margin,
        "alpha": plan.alpha,
        "ncp": result.ncp,
        "df": result.df,
        "power": result.power,
        "power_low": result.low,
        "power_high": result.high,
        "method": result.method,
        "power_of_analysis": (
            np.nan if np.isnan(result.df) else power_of_analysis(plan, size, result.claim)
        ),
    }


def half_width(plan: PowerPlan, size: Size) -> float:
    """Return half the expected width of the interval for readers like these.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05)
    >>> round(half_width(plan, plan.size(6, 170)), 4)
    0.0353
    """
    variance = variances(plan.spread, size, plan.design).random_readers
    df = float(variance.df)
    quantile = norm.isf(plan.alpha / 2) if np.isinf(df) else t.isf(plan.alpha / 2, df)
    return float(quantile * np.sqrt(float(variance.value)))


def cases_needed_lines(plan: PowerPlan, readers: Sequence[int]) -> Iterator[str]:
    """Yield the cases needed by number of readers, and which numbers of readers are never enough.

    Parameters
    ----------
    plan : PowerPlan
        The planned study.
    readers : sequence of int
        Numbers of readers.

    Yields
    ------
    str
        Lines of text.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05)
    >>> for line in cases_needed_lines(plan, (3, 4)):
    ...     print(line)
    Cases for 80 % power (auc):
     readers  readers like these  these readers  these cases
           3                none            159         none
           4                 361            138          529
    Three readers do not reach 80 % power at any number of cases (at most 62 %).
    """
    claims = list(PlanClaim)
    yield f"Cases for {TARGET_POWER:.0%} power ({plan.components.metric.value}):".replace("%", " %")
    yield f"{'readers':>8s}" + "".join(f"{claim.value:>{len(claim) + 2}s}" for claim in claims)
    unreached = []
    for number in readers:
        needed = [cases_needed(plan, number, claim) for claim in claims]
        cells = [
            f"{'none' if cases is None else f'{cases:,}':>{len(claim) + 2}s}"
            for claim, cases in zip(claims, needed, strict=True)
        ]
        yield f"{number:8d}" + "".join(cells)
        if needed[0] is None:
            unreached.append(number)
    yield from (never_enough_sentence(plan, number) for number in unreached)


def never_enough_sentence(plan: PowerPlan, readers: int) -> str:
    """Explain why adding cases cannot support a claim about readers like these.

    Examples
    --------
    >>> from analysis.planning.components import PUBLISHED
    >>> never_enough_sentence(PowerPlan(components=PUBLISHED["van-dyke"], effect=0.05), 3)
    'Three readers do not reach 80 % power at any number of cases (at most 62 %).'
    """
    name = _NUMBER_WORDS[readers - 2] if readers - 2 < len(_NUMBER_WORDS) else str(readers)
    limit = 100 * largest_power(plan, readers)
    return (
        f"{name.capitalize()} readers do not reach 80 % power at any number of cases"
        f" (at most {limit:.0f} %)."
    )
