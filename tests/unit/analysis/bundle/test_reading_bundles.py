"""Bundles that are accepted, and the messages about those that are refused."""

import zipfile
from pathlib import Path

import pandas as pd
import pytest

from analysis import BundleError, accuracy, bundle_from_tables, read_bundle
from analysis.figures.drawing.axes import rater_names


def test_na_and_a_byte_order_mark_are_not_missing_values(folder: Path) -> None:
    """Cells are text: NA is a name, and a byte order mark is not part of the first column."""
    text = (folder / "readings.csv").read_text().replace("R1", "NA")
    (folder / "readings.csv").write_text(text, encoding="utf-8-sig")
    assert sorted(read_bundle(folder).raters["rater_id"]) == ["NA", "R2"]


def test_answers_may_have_lower_case_and_spaces(folder: Path) -> None:
    """People type such letters by hand."""
    text = (folder / "readings.csv").read_text().replace("R1,q1,A", "R1,q1, a ")
    (folder / "readings.csv").write_text(text)
    assert read_bundle(folder).readings["answer"].iloc[0] == "A"


def test_a_zip_may_contain_the_files_or_a_single_folder(folder: Path, tmp_path: Path) -> None:
    """The tables equal those read from the folder."""
    expected = accuracy(read_bundle(folder))
    for prefix in ("", "study/"):
        archive = tmp_path / "bundle.zip"
        with zipfile.ZipFile(archive, "w") as target:
            for name in ("items.csv", "readings.csv"):
                target.write(folder / name, prefix + name)
        pd.testing.assert_frame_equal(accuracy(read_bundle(archive)), expected)


def test_all_errors_are_listed_with_file_row_and_remedy(folder: Path) -> None:
    """A user can correct all errors of the file at once."""
    (folder / "items.csv").write_text("item_id,truth,n_options\nq1,A,4\nq1,Z,4\nq3,?,no\n")
    (folder / "raters.csv").write_text("rater_id,rater_kind\nR1,robot\n")
    (folder / "readings.csv").write_text(
        "rater_id,item_id,answer,status,repeat,response_ms\n"
        "R1,q1,E,,,\nR1,q1,E,,,\nR2,q9,A,lost,x,-5\nR1,q3,,answered,,\n"
    )
    with pytest.raises(BundleError) as refusal:
        read_bundle(folder)
    text = str(refusal.value)
    for part in (
        "items.csv, row 3: item_id “q1” is also in an earlier row",
        "items.csv, row 3: truth “Z” is not among the 4 options",
        "items.csv, row 4: n_options “no”",
        "items.csv, row 4: truth “?”",
        "raters.csv, row 2: rater_kind “robot”",
        "readings.csv, row 2: answer “E” is not among the item's 4 options",
        "readings.csv, row 3: rater “R1” has read item “q1” before",
        "readings.csv, row 4: item_id “q9” is not in items.csv",
        "readings.csv, row 4: rater_id “R2” is not in raters.csv",
        "readings.csv, row 4: status “lost” is unknown",
        "readings.csv, row 4: repeat “x”",
        "readings.csv, row 4: response_ms “-5”",
        "readings.csv, row 5: status is answered but there is no answer",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"item_id;truth\nq1;A\n", "Separate the cells with commas"),
        (b"item_id,truth\nq1\n", "row 2: has 1 cells where the header has 2"),
        (b"item_id\n\xff\n", "is not UTF-8"),
        (b"item_id,item_id\nq1,q1\n", "occurs twice"),
        (b'item_id\n"q1\n', "cannot be read as CSV"),
        (b"item_id\n", "contains no item"),
        (b"item_id,options\nq1,Yes or no\n", "is not a JSON list"),
        (b'item_id,options,n_options\nq1,"[1, 2]",3\n', "n_options is 3 but options lists 2"),
    ],
)
def test_an_invalid_items_file_is_refused(folder: Path, content: bytes, words: str) -> None:
    """The message is a sentence that describes the error."""
    (folder / "items.csv").write_bytes(content)
    with pytest.raises(BundleError, match=words.replace("(", r"\(")):
        read_bundle(folder)


def test_a_missing_path_and_a_file_of_another_kind_are_refused(tmp_path: Path) -> None:
    """The message states what to do."""
    (tmp_path / "note.txt").write_text("hello")
    for name, words in (
        ("nowhere", "Give the folder or the .zip of a bundle"),
        ("note.txt", "neither a folder nor a .zip"),
    ):
        with pytest.raises(BundleError, match=words):
            read_bundle(tmp_path / name)


def test_options_are_counted_if_their_number_is_missing() -> None:
    """The column `options` replaces `n_options`."""
    items = pd.DataFrame({"item_id": ["q"], "options": ['["Yes", "No"]']})
    readings = pd.DataFrame({"rater_id": ["R"], "item_id": ["q"], "answer": ["B"]})
    assert bundle_from_tables(items, readings).items["n_options"].tolist() == [2]


def test_the_answer_of_an_unparsed_reading_may_be_any_text() -> None:
    """Only a counted answer must be among the options."""
    items = pd.DataFrame({"item_id": ["q"], "n_options": [2]})
    reading = {"rater_id": ["M"], "item_id": ["q"], "answer": ["I see"], "status": ["unparsed"]}
    assert len(bundle_from_tables(items, pd.DataFrame(reading)).readings) == 1


def test_simulated_raters_are_marked_in_label_or_timing() -> None:
    """A mark in either place makes a rater simulated."""
    readings = pd.DataFrame(
        {
            "rater_id": ["R1", "R2", "R3"],
            "item_id": ["q"] * 3,
            "answer": ["A"] * 3,
            "timing_source": ["", "simulated", "browser"],
        }
    )
    raters = pd.DataFrame(
        {
            "rater_id": ["R1", "R2", "R3"],
            "rater_kind": "reader",
            "label": ["Resident (simulated)", "", "Person"],
        }
    )
    bundle = bundle_from_tables(pd.DataFrame({"item_id": ["q"]}), readings, raters)
    assert bundle.simulated == {"R1", "R2"}
    assert bundle.labels == {"R1": "Resident", "R2": "R2", "R3": "Person"}


def test_the_mark_of_a_simulated_rater_is_shown_once() -> None:
    """The label or the ID may contain it at any position."""
    labels = ["Resident (simulated)", "(Simulated) resident (simulated)", "", "(simulated)"]
    ids = ["R1", "R2", "R3 (simulated)", "R4 (simulated)"]
    raters = pd.DataFrame({"rater_id": ids, "rater_kind": "reader", "label": labels})
    readings = pd.DataFrame(
        {"rater_id": ids, "item_id": "q", "answer": "A", "timing_source": "simulated"}
    )
    items = pd.DataFrame({"item_id": ["q"]})
    names = rater_names(bundle_from_tables(items, readings, raters))
    assert [names[rater].full for rater in ids] == [
        "Resident (simulated)",
        "resident (simulated)",
        "R3 (simulated)",
        "R4 (simulated)",
    ]
    assert all(name.on_figure.text.count("simulated") == 1 for name in names.values())
    simulated_names = rater_names(bundle_from_tables(items, readings))
    assert [simulated_names[rater].full for rater in ids[2:]] == ids[2:]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ('["too_fast"]', 'row 2: flags “\\["too_fast"\\]” is not a list of words'),
        ("too_fast,late", "row 2: flags “too_fast,late” is not a list of words"),
        (["True", "False"], "flags is “True”, which names no flag"),
    ],
)
def test_flags_in_another_notation_are_refused(flags: str | list[str], words: str) -> None:
    """The brackets of a list, or a False in every row, would flag every reading."""
    items = pd.DataFrame({"item_id": ["p", "q"]})
    readings = pd.DataFrame(
        {"rater_id": "R", "item_id": ["p", "q"], "answer": ["A", "A"], "flags": flags}
    )
    with pytest.raises(BundleError, match=words):
        bundle_from_tables(items, readings)


def test_flags_and_exclusions_are_optional(folder: Path) -> None:
    """Missing columns and blanks count as empty."""
    assert set(read_bundle(folder).readings["flags"]) == {""}
    readings = pd.DataFrame(
        {
            "rater_id": "R",
            "item_id": ["p", "q"],
            "answer": "A",
            "flags": [" late  too_fast ", " "],
            "excluded": ["interrupted by a call ", None],
        }
    )
    result = bundle_from_tables(pd.DataFrame({"item_id": ["p", "q"]}), readings).readings
    assert result["flags"].tolist() == ["late too_fast", ""]
    assert result["excluded"].tolist() == ["interrupted by a call", ""]


@pytest.mark.parametrize(
    ("files", "meaning"),
    [
        ({}, ""),
        ({"protocol.json": "{}"}, ""),
        ({"protocol.json": '{"confidence_means": "finding"}'}, "finding"),
        ({"protocol.json": '{"confidence_means": "maybe"}'}, ""),
        ({"protocol.json": '{"locked": {"protocol": {"confidence": 5}}}'}, "answer"),
        ({"datapackage.json": '{"reading_room": {"confidence_means": "answer"}}'}, "answer"),
        ({"datapackage.json": '{"reading_room": []}'}, ""),
        ({"datapackage.json": "not JSON"}, ""),
    ],
)
def test_the_bundle_states_the_meaning_of_confidence(
    folder: Path, files: dict[str, str], meaning: str
) -> None:
    """Early bundles of Reading Room lack the meaning, but always asked how sure the reader is."""
    for name, text in files.items():
        (folder / name).write_text(text)
    assert read_bundle(folder).confidence_means == meaning
