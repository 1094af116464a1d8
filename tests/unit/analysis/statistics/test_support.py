"""The numbers of patients in a comparison equal counts by hand."""

from typing import Any

import pandas as pd
import pytest

from analysis import Bundle, Options, bundle_from_tables
from analysis.results import Results
from analysis.statistics.claims import PAIR_WEIGHTED
from analysis.statistics.support import (
    NEVER_PRESENTED,
    OTHER_TASKS,
    patients_compared,
    patients_for_agreement,
    patients_ranked,
    patients_under_conditions,
    patients_with_answers,
)

# Twelve items of six patients, two each; a dot is a missing answer, a blank an item that was not
# presented.
ANSWERS = {
    ("R1", "aided"): "AAAAAAAAAA..",
    ("R1", "unaided"): "AAAAAAAA....",
    ("R2", "aided"): "AAAAAAAAAAA.",
    ("R2", "unaided"): "..AA........",
    ("R3", "aided"): "AAAAAA....  ",
    ("R4", "unaided"): "..........AA",
    ("M", ""): "..AAAAAAAAAA",
    ("N", ""): "A.A.........",
    ("N", "image-absent"): "AA..........",
}


def bundle() -> Bundle:
    """Return the study; R1 and R3 are of level a, R2 and R4 of level b."""
    ids = [f"q{i:02d}" for i in range(12)]
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": "A",
            "n_options": 4,
            "patient_id": [f"p{i // 2}" for i in range(12)],
            "task": ["s" if i < 4 else "t" for i in range(12)],
        }
    )
    readings = [
        {"rater_id": rater, "condition": condition, "item_id": item, "answer": answer.strip(".")}
        for (rater, condition), answers in ANSWERS.items()
        for item, answer in zip(ids, answers, strict=True)
        if answer != " "
    ]
    raters = pd.DataFrame(
        {
            "rater_id": ["R1", "R2", "R3", "R4", "M", "N"],
            "rater_kind": ["reader"] * 4 + ["model"] * 2,
            "level": ["a", "b", "a", "b", "", ""],
            "years": ["2", "8", "", "9", "", ""],
        }
    )
    return bundle_from_tables(items, pd.DataFrame(readings), raters)


@pytest.fixture(scope="module")
def run() -> Results:
    """Return a run without tables."""
    return Results(
        bundle=bundle(),
        options=Options(years_limit=5),
        tables={},
        n_clusters=6,
        clustered=True,
    )


PAIR_ROW = {"rater_a": "R1", "rater_b": "M"}
PANEL_ROW = {"model_id": "M", "condition": "aided"}
CONDITIONS_ROW = {"condition_a": "aided", "condition_b": "unaided"}
LEVELS_ROW = {"factor": "level", "group_a": "a", "group_b": "b"}
YEARS_ROW = {"factor": "years", "group_a": "< 5", "group_b": ">= 5", "condition": "aided"}


@pytest.mark.parametrize(
    ("row", "patients"),
    [
        # R1 and M answered q02 to q09.
        ({**PAIR_ROW, "condition": "aided"}, 4),
        ({**PAIR_ROW, "condition": "unaided"}, 3),
        ({"rater_a": "R2", "rater_b": "R4", "condition": "unaided"}, 0),
        # q10 and q11 were not presented to R3.
        (PANEL_ROW, 4),
        ({**PANEL_ROW, "method": PAIR_WEIGHTED}, 5),
        ({**PANEL_ROW, "analysis": NEVER_PRESENTED}, 5),
        ({**PANEL_ROW, "model_id": "N"}, 2),
        ({**PANEL_ROW, "by": "task", "group": "s"}, 1),
        ({**PANEL_ROW, "by": "task", "group": "t"}, 3),
        ({**PANEL_ROW, "by": OTHER_TASKS, "group": "s"}, 3),
        # R1 and R2 read under both conditions.
        (CONDITIONS_ROW, 4),
        ({**LEVELS_ROW, "condition": "aided"}, 5),
        ({**LEVELS_ROW, "condition": "unaided"}, 1),
        ({**LEVELS_ROW, "condition": "aided - unaided"}, 1),
        ({**LEVELS_ROW, **CONDITIONS_ROW}, 1),
        (YEARS_ROW, 5),
        ({"condition": "unaided", "slope": 0.1}, 5),
    ],
)
def test_patients_with_an_answer_on_both_sides_of_a_comparison_are_counted(
    run: Results, row: dict[str, Any], patients: int
) -> None:
    """Items without an answer on both sides do not count."""
    assert patients_compared(run, row) == patients


def test_answers_of_raters_are_counted(run: Results) -> None:
    """Answers of a model under a condition without readers count too."""
    assert patients_with_answers(run) == 6
    assert patients_ranked(run.bundle, "aided") == 6
    assert patients_ranked(run.bundle, "unaided") == 5
    assert patients_under_conditions(run, "N", ["", "image-absent"]) == 1
    assert patients_under_conditions(run, "N", ["image-absent"]) == 1
    assert patients_for_agreement(run, "unaided") == 1
