"""Ratios of reading times under two conditions equal a plain computation over pairs."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.statistics.mrmc.time_conditions import time_conditions

N_ITEMS = 20
Times = dict[tuple[str, str], np.ndarray]


@pytest.fixture
def times() -> Times:
    """Return times in ms of three readers under two conditions; nan if there is none."""
    random = np.random.default_rng(8)
    measured = {
        (reader, condition): np.round(random.lognormal(8 + shift, 0.5, N_ITEMS))
        for reader in ("R1", "R2", "R3")
        for condition, shift in (("aided", -0.3), ("unaided", 0.0))
    }
    measured["R1", "aided"][3] = np.nan
    measured["R2", "unaided"][4] = 0
    return measured


def study(times: Times, *, sequential: bool = False, patients: int = N_ITEMS) -> Bundle:
    """Return a study with these reading times."""
    ids = [f"q{i:02}" for i in range(N_ITEMS)]
    owner = [f"p{i % patients:02}" for i in range(N_ITEMS)]
    readings = [
        {
            "rater_id": reader,
            "condition": condition,
            "item_id": item,
            "answer": "A",
            "response_ms": "" if np.isnan(time) else time,
            "stage": (2 if condition == "aided" else 1) if sequential else "",
        }
        for (reader, condition), values in times.items()
        for item, time in zip(ids, values, strict=True)
    ]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "patient_id": owner})
    return bundle_from_tables(items, pd.DataFrame(readings))


def ratios(times: Times, *, total: bool = False) -> dict[str, pd.Series]:
    """Return each reader's log ratios by item, from pairs only."""
    log_ratios = {}
    for reader in ("R1", "R2", "R3"):
        a, b = times[reader, "aided"], times[reader, "unaided"]
        pairs = pd.DataFrame({"a": a, "b": b}).query("a > 0 and b > 0")
        first = pairs["a"] + pairs["b"] * total
        log_ratios[reader] = np.log(first) - np.log(pairs["b"])
    return log_ratios


def geometric_means(times: Times) -> list[float]:
    """Return the mean of the readers' mean log times under each condition, as times."""
    paired = [np.stack([times[r, c] for c in ("aided", "unaided")]) for r in ("R1", "R2", "R3")]
    logs = [np.log(both[:, (both > 0).all(axis=0)]).mean(axis=1) for both in paired]
    return [math.exp(mean) for mean in np.mean(logs, axis=0)]


@pytest.mark.parametrize("patients", [N_ITEMS, 7])
def test_both_claims_equal_the_formulas(times: Times, patients: int) -> None:
    """The formulas use each reader's mean over pairs, covariances over patients, and t limits."""
    table = time_conditions(study(times, patients=patients)).set_index("claim")
    log_ratios = ratios(times)
    means = np.array([values.mean() for values in log_ratios.values()])
    sums = np.zeros((patients, 3))
    for j, values in enumerate(log_ratios.values()):
        for place, value in values.items():
            sums[int(str(place)) % patients, j] += (value - values.mean()) / len(values)
    covariance = sums.T @ sums * patients / (patients - 1)
    var = np.trace(covariance) / 3
    cov2 = max((covariance.sum() - np.trace(covariance)) / 6, 0)
    spread = means.var(ddof=1)
    fixed = (var + 2 * cov2) / 3
    random = (spread + 3 * cov2) / 3
    df = (spread + 3 * cov2) ** 2 / (spread**2 / 2)
    limits = {
        claim: stats.t.interval(0.95, degrees, means.mean(), np.sqrt(variance))
        for claim, variance, degrees in (
            ("these readers", fixed, patients - 1),
            ("readers like these", random, df),
        )
    }
    if np.ptp(limits["readers like these"]) < np.ptp(limits["these readers"]):
        limits["readers like these"] = limits["these readers"]
    for claim, (low, high) in limits.items():
        row = table.loc[claim]
        assert row["n_pairs"] == 3 * N_ITEMS - 2
        assert (row["time_a_ms"], row["time_b_ms"]) == pytest.approx(geometric_means(times))
        assert row["ratio"] == pytest.approx(math.exp(means.mean()))
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((np.exp(low), np.exp(high)))


def test_sequential_reading_has_the_second_part_and_the_total(times: Times) -> None:
    """The aided time starts at the model's answer; the total adds the unaided time."""
    table = time_conditions(study(times, sequential=True))
    assert table["measure"].tolist() == ["second part"] * 2 + ["total"] * 2
    for measure, total in (("second part", False), ("total", True)):
        ratio = table.loc[table["measure"] == measure, "ratio"].iloc[0]
        means = [values.mean() for values in ratios(times, total=total).values()]
        assert ratio == pytest.approx(math.exp(np.mean(means)))


def test_ratios_do_not_depend_on_the_unit_and_swapped_conditions_invert_them(times: Times) -> None:
    """Times are multiplied by 1000, and the names of the conditions are exchanged."""
    before = time_conditions(study(times))
    longer = time_conditions(study({key: 1000 * values for key, values in times.items()}))
    assert longer["ratio"].tolist() == pytest.approx(before["ratio"].tolist())
    other = {"aided": "unaided", "unaided": "aided"}
    swapped = time_conditions(study({(r, other[c]): values for (r, c), values in times.items()}))
    assert swapped["ratio"].tolist() == pytest.approx((1 / before["ratio"]).tolist())
    assert swapped["ci_low"].tolist() == pytest.approx((1 / before["ci_high"]).tolist())


def test_a_reader_without_a_pair_leaves_the_row_undefined(times: Times) -> None:
    """The row states the reason; without any pair there is no table."""
    none = np.full(N_ITEMS, np.nan)
    row = time_conditions(study({**times, ("R3", "aided"): none})).iloc[0]
    assert pd.isna(row["ratio"])
    assert row["undefined_because"] == "a reader has no item with a time under both conditions"
    nothing = {key: none if key[1] == "aided" else values for key, values in times.items()}
    assert "time_conditions" not in analyse(study(nothing), Options(bootstrap=5)).tables
