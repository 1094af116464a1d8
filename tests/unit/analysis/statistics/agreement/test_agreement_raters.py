"""Agreement with random raters adds the jackknife over raters to the error over items."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import Bundle, Options, agreement_groups, bundle_from_tables
from analysis.statistics.agreement.groups.raters import agreement_raters

RATERS = ["R1", "R2", "R3", "R4"]
OPTIONS = Options(bootstrap=60)


def study(raters: list[str], *, patients: int = 0, n: int = 30) -> Bundle:
    """Return readers who often agree and skip some items; each has independent random answers."""
    random = np.random.default_rng(9)
    truth = random.choice(list("ABC"), n)
    answers = {
        rater: [random.choice([*"ABC", letter, letter, letter, ""]) for letter in truth]
        for rater in RATERS
    }
    ids = [f"q{i:02}" for i in range(n)]
    items = pd.DataFrame({"item_id": ids, "truth": truth, "n_options": 3})
    if patients:
        items["patient_id"] = [f"p{i % patients:02}" for i in range(n)]
    readings = [
        {"rater_id": rater, "item_id": item, "answer": answer}
        for rater in raters
        for item, answer in zip(ids, answers[rater], strict=True)
    ]
    return bundle_from_tables(items, pd.DataFrame(readings))


def agreement_of_readers(bundle: Bundle) -> pd.DataFrame:
    """Return the agreement of the readers over all items, by measure."""
    table = agreement_groups(bundle, OPTIONS)
    chosen = table[(table["raters"] == "readers") & (table["scope"] == "all")]
    return chosen.set_index("measure")


@pytest.mark.parametrize("patients", [0, 15])
def test_both_parts_of_the_variance_follow_from_the_table_of_groups(patients: int) -> None:
    """The jackknife over raters uses the table without each rater; the interval is a t interval."""
    complete = agreement_of_readers(study(RATERS, patients=patients))
    smaller = [
        agreement_of_readers(
            study([rater for rater in RATERS if rater != removed_id], patients=patients)
        )
        for removed_id in RATERS
    ]
    table = agreement_raters(study(RATERS, patients=patients), OPTIONS).set_index("measure")
    table = table[table["raters"] == "readers"]
    assert table.index.tolist() == complete.index.tolist()
    for measure, row in table.iterrows():
        left_out = np.array([part.loc[measure, "estimate"] for part in smaller])
        jackknife = np.sqrt(3 / 4 * ((left_out - left_out.mean()) ** 2).sum())
        assert row["estimate"] == complete.loc[measure, "estimate"]
        assert row["se_raters"] == pytest.approx(jackknife)
        if not patients:
            assert row["se_items"] == pytest.approx(complete.loc[measure, "se"])
        assert row["se"] == pytest.approx(np.hypot(row["se_items"], jackknife))
        low = row["estimate"] - stats.t.isf(0.025, 3) * row["se"]
        assert row["ci_low"] == pytest.approx(max(low, -1))


def test_a_group_needs_more_than_two_raters_for_a_row() -> None:
    """Two readers do not show how readers vary."""
    assert len(agreement_raters(study(RATERS[:2]), OPTIONS)) == 0


def test_undefined_values_have_a_reason() -> None:
    """Kappa is undefined for raters who never vary."""
    ids = [f"q{i}" for i in range(12)]
    readings = pd.DataFrame({"rater_id": np.repeat(RATERS, 12), "item_id": ids * 4, "answer": "A"})
    items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 3})
    table = agreement_raters(bundle_from_tables(items, readings), OPTIONS)
    assert (table["undefined_because"] != "").all()
    assert table[["se", "ci_low", "ci_high"]].isna().all(axis=None)
