"""Comparisons in a group or class of items equal those of a study of these items."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from analysis import (
    Bundle,
    Options,
    OptionsError,
    analyse,
    bundle_from_tables,
    reader_conditions,
    reader_conditions_items,
    reader_panel,
)
from analysis.statistics.mrmc.by_class import diagnostic_conditions, diagnostic_panel
from analysis.statistics.mrmc.by_group import reader_conditions_by, reader_panel_by

Compute = Callable[[Bundle, Options], pd.DataFrame]
N_ITEMS = 36
ITEM_COLUMNS = ["item_id", "truth", "options", "task", "category", "patient_id"]
OPTIONS = Options(margin=0.05, confidence="answer")
DECLARED_SUBGROUPS = {"subgroups": ["category"]}


@pytest.fixture(scope="module")
def study() -> Bundle:
    """Return three readers under two conditions and two models, with two items per patient."""
    random = np.random.default_rng(2)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:02}" for i in range(N_ITEMS)],
            "truth": random.choice(["A", "B"], N_ITEMS),
            "options": '["mass", "no mass"]',
            "task": random.choice(["x", "y", "z"], N_ITEMS),
            "category": random.choice(["lung", "heart", ""], N_ITEMS),
            "patient_id": [f"p{i // 2}" for i in range(N_ITEMS)],
        }
    )
    readings = [
        {
            "rater_id": rater,
            "item_id": item,
            "condition": condition,
            "answer": random.choice([truth, truth, "A", "B", ""]),
            "confidence": random.integers(1, 6),
        }
        for rater in ("R1", "R2", "R3", "M1", "M2")
        for condition in (("aided", "unaided") if rater[0] == "R" else ("",))
        for item, truth in zip(items["item_id"], items["truth"], strict=True)
    ]
    kinds = ["reader"] * 3 + ["model"] * 2
    raters = pd.DataFrame({"rater_id": ["R1", "R2", "R3", "M1", "M2"], "rater_kind": kinds})
    return replace(
        bundle_from_tables(items, pd.DataFrame(readings), raters), protocol=DECLARED_SUBGROUPS
    )


def part_of(study: Bundle, chosen: pd.Series) -> Bundle:
    """Return the study with the chosen items only."""
    items = study.items.loc[chosen, ITEM_COLUMNS]
    readings = study.readings[study.readings["item_id"].isin(items["item_id"])]
    return bundle_from_tables(items, readings, study.raters)


def comparison_values(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that describe a comparison, apart from its metric."""
    names = ["claim", "n_readers", "n_items", "difference", "se", "df", "ci_low", "ci_high", "p"]
    names += [name for name in ("p_noninferior", "value_a", "reader_mean") if name in table]
    return table[names].reset_index(drop=True)


@pytest.mark.parametrize(
    ("by_group", "alone"),
    [(reader_panel_by, reader_panel), (reader_conditions_by, reader_conditions)],
)
def test_a_group_equals_the_study_of_its_items(
    study: Bundle, by_group: Compute, alone: Compute
) -> None:
    """Accuracy and AUC are checked by task and by the declared subgroup."""
    table = by_group(study, OPTIONS)
    groups = table.groupby(["by", "group"], sort=False)
    assert [*groups.groups] == [
        *(("task", name) for name in "xyz"),
        ("category", "heart"),
        ("category", "lung"),
    ]
    for (by, group), rows in groups:
        expected = alone(part_of(study, study.items[by] == group), OPTIONS)
        pd.testing.assert_frame_equal(comparison_values(rows), comparison_values(expected))
        assert set(rows["metric"]) == {"accuracy", "auc"}


def test_p_values_are_adjusted_over_the_groups_of_a_field(study: Bundle) -> None:
    """Tests of the same model, condition, metric and claim are a family."""
    table = reader_panel_by(study, OPTIONS)
    families = table.groupby(["model_id", "condition", "by", "metric", "claim"])
    assert families.ngroups == 2 * 2 * 2 * 2 * 2
    for (*_, by, _, _), rows in families:
        assert len(rows) == {"task": 3, "category": 2}[by]
        expected = multipletests(rows["p"], method="holm")[1]
        assert rows["p_adjusted"].tolist() == pytest.approx(expected)


def test_a_class_equals_the_study_of_its_items(study: Bundle) -> None:
    """With two options, an answer of the same class is correct."""
    conditions, panel = diagnostic_conditions(study), diagnostic_panel(study)
    for metric, letter in (("sensitivity", "B"), ("specificity", "A")):
        part = part_of(study, study.items["truth"] == letter)
        row = (conditions["by"] == "overall") & (conditions["metric"] == metric)
        items = reader_conditions_items(part, OPTIONS)
        expected = pd.concat([reader_conditions(part, OPTIONS), items])
        expected = expected[expected["metric"] == "accuracy"]
        pd.testing.assert_frame_equal(
            comparison_values(conditions[row]), comparison_values(expected)
        )
        row = (panel["by"] == "overall") & (panel["metric"] == metric)
        expected = reader_panel(part).drop(columns="p_noninferior")
        pd.testing.assert_frame_equal(comparison_values(panel[row]), comparison_values(expected))
    assert set(conditions["by"]) == {"overall", "task", "category"}


def test_a_class_without_items_is_undefined(study: Bundle) -> None:
    """Every row states the reason."""
    table = diagnostic_panel(part_of(study, study.items["truth"] == "A"))
    rows = table[table["metric"] == "sensitivity"]
    assert rows["difference"].isna().all()
    assert set(rows["undefined_because"]) == {"no positive item was given to all"}


def test_an_unknown_field_of_subgroups_is_refused(study: Bundle) -> None:
    """The message names the unknown field and the available fields."""
    other = replace(study, protocol={"subgroups": ["age"]})
    with pytest.raises(OptionsError, match="subgroups names “age”; give fields of the items: task"):
        reader_panel_by(other)


def test_a_study_without_tasks_and_subgroups_has_no_table(study: Bundle) -> None:
    """A study without the comparison has no table either."""
    items = study.items[["item_id", "truth"]]
    bundle = bundle_from_tables(items, study.readings, study.raters)
    tables = analyse(bundle, Options(bootstrap=5, confidence="answer")).tables
    assert not {"reader_panel_by", "reader_conditions_by"} & tables.keys()
    assert {"diagnostic_panel", "diagnostic_conditions"} <= tables.keys()
