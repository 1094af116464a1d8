"""The majority vote equals a count of answers per item, and does not depend on letters."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import bundle_from_tables
from analysis.statistics.accuracy.majority import majority_vote
from analysis.statistics.accuracy.means import mean_over_items

N_ITEMS = 40
RATERS = ["R1", "R2", "R3", "R4", "M"]


def study_tables(seed: int = 3) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return four readers with missing answers and a model, with two items per patient."""
    random = np.random.default_rng(seed)
    ids = [f"q{i:02}" for i in range(N_ITEMS)]
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": random.choice(list("ABCD"), N_ITEMS),
            "patient_id": [f"p{i // 2:02}" for i in range(N_ITEMS)],
        }
    )
    readings = [
        {"rater_id": rater, "item_id": item, "answer": random.choice([*"ABCD", truth, ""])}
        for rater in RATERS
        for item, truth in zip(ids, items["truth"], strict=True)
    ]
    kinds = ["reader"] * 4 + ["model"]
    return items, pd.DataFrame(readings), pd.DataFrame({"rater_id": RATERS, "rater_kind": kinds})


def majority_credit(votes: list[str], truth: str) -> float:
    """Return the share of the most frequent answers that are the truth."""
    counts = Counter(vote for vote in votes if vote)
    winners = [answer for answer, n in counts.items() if n == max(counts.values())]
    return winners.count(truth) / len(winners) if winners else 0.0


def test_every_row_equals_a_count_of_votes() -> None:
    """The rows compare the vote with the mean of the readers, and a model with the vote."""
    items, readings, raters = study_tables()
    table = majority_vote(bundle_from_tables(items, readings, raters))
    wide = readings.pivot_table(index="item_id", columns="rater_id", values="answer", aggfunc="sum")
    truth = items.set_index("item_id")["truth"]
    votes = np.array([majority_credit([*wide.loc[i, RATERS[:4]]], truth[i]) for i in truth.index])
    right = wide.eq(truth, axis=0).loc[truth.index]
    mean = right[RATERS[:4]].mean(axis=1).to_numpy()
    assert table["model_id"].tolist() == ["", "M"]
    for row, difference in zip(
        table.to_dict("records"), (votes - mean, right["M"].to_numpy() - votes), strict=True
    ):
        assert row["vote"] == pytest.approx(votes.mean())
        expected = mean_over_items(
            difference, np.arange(N_ITEMS) // 2, 0.05, no_items_reason="", limits=(-1, 1)
        )
        assert row["difference"] == pytest.approx(expected["estimate"])
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(
            (expected["ci_low"], expected["ci_high"])
        )


def test_letters_and_the_order_of_readers_do_not_matter() -> None:
    """Other letters for the options and other names of readers give the same result."""
    items, readings, raters = study_tables()
    before = majority_vote(bundle_from_tables(items, readings, raters))
    letters = {"": "", **dict(zip("ABCD", "CADB", strict=True))}
    names = dict(zip(RATERS, ["R9", "R2", "R7", "R1", "M"], strict=True))
    after = majority_vote(
        bundle_from_tables(
            items.assign(truth=items["truth"].map(letters)),
            readings.assign(
                answer=readings["answer"].map(letters), rater_id=readings["rater_id"].map(names)
            ),
            raters.assign(rater_id=raters["rater_id"].map(names)),
        )
    )
    pd.testing.assert_frame_equal(before, after)


def test_two_readers_have_no_vote_and_too_few_items_no_estimate() -> None:
    """The row has the same reason as the comparison with the mean of the readers."""
    items, readings, raters = study_tables()
    two = readings[readings["rater_id"].isin(["R1", "R2", "M"])]
    assert len(majority_vote(bundle_from_tables(items, two, raters))) == 0
    dropped = (readings["rater_id"] == "R3") & (readings["item_id"] > "q20")
    row = majority_vote(bundle_from_tables(items, readings[~dropped], raters)).iloc[0]
    assert pd.isna(row["vote"])
    assert row["undefined_because"].startswith("21 of 40 items were given to all readers")


def test_excluding_an_answer_of_a_model_excludes_its_case() -> None:
    """The case is left out of the model's row and kept in the row of the vote."""
    items, readings, raters = study_tables()
    excluded = (readings["rater_id"] == "M") & (readings["item_id"] == "q00")
    marked = readings.assign(excluded=excluded.map({True: "wrong image", False: ""}))
    bundle = bundle_from_tables(items, marked, raters)
    table = majority_vote(replace(bundle, protocol={"exclusions": "primary"}))
    assert table["n"].tolist() == [N_ITEMS, N_ITEMS - 1]
