"""agreement_groups.csv: members of groups, counted items, and reasons for undefined values."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from analysis import Bundle, Options, agreement_groups, agreement_pairs, bundle_from_tables
from analysis.statistics.agreement.groups import coefficients
from analysis.statistics.agreement.pairs.measures import (
    BOTH_CONSTANT,
    BOTH_CONSTANT_CORRECT,
    CHANCE_IS_ONE,
    N_OPTIONS_UNKNOWN,
    N_OPTIONS_VARIES,
    SINGLE_OPTION,
)
from analysis.statistics.agreement.pairs.resampling import ONE_CLUSTER
from analysis.statistics.agreement.pairs.table import (
    NO_SE_EQUAL_SCORES,
    NO_SE_ONE_ANSWER,
    NO_SE_ONE_ITEM,
)
from tests.unit.analysis.conftest import MakeBundle

MEASURES_OF_EVERY_SCOPE = [
    "brennan_prediger",
    "error_consistency",
    "fleiss_kappa_letters",
    "conger_kappa_letters",
    "krippendorff_alpha_letters",
    "ac1_letters",
]
MEASURES_WITHIN_OPTION_SETS = [
    "fleiss_kappa",
    "conger_kappa",
    "krippendorff_alpha",
    "ac1",
    "brennan_prediger",
]


def _row(
    bundle: Bundle,
    measure: str,
    scope: str = "all",
    raters: str = "readers",
    options: Options | None = None,
) -> pd.Series:
    table = agreement_groups(bundle, options)
    is_row = (table["measure"] == measure) & (table["scope"] == scope)
    return table.loc[is_row & (table["raters"] == raters)].iloc[0]


def test_rows_are_sorted_by_group_scope_and_measure(make_bundle: MakeBundle) -> None:
    """Measures depend on the scope: all items, tasks, or option sets."""
    bundle = make_bundle(
        "ABAB",
        {"R": "ABAB", "S": "ABBA", "M": "BBAA"},
        models=("M",),
        task=["x", "x", "y", "y"],
        option_set=["o"] * 4,
    )
    table = agreement_groups(bundle)
    one_group = [
        (scope, m) for scope in ("all", "task=x", "task=y") for m in MEASURES_OF_EVERY_SCOPE
    ]
    one_group += [("option_set=o", m) for m in MEASURES_WITHIN_OPTION_SETS]
    assert list(table["raters"].unique()) == ["readers", "models", "all"]
    for _, rows in table.groupby("raters"):
        assert list(zip(rows["scope"], rows["measure"], strict=True)) == one_group


def test_a_model_without_conditions_joins_readers_of_every_condition(
    make_bundle: MakeBundle,
) -> None:
    """The rule applies to pairs too; a condition without readers has no group of all raters."""
    everybody = [
        ("R1", "aided"),
        ("R1", "unaided"),
        ("R2", "unaided"),
        ("M1", ""),
        ("M2", "aided"),
        ("M2", "unaided"),
        ("M2", "blind"),
    ]
    bundle = make_bundle("..", dict.fromkeys(everybody, "AA"), models=("M1", "M2"))
    table = agreement_groups(bundle)
    row = table.loc[table["measure"] == "brennan_prediger"]
    assert row[["condition", "raters", "n_raters"]].values.tolist() == [
        ["", "models", 1],
        ["aided", "readers", 1],
        ["aided", "models", 1],
        ["aided", "all", 3],
        ["blind", "models", 1],
        ["unaided", "readers", 2],
        ["unaided", "models", 1],
        ["unaided", "all", 4],
    ]


def test_without_readers_the_group_of_all_raters_contains_only_models(
    make_bundle: MakeBundle,
) -> None:
    """The groups `all` and `models` have the same raters."""
    table = agreement_groups(make_bundle("AB", {"M": "AB", "N": "BB"}, models=("M", "N")))
    assert list(table["raters"].unique()) == ["models", "all"]


def test_a_group_of_one_rater_is_undefined(make_bundle: MakeBundle) -> None:
    """A group without raters has no row."""
    table = agreement_groups(make_bundle("AB", {"R": "AB"}))
    assert set(table["raters"]) == {"readers", "all"}
    assert set(table["undefined_because"]) == {coefficients.SINGLE_RATER}
    assert table["estimate"].isna().all()
    assert (table["n_raters"] == 1).all()


def test_two_raters_with_all_answers_have_the_agreement_of_their_pair(
    make_bundle: MakeBundle,
) -> None:
    """Conger's kappa equals Cohen's; AC1 and Brennan-Prediger have the same standard error."""
    bundle = make_bundle(
        "ABCDABCDAB", {"R": "ABCDABCDDA", "S": "ABCAABDDDB"}, option_set=["o"] * 10
    )
    groups = agreement_groups(bundle).query("raters == 'readers'").set_index(["scope", "measure"])
    pairs = agreement_pairs(bundle).set_index(["scope", "measure"])
    for group, pair in (
        (("all", "conger_kappa_letters"), ("all", "kappa_letters")),
        (("option_set=o", "conger_kappa"), ("option_set=o", "kappa")),
    ):
        assert groups.loc[group, "estimate"] == pytest.approx(
            pairs.loc[pair, "estimate"], abs=1e-15
        )
    for group, pair in (
        (("all", "brennan_prediger"), ("all", "brennan_prediger")),
        (("all", "ac1_letters"), ("option_set=o", "ac1")),
    ):
        for column in ("estimate", "se", "ci_low", "ci_high"):
            assert groups.loc[group, column] == pytest.approx(pairs.loc[pair, column], abs=1e-14)


def test_with_missing_answers_two_raters_have_the_brennan_prediger_value_of_their_pair(
    make_bundle: MakeBundle,
) -> None:
    """Chance agreement is the mean of 1/k over items with two answers, as for the pair."""
    bundle = make_bundle("ABABAB", {"R": "AB.BAA", "S": "A.ABAB"}, n_options=[2, 3, 4, 5, 2, 3])
    pairs = agreement_pairs(bundle).set_index("measure")
    row = _row(bundle, "brennan_prediger")
    assert row["estimate"] == pytest.approx(pairs.loc["brennan_prediger", "estimate"], abs=1e-15)
    assert (row["n_items"], pairs.loc["brennan_prediger", "n"]) == (6, 4)


def test_congers_kappa_has_the_mean_agreement_and_chance_of_pairs(
    make_bundle: MakeBundle,
) -> None:
    """The coefficient is computed by hand for three raters, in Schouten's form."""
    answers = {"R": "ABCDABCD", "S": "ABCAABDD", "T": "ABBDCBCA"}
    row = _row(make_bundle("A" * 8, answers), "conger_kappa_letters")
    agree, chance = [], []
    for a, b in combinations(answers.values(), 2):
        agree.append(np.mean([x == y for x, y in zip(a, b, strict=True)]))
        chance.append(sum(a.count(letter) * b.count(letter) for letter in "ABCD") / 64)
    expected = (np.mean(agree) - np.mean(chance)) / (1 - np.mean(chance))
    assert row["estimate"] == pytest.approx(expected, abs=1e-15)


def test_error_consistency_needs_answers_and_a_reference_standard(
    make_bundle: MakeBundle,
) -> None:
    """Unanswered items are not wrong in this measure."""
    answers = {"R": "ABBA.", "S": "ABAB.", "T": "AB.AA"}
    row = _row(make_bundle("ABAB.", answers), "error_consistency")
    assert row["n_items"] == 4
    shares = [1.0, 1.0, 1 / 2, 1 / 3]
    right = np.mean(shares)
    observed = np.mean([1, 1, 0, 1 / 3])
    chance = right**2 + (1 - right) ** 2
    assert row["estimate"] == pytest.approx((observed - chance) / (1 - chance), abs=1e-15)


def test_items_need_one_answer_and_for_alpha_two(make_bundle: MakeBundle) -> None:
    """The R package irrCAC has the same rule."""
    bundle = make_bundle("ABAB", {"R": "AB.A", "S": "ABA.", "T": "BB.."})
    assert _row(bundle, "fleiss_kappa_letters")["n_items"] == 4
    assert _row(bundle, "krippendorff_alpha_letters")["n_items"] == 2


def test_the_interval_uses_students_t_with_n_minus_1_degrees_of_freedom_and_ends_at_1(
    make_bundle: MakeBundle,
) -> None:
    """The interval is used if items are independent."""
    row = _row(make_bundle("ABCDAB", {"R": "ABCDAA", "S": "ABCDAB"}), "fleiss_kappa_letters")
    spread = t.isf(0.025, 5) * row["se"]
    assert row["ci_low"] == pytest.approx(row["estimate"] - spread, abs=1e-15)
    assert row["estimate"] + spread > 1
    assert row["ci_high"] == 1


def test_patients_are_resampled_if_they_have_several_items(make_bundle: MakeBundle) -> None:
    """Limits are quantiles of the estimates from the items of the drawn patients."""
    answers = {"R": "ABABAB" * 10, "S": "ABABBA" * 10, "T": "ABABAA" * 10}
    patients = [f"p{i // 2:02d}" for i in range(60)]
    bundle = make_bundle("ABABAB" * 10, answers, patient_id=patients)
    row = _row(bundle, "brennan_prediger", options=Options(bootstrap=16, seed=3))
    assert row["method"].endswith("percentile bootstrap over patients")
    drawn = np.random.default_rng(3).integers(30, size=(16, 30))
    estimates = []
    for patients_drawn in drawn:
        places = [place for entry in patients_drawn for place in (2 * entry, 2 * entry + 1)]
        resampled = {name: "".join(values[i] for i in places) for name, values in answers.items()}
        estimates.append(_row(make_bundle("A" * 60, resampled), "brennan_prediger")["estimate"])
    ends = np.quantile(estimates, [0.025, 0.975])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=1e-12)


def test_with_one_patient_there_is_no_interval(make_bundle: MakeBundle) -> None:
    """All items of the task belong to the same patient."""
    bundle = make_bundle(
        "ABAB",
        {"R": "ABAB", "S": "ABBB"},
        patient_id=["p", "p", "q", "q"],
        task=["x", "x", "y", "y"],
    )
    row = _row(bundle, "brennan_prediger", "task=y")
    assert row["undefined_because"] == ONE_CLUSTER
    assert row["se"] > 0


@pytest.mark.parametrize(
    ("key", "answers", "measure", "reason"),
    [
        ("AB", {"R": "..", "S": ".."}, "brennan_prediger", coefficients.NO_ANSWER),
        ("AB", {"R": "A.", "S": ".B"}, "fleiss_kappa_letters", coefficients.NO_PAIRED),
        ("AB", {"R": "A.", "S": ".B"}, "krippendorff_alpha_letters", coefficients.NO_PAIRED),
        ("..", {"R": "AB", "S": "AB"}, "error_consistency", coefficients.NO_JUDGED_ANSWER),
        ("A.", {"R": ".B", "S": "AB"}, "error_consistency", coefficients.NO_JUDGED_PAIRED),
        ("AB", {"R": "AB", "S": "AB"}, "error_consistency", BOTH_CONSTANT_CORRECT),
        ("AB", {"R": "AB", "S": "BA"}, "error_consistency", BOTH_CONSTANT_CORRECT),
        ("AB", {"R": "AA", "S": "AA"}, "conger_kappa_letters", BOTH_CONSTANT),
        ("AB", {"R": "AA", "S": "BB"}, "fleiss_kappa_letters", BOTH_CONSTANT),
        ("AB", {"R": "AA", "S": "BB"}, "krippendorff_alpha_letters", BOTH_CONSTANT),
        ("AAB", {"R": "AA.", "S": "AAB"}, "krippendorff_alpha_letters", CHANCE_IS_ONE),
    ],
)
def test_undefined_values_have_a_reason(
    make_bundle: MakeBundle, key: str, answers: dict[str, str], measure: str, reason: str
) -> None:
    """Such values are empty, not 0."""
    row = _row(make_bundle(key, answers), measure)
    assert math.isnan(row["estimate"])
    assert math.isnan(row["se"])
    assert row["undefined_because"] == reason


@pytest.mark.parametrize(
    ("sizes", "measure", "reason"),
    [
        ([0, 2], "brennan_prediger", N_OPTIONS_UNKNOWN),
        ([0, 2], "ac1_letters", N_OPTIONS_UNKNOWN),
        ([2, 3], "ac1_letters", N_OPTIONS_VARIES),
    ],
)
def test_chance_depends_on_the_number_of_offered_options(
    make_bundle: MakeBundle, sizes: list[int], measure: str, reason: str
) -> None:
    """Options that no rater chose count too."""
    bundle = make_bundle("AB", {"R": "AB", "S": "AA"}, n_options=[size or "" for size in sizes])
    row = _row(bundle, measure)
    assert math.isnan(row["estimate"])
    assert row["undefined_because"] == reason


def test_with_a_single_option_kappa_is_undefined(make_bundle: MakeBundle) -> None:
    """With one option, the agreement expected by chance is 1."""
    bundle = make_bundle("AA", {"R": "AA", "S": "AA"}, n_options=1)
    assert _row(bundle, "ac1_letters")["undefined_because"] == SINGLE_OPTION
    assert _row(bundle, "brennan_prediger")["undefined_because"] == CHANCE_IS_ONE


def test_constant_raters_have_no_standard_error(make_bundle: MakeBundle) -> None:
    """The formula's value of 0 would suggest certainty, so it is left out; the estimate is kept."""
    bundle = make_bundle("ABA", {"R": "AAA", "S": "AAA", "T": "AAA"})
    for measure in ("brennan_prediger", "ac1_letters"):
        row = _row(bundle, measure)
        assert row["estimate"] == 1
        assert math.isnan(row["se"])
        assert math.isnan(row["ci_low"])
        assert row["undefined_because"] == NO_SE_ONE_ANSWER


def test_kappa_with_constant_raters_is_0_without_standard_error(
    make_bundle: MakeBundle,
) -> None:
    """A pair with a constant rater has the same values."""
    answers = {"R": "ABAB", "S": "AAAA", "T": "AAAA"}
    row = _row(make_bundle("AAAA", answers), "conger_kappa_letters")
    assert row["estimate"] == pytest.approx(0, abs=1e-15)
    assert row["undefined_because"] == NO_SE_ONE_ANSWER


def test_the_reason_names_raters_who_are_always_correct(make_bundle: MakeBundle) -> None:
    """Error consistency depends on correctness, and so does its reason."""
    answers = {"R": "ABAB", "S": "ABAB", "T": "ABAB"}
    row = _row(make_bundle("ABAA", {**answers, "T": "ABBB"}), "error_consistency")
    assert row["se"] > 0
    alike = _row(make_bundle("AA", {"R": "AA", "S": "AA", "T": "BB"}), "error_consistency")
    assert alike["undefined_because"] == BOTH_CONSTANT_CORRECT
    assert NO_SE_EQUAL_SCORES.startswith("standard error and interval: ")


def test_with_one_item_there_is_no_standard_error(make_bundle: MakeBundle) -> None:
    """One item does not show a variance."""
    row = _row(make_bundle("AB", {"R": "A.", "S": "A."}), "brennan_prediger")
    assert row["estimate"] == 1
    assert row["undefined_because"] == NO_SE_ONE_ITEM


def test_perfect_agreement_is_1_with_standard_error_0(make_bundle: MakeBundle) -> None:
    """The formula gives these values if the answers vary."""
    table = agreement_groups(make_bundle("AAAB", {"R": "ABAB", "S": "ABAB", "T": "AB.B"}))
    row = table.loc[table["raters"] == "readers"]
    assert (row["estimate"] == 1).all()
    assert (row["se"] == 0).all()
    assert (row["ci_low"] == 1).all()


def test_agreement_of_readers_does_not_depend_on_models(make_bundle: MakeBundle) -> None:
    """Values with and without models are identical."""
    answers = {"R": "ABCA.BCA", "S": "ABBABBCA", "T": "CBCABACA"}
    patients = list("ppqqrrss")
    single = agreement_groups(make_bundle("ABCABCAB", answers, patient_id=patients))
    models = {f"M{i}": "DDAB.CDA" for i in range(9)}
    among = agreement_groups(
        make_bundle("ABCABCAB", answers | models, models=tuple(models), patient_id=patients)
    )
    pd.testing.assert_frame_equal(
        single.query("raters == 'readers'"), among.query("raters == 'readers'"), check_exact=True
    )


def test_agreement_of_two_hundred_raters_is_computed(make_bundle: MakeBundle) -> None:
    """A rater without answers is not counted."""
    rng = np.random.default_rng(1)
    answers = {f"R{i:03d}": "".join(rng.choice(list("ABCD"), 20)) for i in range(200)}
    answers["R199"] = "." * 20
    table = agreement_groups(
        make_bundle("ABCD" * 5, answers, patient_id=[f"p{i // 2}" for i in range(20)]),
        Options(bootstrap=50),
    )
    assert set(table["n_raters"]) == {199}
    assert table["ci_low"].notna().all()


@pytest.mark.parametrize("others", [("AAAAA", "AA..A", "AAAAB", "A.AAA"), ("AAAAB",)])
def test_agreement_that_equals_chance_is_exactly_0(others: tuple[str, ...]) -> None:
    """The values of groups and pairs have no rounding error."""
    raters = ("AAAAA", *others)
    rows = [
        (f"R{rater}", item, answer)
        for rater, answers in enumerate(raters)
        for item, answer in zip("abcde", answers, strict=True)
        if answer != "."
    ]
    bundle = bundle_from_tables(
        pd.DataFrame({"item_id": list("abcde"), "truth": "A", "n_options": 4, "option_set": "s"}),
        pd.DataFrame(rows, columns=["rater_id", "item_id", "answer"]),
    )
    alpha = agreement_groups(bundle).query("measure.str.startswith('krippendorff')")["estimate"]
    for table in (agreement_groups(bundle), agreement_pairs(bundle)):
        is_zero = table["estimate"].abs() < 1e-10
        assert (table.loc[is_zero, "estimate"] == 0).all()
    assert (alpha == 0).all()
