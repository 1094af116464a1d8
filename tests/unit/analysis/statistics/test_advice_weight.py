"""The weight of advice equals a plain mean over pairs, and is within its limits."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.bundle import Bundle, bundle_from_tables
from analysis.options import Options
from analysis.registry import analyse
from analysis.report.tables import report_tables
from analysis.statistics.advice_weight import advice_weight

STEPS = 5
OPTIONS = Options(bootstrap=50, confidence="answer")
N_ITEMS = 40
AID_COLUMNS = ["aid_model", "aid_answer", "aid_planted"]


def study(after: Callable[[dict[str, object]], tuple[str, object]], seed: int = 2) -> Bundle:
    """Return two readers; `after` returns the answer and confidence after the model's answer."""
    random = np.random.default_rng(seed)
    readings = []
    for rater in ("r1", "r2"):
        for place in range(N_ITEMS):
            first: dict[str, object] = {
                "rater_id": rater,
                "item_id": f"q{place:02}",
                "condition": "unaided",
                "answer": str(random.choice(list("ABC"))),
                "confidence": int(random.integers(1, STEPS + 1)),
            }
            shown = str(random.choice(list("ABC")))
            answer, confidence = after({**first, "aid_answer": shown})
            second = {"condition": "aided", "answer": answer, "confidence": confidence}
            aid = {"aid_model": "M", "aid_answer": shown, "aid_planted": "0"}
            readings += [first, {**first, **second, **aid}]
    items = pd.DataFrame({"item_id": [f"q{n:02}" for n in range(N_ITEMS)], "truth": "A"})
    return bundle_from_tables(items.assign(n_options=3), pd.DataFrame(readings))


def weights(table: pd.DataFrame, rater: str = "readers") -> dict[str, float]:
    """Return the estimates of all pairs of a reader, by measure."""
    rows = table[(table["rater_id"] == rater) & (table["planted"] == "all")]
    return dict(zip(rows["measure"], rows["estimate"], strict=True))


def test_every_estimate_is_the_mean_over_pairs_with_different_answers() -> None:
    """Pairs without confidence are left out; a reader's largest confidence defines the scale."""
    random = np.random.default_rng(8)

    def after(reading: dict[str, object]) -> tuple[str, object]:
        return str(random.choice(list("ABC"))), random.choice(["", "1", "2", "3", "4", "5"])

    bundle = study(after)
    expected: dict[str, list[float]] = {"weight_of_advice": []}
    aided = bundle.readings[bundle.readings["condition"] == "aided"]
    first = bundle.readings[bundle.readings["condition"] == "unaided"]
    for (_, before), (_, now) in zip(first.iterrows(), aided.iterrows(), strict=True):
        advice = now["aid_answer"]
        if before["answer"] == advice or now["confidence"] == "":
            continue
        without_aid = -float(before["confidence"]) / STEPS
        with_aid = float(now["confidence"]) / STEPS * (1 if now["answer"] == advice else -1)
        weight = (with_aid - without_aid) / (1 - without_aid)
        kind = "weight_correct_advice" if advice == "A" else "weight_wrong_advice"
        for measure in ("weight_of_advice", kind):
            expected.setdefault(measure, []).append(weight)
    table = advice_weight(bundle, OPTIONS)
    assert weights(table) == pytest.approx({k: np.mean(v) for k, v in expected.items()})
    rows = table[table["rater_id"] == "readers"].drop_duplicates("measure").set_index("measure")
    assert rows["n"].to_dict() == {k: len(v) for k, v in expected.items()}
    assert (rows["ci_low"] < rows["estimate"]).all()
    assert (rows["estimate"] < rows["ci_high"]).all()


@pytest.mark.parametrize(
    ("after", "weight"),
    [
        (lambda r: (r["answer"], r["confidence"]), 0.0),
        (lambda r: (r["aid_answer"], STEPS), 1.0),
    ],
)
def test_readers_who_never_change_have_weight_0_and_who_always_adopt_weight_1(
    after: Callable[[dict[str, object]], tuple[str, object]], weight: float
) -> None:
    """The weights are 0 and 1 for every reader and every answer of the model."""
    table = advice_weight(study(after), OPTIONS)
    for rater in ("r1", "r2", "readers"):
        assert set(weights(table, rater).values()) == {weight}


def test_readers_who_become_more_confident_in_another_answer_have_a_negative_weight() -> None:
    """The confidence changes from the lowest to the highest value."""
    table = advice_weight(study(lambda r: (str(r["answer"]), STEPS)), OPTIONS)
    assert -1 < weights(table)["weight_of_advice"] < 0


def test_without_confidence_in_the_answer_there_is_no_table() -> None:
    """There is no table if confidence rates the finding or is missing."""
    bundle = study(lambda r: (str(r["answer"]), r["confidence"]))
    assert "advice_weight" in analyse(bundle, OPTIONS).tables
    assert "advice_weight" not in analyse(bundle, Options(bootstrap=5)).tables
    silent = study(lambda r: (str(r["answer"]), ""))
    assert "advice_weight" not in analyse(silent, OPTIONS).tables


def test_the_protocol_states_the_steps_of_the_scale() -> None:
    """The scale has ten steps, although no reader used more than five."""
    bundle = study(lambda reading: (str(reading["aid_answer"]), 5))
    rows = bundle.readings
    first = rows[rows["condition"] == "unaided"].reset_index(drop=True)
    advice = rows.loc[rows["condition"] == "aided", "aid_answer"].reset_index(drop=True)
    before = -first.loc[first["answer"] != advice, "confidence"].astype(float) / 10
    declared = replace(bundle, protocol={"confidence": 10})
    estimate = weights(advice_weight(declared, OPTIONS))["weight_of_advice"]
    assert estimate == pytest.approx(((0.5 - before) / (1 - before)).mean())


def test_items_without_a_reference_standard_are_neither_correct_nor_wrong() -> None:
    """Such items count only in the weight over all answers."""
    bundle = study(lambda reading: (str(reading["aid_answer"]), 5))
    truth = bundle.items["truth"].where(bundle.items.index >= N_ITEMS // 2, "")
    table = advice_weight(replace(bundle, items=bundle.items.assign(truth=truth)), OPTIONS)
    rows = table[(table["rater_id"] == "readers") & (table["planted"] == "all")]
    n = rows.set_index("measure")["n"]
    assert 0 < n["weight_correct_advice"] + n["weight_wrong_advice"] < n["weight_of_advice"]
    all_rows = advice_weight(bundle, OPTIONS)
    all_rows = all_rows[(all_rows["rater_id"] == "readers") & (all_rows["planted"] == "all")]
    assert (n <= all_rows.set_index("measure")["n"]).all()
    assert n["weight_wrong_advice"] < all_rows.set_index("measure").loc["weight_wrong_advice", "n"]


def test_the_report_shows_the_weights_of_every_reader() -> None:
    """Each reader and all readers are shown with the numbers of pairs."""
    results = analyse(study(lambda reading: (str(reading["aid_answer"]), 5)), OPTIONS)
    (table,) = (table for table in report_tables(results) if table.name == "advice-weight")
    assert {str(person.label) for (person,), _ in table.rows} == {"r1", "r2", "All readers"}
    n = results.tables["advice_weight"].query("rater_id == 'readers' and planted == 'all'")["n"]
    shown = {person.label: cells for (person,), cells in table.rows}["All readers"]
    assert shown[3] == str(n.iloc[0])
    assert shown[4].startswith("1.00")


def test_the_confidence_of_a_model_does_not_define_the_scale_of_readers() -> None:
    """A model that rates its answers from 0 to 100 does not affect a reader's weight."""
    bundle = study(lambda r: (str(r["aid_answer"]), 3))
    before = advice_weight(bundle, OPTIONS)
    columns = ["rater_id", "item_id", "condition", "answer", "confidence"]
    model = bundle.readings.drop_duplicates("item_id")[columns].assign(
        rater_id="M", condition="", confidence="100"
    )
    raters = pd.DataFrame({"rater_id": ["M", "r1", "r2"]})
    raters["rater_kind"] = ["model", "reader", "reader"]
    readings = pd.concat(
        [bundle.readings[[*columns, *AID_COLUMNS]], model.assign(**dict.fromkeys(AID_COLUMNS, ""))]
    )
    items = bundle.items[["item_id", "truth", "n_options"]]
    after = advice_weight(bundle_from_tables(items, readings, raters), OPTIONS)
    assert weights(after) == weights(before)
