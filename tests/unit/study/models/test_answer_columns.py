"""A reference standard in a file is never read as a model's answers, for any columns."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from study.base.errors import BadFile
from study.models.files import parse_columns
from study.models.predictions import PredictionFile, read_predictions
from tests.unit.study.tables.workbooks import write_workbook

OPTIONS = ("Pneumothorax", "Pleural effusion", "Rib fracture", "No acute finding")
ITEMS = {f"q{n}": OPTIONS for n in range(1, 5)}
TRUTH, ANSWERED = "AAAA", "BCDB"
QUESTION: dict[str, Any] = {"question": "Which?"}
OPTION_COLUMNS: dict[str, Any] = {"A": "x", "B": "y", "C": "z", "D": "w"}
FORMATS = ["csv", "tsv", "xlsx", "parquet", "json", "jsonl", "object"]


def write(folder: Path, rows: list[dict[str, Any]], form: str, name: str = "out") -> Path:
    """Write records in one of `FORMATS`."""
    path = folder / f"{name}.{'json' if form == 'object' else form}"
    header = list(dict.fromkeys(key for row in rows for key in row))
    if form in ("csv", "tsv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, header, delimiter="\t" if form == "tsv" else ",")
            table.writeheader()
            table.writerows(rows)
    elif form == "xlsx":
        write_workbook(path, header, *([row.get(key) for key in header] for row in rows))
    elif form == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif form == "json":
        path.write_text(json.dumps(rows))
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        ids = [str(next(iter(row.values()))) for row in rows]
        inside = [dict(list(row.items())[1:]) for row in rows]
        path.write_text(json.dumps(dict(zip(ids, inside, strict=True))))
    return path


def records_with(
    other_columns: Mapping[str, Any], id_name: str = "item_id", **letters: Sequence[str]
) -> list[Any]:
    """Return records with the other columns, and one letter per row for each named column."""
    return [
        {id_name: f"q{n + 1}", **other_columns, **{key: text[n] for key, text in letters.items()}}
        for n in range(4)
    ]


def read(path: Path, columns: str = "", **items: Any) -> PredictionFile:
    """Read predictions."""
    meaning = parse_columns(columns) if columns else None
    return read_predictions(path, options=items or ITEMS, column_roles=meaning)


def letters(file: PredictionFile) -> str:
    """Return the answers in order."""
    return "".join(prediction.answer or "-" for prediction in file.predictions)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("other_columns", "columns"),
    [
        (QUESTION, {"answer": TRUTH}),
        (OPTION_COLUMNS, {"answer": TRUTH}),
        ({"choices": "A. x, B. y"}, {"Answer": TRUTH}),
        ({"option_a": "x", "option_b": "y"}, {"answer": TRUTH}),
        ({"prompt": "Which?"}, {"answer": TRUTH}),
        ({"opa": "x", "opb": "y", "cop": 1}, {"answer": TRUTH}),
        ({}, {"answer": TRUTH, "answer_idx": TRUTH}),
        ({}, {"answer": TRUTH, "label": TRUTH}),
        ({}, {"answer": ANSWERED, "truth": TRUTH}),
        ({}, {"answer": ANSWERED, "Ground Truth": TRUTH}),
        ({}, {"answer": ANSWERED, "correctAnswer": TRUTH}),
        ({}, {"answer": TRUTH, "pred_letter": ANSWERED}),
        ({}, {"answer": TRUTH, "key": TRUTH}),
        ({}, {"answer": ANSWERED, "standard_answer": TRUTH}),
        ({}, {"answer": ANSWERED, "consensus": TRUTH}),
        ({}, {"answer": ANSWERED, "y": TRUTH}),
        ({}, {"answer": ANSWERED, "\u6b63\u786e\u7b54\u6848": TRUTH}),
        ({"expert": "Rib fracture"}, {"answer": ["Rib fracture", *OPTIONS[:3]]}),
        ({}, {"answer": TRUTH, "output": ANSWERED}),
        ({"output": ""}, {"answer": TRUTH}),
        ({"response": None, "note": "x"}, {"answer": TRUTH}),
        ({"instruction": "Which?"}, {"output": TRUTH}),
        ({"instruction": "Which?"}, {"response": TRUTH}),
    ],
)
def test_an_answer_that_may_be_the_reference_standard_is_refused(
    tmp_path: Path,
    form: str,
    other_columns: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
) -> None:
    """The message names the columns and explains how to specify one, in every format."""
    path = write(tmp_path, records_with(other_columns, "item_id", **columns), form)
    with pytest.raises(BadFile) as refused:
        read(path)
    message = str(refused.value)
    assert "may be the reference standard" in message
    assert "--columns" in message
    assert all(name in message for name in (path.name, *columns))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "name",
    [
        *("truth", "label", "labels", "gold", "gold_answer", "correct_answer", "correct", "target"),
        *("reference", "reference_standard", "ground_truth", "groundTruth", "gt", "solution"),
        *("answer_key", "answer_idx", "expected", "ideal", "true_label", "Referenz"),
    ],
)
def test_a_reference_standard_is_not_a_prediction(tmp_path: Path, form: str, name: str) -> None:
    """Columns with such names are refused, with a list of the columns."""
    path = write(tmp_path, records_with({}, **{name: TRUTH}), form)
    with pytest.raises(BadFile, match=rf"(?s)Columns: .*{name}.*--columns"):
        read(path)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("other_columns", "answer_name"),
    [
        (QUESTION | OPTION_COLUMNS, "prediction"),
        (QUESTION, "model_prediction"),
        (QUESTION, "model_answer"),
        (QUESTION, "pred"),
        ({"choices": "A. x"}, "response"),
    ],
)
def test_the_models_answers_are_read_from_a_file_with_a_reference_standard(
    tmp_path: Path, form: str, other_columns: Mapping[str, Any], answer_name: str
) -> None:
    """The answers are read from any column whose name clearly belongs to the model."""
    file = read(
        write(tmp_path, records_with(other_columns, answer=TRUTH, **{answer_name: ANSWERED}), form)
    )
    assert letters(file) == ANSWERED
    assert not [note for note in file.notes if "equal" in note]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "other_columns",
    [
        {},
        {"model": "m", "latency_s": 1.5},
        {"run": 1, "confidence": 0.5},
        {"patient": "p", "sex": "M", "raw_answer": "B", "explanation": "B is larger."},
    ],
)
def test_exported_answers_are_read(
    tmp_path: Path, form: str, other_columns: Mapping[str, Any]
) -> None:
    """The columns are `item_id, answer` and others that do not describe the question."""
    assert (
        letters(read(write(tmp_path, records_with(other_columns, answer=ANSWERED), form)))
        == ANSWERED
    )


@pytest.mark.parametrize("form", ["csv", "xlsx", "json"])
def test_an_empty_prediction_is_not_replaced_by_answer(tmp_path: Path, form: str) -> None:
    """The output is empty; the reference standard does not replace it."""
    path = write(tmp_path, records_with({"prediction": ""}, answer=TRUTH), form)
    assert {prediction.status for prediction in read(path).predictions} == {"skipped"}


def test_named_columns_are_read_with_a_note(tmp_path: Path) -> None:
    """A specified column is used; a note reports a name that usually means the truth."""
    path = write(tmp_path, records_with(QUESTION, answer=ANSWERED, label=TRUTH), "csv")
    file = read(path, "id=item_id,answer=answer")
    assert letters(file) == ANSWERED
    assert "read from column “answer”" in file.notes[0]
    assert "read from column “label”" in read(path, "id=item_id,answer=label").notes[0]


@pytest.mark.parametrize("name", ["answer", "label", "ground_truth"])
def test_answers_that_all_equal_the_files_reference_standard_are_noted(
    tmp_path: Path, name: str
) -> None:
    """The columns of the file are compared, without the bank's reference standard."""
    path = write(tmp_path, records_with(QUESTION, prediction=TRUTH, **{name: "AAAA"}), "csv")
    assert f"all 4 answers equal column “{name}”" in " ".join(read(path).notes)
    other = write(tmp_path, records_with(QUESTION, prediction="AAAB", **{name: "AAAA"}), "csv")
    assert "equal" not in " ".join(read(other).notes)


@pytest.mark.parametrize("name", ["truth", "answer_key", "ground-truth", "gold_labels"])
def test_a_file_named_like_a_reference_standard_is_noted(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, records_with({}, answer=TRUTH), "csv", name)
    assert f"the file is called {name}.csv" in read(path).notes[-1]
    plain = write(tmp_path, records_with({}, answer=TRUTH), "csv", "medgemma")
    assert read(plain).notes == ()


@pytest.mark.parametrize(
    ("values", "expected", "note"),
    [
        ([5, 3, 1], [0.05, 0.03, 0.01], "the largest is 5 (taken as 0.05)"),
        ([10, 8, 1], [0.1, 0.08, 0.01], "the largest is 10"),
        ([1, 0.9, 90], [0.01, 0.009, 0.9], "2 values are 1 or less"),
        ([95, 50, 75], [0.95, 0.5, 0.75], ""),
        ([1, 0.5, 0], [1, 0.5, 0], ""),
        (["95%", "50 %", "1%"], [0.95, 0.5, 0.01], ""),
    ],
)
def test_an_unlikely_percentage_of_confidence_is_noted(
    tmp_path: Path, values: list[Any], expected: list[float], note: str
) -> None:
    """The scale is read as documented, with a note."""
    rows = [{"item_id": f"q{n}", "answer": "A", "confidence": c} for n, c in enumerate(values, 1)]
    file = read(write(tmp_path, rows, "json"))
    assert [prediction.confidence for prediction in file.predictions] == pytest.approx(expected)
    notes = [line for line in file.notes if "confidence" in line]
    assert len(notes) == bool(note)
    assert note in "".join(notes)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_are_read_where_commas_do_not_separate(
    tmp_path: Path, separator: str
) -> None:
    """They are read in columns of confidence and probabilities, even if specified by the user."""
    path = tmp_path / "a.csv"
    lines = [
        "item_id;prediction;confidence;probability_A;probability_B;sure",
        "q1;B;0,95;0,2;0,8;70,5",
    ]
    path.write_text("\n".join(lines).replace(";", separator))
    (prediction,) = read(path).predictions
    assert prediction.confidence == 0.95
    assert prediction.detail["probabilities"] == {"A": 0.2, "B": 0.8}
    (prediction,) = read(path, "id=item_id,answer=prediction,confidence=sure").predictions
    assert prediction.confidence == 0.705


def test_numbers_of_an_exam_paper_are_distinguished_from_ids(tmp_path: Path) -> None:
    """An index refers to the paper, even if the bank's ids are numbers."""
    path = write(
        tmp_path, [{"index": n, "question": "?", "prediction": "B"} for n in (1, 2)], "tsv"
    )
    items = [{"index": 1, "item_id": "2", "shown_order": "ABCD"}]
    items += [{"index": 2, "item_id": "1", "shown_order": "BACD"}]
    paper = tmp_path / "paper.json"
    paper.write_text(json.dumps({"items": items, "model_protocol": {"condition": "image"}}))
    ids = {"1": OPTIONS, "2": OPTIONS}
    file = read_predictions(path, paper, options=ids)
    assert {prediction.item_id: prediction.answer for prediction in file.predictions} == {
        "2": "B",
        "1": "A",
    }
    predictions_read = read_predictions(path, options=ids)
    assert "paper.json" in predictions_read.notes[-1]
    assert read_predictions(path, options=ITEMS).needs_paper


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_text_with_carriage_returns_is_read_unchanged(tmp_path: Path, form: str) -> None:
    """Xlsxwriter, which pandas and VLMEvalKit use, escapes carriage returns."""
    words = [
        "Answer: B\r\n",
        "The film.\r\n\r\nAnswer: C\r\n\r\nFluid.",
        "<answer>D</answer>\r",
        "B",
    ]
    rows = [
        {"index": f"q{n}", "question": "w", "answer": "A", "prediction": word}
        for n, word in enumerate(words, 1)
    ]
    path = tmp_path / f"out.{form}"
    if form == "csv":
        path = write(tmp_path, rows, form)
    else:
        import pandas as pd

        pd.DataFrame(rows).to_excel(path, index=False, engine="xlsxwriter")
    assert letters(read(path)) == "BCDB"
