"""Names and ids that look alike are treated as equal in bundles from other programs."""

import inspect

import pandas as pd
import pytest

import study.base.text as of_study
from analysis import BundleError, bundle_from_tables
from analysis.bundle import look_alikes
from analysis.options import Options
from analysis.registry import analyse
from tests.unit.study.base.test_text_keys import LOOK_ALIKES, every_character


@pytest.mark.thorough
def test_functions_equal_those_of_the_package_study() -> None:
    """They are compared for all characters, because `analysis` cannot import `study`."""
    for code in every_character():
        text = f"a{chr(code)} B"
        assert look_alikes.id_key(text) == of_study.id_key(text)
        assert look_alikes.text_key(text) == of_study.text_key(text)
    for text, other, _ in LOOK_ALIKES:
        assert look_alikes.difference(text, other) == of_study.difference(text, other)
    assert inspect.getsource(look_alikes.FirstSpelling) == inspect.getsource(of_study.FirstSpelling)


def _items(**columns: list[str]) -> pd.DataFrame:
    n = len(next(iter(columns.values())))
    base = {"item_id": [f"q{i}" for i in range(n)], "truth": ["A"] * n, "n_options": ["2"] * n}
    return pd.DataFrame(base | columns)


def _readings(items: list[str], **columns: list[str]) -> pd.DataFrame:
    base = {"rater_id": ["R1"] * len(items), "item_id": items, "answer": ["A"] * len(items)}
    return pd.DataFrame(base | columns)


@pytest.mark.parametrize(("text", "other", "message"), LOOK_ALIKES)
def test_groups_of_items_are_counted_under_their_first_spelling(
    text: str, other: str, message: str
) -> None:
    columns = ("task", "category", "subcategory", "option_set", "examination_id", "patient_id")
    items = _items(**{column: [text, other, "another"] for column in columns})
    bundle = bundle_from_tables(items, _readings(["q0", "q1", "q2"]))
    for column in columns:
        assert bundle.items[column].tolist() == [text, text, "another"]


@pytest.mark.parametrize(("text", "other", "message"), LOOK_ALIKES)
def test_readings_name_items_and_raters_in_any_spelling(
    text: str, other: str, message: str
) -> None:
    items = _items(item_id=[text, "q1"])
    raters = pd.DataFrame({"rater_id": [text], "rater_kind": ["reader"]})
    readings = _readings([other, "q1"], rater_id=[other, text], condition=["aided", "AIDED"])
    bundle = bundle_from_tables(items, readings, raters)
    assert bundle.readings["item_id"].tolist() == [text, "q1"]
    assert set(bundle.readings["rater_id"]) == {text}
    assert set(bundle.readings["condition"]) == {"aided"}


@pytest.mark.parametrize(("text", "other", "message"), LOOK_ALIKES)
def test_ids_that_look_alike_are_refused_with_their_difference(
    text: str, other: str, message: str
) -> None:
    if text.split() == other.split():
        message = "also in an earlier row" if text == other.strip() else message
    with pytest.raises(BundleError) as refused:
        bundle_from_tables(_items(item_id=[text, other]), _readings([text]))
    assert message in str(refused.value)
    raters = pd.DataFrame({"rater_id": [text, other], "rater_kind": ["reader"] * 2})
    with pytest.raises(BundleError) as refused:
        bundle_from_tables(_items(item_id=["q1"]), _readings(["q1"], rater_id=[text]), raters)
    assert message in str(refused.value)
    readings = _readings(["q1", "q1"], rater_id=[text, other])
    with pytest.raises(BundleError) as refused:
        bundle_from_tables(_items(item_id=["q1"]), readings)
    assert "looks like" in str(refused.value)


def test_two_spellings_of_a_patient_id_are_one_cluster() -> None:
    """Otherwise intervals would treat their items as independent."""
    n = 40
    for spelling in ("P{}", "\uff30{}\u200b"):
        patients = [f"P{i // 2}" if i % 2 else spelling.format(i // 2) for i in range(n)]
        items = _items(patient_id=patients)
        answers = ["A" if i % 3 else "B" for i in range(n)]
        readings = _readings([f"q{i}" for i in range(n)], answer=answers)
        results = analyse(bundle_from_tables(items, readings), Options(bootstrap=50))
        assert results.tables["accuracy"]["cluster_ci_low"].notna().any()
