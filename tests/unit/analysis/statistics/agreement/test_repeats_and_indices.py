"""intra_reader.csv for repeated readings, and agreement_indices.csv with prevalence and bias."""

import pandas as pd
import pytest

from analysis import (
    Bundle,
    Options,
    agreement_indices,
    agreement_pairs,
    bundle_from_tables,
    intra_reader,
)
from analysis.statistics.agreement.intra_reader import INTRA_READER, MEASURES
from analysis.statistics.agreement.pairs.indices import AGREEMENT_INDICES
from tests.unit.analysis.conftest import MakeBundle


def _repeated(first: str, second: str, **columns: object) -> Bundle:
    ids = [f"q{i}" for i in range(len(first))]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 3}).assign(**columns)
    rows = [
        {"rater_id": "R", "item_id": item, "answer": answer.strip("."), "repeat": repeat}
        for repeat, answers in ((3, second), (1, first))
        for item, answer in zip(ids, answers, strict=True)
        if answer != "-"
    ]
    rows.append({"rater_id": "S", "item_id": "q0", "answer": "A", "repeat": 0})
    return bundle_from_tables(items, pd.DataFrame(rows))


def test_first_and_second_readings_are_compared_as_two_raters(make_bundle: MakeBundle) -> None:
    """Values equal those of a pair; readers without repeats have no row."""
    first, second = "ABCABCAB", "ABCAACA."
    table = intra_reader(_repeated(first, second))
    pairs = agreement_pairs(make_bundle("A" * 8, {"R": first, "S": second}, n_options=3))
    pairs = pairs.set_index("measure").loc[table["measure"]]
    assert set(table["rater_id"]) == {"R"}
    assert table["measure"].tolist() == [m.name for m in MEASURES]
    for column in ("n", "estimate", "se", "ci_low", "ci_high"):
        assert table[column].tolist() == pytest.approx(pairs[column].tolist(), nan_ok=True)


def test_items_read_once_do_not_count() -> None:
    """Hidden repeats exist for some items only; third readings are ignored."""
    bundle = _repeated("ABCA", "AB--")
    third = {"rater_id": "R", "item_id": "q0", "answer": "C", "repeat": 9}
    answers = bundle.readings[list(third)]
    readings = pd.concat([answers, pd.DataFrame([third])])
    table = intra_reader(bundle_from_tables(bundle.items, readings))
    assert table.iloc[0][["n", "estimate"]].tolist() == [2, 1]


def test_patients_are_resampled_if_they_have_several_items() -> None:
    """All tables of agreement have this rule."""
    bundle = _repeated("ABCABC", "ABCBAC", patient_id=list("ppqqrr"))
    table = intra_reader(bundle, Options(bootstrap=50))
    assert table["method"].str.endswith("percentile bootstrap over patients").all()


def test_reasons_for_undefined_values_refer_to_a_single_rater() -> None:
    """The reasons do not mention two raters."""
    table = intra_reader(_repeated("AA", "..")).set_index("measure")
    assert table.loc["raw", "undefined_because"] == "no item was answered twice"
    constant = intra_reader(_repeated("AA", "AA")).set_index("measure")
    reason = constant.loc["kappa_letters", "undefined_because"]
    assert reason == "each time a single answer was given throughout"


def test_without_repeats_the_table_has_no_rows(make_bundle: MakeBundle) -> None:
    """The table has all columns."""
    table = intra_reader(make_bundle("AB", {"R": "AB"}))
    assert list(table.columns) == INTRA_READER.header
    assert not len(table)


def test_prevalence_and_bias_are_those_of_byrt_bishop_and_carlin(make_bundle: MakeBundle) -> None:
    """The indices are (a - d) / n and (b - c) / n, for correct and incorrect answers."""
    answers = {"R": "AAAAAABB.", "S": "AAAABBAB."}
    table = agreement_indices(make_bundle("A" * 9, answers))
    assert list(table.columns) == AGREEMENT_INDICES.header
    row = table.iloc[0]
    assert row["n"] == 8
    assert row["prevalence_index"] == (4 - 1) / 8
    assert row["bias_index"] == (2 - 1) / 8


def test_indices_for_kappa_exist_if_two_options_are_offered(make_bundle: MakeBundle) -> None:
    """For other numbers of options only error consistency has indices."""
    bundle = make_bundle(
        "ABABAB",
        {"R": "AAAABB", "S": "ABAABB"},
        option_set=list("ttttff"),
        n_options=[2, 2, 2, 2, 4, 4],
    )
    table = agreement_indices(bundle)
    assert table[["scope", "measure"]].values.tolist() == [
        ["all", "error_consistency"],
        ["option_set=f", "error_consistency"],
        ["option_set=t", "error_consistency"],
        ["option_set=t", "kappa"],
    ]
    kappa = table.iloc[-1]
    assert (kappa["prevalence_index"], kappa["bias_index"]) == (3 / 4, 1 / 4)


def test_indices_without_items_have_a_reason(make_bundle: MakeBundle) -> None:
    """The reason equals that for kappa."""
    table = agreement_indices(make_bundle("..", {"R": "AB", "S": "AB"}))
    assert table["prevalence_index"].isna().all()
    assert (table["undefined_because"] != "").all()


def test_a_single_rater_has_no_indices(make_bundle: MakeBundle) -> None:
    """The table has all columns and no rows."""
    table = agreement_indices(make_bundle("AB", {"R": "AB"}))
    assert list(table.columns) == AGREEMENT_INDICES.header
    assert not len(table)
