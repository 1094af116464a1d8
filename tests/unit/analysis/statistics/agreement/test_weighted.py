"""Weighted kappa equals scikit-learn's value and its definition; order must be declared."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.statistics.agreement.weighted import (
    LINEAR,
    agreement_weighted,
    disagreements,
    weighted_kappa,
)

ORDERED = Options(ordered=True, bootstrap=200)


def study(answers: dict[str, list[str]], patients: int = 0) -> Bundle:
    """Return readers of items with four ordered options."""
    n = len(next(iter(answers.values())))
    ids = [f"q{i:03}" for i in range(n)]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 4, "option_set": "grade"})
    if patients:
        items["patient_id"] = [f"p{i % patients:02}" for i in range(n)]
    readings = [
        {"rater_id": rater, "item_id": item, "answer": answer}
        for rater, values in answers.items()
        for item, answer in zip(ids, values, strict=True)
    ]
    return bundle_from_tables(items, pd.DataFrame(readings))


@pytest.fixture
def answers() -> dict[str, list[str]]:
    """Return three readers who differ by at most one grade, with gaps."""
    random = np.random.default_rng(4)
    grade = random.integers(0, 4, 60)
    return {
        rater: [
            "" if random.random() < 0.05 else "ABCD"[int(np.clip(g + random.integers(-1, 2), 0, 3))]
            for g in grade
        ]
        for rater in ("R1", "R2", "R3")
    }


@pytest.mark.parametrize("patients", [0, 30])
def test_the_kappa_of_every_pair_equals_that_of_scikit_learn(
    answers: dict[str, list[str]], patients: int
) -> None:
    """Items count if both readers answered; the interval contains the estimate."""
    table = agreement_weighted(study(answers, patients), ORDERED)
    assert len(table) == 3 * 2
    for row in table.to_dict("records"):
        pairs = [
            (a, b)
            for a, b in zip(answers[row["rater_a"]], answers[row["rater_b"]], strict=True)
            if a and b
        ]
        expected = cohen_kappa_score(
            *zip(*pairs, strict=True),
            labels=list("ABCD"),
            weights=row["measure"].removeprefix("kappa_"),
        )
        assert row["n"] == len(pairs)
        assert row["estimate"] == pytest.approx(expected)
        assert row["ci_low"] < row["estimate"] < row["ci_high"]
        assert row["method"].startswith("percentile" if patients else "Fleiss, Cohen and Everitt")


def test_the_values_equal_the_definition_with_proportions() -> None:
    """Kappa is 1 minus the ratio of observed to expected disagreement."""
    proportions = np.array([[0.53, 0.05, 0.02], [0.11, 0.14, 0.05], [0.01, 0.06, 0.03]])
    distance = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    rows, columns = proportions.sum(axis=1), proportions.sum(axis=0)
    expected = 1 - (proportions * distance).sum() / (np.outer(rows, columns) * distance).sum()
    kappa = float(weighted_kappa(100 * proportions, disagreements(3, LINEAR)))
    assert kappa == pytest.approx(expected)


def test_reversing_the_options_does_not_change_kappa(answers: dict[str, list[str]]) -> None:
    """Any other order of the options changes the value."""
    before = agreement_weighted(study(answers), ORDERED)
    for order, same in (("DCBA", True), ("CABD", False)):
        letters = {"": "", **dict(zip("ABCD", order, strict=True))}
        other = {rater: [letters[a] for a in values] for rater, values in answers.items()}
        after = agreement_weighted(study(other), ORDERED)["estimate"]
        assert np.allclose(after, before["estimate"]) is same


def test_a_constant_rater_is_undefined(answers: dict[str, list[str]]) -> None:
    """The cells are empty, and the reason is stated."""
    table = agreement_weighted(study({**answers, "R1": ["A"] * 60}), ORDERED)
    rows = table[table["rater_a"] == "R1"]
    assert rows["estimate"].isna().all()
    assert rows["undefined_because"].str.startswith("both raters gave a single answer").all()


def test_only_options_that_were_declared_ordered_are_weighted(
    answers: dict[str, list[str]],
) -> None:
    """An option of the command or the protocol declares the order."""
    bundle = study(answers)
    assert "agreement_weighted" not in analyse(bundle, Options(bootstrap=5)).tables
    declared = replace(bundle, protocol={"ordered_options": True})
    assert "agreement_weighted" in analyse(declared, Options(bootstrap=5)).tables


def test_standard_error_and_limits_are_those_of_the_delta_method(
    answers: dict[str, list[str]],
) -> None:
    """The delta method uses numerical derivatives of kappa."""
    complete = {rater: [a or "A" for a in values] for rater, values in answers.items()}
    step, n = 1e-6, 60
    for row in agreement_weighted(study(complete), ORDERED).to_dict("records"):
        places = [
            ["ABCD".index(a) for a in complete[row[rater]]] for rater in ("rater_a", "rater_b")
        ]
        counts = np.zeros((4, 4))
        np.add.at(counts, tuple(map(np.array, places)), 1.0)
        weights = disagreements(4, row["measure"])
        slopes = np.zeros((4, 4))
        for cell in np.ndindex(4, 4):
            more, less = counts.copy(), counts.copy()
            more[cell] += n * step
            less[cell] -= n * step
            slopes[cell] = (
                (weighted_kappa(more, weights) - weighted_kappa(less, weights)) / step / 2
            )
        shares = counts / n
        se = np.sqrt(((shares * slopes**2).sum() - (shares * slopes).sum() ** 2) / n)
        assert row["se"] == pytest.approx(se, rel=1e-4)
        kappa = row["estimate"]
        center, half = math.log((1 + kappa) / (1 - kappa)) / 2, 2.000995 * se / (1 - kappa**2)
        ends = [math.exp(2 * (center + side * half)) for side in (-1, 1)]
        expected = [(end - 1) / (end + 1) for end in ends]
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(expected, rel=1e-4)


def test_raters_who_always_agree_have_limits_of_1() -> None:
    same = list("ABCDABCDAB")
    table = agreement_weighted(study({"R1": same, "R2": same}), ORDERED)
    assert (table[["estimate", "ci_low", "ci_high"]] == 1).all(axis=None)
