"""Accuracy for items with two classes: the positive option, and undefined values."""

from pathlib import Path

import pandas as pd
import pytest

from analysis import Bundle, Options, OptionsError, bundle_from_tables
from analysis.cli import main
from analysis.registry import analyse
from analysis.statistics.accuracy.diagnostic import diagnostic

PROTOCOL_WITH_POSITIVE = {"locked": {"protocol": {"positive": ["mass"]}}}


def bundle(options: list[str], truth: str = "ABAB", answers: str = "ABBA") -> Bundle:
    """Return one reader's answers to four items."""
    ids = list("pqrs")
    return bundle_from_tables(
        pd.DataFrame({"item_id": ids, "truth": list(truth), "options": options}),
        pd.DataFrame({"rater_id": "R1", "item_id": ids, "answer": [a.strip(".") for a in answers]}),
    )


@pytest.mark.parametrize(
    ("options", "named", "positive", "n_positive"),
    [
        (['["mass", "nodule"]'] * 4, (), "B", 2),
        (['["Yes", "No"]'] * 4, (), "A", 2),
        (['["Present.", "Absent"]'] * 4, (), "A", 2),
        (['["mass", "nodule"]'] * 4, ("mass",), "A", 2),
        (['["mass", "nodule"]'] * 4, ("A",), "A", 2),
        (['["Yes", "No"]', '["No", "Yes"]'] * 2, (), "Yes", 4),
        (['["1", "2", "3"]'] * 4, ("2", "3"), "B, C", 2),
        (['["1", "2", "3"]', '["mass", "nodule"]'] * 2, (), "B", 2),
    ],
)
def test_the_positive_option_determines_the_classes(
    options: list[str], named: tuple[str, ...], positive: str, n_positive: int
) -> None:
    """The option is named by text or letter; the default is the affirmative or second option."""
    row = diagnostic(bundle(options), Options(positive=named)).iloc[0]
    assert (row["positive"], row["n_positive"]) == (positive, n_positive)


def test_items_without_options_have_two_classes_in_binary_studies() -> None:
    """The rule is that for areas under the ROC curve; a third letter leaves no table."""
    assert diagnostic(bundle([""] * 4))["positive"].tolist() == ["B"]
    three = bundle([""] * 4, truth="ABCB")
    assert len(diagnostic(three)) == 0
    assert "diagnostic" not in analyse(three, Options(bootstrap=5)).tables


def test_an_answer_of_the_same_class_is_correct() -> None:
    """With two positive letters, C instead of B is a true positive, but a wrong answer."""
    row = diagnostic(
        bundle(['["1", "2", "3"]'] * 4, truth="CBAA", answers="BAA."), Options(positive=("B", "C"))
    ).iloc[0]
    assert (row["sensitivity"], row["specificity"]) == (0.5, 0.5)


def test_a_class_without_items_is_undefined() -> None:
    """The estimate for the other class is defined."""
    row = diagnostic(bundle(['["mass", "nodule"]'] * 4, truth="AAAA")).iloc[0]
    assert pd.isna(row["sensitivity"])
    assert pd.isna(row["sens_low"])
    assert row["undefined_because"] == "sensitivity: no positive item was given"
    assert row["specificity"] == 0.5


def test_the_protocol_names_positive_options() -> None:
    """An option of the command takes precedence."""
    undeclared = bundle(['["mass", "nodule"]'] * 4)
    declared = Bundle(
        items=undeclared.items,
        raters=undeclared.raters,
        readings=undeclared.readings,
        protocol=PROTOCOL_WITH_POSITIVE,
    )
    assert diagnostic(declared)["positive"].iloc[0] == "A"
    assert diagnostic(declared, Options(positive=("nodule",)))["positive"].iloc[0] == "B"


def test_an_option_that_no_item_offers_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the option, also on the command line."""
    with pytest.raises(OptionsError, match="positive is “effusion”, which no item offers"):
        diagnostic(bundle(['["mass", "nodule"]'] * 4), Options(positive=("effusion",)))
    out = str(tmp_path / "out")
    assert main(["tables", str(folder), "--out", out, "--positive", "E"]) == 1
    assert "positive is “E”" in capsys.readouterr().err
    assert main(["tables", str(folder), "--out", out, "--positive", "D", "--bootstrap", "9"]) == 0
    table = pd.read_csv(tmp_path / "out" / "tables" / "diagnostic.csv")
    assert set(table["positive"]) == {"D"}
