"""time_model.csv: the mixed model is compared with simulations, matrices and statsmodels."""

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.optimize import minimize

from analysis import Bundle, Options, bundle_from_tables, time_model
from analysis.arrays import Floats, Ints
from analysis.statistics import time_model as module
from analysis.statistics.crossed import CrossedFit, fit_crossed
from analysis.statistics.time_model import (
    NO_CONTRAST_REASONS,
    NO_SPREAD,
    NO_VALUE_REASONS,
    TOO_FEW,
    TOO_LARGE,
)

CORRECT = "correct against wrong"
POSITION = "position, per 10 cases"
Study = tuple[pd.DataFrame, pd.DataFrame]


def _study(n_readers: int, n_items: int, seed: int = 1) -> Study:
    """Return times 20 % shorter if correct, 1 % per ten cases, and 30 % longer in task y."""
    rng = np.random.default_rng(seed)
    ids = [f"q{i:05d}" for i in range(n_items)]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "task": np.resize(["x", "y"], n_items)})
    of_item = rng.normal(0, 0.2, n_items) + np.log(1.3) * (items["task"] == "y")
    parts = []
    for reader in range(n_readers):
        correct = rng.random(n_items) < 0.75
        place = rng.permutation(n_items)
        log_ms = 9 + rng.normal(0, 0.3) + of_item + rng.normal(0, 0.5, n_items)
        log_ms += np.log(0.8) * correct + np.log(0.99) * place / 10
        parts.append(
            pd.DataFrame(
                {
                    "rater_id": f"R{reader}",
                    "item_id": ids,
                    "answer": np.where(correct, "A", "B"),
                    "position": place + 1,
                    "response_ms": np.exp(log_ms),
                }
            )
        )
    return items, pd.concat(parts, ignore_index=True)


def _unbalanced_study(
    n_readers: int = 4, n_items: int = 25, seed: int = 3
) -> tuple[Floats, Floats, Ints, Ints]:
    """Return an unbalanced study, in which a fifth of the readings is missing."""
    rng = np.random.default_rng(seed)
    is_kept = rng.random(n_readers * n_items) < 0.8
    items = np.repeat(np.arange(n_items), n_readers)[is_kept]
    readers = np.tile(np.arange(n_readers), n_items)[is_kept]
    n = len(items)
    design = np.column_stack([np.ones(n), rng.normal(size=n), (items % 2).astype(float)])
    noise = rng.normal(0, 0.5, n) + rng.normal(0, 0.4, n_readers)[readers]
    outcome = design @ [1.0, -0.3, 0.2] + noise + rng.normal(0, 0.3, n_items)[items]
    return outcome, design, readers, items


def _dense_fit(
    outcome: Floats, design: Floats, readers: Ints, items: Ints
) -> Callable[[Floats], tuple[float, Floats, Floats]]:
    """Return the restricted deviance, estimates and covariance by inverting V."""
    n, p = design.shape
    of_reader, of_item = np.eye(readers.max() + 1)[readers], np.eye(items.max() + 1)[items]

    def at(thetas: Floats) -> tuple[float, Floats, Floats]:
        v = np.eye(n) + thetas[0] ** 2 * of_reader @ of_reader.T
        v += thetas[1] ** 2 * of_item @ of_item.T
        inverse = np.linalg.inv(v)
        information = design.T @ inverse @ design
        estimates = np.linalg.solve(information, design.T @ inverse @ outcome)
        left = outcome - design @ estimates
        variance = left @ inverse @ left / (n - p)
        dets = np.linalg.slogdet(v)[1] + np.linalg.slogdet(information)[1]
        deviance = float(dets + (n - p) * np.log(variance))
        covariance = np.asarray(variance * np.linalg.inv(information), float)
        return deviance, np.asarray(estimates, float), covariance

    return at


def _fitted_model(layout: tuple[Floats, Floats, Ints, Ints]) -> CrossedFit:
    fit = fit_crossed(*layout)
    assert fit is not None
    return fit


def test_the_fit_equals_one_with_dense_matrices() -> None:
    """The optimum, estimates and covariance are compared."""
    layout = _unbalanced_study()
    fit, dense = _fitted_model(layout), _dense_fit(*layout)
    best = minimize(lambda t: dense(t)[0], [0.5, 0.5], method="Nelder-Mead", tol=1e-10).x
    deviance, estimates, covariance = dense(best)
    assert fit.deviance == pytest.approx(deviance, abs=1e-7)
    assert fit.estimates == pytest.approx(estimates, abs=1e-6)
    assert fit.covariance == pytest.approx(covariance, abs=1e-6)
    assert np.abs(best) == pytest.approx(
        [fit.sd_readers / fit.sd_residual, fit.sd_items / fit.sd_residual], abs=1e-5
    )


def test_the_fit_equals_that_of_statsmodels() -> None:
    """MixedLM estimates variance components in a single group; its likelihood is not higher."""
    outcome, design, readers, items = layout = _unbalanced_study()
    fit = _fitted_model(layout)
    table = pd.DataFrame({"y": outcome, "a": design[:, 1], "b": design[:, 2]})
    table = table.assign(reader=readers, item=items, one=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = smf.mixedlm(
            "y ~ a + b",
            table,
            groups="one",
            vc_formula={"reader": "0 + C(reader)", "item": "0 + C(item)"},
        ).fit(reml=True)
    df = len(outcome) - 3
    actual = -0.5 * (fit.deviance + df * (1 + np.log(2 * np.pi)))
    assert actual >= expected.llf - 1e-8
    assert actual == pytest.approx(expected.llf, abs=0.01)
    assert fit.estimates == pytest.approx(expected.fe_params.to_numpy(), abs=2e-3)
    assert np.sqrt(np.diag(fit.covariance))[1:] == pytest.approx(expected.bse_fe[1:], rel=0.02)


def _arrays(study: Study) -> tuple[Floats, Floats, Ints, Ints]:
    """Return outcome, centred design (correct, ten cases, task y), readers and items."""
    items, readings = study
    table = readings.merge(items, on="item_id").sort_values("item_id", kind="stable")
    design = np.column_stack(
        [
            np.ones(len(table)),
            table["answer"] == "A",
            table["position"] / 10,
            table["task"] == "y",
        ]
    ).astype(np.float64)
    design[:, 1:] -= design[:, 1:].mean(axis=0)
    outcome = np.log(table["response_ms"].to_numpy())
    codes = (pd.factorize(table[name], sort=True)[0] for name in ("rater_id", "item_id"))
    return outcome - outcome.mean(), design, *codes


@pytest.mark.thorough
def test_intervals_have_their_nominal_coverage() -> None:
    """Fifty studies of 3 readers and 60 items are simulated."""
    truth = np.log([0.8, 0.99, 1.3])
    inside = []
    for seed in range(50):
        fit = _fitted_model(_arrays(_study(3, 60, seed)))
        half = 1.96 * np.sqrt(np.diag(fit.covariance))[1:]
        inside += (np.abs(fit.estimates[1:] - truth) <= half).tolist()
    assert 0.91 <= np.mean(inside) <= 0.98


def test_the_table_has_the_values_of_the_fit() -> None:
    """Correctness, position and task are compared, for any order of rows."""
    study = _study(3, 60)
    table, fit = (
        time_model(bundle_from_tables(*study)).set_index("term"),
        _fitted_model(_arrays(study)),
    )
    for i, term in enumerate((CORRECT, POSITION, "task y against x"), start=1):
        assert table.loc[term, "estimate"] == pytest.approx(fit.estimates[i], abs=1e-6)
        assert table.loc[term, "n"] == 180
        assert table.loc[term, "se"] == pytest.approx(np.sqrt(fit.covariance[i, i]), abs=1e-6)


def test_the_ratio_is_the_exponential_of_the_estimate() -> None:
    """Alpha sets the width of the interval."""
    bundle = bundle_from_tables(*_study(3, 40))
    table = time_model(bundle)
    row = table.loc[table["term"] == CORRECT].iloc[0]
    assert row["ratio"] == pytest.approx(np.exp(row["estimate"]))
    assert row["ci_low"] == pytest.approx(np.exp(row["estimate"] - 1.959963985 * row["se"]))
    narrow = time_model(bundle, Options(alpha=0.5))
    assert (narrow["ci_low"] > table["ci_low"])[table["estimate"].notna()].all()


def test_terms_without_a_contrast_have_a_reason() -> None:
    """Such terms have a row with empty values."""
    items, readings = _study(3, 20)
    table = time_model(bundle_from_tables(items, readings.drop(columns="position")))
    reason = table.set_index("term")["undefined_because"]
    assert reason["condition"] == NO_CONTRAST_REASONS["condition"]
    assert reason["position"] == NO_VALUE_REASONS["position"]
    assert reason["session"] == NO_VALUE_REASONS["session"]
    assert reason[CORRECT] == ""


def test_confounded_condition_and_session_are_undefined() -> None:
    """All readers read without aid first and with aid later."""
    items, readings = _study(3, 20)
    late = readings["item_id"] >= "q00010"
    readings = readings.assign(
        condition=np.where(late, "aided", "unaided"), session=np.where(late, 2, 1)
    )
    table = time_model(bundle_from_tables(items, readings)).set_index("term")
    condition, session = "condition aided against unaided", "session 2 against 1"
    assert table.loc[condition, "undefined_because"] == f"cannot be distinguished from {session}"
    assert table.loc[session, "undefined_because"] == f"cannot be distinguished from {condition}"
    assert table.loc[CORRECT, "estimate"] == table.loc[CORRECT, "estimate"]


def test_the_unaided_condition_is_the_baseline() -> None:
    """The column names the other condition."""
    items, readings = _study(2, 20)
    both = [readings.assign(condition=c, response_ms=readings["response_ms"] * f)
            for c, f in (("unaided", 1.0), ("aided", 0.5))]  # fmt: skip
    rng = np.random.default_rng(1)
    table = pd.concat(both, ignore_index=True)
    table["response_ms"] *= np.exp(rng.normal(0, 0.1, len(table)))
    row = time_model(bundle_from_tables(items, table)).iloc[0]
    assert row["condition"] == "aided"
    assert row["ratio"] == pytest.approx(0.5, abs=0.05)


def _small_bundle(n: int, response_ms: object) -> Bundle:
    ids = [f"q{i}" for i in range(n)]
    readings = pd.DataFrame(
        {"rater_id": "R", "item_id": ids, "answer": (["A", "B"] * n)[:n]}
    ).assign(response_ms=response_ms)
    return bundle_from_tables(pd.DataFrame({"item_id": ids, "truth": "A"}), readings)


def test_too_few_readings_and_constant_times_are_undefined() -> None:
    """The reason is stated; no exception or warning occurs."""
    for bundle, reason in ((_small_bundle(2, [5, 6]), TOO_FEW), (_small_bundle(6, 900), NO_SPREAD)):
        row = time_model(bundle).set_index("term").loc[CORRECT]
        assert np.isnan(row["estimate"])
        assert row["undefined_because"] == reason


def test_without_times_the_table_is_empty() -> None:
    """The model cannot be fitted without times."""
    assert time_model(_small_bundle(4, None)).empty


def test_times_of_zero_are_left_out() -> None:
    """A time of 0 has no logarithm; the method in every row states their number."""
    items, readings = _study(2, 20)
    readings.loc[3, "response_ms"] = 0
    table = time_model(bundle_from_tables(items, readings))
    assert set(table["n"]) == {39}
    assert table["method"].str.endswith("; times of 0 left out: 1").all()


def test_a_single_reader_is_modelled() -> None:
    """With one reading per item, only one variance can be estimated."""
    table = time_model(bundle_from_tables(*_study(1, 100))).set_index("term")
    assert table.loc[CORRECT, "ratio"] == pytest.approx(0.8, abs=0.2)


def test_models_that_exceed_the_memory_are_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    """For hundreds of readers and tens of thousands of items, a reason is stated instead."""
    monkeypatch.setattr(module, "LARGEST_LAYOUT", 200)
    row = time_model(bundle_from_tables(*_study(2, 40))).set_index("term").loc[CORRECT]
    assert np.isnan(row["estimate"])
    assert row["undefined_because"] == TOO_LARGE


def test_readings_without_an_answer_are_not_modelled() -> None:
    """The time of a case that timed out is not the time of a decision."""
    items, readings = _study(3, 20)
    unanswered = readings.assign(
        answer=readings["answer"].where(readings["item_id"] != "q00003", "")
    )
    absent = readings[readings["item_id"] != "q00003"]
    tables = [time_model(bundle_from_tables(items, each)) for each in (unanswered, absent)]
    assert set(tables[0]["n"]) == {57}
    pd.testing.assert_frame_equal(*tables)
