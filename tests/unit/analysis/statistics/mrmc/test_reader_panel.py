"""Comparisons of models with readers: items, notes, and reasons for undefined values."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, analyse, bundle_from_tables, reader_panel, variance_components
from analysis.statistics.claims import NARROWER_NOTE
from tests.unit.analysis.conftest import MakeBundle

FIXED, RANDOM = "these readers", "readers like these"
READINGS = {"M": "AAAAAAAB", "R1": "AABABAAB", "R2": "ABAABBAA", "R3": "BAAAAABB"}


def rated(
    truth: str,
    answers: dict[str, str],
    confidence: dict[str, Sequence[float | None]],
    **items: object,
) -> Bundle:
    """Return a bundle of items with two options; raters whose names begin with M are models."""
    ids = [f"q{i:02d}" for i in range(len(truth))]
    readings = [
        {
            "rater_id": rater,
            "item_id": item,
            "answer": answer.strip("."),
            "confidence": "" if confidences is None else str(confidences),
        }
        for rater, values in answers.items()
        for item, answer, confidences in zip(ids, values, confidence[rater], strict=True)
    ]
    kinds = ["model" if rater[0] == "M" else "reader" for rater in answers]
    table = pd.DataFrame({"item_id": ids, "truth": list(truth), "n_options": "2"})
    return bundle_from_tables(
        table.assign(**items),
        pd.DataFrame(readings),
        pd.DataFrame({"rater_id": list(answers), "rater_kind": kinds}),
    )


def row(table: pd.DataFrame, claim: str, metric: str = "accuracy") -> pd.Series:
    """Return the only row of a claim and metric."""
    result = table[(table["claim"] == claim) & (table["metric"] == metric)]
    assert len(result) == 1
    return result.iloc[0]


def test_the_difference_is_the_model_minus_the_readers_mean(make_bundle: MakeBundle) -> None:
    """By hand: the model has 7/8, and the readers have 5/8, 5/8 and 5/8."""
    table = reader_panel(make_bundle("A" * 8, READINGS, models=("M",)))
    assert table["claim"].tolist() == [FIXED, RANDOM]
    assert table["n_readers"].tolist() == [3, 3]
    assert table["n_items"].tolist() == [8, 8]
    assert table["model_value"].tolist() == [0.875, 0.875]
    assert table["reader_mean"].tolist() == [0.625, 0.625]
    assert table["difference"].tolist() == [0.25, 0.25]


def test_the_random_interval_is_at_least_as_wide_as_the_fixed_interval(
    make_bundle: MakeBundle,
) -> None:
    """If accuracies are equal it would be narrower, so the fixed interval is used."""
    readings = {"M": "AAAAAAAB", "R1": "BBAAAAAA", "R2": "BAAABAAA"}
    table = reader_panel(make_bundle("A" * 8, readings, models=("M",)))
    fixed, random = row(table, FIXED), row(table, RANDOM)
    same = ["se", "df", "ci_low", "ci_high", "p"]
    assert random[same].tolist() == fixed[same].tolist()
    assert random["undefined_because"] == ""
    assert random["note"].startswith(NARROWER_NOTE)
    assert fixed["df"] == 7


def test_random_readers_without_variance_have_no_standard_error(
    make_bundle: MakeBundle,
) -> None:
    """Accuracies are equal and the covariance is negative; 0 would suggest certainty."""
    table = reader_panel(make_bundle("A" * 8, READINGS, models=("M",)))
    note = row(table, FIXED)["note"]
    assert note.startswith("negative covariance between readers taken as 0")
    assert math.isnan(row(table, RANDOM)["se"])
    assert "leave no variance" in row(table, RANDOM)["undefined_because"]


def test_one_reader_has_no_random_claim(make_bundle: MakeBundle) -> None:
    """The claim about fixed readers is the paired comparison with that reader."""
    readings = {"M": READINGS["M"], "R1": READINGS["R1"]}
    table = reader_panel(make_bundle("A" * 8, readings, models=("M",)))
    random, fixed = row(table, RANDOM), row(table, FIXED)
    assert random["difference"] == fixed["difference"] == 0.25
    assert random[["se", "df", "ci_low", "ci_high", "p"]].isna().all()
    assert "single reader" in random["undefined_because"]
    assert fixed["undefined_because"] == ""
    spread = np.array([0, 0, 1, 0, 1, 0, 0, 0]).var(ddof=1)
    assert fixed["se"] == pytest.approx(math.sqrt(spread / 8))


def test_identical_answers_have_no_test(make_bundle: MakeBundle) -> None:
    """The variance is zero if the model gave the same answers as all readers."""
    same = dict.fromkeys(("M", "R1", "R2"), "AABA")
    table = reader_panel(make_bundle("AAAA", same, models=("M",)), Options(margin=0.05))
    assert table["difference"].tolist() == [0.0, 0.0]
    assert table[["se", "df", "ci_low", "ci_high", "p", "p_noninferior"]].isna().all(axis=None)
    assert table["undefined_because"].str.startswith("standard error, interval and p: ").all()


@pytest.mark.parametrize(
    ("truth", "columns", "reason"),
    [
        ("A", {}, "a single item"),
        ("AA", {"patient_id": "p"}, "all items belong to one patient"),
        ("..", {}, "no item has a reference standard"),
    ],
)
def test_too_few_items_leave_no_standard_error(
    make_bundle: MakeBundle, truth: str, columns: dict[str, str], reason: str
) -> None:
    """The rows of both claims state the reason."""
    answers = {"M": "AA"[: len(truth)], "R1": "BA"[: len(truth)], "R2": "AB"[: len(truth)]}
    table = reader_panel(make_bundle(truth, answers, models=("M",), **columns))
    assert table[["se", "ci_low", "ci_high", "p"]].isna().all(axis=None)
    assert table["undefined_because"].str.contains(reason).all()


def test_an_unanswered_item_is_wrong(make_bundle: MakeBundle) -> None:
    """A missing answer counts as in the table of accuracies."""
    missing = {"M": "AAA.", "R1": "AAB.", "R2": "AB.."}
    wrong = {"M": "AAAB", "R1": "AABB", "R2": "ABBB"}
    tables = [reader_panel(make_bundle("AAAA", entry, models=("M",))) for entry in (missing, wrong)]
    pd.testing.assert_frame_equal(*tables)


def test_the_margin_is_that_of_the_option_or_the_protocol(make_bundle: MakeBundle) -> None:
    """Without a margin the test of the margin is empty, but the row does not count as undefined."""
    bundle = make_bundle("A" * 8, {**READINGS, "R3": "AAAAAABB"}, models=("M",))
    planned = Bundle(
        items=bundle.items,
        raters=bundle.raters,
        readings=bundle.readings,
        protocol={"locked": {"protocol": {"margin": 0.1}}},
    )
    panel_without = reader_panel(bundle)
    assert panel_without[["margin", "p_noninferior"]].isna().all(axis=None)
    assert (panel_without["undefined_because"] == "").all()
    assert reader_panel(planned)["margin"].tolist() == [0.1, 0.1]
    options = reader_panel(planned, Options(margin=0.0))
    assert options["margin"].tolist() == [0.0, 0.0]
    # At a margin of 0 the one-sided p of a better model is half the two-sided p.
    assert options["p_noninferior"].to_numpy() == pytest.approx(options["p"].to_numpy() / 2)


def test_the_rows_of_both_claims_have_the_wider_interval(make_bundle: MakeBundle) -> None:
    """With equal accuracies, the p-value for the margin is that of the fixed claim too."""
    readings = {"M": "AAAAAAAB", "R1": "BBAAAAAA", "R2": "AABBAAAA", "R3": "AAAABBAA"}
    bundle = make_bundle("A" * 8, readings, models=("M",))
    table = reader_panel(bundle, Options(margin=0.1))
    random, fixed = row(table, RANDOM), row(table, FIXED)
    same = ["difference", "se", "df", "ci_low", "ci_high", "p", "p_noninferior"]
    assert random[same].tolist() == fixed[same].tolist()
    assert NARROWER_NOTE in random["note"]
    assert NARROWER_NOTE not in fixed["note"]


def test_a_model_without_conditions_is_compared_with_readers_under_each_condition(
    make_bundle: MakeBundle,
) -> None:
    """A model with several conditions is compared under the same names."""
    answers = {
        ("R1", "aided"): "AAAAAB",
        ("R1", "unaided"): "AABBAB",
        ("R2", "unaided"): "ABABAA",
        ("M1", ""): "AAAAAA",
        ("M2", "aided"): "BAAAAA",
        ("M2", "image-absent"): "BBAAAB",
    }
    table = reader_panel(make_bundle("AAAAAA", answers, models=("M1", "M2")))
    fixed = table[table["claim"] == FIXED]
    assert fixed[["model_id", "condition", "n_readers"]].to_numpy().tolist() == [
        ["M1", "aided", 1],
        ["M1", "unaided", 2],
        ["M2", "aided", 1],
    ]


def test_without_models_or_readers_the_tables_are_empty(make_bundle: MakeBundle) -> None:
    """The tables have all columns."""
    tables = analyse(make_bundle("AB", {"R1": "AB"})).tables
    for name in ("reader_panel", "reader_conditions", "variance_components"):
        assert len(tables[name]) == 0
    assert tables["reader_panel"].columns[0] == "model_id"
    assert tables["reader_conditions"].columns[0] == "condition_a"
    assert tables["variance_components"].columns[0] == "table"


TRUTH = "ABABABAB"
ANSWERS = {"M": "ABABABBB", "R1": "ABABBAAB", "R2": "AAABABAB"}
CONFIDENCES: dict[str, Sequence[float | None]] = {
    "M": [0.9, 0.8, 0.7, 0.6, 0.9, 0.5, 0.6, 0.8],
    "R1": [3, 5, 4, 2, 1, 2, 5, 4],
    "R2": [5, 1, 2, 4, 3, 5, 5, 3],
}


CONFIDENCE_IN_ANSWER = Options(confidence="answer")


def test_confidence_in_the_answer_is_converted_to_a_rating() -> None:
    """By hand, the model's positives are .8, .6, .5, .8 and its negatives -.9, -.7, -.9, .6."""
    table = reader_panel(replace(rated(TRUTH, ANSWERS, CONFIDENCES), confidence_means="answer"))
    result = row(table, FIXED, "auc")
    assert result["model_value"] == (4 * 3 + 2 + 0.5) / 16
    assert result["note"].startswith(
        "readers: confidence is how sure the rater is of the answer; "
        "model: confidence is how sure the rater is of the answer"
    )
    assert result["n_items"] == 8


@pytest.mark.parametrize(
    ("stated", "asked_for", "origin"),
    [
        ("", "", "nothing says what confidence means"),
        ("", "answer", "given at analysis"),
        ("answer", "finding", "chosen at analysis; the bundle says how sure the rater is"),
    ],
)
def test_a_stated_meaning_of_confidence_needs_no_note(
    stated: str, asked_for: str, origin: str
) -> None:
    """The bundle states the meaning, and the data agree with it."""
    bundle = replace(rated(TRUTH, ANSWERS, CONFIDENCES), confidence_means=stated)
    table = reader_panel(bundle, Options(confidence=asked_for))
    assert origin in row(table, FIXED, "auc")["note"]


def test_the_meaning_of_confidence_is_not_guessed_from_numbers() -> None:
    """The stated meaning is used, and a note points out that the numbers contradict it."""
    ratings = [10, 80, 30, 90, 20, 60, 40, 95] * 2
    answers = "".join("AB"[rating >= 50] for rating in ratings)
    confidences = dict.fromkeys(("R1", "R2", "M"), ratings)
    bundle = rated(TRUTH * 2, dict.fromkeys(confidences, answers), confidences)
    panel_row = row(reader_panel(bundle, CONFIDENCE_IN_ANSWER), FIXED, "auc")
    taken = row(reader_panel(bundle), FIXED, "auc")
    signed = [rating if rating >= 50 else -rating for rating in ratings]
    for result, scale in ((panel_row, signed), (taken, ratings)):
        high, low = scale[1::2], scale[::2]
        area = np.mean([(p > n) + 0.5 * (p == n) for p in high for n in low])
        assert result["model_value"] == area
    assert "answers go with confidence as if it rated the finding" in panel_row["note"]
    assert "as if" not in taken["note"]


def test_confidence_in_the_finding_is_the_rating() -> None:
    """By hand, R1 has ratings 1 to 5, and B from 3; a note states the meaning."""
    confidences = {"R1": [1, 3, 2, 2, 4, 2, 1, 5], "R2": [1, 3, 2, 4, 2, 5, 1, 2]}
    answers = {
        r: "".join("AB"[entry >= 3] for entry in answers) for r, answers in confidences.items()
    }
    both = {"M": CONFIDENCES["M"], **confidences}
    table = reader_panel(rated(TRUTH, {**answers, "M": ANSWERS["M"]}, both))
    result = row(table, FIXED, "auc")
    first = ([3, 2, 2, 5], [1, 2, 4, 1])
    second = ([3, 4, 5, 2], [1, 2, 2, 1])
    areas = [
        np.mean([(p > n) + 0.5 * (p == n) for p in high for n in low])
        for high, low in (first, second)
    ]
    assert result["reader_mean"] == np.mean(areas)
    assert result["note"].startswith(
        "readers: confidence rates answer B, which follows from a cut-off; nothing says what"
    )
    assert "model: not every answer follows from the confidence" in result["note"]
    assert "readers: not every answer" not in result["note"]


RATINGS = [10, 80, 30, 90, 20, 60, 40, 95]


def test_readers_can_have_different_cut_offs() -> None:
    """With cut-offs of 50 and 35, the areas are those of the ratings."""
    confidences: dict[str, Sequence[float]] = {"R1": RATINGS, "R2": RATINGS[::-1], "M": RATINGS}
    same = {
        rater: "".join("AB"[entry >= 50] for entry in answers)
        for rater, answers in confidences.items()
    }
    lower = {**same, "R2": "".join("AB"[entry >= 35] for entry in confidences["R2"])}
    first, other = (reader_panel(rated(TRUTH, answers, confidences)) for answers in (same, lower))
    for name in ("reader_mean", "model_value", "difference"):
        assert row(first, FIXED, "auc")[name] == row(other, FIXED, "auc")[name]


def test_a_single_inconsistent_answer_does_not_change_the_meaning() -> None:
    """One of 32 answers contradicts the cut-off, and the confidence still rates the finding."""
    truth, ratings = TRUTH * 4, [rating + i for i in range(4) for rating in RATINGS]
    answers = ["AB"[rating >= 50] for rating in ratings]
    slipped = ["B", *answers[1:]]
    confidences: dict[str, Sequence[float]] = {"R1": ratings, "R2": ratings, "M": ratings}
    table = reader_panel(
        rated(
            truth,
            {"R1": "".join(slipped), "R2": "".join(answers), "M": "".join(answers)},
            confidences,
        )
    )
    assert row(table, FIXED, "auc")["difference"] == 0
    assert "rates answer B" in row(table, FIXED, "auc")["note"]


def test_a_model_with_a_single_letter_has_the_meaning_of_readers() -> None:
    """All ratings are below the cut-off; the area is that of the ratings, not its reverse."""
    low = [rating / 3 for rating in RATINGS]
    confidences: dict[str, Sequence[float]] = {"R1": RATINGS, "R2": RATINGS, "M": low}
    answers = {
        rater: "".join("AB"[entry >= 50] for entry in answers)
        for rater, answers in confidences.items()
    }
    assert set(answers["M"]) == {"A"}
    result = row(reader_panel(rated(TRUTH, answers, confidences)), FIXED, "auc")
    assert result["model_value"] == result["reader_mean"]
    assert "model: confidence rates answer B" in result["note"]


def test_constant_ratings_have_no_area() -> None:
    """Every rater always gave the same letter."""
    confidences = dict.fromkeys(("R1", "R2", "M"), RATINGS)
    result = row(
        reader_panel(rated(TRUTH, dict.fromkeys(confidences, "A" * 8), confidences)), FIXED, "auc"
    )
    assert np.isnan(result["model_value"])
    assert "the rated letter is unknown" in result["undefined_because"]
    assert (
        "undefined"
        not in row(
            reader_panel(
                rated(TRUTH, dict.fromkeys(confidences, "A" * 8), confidences), CONFIDENCE_IN_ANSWER
            ),
            FIXED,
            "auc",
        )["undefined_because"]
    )


def test_the_area_does_not_depend_on_the_letter_of_the_finding() -> None:
    """The finding may be letter A or letter B."""
    swap = str.maketrans("AB", "BA")
    other = {rater: answers.translate(swap) for rater, answers in ANSWERS.items()}
    before = reader_panel(rated(TRUTH, ANSWERS, CONFIDENCES), CONFIDENCE_IN_ANSWER)
    after = reader_panel(rated(TRUTH.translate(swap), other, CONFIDENCES), CONFIDENCE_IN_ANSWER)
    numbers = before.select_dtypes("number").columns
    assert after[numbers].to_numpy() == pytest.approx(before[numbers].to_numpy(), nan_ok=True)


def test_a_missing_answer_has_the_worst_rating() -> None:
    """The answer is wrong for positive and negative items, and a note states this."""
    answers = {**ANSWERS, "M": ".BABABA."}
    confidences: dict[str, Sequence[float | None]] = {
        **CONFIDENCES,
        "M": [None, 0.8, 0.7, 0.6, 0.9, 0.5, 0.6, None],
    }
    result = row(
        reader_panel(rated(TRUTH, answers, confidences), CONFIDENCE_IN_ANSWER), FIXED, "auc"
    )
    # Positives: .8, .6, .5, one missing answer; negatives: -.7, -.9, -.6, one missing answer.
    assert result["model_value"] == 9 / 16
    assert "missing answers have the worst rating" in result["note"]


def test_answers_without_confidence_leave_the_area_undefined() -> None:
    """Only the rows of that rater state the reason; accuracy is defined."""
    answers = {**ANSWERS, "M2": "ABABABAA"}
    bundle = rated(TRUTH, answers, {**CONFIDENCES, "M2": [None] * 8})
    table = reader_panel(bundle)
    rows_without = table[(table["model_id"] == "M2") & (table["metric"] == "auc")]
    assert rows_without[["difference", "se", "p"]].isna().all(axis=None)
    assert (rows_without["undefined_because"] == "AUC: 8 answers of M2 have no confidence").all()
    rest = table[(table["model_id"] == "M") | (table["metric"] == "accuracy")]
    assert (rest["undefined_because"] == "").all()
    parts = variance_components(bundle)
    parts = parts[(parts["model_id"] == "M2") & (parts["metric"] == "auc")]
    assert parts["value"].isna().all()
    assert parts["note"].str.startswith("undefined: ").all()


@pytest.mark.parametrize(
    "items",
    [
        {"n_options": "4"},
        {"option_set": ["x", "y"] * 4},
        {"options": ['["no", "yes"]', '["left", "right"]'] * 4},
    ],
)
def test_the_area_needs_a_single_binary_question(items: dict[str, object]) -> None:
    """Items with four options, two option sets or different questions have no area."""
    table = reader_panel(rated(TRUTH, ANSWERS, CONFIDENCES, **items))
    assert set(table["metric"]) == {"accuracy"}


def test_without_ratings_of_readers_there_is_no_area() -> None:
    """Models can be compared only with readers who rated."""
    table = reader_panel(rated(TRUTH, ANSWERS, {**CONFIDENCES, "R1": [None] * 8, "R2": [None] * 8}))
    assert set(table["metric"]) == {"accuracy"}


def test_with_one_positive_item_the_area_has_no_standard_error() -> None:
    """The area is defined."""
    table = reader_panel(rated("AAAAAAAB", ANSWERS, CONFIDENCES))
    result = row(table, RANDOM, "auc")
    assert not math.isnan(result["difference"])
    assert result["undefined_because"].endswith("or are one item")


def test_areas_take_into_account_patients_with_several_items() -> None:
    """The stated method is that for clusters, and the standard error is different."""
    single = row(reader_panel(rated(TRUTH, ANSWERS, CONFIDENCES)), FIXED, "auc")
    shared = rated(TRUTH, ANSWERS, CONFIDENCES, patient_id=["p", "p", "q", "q", "r", "s", "t", "u"])
    together = row(reader_panel(shared), FIXED, "auc")
    assert single["difference"] == together["difference"]
    assert single["se"] != together["se"]
    assert together["method"].endswith("DeLong covariances of the empirical AUC over patients")


def test_a_model_with_few_errors_has_a_note(make_bundle: MakeBundle) -> None:
    """With fewer than ten errors, the lower limit is too high too often (docs/coverage.md)."""
    for wrong, noted in ((9, True), (10, False)):
        readings = {
            "M": "B" * wrong + "A" * (40 - wrong),
            "R1": "A" * 30 + "B" * 10,
            "R2": "B" * 12 + "A" * 28,
        }
        table = reader_panel(make_bundle("A" * 40, readings, models=("M",)))
        assert table["note"].str.contains("near the ceiling").tolist() == [noted, noted]
