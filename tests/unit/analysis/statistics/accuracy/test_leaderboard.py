"""leaderboard.csv: ranks and their intervals."""

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, accuracy, bundle_from_tables, leaderboard
from analysis.options import DEFAULT_SEED
from analysis.readings.clusters import SINGLE_CLUSTER, weight_blocks
from analysis.readings.matrix import reading_matrix
from analysis.statistics.accuracy.accuracy import NO_REFERENCE, NO_TASK
from analysis.statistics.accuracy.leaderboard import FEW_RANKED, NO_LIMITS
from tests.unit.analysis.conftest import MakeBundle

# Questions per task, in the proportions of ReXVQA's test set: 36.1, 36.5, 20.9, 6.1 and 0.4 %.
QUESTIONS_PER_TASK = (3610, 3650, 2090, 610, 40)
# The leaderboard's accuracies by task (presence, negation, differential, location, geometric).
PUBLISHED = {
    "MedGemma-4B-it": (0.8521, 0.8503, 0.7671, 0.8347, 0.8045),
    "Janus-Pro-7B": (0.6070, 0.7573, 0.5634, 0.6462, 0.7542),
    "Qwen2.5-VL-7B": (0.5114, 0.8327, 0.6361, 0.6324, 0.6648),
    "Eagle2-9B": (0.5375, 0.8632, 0.6817, 0.5695, 0.5698),
    "Gemini-1.5-Pro": (0.6217, 0.8568, 0.6221, 0.5960, 0.4689),
}


def _published_study(seed: int = 1) -> Bundle:
    """Return models with the published accuracies; correct answers are distributed at random."""
    rng = np.random.default_rng(seed)
    tasks = np.repeat([f"task {t}" for t in range(5)], QUESTIONS_PER_TASK)
    ids = [f"q{i:05d}" for i in range(len(tasks))]
    parts = []
    for model, shares in PUBLISHED.items():
        right = [
            rng.permutation(np.arange(size) < round(share * size))
            for size, share in zip(QUESTIONS_PER_TASK, shares, strict=True)
        ]
        answers = np.where(np.concatenate(right), "A", "B")
        parts.append(pd.DataFrame({"rater_id": model, "item_id": ids, "answer": answers}))
    items = pd.DataFrame({"item_id": ids, "truth": "A", "task": tasks})
    raters = pd.DataFrame({"rater_id": list(PUBLISHED), "rater_kind": "model"})
    return bundle_from_tables(items, pd.concat(parts), raters)


@pytest.mark.thorough
def test_micro_and_macro_ranks_differ_as_on_rexvqas_leaderboard() -> None:
    """Ranks 2 to 5 are reversed, and the intervals of the ranks include both."""
    table = leaderboard(_published_study(), Options(bootstrap=500))
    micro, macro = (table.query(f"group == '{group}'") for group in ("micro", "macro"))
    assert macro["rater_id"].tolist() == list(PUBLISHED)
    assert micro["rater_id"].tolist() == [list(PUBLISHED)[i] for i in (0, 4, 3, 2, 1)]
    first = micro.iloc[0]
    assert (first["rank"], first["rank_low"], first["rank_high"]) == (1, 1, 1)
    assert (macro["rank_high"] - macro["rank_low"]).iloc[1:].min() >= 1
    assert set(table["by"]) == {"overall", "task"}


def test_accuracies_equal_those_of_the_accuracy_table(
    make_bundle: MakeBundle,
) -> None:
    """Users can compare the two tables."""
    bundle = make_bundle(
        "AABBAABB", {"R": "AABBBBAA", "M": "AB.BAAB."}, models=("M",), task=list("xxxyyyyy")
    )
    table = leaderboard(bundle)
    both = table.merge(
        accuracy(bundle), on=["rater_id", "by", "group"], suffixes=("", "_there"), how="left"
    )
    pd.testing.assert_series_equal(both["accuracy"], both["accuracy_there"], check_names=False)
    assert (both["n"] == both["n_there"]).all()


def test_tied_models_share_the_better_rank(make_bundle: MakeBundle) -> None:
    """Ranks are 1, 2, 2, 4; models with the same answers are equal in every resample."""
    answers = {"a": "AAAB" * 2, "b": "AABB" * 2, "c": "AABB" * 2, "d": "BBBB" * 2}
    bundle = make_bundle("A" * 8, answers)
    micro = leaderboard(bundle).query("group == 'micro'").set_index("rater_id")
    assert micro["rank"].tolist() == [1, 2, 2, 4]
    assert micro.loc["b", ["rank_low", "rank_high"]].tolist() == (
        micro.loc["c", ["rank_low", "rank_high"]].tolist()
    )


def test_with_clusters_the_interval_is_that_of_the_accuracy_table(make_bundle: MakeBundle) -> None:
    """Both tables use the same resamples of patients."""
    rng = np.random.default_rng(5)
    answers = {r: "".join(rng.choice(list("AB"), 40)) for r in ("R", "S", "T")}
    bundle = make_bundle(
        "AB" * 20, answers, patient_id=[f"p{i // 3}" for i in range(40)], task=list("xxxy") * 10
    )
    there = accuracy(bundle).rename(columns={"cluster_ci_low": "low", "cluster_ci_high": "high"})
    both = leaderboard(bundle).merge(there, on=["rater_id", "by", "group"])
    assert both["ci_low_x"].tolist() == pytest.approx(both["low"].tolist(), abs=1e-12)
    assert both["ci_high_x"].tolist() == pytest.approx(both["high"].tolist(), abs=1e-12)


def test_limits_of_ranks_equal_those_computed_in_a_loop(make_bundle: MakeBundle) -> None:
    """The loop draws the same items, one resample at a time."""
    rng = np.random.default_rng(2)
    names = list("abcde")
    bundle = make_bundle("A" * 30, {name: "".join(rng.choice(list("AAB"), 30)) for name in names})
    correct = reading_matrix(bundle).correct.astype(float)
    (weights,) = weight_blocks(None, 30, Options(bootstrap=200))
    ranks = [
        [1 + sum(w @ correct > w @ entry) for entry in correct.T] for w in weights.astype(float)
    ]
    table = leaderboard(bundle, Options(bootstrap=200)).query("group == 'micro'")
    row = table.set_index("rater_id").loc[names]
    ordered = np.sort(np.array(ranks), axis=0)
    assert row["rank_low"].tolist() == ordered[4].tolist()
    assert row["rank_high"].tolist() == ordered[194].tolist()


def test_resamples_do_not_depend_on_the_block_size() -> None:
    """Every resample has as many items as the bundle, and depends on the seed only."""
    options = Options(bootstrap=50)
    blocks = list(weight_blocks(None, 200_000, options))
    assert len(blocks) > 1
    assert sum(len(block) for block in blocks) == 50
    assert all((block.sum(axis=1, dtype=np.float64) == 200_000).all() for block in blocks)
    second = next(weight_blocks(None, 200_000, Options(bootstrap=50, seed=DEFAULT_SEED)))
    assert (second == blocks[0]).all()


def test_undefined_ranks_have_a_reason(
    make_bundle: MakeBundle,
) -> None:
    """An accuracy can be defined although its limits are not."""
    nothing = leaderboard(make_bundle("..", {"R": "AB"}))
    assert nothing["undefined_because"].tolist() == [NO_REFERENCE] * 2
    assert nothing["rank"].isna().all()
    taskless = leaderboard(make_bundle("AB" * 4, {"R": "AB" * 4}))
    assert taskless["undefined_because"].tolist() == ["", NO_TASK]
    single = leaderboard(make_bundle("AB", {"R": "AA"}, patient_id="p")).iloc[0]
    assert (single["accuracy"], single["rank"]) == (0.5, 1)
    assert single["undefined_because"] == f"{NO_LIMITS}: {SINGLE_CLUSTER}"
    assert np.isnan(single["rank_low"])


def test_a_task_with_one_question_leaves_macro_without_limits(
    make_bundle: MakeBundle,
) -> None:
    """The question is missing from more than a third of all resamples."""
    answers = {"R": "AABBAABBA", "S": "ABBBABBBA"}
    table = leaderboard(make_bundle("A" * 9, answers, task=list("xxxxxxxxy")))
    reason = table.set_index("group")["undefined_because"]
    assert reason["macro"].tolist() == [FEW_RANKED] * 2
    assert reason["micro"].tolist() == [""] * 2


def test_two_hundred_models_are_ranked(make_bundle: MakeBundle) -> None:
    """The benchmarks measure the time."""
    rng = np.random.default_rng(1)
    answers = {f"m{i:03d}": "".join(rng.choice(list("AAAB"), 20)) for i in range(200)}
    bundle = make_bundle("A" * 20, answers, models=tuple(answers), task=list("vwxyz") * 4)
    table = leaderboard(bundle, Options(bootstrap=100))
    assert len(table) == 200 * 7
    micro = table.query("group == 'micro'")
    assert micro["rank"].is_monotonic_increasing
    assert (micro["rank_low"] <= micro["rank_high"]).all()


def test_a_reader_without_an_item_of_a_task_has_no_macro_rank() -> None:
    """The items suffice for a micro rank; the mean over other tasks would not be comparable."""
    ids = [f"q{i:02}" for i in range(40)]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "task": ["x"] * 36 + ["y"] * 4})
    readings = [
        {"rater_id": reader, "item_id": item, "answer": "AB"[(i + j) % 3 == 0]}
        for j, reader in enumerate(("R1", "R2", "R3"))
        for i, item in enumerate(ids)
        if reader != "R3" or i < 36
    ]
    table = leaderboard(bundle_from_tables(items, pd.DataFrame(readings)), Options(bootstrap=20))
    ranks = table[table["rater_id"] == "R3"].set_index("group")["rank"]
    assert ranks.notna().to_dict() == {"micro": True, "macro": False, "x": True, "y": False}
