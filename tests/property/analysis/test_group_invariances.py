"""Invariances of agreement within and between groups, for random bundles."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import (
    Bundle,
    Options,
    agreement_between,
    agreement_groups,
    agreement_indices,
    bundle_from_tables,
    intra_reader,
)
from tests.conftest import number_of_examples

OPTIONS = Options(bootstrap=30)
LETTERS = "ABCD"
KEY = ["raters", "condition", "scope", "measure"]
UNBOUND = ["raw", "brennan_prediger", "error_consistency"]

Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]


@st.composite
def studies(draw: st.DrawFn) -> Tables:
    """Return up to three readers and two models with missing answers and repeated items."""
    n = draw(st.integers(1, 10))
    raters = [f"R{i}" for i in range(draw(st.integers(1, 3)))]
    raters += [f"M{i}" for i in range(draw(st.integers(0, 2)))]
    items = pd.DataFrame(
        {
            "item_id": [f"q{i}" for i in range(n)],
            "truth": draw(st.lists(st.sampled_from([*LETTERS, ""]), min_size=n, max_size=n)),
            "n_options": draw(st.lists(st.sampled_from([4, 5, 9]), min_size=n, max_size=n)),
            "task": draw(st.lists(st.sampled_from(["x", "y", ""]), min_size=n, max_size=n)),
            "option_set": draw(st.lists(st.sampled_from(["o", "p"]), min_size=n, max_size=n)),
            "patient_id": draw(
                st.one_of(
                    st.just([f"p{i}" for i in range(n)]),
                    st.lists(st.sampled_from(["p", "q", "r"]), min_size=n, max_size=n),
                )
            ),
        }
    )
    answers = st.sampled_from([*LETTERS, ""])
    rows = [
        {"rater_id": rater, "item_id": item, "repeat": repeat, "answer": draw(answers)}
        for rater in raters
        for item in items["item_id"]
        for repeat in range(draw(st.integers(1, 2)))
    ]
    kinds = ["model" if rater.startswith("M") else "reader" for rater in raters]
    return items, pd.DataFrame(rows), pd.DataFrame({"rater_id": raters, "rater_kind": kinds})


def _all(tables: Tables) -> list[pd.DataFrame]:
    bundle: Bundle = bundle_from_tables(*tables)
    return [
        agreement_groups(bundle, OPTIONS),
        agreement_between(bundle, OPTIONS),
        intra_reader(bundle, OPTIONS),
        agreement_indices(bundle),
    ]


@pytest.mark.thorough
@settings(max_examples=number_of_examples(5))
@given(studies(), st.data())
def test_names_letters_and_repeated_clusters_do_not_change_groups(
    tables: Tables, data: st.DataObject
) -> None:
    """The bundle is compared with renamed, relabelled and repeated copies."""
    plain = _all(tables)
    _check_renamed_raters(tables, plain)
    _check_relabelled_options(tables, plain, data)
    _check_repeated_clusters(tables, plain)


def _check_renamed_raters(tables: Tables, plain: list[pd.DataFrame]) -> None:
    """Check another order of raters, which changes at most the last bits of sums."""
    items, readings, raters = tables
    names = {rater: f"{i}" for i, rater in enumerate(sorted(raters["rater_id"], reverse=True))}
    renamed = (
        items,
        readings.assign(rater_id=readings["rater_id"].map(names)),
        raters.assign(rater_id=raters["rater_id"].map(names)),
    )
    for before, after in list(zip(plain, _all(renamed), strict=True))[:2]:
        pd.testing.assert_frame_equal(before, after, rtol=1e-9, atol=1e-9)


def _check_relabelled_options(
    tables: Tables, plain: list[pd.DataFrame], data: st.DataObject
) -> None:
    """Check that all coefficients of an option set are nominal."""
    items, readings, raters = (table.copy() for table in tables)
    maps = {
        name: {"": "", **dict(zip(LETTERS, data.draw(st.permutations(LETTERS)), strict=True))}
        for name in ("o", "p")
    }
    sets = dict(zip(items["item_id"], items["option_set"], strict=True))
    items["truth"] = [maps[s][t] for s, t in zip(items["option_set"], items["truth"], strict=True)]
    readings["answer"] = [
        maps[sets[i]][a] for i, a in zip(readings["item_id"], readings["answer"], strict=True)
    ]
    relabelled = (items, readings, raters)
    before, after = (
        table.loc[table["scope"].str.startswith("option_set=")]
        for table in (plain[0], agreement_groups(bundle_from_tables(*relabelled), OPTIONS))
    )
    pd.testing.assert_frame_equal(before, after, rtol=1e-9, atol=1e-9)


def _check_repeated_clusters(tables: Tables, plain: list[pd.DataFrame]) -> None:
    """Check all estimates except alpha, which is corrected for the number of answers."""
    items, readings, raters = tables
    twice = (
        pd.concat([items, items.assign(item_id="z" + items["item_id"], patient_id="z")]),
        pd.concat([readings, readings.assign(item_id="z" + readings["item_id"])]),
        raters,
    )
    for before, after in zip(plain, _all(twice), strict=True):
        is_kept = ~before["measure"].str.startswith("krippendorff")
        for column in {"estimate", "difference", "prevalence_index", "bias_index"} & set(before):
            assert after.loc[is_kept, column].tolist() == pytest.approx(
                before.loc[is_kept, column].tolist(), abs=1e-9, nan_ok=True
            )
