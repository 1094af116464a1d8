"""open_ended.csv and open_gap.csv equal values computed by hand or by other programs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.report.figures import report_figures
from analysis.report.findings import findings
from analysis.report.methods import methods
from analysis.report.tables import report_tables
from analysis.statistics.accuracy.accuracy import WILSON
from analysis.statistics.accuracy.open_ended import (
    HALF_CREDIT,
    NO_ITEM_BOTH_WAYS,
    NO_VARIATION,
    NONE_SCORED,
    STRICT,
    TANGO,
    open_ended,
    open_gap,
)
from analysis.statistics.comparison.paired_tests import tango_interval

OPTIONS = Options(bootstrap=300)
LEVELS = {"c": "correct", "p": "partly correct", "i": "incorrect"}


def _bundle(
    letters: str, scores: str, *, per_patient: int = 1, model: bool = False, **more: object
) -> Bundle:
    """Return a study of one rater with a letter and a score of the text for each item.

    `c`, `p` and `i` are settled scores, `-` is a missing answer, `?` an answer without a score, and
    a blank an item that was not asked without options.
    """
    n = len(letters)
    ids = [f"q{i:03d}" for i in range(n)]
    items = pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 4})
    items["task"] = ["xy"[i % 2] for i in range(n)]
    items["patient_id"] = [f"p{i // per_patient:03d}" for i in range(n)]
    readings = {"rater_id": "R", "item_id": ids, "answer": list(letters), "condition": "unaided"}
    indices_asked = [i for i in range(n) if scores[i] != " "]
    answers = pd.DataFrame(
        {
            "answer_id": [f"a{i}" for i in indices_asked],
            "kind": "answer",
            "rater_id": "R",
            "item_id": [ids[i] for i in indices_asked],
            "condition": "open-ended",
            "words": ["" if scores[i] == "-" else "some words" for i in indices_asked],
            **more,
        }
    )
    scored = [i for i in indices_asked if scores[i] in LEVELS]
    values = [(f"a{i}", f"S{t}", t, LEVELS[scores[i]]) for i in scored for t in (1, 2)]
    return bundle_from_tables(
        items,
        pd.DataFrame(readings),
        pd.DataFrame({"rater_id": ["R"], "rater_kind": ["model" if model else "reader"]}),
        open_answers=answers,
        open_scores=pd.DataFrame(values, columns=["answer_id", "scorer", "turn", "score"]),
    )


def _overall(bundle: Bundle) -> pd.DataFrame:
    table = open_ended(bundle, OPTIONS)
    return table.loc[table["by"] == "overall"].set_index("measure")


def test_the_gap_needs_25_patients_asked_with_and_without_options() -> None:
    """Of 40 cases asked in both ways, 24 answers are too few for a verdict; 25 are enough."""
    for bundle, few in (
        (_bundle("A" * 40, "i" * 24 + "-" * 16), True),
        (_bundle("A" * 40, "i" * 25 + "-" * 15), False),
        (_bundle("A" * 24 + " " * 16, "i" * 40), True),
    ):
        text = " ".join(str(finding.text) for finding in findings(analyse(bundle, OPTIONS)))
        assert ("accuracy with options is higher" in text) == (not few)
        assert ("24 cases with answers" in text) == few


def test_unanswered_items_are_incorrect_and_unscored_items_are_counted() -> None:
    """The two numbers have separate columns."""
    overall = _overall(_bundle("A" * 10, "cccppi--??"))
    assert overall["estimate"].to_dict() == {
        "correct": 3 / 8,
        "partly_correct": 2 / 8,
        "incorrect": 3 / 8,
        "score": 4 / 8,
    }
    counts = overall[["n", "n_missing", "n_unscored"]].drop_duplicates()
    assert counts.to_numpy().tolist() == [[8, 2, 2]]


def test_only_items_drawn_for_scoring_count() -> None:
    """Unanswered items that were not drawn do not count either."""
    bundle = _bundle("A" * 8, "cc-?-?-?")
    drawn = replace(bundle, about={"scored_items": {"answer": ["q000", "q001", "q002"]}})
    row = _overall(drawn).loc["correct"]
    assert (row["n"], row["n_missing"], row["n_unscored"]) == (3, 1, 5)
    assert row["estimate"] == 2 / 3
    assert _overall(bundle).loc["correct", "n_missing"] == 3


def test_missing_items_are_incorrect_for_models_but_not_for_readers() -> None:
    """Omitting items must not improve the result of a model.

    A case that was not shown does not count as an answer.
    """
    letters, scores = "A" * 6, "cccc  "
    reader = _overall(_bundle(letters, scores)).loc["correct"]
    model = _overall(_bundle(letters, scores, model=True)).loc["correct"]
    assert (reader["n"], reader["estimate"]) == (4, 1)
    assert (model["n"], model["n_missing"], model["estimate"]) == (6, 2, 4 / 6)


def test_strict_accuracy_of_independent_items_has_wilsons_interval() -> None:
    """The interval equals that of statsmodels; the mean score has a t interval over items."""
    overall = _overall(_bundle("A" * 40, "c" * 22 + "p" * 8 + "i" * 10))
    strict, score = overall.loc["correct"], overall.loc["score"]
    wilson = proportion_confint(22, 40, method="wilson")
    assert (strict["ci_low"], strict["ci_high"]) == pytest.approx(wilson, abs=1e-12)
    assert strict["method"] == WILSON
    values = np.array([1.0] * 22 + [0.5] * 8 + [0.0] * 10)
    plain = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert (score["ci_low"], score["ci_high"]) == pytest.approx(plain, abs=1e-12)


def test_items_of_a_patient_are_resampled_together() -> None:
    """With four equal items per patient, the interval is twice as wide."""
    scores = "cccciiii" * 20
    single = _overall(_bundle("A" * 160, scores)).loc["score"]
    shared = _overall(_bundle("A" * 160, scores, per_patient=4)).loc["score"]
    wide, narrow = (entry["ci_high"] - entry["ci_low"] for entry in (shared, single))
    assert 1.6 < wide / narrow < 2.4
    assert shared["method"].startswith("percentile bootstrap over patients")


@pytest.mark.parametrize(
    ("scores", "per_patient", "measure", "reason"),
    [
        ("????????", 1, "score", NONE_SCORED),
        ("cccccccc", 1, "score", NO_VARIATION),
        ("c" * 16, 2, "correct", NO_VARIATION),
        ("ccccpppi", 4, "score", "interval: fewer than 8 patients or examinations"),
    ],
)
def test_empty_cells_have_a_reason(
    scores: str, per_patient: int, measure: str, reason: str
) -> None:
    """Undefined values are never 0, and there is no interval of width 0."""
    row = _overall(_bundle("A" * len(scores), scores, per_patient=per_patient)).loc[measure]
    assert np.isnan([row["ci_low"], row["ci_high"]]).all()
    assert row["undefined_because"] == reason
    assert np.isnan(row["estimate"]) == (reason == NONE_SCORED)


def test_the_gap_is_paired_over_items_asked_with_and_without_options() -> None:
    """The strict gap has Tango's interval.

    In the other gap partly correct answers count half, with a t interval over the differences.
    """
    letters, scores = "AAAAAAAABBBB" * 3, "ccpp-i?  cpi" * 3
    result = open_gap(_bundle(letters, scores), OPTIONS)
    strict, half = (
        result.loc[result["scoring"] == entry].iloc[0] for entry in (STRICT, HALF_CREDIT)
    )
    right = np.array(([1.0] * 6 + [0.0] * 3) * 3)
    worth = np.array([1, 1, 0.5, 0.5, 0, 0, 1, 0.5, 0] * 3)
    assert (strict["n"], strict["n_unscored"]) == (27, 3)
    assert strict["difference"] == pytest.approx((right - (worth == 1)).mean())
    assert half["difference"] == pytest.approx((right - worth).mean())
    entry, other, n = (np.array([x]) for x in (12.0, 3.0, 27.0))
    limits = tango_interval(entry, other, n, 0.05)
    assert (strict["ci_low"], strict["ci_high"]) == pytest.approx([float(x[0]) for x in limits])
    plain = stats.t.interval(0.95, 26, (right - worth).mean(), stats.sem(right - worth))
    assert (half["ci_low"], half["ci_high"]) == pytest.approx(plain, abs=1e-12)
    assert (strict["method"], half["method"]) == (TANGO, "mean over items, t over items")


def test_without_items_asked_in_both_ways_the_gap_is_undefined() -> None:
    row = open_gap(_bundle("AAAA", "????"), OPTIONS).iloc[0]
    assert np.isnan([row["difference"], row["multiple_choice"], row["ci_low"]]).all()
    assert row["undefined_because"] == NO_ITEM_BOTH_WAYS


def test_the_first_run_counts_and_the_protocol_excludes_readings() -> None:
    bundle = _bundle("AAAA", "ccii", run=["1", "2", "2", "10"])
    assert _overall(bundle).loc["correct", ["n", "estimate"]].tolist() == [1, 1]
    bundle = _bundle("AAAA", "ccii", excluded=["", "", "phone rang", ""])
    assert _overall(bundle).loc["correct", "n"] == 4
    text = replace(bundle, protocol={"locked": {"protocol": {"exclusions": "primary"}}})
    assert _overall(text).loc["correct", "n"] == 3


def test_the_report_describes_open_answers_if_there_are_any() -> None:
    bundle = _bundle("A" * 30 + "B" * 10, "c" * 18 + "p" * 8 + "i" * 12 + "-?")
    results = analyse(bundle, OPTIONS)
    text = " ".join(map(str, findings(results)))
    assert "46.2 % correct" in text
    assert "39 cases, 1 of them not answered" in text
    assert "Without a score and excluded from all estimates: 1." in text
    assert "(accuracy with options is higher)" in text
    assert "Two blind scorers gave 38 answers the same score in 38 (100.0 %)" in text
    shown = {entry.name: entry for entry in report_tables(results)}
    assert {"open-ended", "open-gap", "open-scoring", "open-scorers"} <= set(shown)
    assert shown["open-gap"].rows[0][1][:3] == ("All", "39", "76.9")
    assert any(method.title == "Answers without options" for method in methods(results))
    drawn = {figure.name for figure in report_figures(results)}
    assert {f"open-gap-{entry}-1-unaided" for entry in ("strict", "half-credit")} <= drawn
    nothing = {"open_answers": bundle.open_answers[:0], "open_scores": bundle.open_scores[:0]}
    single_study = analyse(replace(bundle, **nothing), OPTIONS)
    assert not [name for name in single_study.tables if name.startswith("open_")]
    assert "options is" not in " ".join(map(str, findings(single_study)))
    assert not [entry for entry in report_tables(single_study) if entry.name.startswith("open-")]


def test_a_gap_whose_interval_contains_0_is_not_reported_as_one() -> None:
    """The sentence agrees with the interval in the table."""
    results = analyse(_bundle("A" * 22 + "B" * 18, "c" * 20 + "ii" + "cc" + "i" * 16), OPTIONS)
    text = " ".join(map(str, findings(results)))
    assert "(no difference shown)" in text
    assert "accuracy with options is" not in text
