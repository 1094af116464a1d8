"""agreement_with_truth.csv compares raters with the reference standard."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from analysis import Bundle, Options, agreement_pairs, agreement_with_truth, bundle_from_tables
from analysis.statistics.agreement.with_truth import NEVER_WRONG, REWORDED_REASONS
from tests.unit.analysis.conftest import MakeBundle


def _study(seed: int, n_patients: int, per_patient: int) -> Bundle:
    """Return a bundle of a reader whose errors are concentrated in some patients."""
    random = np.random.default_rng(seed)
    n = n_patients * per_patient
    truth = random.choice(list("ABCD"), n)
    hard = np.repeat(random.random(n_patients) < 0.4, per_patient)
    wrong = random.random(n) < np.where(hard, 0.7, 0.15)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:04d}" for i in range(n)],
            "truth": truth,
            "n_options": 4,
            "category": np.where(np.arange(n) % 2, "chest wall", "lung"),
            "patient_id": [f"p{i // per_patient:04d}" for i in range(n)],
        }
    )
    answer = np.where(wrong, random.choice(list("ABCD"), n), truth)
    readings = pd.DataFrame({"rater_id": "R1", "item_id": items["item_id"], "answer": answer})
    return bundle_from_tables(items, readings)


def _row(bundle: Bundle, measure: str, scope: str = "all", **options: int) -> pd.Series:
    table = agreement_with_truth(bundle, Options(**options))
    return table.loc[(table["measure"] == measure) & (table["scope"] == scope)].iloc[0]


@pytest.mark.parametrize(("per_patient", "within"), [(1, 0.025), (3, 0.012)])
def test_intervals_equal_those_of_a_simple_bootstrap(per_patient: int, within: float) -> None:
    """Independent items have an interval by formula; otherwise patients are resampled."""
    bundle = _study(11, 240 // per_patient, per_patient)
    merged = bundle.items.merge(bundle.readings, on="item_id")
    codes = [merged[column].map("ABCD".index).to_numpy() for column in ("answer", "truth")]
    items = np.arange(240).reshape(-1, per_patient)
    random = np.random.default_rng(5)
    drawn = []
    for _ in range(4000):
        sample = items[random.integers(len(items), size=len(items))].ravel()
        answers, truth = (code[sample] for code in codes)
        shares = (np.bincount(code, minlength=4) / 240 for code in (answers, truth))
        chance = float(np.multiply(*shares).sum())
        drawn.append(((answers == truth).mean() - chance) / (1 - chance))
    row = _row(bundle, "kappa_letters", bootstrap=4000)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]).tolist(), abs=within
    )
    if per_patient > 1:
        assert "patients" in row["method"]


def test_the_row_of_a_category_is_computed_from_its_items() -> None:
    """The number of items and kappa are checked."""
    bundle = _study(3, 90, 1)
    merged = bundle.items.merge(bundle.readings, on="item_id")
    for category, part in merged.groupby("category"):
        row = _row(bundle, "kappa_letters", f"category={category}")
        assert row["n"] == len(part) == 45
        assert row["estimate"] == pytest.approx(cohen_kappa_score(part["answer"], part["truth"]))


def test_error_consistency_with_the_reference_is_undefined(make_bundle: MakeBundle) -> None:
    """The reference standard has no errors."""
    row = _row(make_bundle("ABAB", {"R": "ABBB"}), "error_consistency")
    assert np.isnan(row["estimate"])
    assert row["undefined_because"] == NEVER_WRONG


def test_reasons_refer_to_the_reference_standard(make_bundle: MakeBundle) -> None:
    """Reasons do not mention two raters; without a reference standard there is no row."""
    table = pd.concat(
        agreement_with_truth(make_bundle(truth, {"R": answers}))
        for truth, answers in (("AAAA", "AAAA"), ("ABAB", "AAAA"), ("AB", ".."))
    )
    assert set(REWORDED_REASONS.values()) <= set(table["undefined_because"])
    assert not table["undefined_because"].str.contains("both raters").any()
    assert agreement_with_truth(make_bundle("..", {"R": "AB"})).empty


def test_the_reference_standard_gives_the_values_of_a_rater() -> None:
    """A rater with the same answers has the same values in the table of pairs."""
    bundle = _study(8, 60, 2)
    oracle = pd.DataFrame(
        {"rater_id": "T", "item_id": bundle.items["item_id"], "answer": bundle.items["truth"]}
    )
    both = bundle_from_tables(bundle.items, pd.concat([bundle.readings, oracle]))
    options = Options(bootstrap=200)
    pairs, result = agreement_pairs(both, options), agreement_with_truth(bundle, options)
    for measure in ("raw", "kappa_letters", "brennan_prediger"):
        columns = ["n", "estimate", "se", "ci_low", "ci_high", "method"]
        first, other = (
            table.loc[(table["measure"] == measure) & (table["scope"] == "all"), columns]
            for table in (pairs, result)
        )
        pd.testing.assert_frame_equal(
            first.reset_index(drop=True), other.reset_index(drop=True), check_exact=True
        )
