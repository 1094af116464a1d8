"""Answer files in the formats of the usual harnesses are read, or refused with the reason."""

import json
import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from study.base.errors import BadFile, BadInput
from study.models.files import parse_columns
from study.models.predictions import PredictionFile, read_predictions

OPTIONS = ("Pneumothorax", "Pleural effusion", "Rib fracture", "No acute finding")
ITEMS = {"q1": OPTIONS, "q2": OPTIONS, "q3": ("Yes", "No")}
HEADER = ["index", "question", "A", "B", "answer", "prediction"]


def _lines(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _xlsx(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    book.save(path)
    return path


def _read(path: Path, *more: Path, columns: str = "") -> PredictionFile:
    column_roles = parse_columns(columns) if columns else None
    return read_predictions(path, *more, options=ITEMS, column_roles=column_roles)


def _answers(file: PredictionFile) -> dict[tuple[str, int], tuple[str | None, str]]:
    return {
        (prediction.item_id, prediction.repeat): (prediction.answer, prediction.status)
        for prediction in file.predictions
    }


def _vlmevalkit(folder: Path) -> Path:
    rows = [("q1", "Which?", "x", "y", "A", "B"), ("q2", "Which?", "x", "y", "B", "Answer: C")]
    return _xlsx(folder / "model_VQA.xlsx", [HEADER, *rows])


def _vlmevalkit_tsv(folder: Path) -> Path:
    path = folder / "model_VQA.tsv"
    text = 'q1\tWhich?\tx\ty\tA\t"B\nas seen"\nq2\tWhich?\tx\ty\tB\tC\n'
    path.write_text("\t".join(HEADER) + "\n" + text)
    return path


def _lm_eval(folder: Path) -> Path:
    def sample(n: int, words: str, name: str) -> dict[str, object]:
        of = {"item_id": f"q{n}", "question": "Which?"}
        return {
            "doc_id": n,
            "doc": of,
            "target": "A",
            "arguments": {"gen_args_0": {"arg_0": "Which?"}},
            "resps": [[words]],
            "filtered_resps": ["[invalid]"],
            "filter": name,
            "exact_match": 0.0,
        }

    rows = [sample(n, w, f) for f in ("strict", "flexible") for n, w in ((1, "B"), (2, "(C)"))]
    return _lines(folder / "samples_rexvqa.jsonl", rows)


def _lmms_eval(folder: Path) -> Path:
    rows = [
        {"doc_id": n, "doc": {"question_id": f"q{n}"}, "input": "Which?", "target": "A"}
        | {"resps": [[words]], "filtered_resps": [words]}
        for n, words in ((1, "B"), (2, "C"))
    ]
    return _lines(folder / "samples_rexvqa.jsonl", rows)


def _lmms_eval_logs(folder: Path) -> Path:
    logs = [
        {"doc_id": 0, "doc": {"id": "q1"}, "resps": [["B"]], "filtered_resps": ["B"]},
        {"doc_id": 1, "doc": {"id": "q2"}, "resps": [["C"]], "filtered_resps": ["C"]},
    ]
    path = folder / "rexvqa.json"
    path.write_text(json.dumps({"args": {"model": "m"}, "model_configs": {}, "logs": logs}))
    return path


def _samples() -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "epoch": 1,
            "input": "Which?",
            "target": "A",
            "metadata": {},
            "output": {"completion": words, "choices": [{"message": {"content": words}}]},
        }
        for name, words in (("q1", "ANSWER: B"), ("q2", "C"))
    ]


def _inspect_json(folder: Path) -> Path:
    path = folder / "log.json"
    log = {"version": 2, "status": "success", "eval": {"model": "m"}, "samples": _samples()}
    path.write_text(json.dumps(log, indent=2))
    return path


def _inspect_eval(folder: Path) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", json.dumps({"version": 2, "status": "success"}))
        packed.writestr("summaries.json", "[]")
        packed.writestr("_journal/start.json", "{}")
        for sample in _samples():
            packed.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return path


def _openai(folder: Path) -> Path:
    rows = [
        {
            "id": f"batch_req_{n}",
            "custom_id": f"q{n}",
            "response": {
                "status_code": 200,
                "body": {"choices": [{"index": 0, "message": {"content": words}}]},
            },
            "error": None,
        }
        for n, words in ((1, "B"), (2, [{"type": "text", "text": "The answer is C."}]))
    ]
    return _lines(folder / "batch_output.jsonl", rows)


def _responses(folder: Path) -> Path:
    rows = [
        {
            "custom_id": name,
            "response": {
                "status_code": 200,
                "body": {
                    "output": [
                        {"type": "reasoning", "summary": []},
                        {"type": "message", "content": [{"type": "output_text", "text": words}]},
                    ]
                },
            },
            "error": None,
        }
        for name, words in (("q1", "B"), ("q2", "C"))
    ]
    return _lines(folder / "batch_output.jsonl", rows)


def _anthropic(folder: Path) -> Path:
    rows = [
        {
            "custom_id": name,
            "result": {
                "type": "succeeded",
                "message": {
                    "content": [
                        {"type": "thinking", "thinking": "A?"},
                        {"type": "text", "text": words},
                    ],
                    "stop_reason": "end_turn",
                },
            },
        }
        for name, words in (("q1", "B"), ("q2", "C"))
    ]
    return _lines(folder / "results.jsonl", rows)


def _gemini(folder: Path) -> Path:
    rows = [
        {
            "key": name,
            "response": {
                "candidates": [
                    {"content": {"parts": [{"text": "hm", "thought": True}, {"text": words}]}}
                ]
            },
        }
        for name, words in (("q1", "B"), ("q2", "C"))
    ]
    return _lines(folder / "output.jsonl", rows)


def _medevalkit(folder: Path) -> Path:
    rows = [
        {"id": name, "question": "Which?", "choices": ["A. x"], "answer": "A", "correct": False}
        | {"response": f"<answer>{words}</answer>"}
        for name, words in (("q1", "B"), ("q2", "C"))
    ]
    path = folder / "results.json"
    path.write_text(json.dumps(rows))
    return path


def _parquet(folder: Path) -> Path:
    rows = [
        {
            "item_id": "q1",
            "image": {"bytes": b"\x00", "path": ""},
            "prediction": "B",
            "answer": "A",
        },
        {
            "item_id": "q2",
            "image": {"bytes": b"\x00", "path": ""},
            "prediction": "C",
            "answer": "A",
        },
    ]
    path = folder / "test.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize(
    ("write", "shape"),
    [
        (_vlmevalkit, "VLMEvalKit XLSX table"),
        (_vlmevalkit_tsv, "VLMEvalKit CSV table"),
        (_lm_eval, "lm-eval samples"),
        (_lmms_eval, "lmms-eval samples"),
        (_lmms_eval_logs, "lm-eval samples"),
        (_inspect_json, "Inspect log"),
        (_inspect_eval, "Inspect log"),
        (_openai, "OpenAI batch output"),
        (_responses, "OpenAI batch output"),
        (_anthropic, "Anthropic batch output"),
        (_gemini, "Gemini batch output"),
        (_medevalkit, "MedEvalKit results"),
        (_parquet, "Parquet table"),
    ],
)
def test_the_format_of_a_file_is_detected_by_its_content(
    tmp_path: Path, write: Callable[[Path], Path], shape: str
) -> None:
    """Similar formats are distinguished, and the reference standard is not read."""
    path = write(tmp_path)
    file = _read(path)
    assert file.shape == shape
    assert _answers(file) == {("q1", 1): ("B", "answered"), ("q2", 1): ("C", "answered")}
    assert (file.n_runs, file.unknown_ids, file.conditions) == (1, (), ("",))
    renamed = path.rename(path.with_suffix(".dat"))
    if file.shape not in ("VLMEvalKit CSV table",):
        assert _read(renamed).predictions == file.predictions


def test_epochs_of_a_log_are_runs_and_failures_are_counted(tmp_path: Path) -> None:
    """A sample that ended in an error has no answer, and the status of the log is reported."""
    samples = [*_samples(), *_samples()]
    for n, sample in enumerate(samples):
        samples[n] = {**sample, "epoch": 1 + n // 2}
    samples[3] |= {"output": {"completion": ""}, "error": {"message": "timeout"}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "status": "error", "eval": {}, "samples": samples}))
    file = _read(path)
    assert _answers(file) == {
        ("q1", 1): ("B", "answered"),
        ("q2", 1): ("C", "answered"),
        ("q1", 2): ("B", "answered"),
        ("q2", 2): (None, "skipped"),
    }
    assert [prediction.run for prediction in file.predictions] == ["1", "1", "2", "2"]
    assert [prediction.repeat for prediction in file.primary] == [1, 1]
    assert "the log says that its run ended as “error”" in file.notes
    assert "1 request failed (timeout) and counts as skipped" in file.notes


def test_a_log_with_an_unsupported_compression_is_refused_with_a_remedy(tmp_path: Path) -> None:
    """Recent logs are compressed with Zstandard."""
    path = _inspect_eval(tmp_path)
    raw = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = raw.find(mark)
        while place >= 0:
            raw[place + at] = 93
            place = raw.find(mark, place + 1)
    path.write_bytes(bytes(raw))
    with pytest.raises(BadFile, match=r"inspect log convert log\.eval --to json"):
        _read(path)


def _choices(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"choices": [{"message": message}]}


@pytest.mark.parametrize(
    ("row", "status", "note"),
    [
        (
            {"custom_id": "q1", "response": None, "error": {"code": "batch_expired"}},
            "skipped",
            "batch_expired",
        ),
        (
            {
                "custom_id": "q1",
                "response": {"status_code": 429, "body": {"error": {"code": "rate_limit"}}},
            },
            "skipped",
            "rate_limit",
        ),
        (
            {
                "custom_id": "q1",
                "response": {
                    "body": {"choices": [{"message": {"content": None, "refusal": "No."}}]}
                },
            },
            "refused",
            "",
        ),
        ({"custom_id": "q1", "result": {"type": "expired"}}, "skipped", "expired"),
        (
            {
                "custom_id": "q1",
                "result": {
                    "type": "errored",
                    "error": {"type": "error", "error": {"type": "overloaded"}},
                },
            },
            "skipped",
            "overloaded",
        ),
        ({"key": "q1", "response": {"promptFeedback": {"blockReason": "SAFETY"}}}, "refused", ""),
        ({"key": "q1", "response": {"candidates": [{"finishReason": "SAFETY"}]}}, "refused", ""),
        (
            {"key": "q1", "status": "deadline exceeded", "response": {}},
            "skipped",
            "deadline exceeded",
        ),
    ],
)
def test_failed_requests_are_skipped_and_refusals_are_refused(
    tmp_path: Path, row: Mapping[str, Any], status: str, note: str
) -> None:
    """The status that the provider reports is used, and failures are counted."""
    key = "custom_id" if "custom_id" in row else "key"
    good: dict[str, Any] = {"response": {"body": {"choices": [{"message": {"content": "B"}}]}}}
    if key == "key":
        good = {"response": {"candidates": [{"content": {"parts": [{"text": "B"}]}}]}}
    elif "result" in row:
        good = {"result": {"type": "succeeded", "message": {"content": [{"text": "B"}]}}}
    file = _read(_lines(tmp_path / "out.jsonl", [row, {key: "q2", **good}]))
    assert _answers(file) == {("q1", 1): (None, status), ("q2", 1): ("B", "answered")}
    expected = (f"1 request failed ({note}) and counts as skipped",) if note else ()
    assert file.notes == expected


def test_several_choices_of_a_request_are_runs(tmp_path: Path) -> None:
    """Several choices result from `n` in a batch, or from repeats in lm-eval."""
    choices = [{"message": {"content": words}} for words in ("B", "C")]
    rows = [{"custom_id": "q1", "response": {"body": {"choices": choices}}}]
    expected = {("q1", 1): ("B", "answered"), ("q1", 2): ("C", "answered")}
    assert _answers(_read(_lines(tmp_path / "a.jsonl", rows))) == expected
    sample = {"doc_id": 0, "doc": {"item_id": "q1"}, "resps": [["B", "C"]], "filter": "none"}
    assert _answers(_read(_lines(tmp_path / "b.jsonl", [sample]))) == expected


def test_answer_and_probabilities_follow_from_the_likelihoods_of_options(tmp_path: Path) -> None:
    """If lm-eval reports the likelihood of each option, the most likely one is the answer."""
    likelihoods = [[["-3.5", "False"]], [["-0.5", "True"]], [["-9", "False"]], [["-7", "False"]]]
    row = {"doc_id": 0, "doc": {"item_id": "q1"}, "resps": likelihoods, "filter": "none"}
    (prediction,) = _read(_lines(tmp_path / "a.jsonl", [row])).predictions
    assert (prediction.answer, prediction.detail["rule"]) == ("B", "most probable")
    assert math.isclose(
        prediction.confidence or 0, 1 / (1 + math.exp(-3) + math.exp(-8.5) + math.exp(-6.5))
    )


def test_columns_can_be_specified_in_every_kind_of_table(tmp_path: Path) -> None:
    """In JSON, a column is specified as a path."""
    columns = "id=Case No.,output=Reply,run=seed,confidence=sure,condition=Shown,prompt=asked"
    header = ["Case No.", "Reply", "seed", "sure", "Shown", "asked", "Truth"]
    rows: list[list[Any]] = [
        ["q1", "Answer: B", "7", "80", "image", "Which?", "A"],
        ["q1", "Answer: C", "12", "60", "image", "Which?", "A"],
        ["q1", "D", "7", "25", "Image absent", "Which?", "A"],
    ]
    csv = tmp_path / "a.csv"
    csv.write_text("\n".join(",".join(row) for row in [header, *rows]))
    dicts = [dict(zip(header, row, strict=True)) for row in rows]
    parquet = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(dicts), parquet)
    files = [
        csv,
        _xlsx(tmp_path / "a.xlsx", [header, *rows]),
        parquet,
        _lines(tmp_path / "a.jsonl", dicts),
    ]
    for path in files:
        file = _read(path, columns=columns)
        assert [
            (
                prediction.answer,
                prediction.run,
                prediction.repeat,
                prediction.confidence,
                prediction.condition,
            )
            for prediction in file.predictions
        ] == [
            ("B", "7", 1, 0.8, "image"),
            ("C", "12", 2, 0.6, "image"),
            ("D", "7", 1, 0.25, "image-absent"),
        ]
        assert file.predictions[0].detail["prompt"] == "Which?"
        assert [prediction.answer for prediction in file.primary] == ["B"]
    nested = _lines(tmp_path / "b.jsonl", [{"case": {"id": "q1"}, "out": [{"text": "B"}]}])
    assert _answers(_read(nested, columns="id=case.id,output=out.0.text")) == {
        ("q1", 1): ("B", "answered")
    }


@pytest.mark.parametrize(
    "values",
    [
        {"probability_A": 0.1, "probability_B": 0.7, "probability_C": 0.2, "probability_D": 0},
        {"probs": [0.1, 0.7, 0.2, 0]},
        {"probs": {"Pneumothorax": 10, "pleural effusion": 70, "C": 20, "D": 0}},
        {"probabilities": '{"A": 0.1, "B": 0.7, "C": 0.2, "D": 0}'},
    ],
)
def test_the_probability_of_the_answer_is_its_confidence(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    """Options are identified by letter, by text or by canonical order."""
    row = {"item_id": "q1", "pred": "B", **values}
    (prediction,) = _read(_lines(tmp_path / "a.jsonl", [row])).predictions
    assert (prediction.answer, prediction.confidence) == ("B", 0.7)
    assert prediction.detail["probabilities"] == {"A": 0.1, "B": 0.7, "C": 0.2, "D": 0}


def test_letters_of_shuffled_options_are_converted(tmp_path: Path) -> None:
    """An invalid order is refused, because letters would be read incorrectly."""
    row = {"item_id": "q1", "answer": "A", "condition": "options shuffled", "shown_order": "CADB"}
    (prediction,) = _read(_lines(tmp_path / "a.jsonl", [row])).predictions
    assert (prediction.answer, prediction.condition, prediction.detail["order"]) == (
        "C",
        "options-shuffled",
        "CADB",
    )
    with pytest.raises(BadFile, match="“CAB” is not an order of 4 options"):
        _read(_lines(tmp_path / "b.jsonl", [row | {"shown_order": "CAB"}]))


def test_an_exam_paper_supplies_missing_columns_of_the_answers(tmp_path: Path) -> None:
    """The paper has the order of options, the condition, and the item of each number."""
    paper = tmp_path / "paper.json"
    items = [
        {"index": 1, "item_id": "q1", "shown_order": "CADB"},
        {"index": 2, "item_id": "q2", "shown_order": "ABCD"},
    ]
    values = {"paper_sha256": "x", "items": items, "model_protocol": {"condition": "unaided"}}
    paper.write_text(json.dumps(values))
    body = {"response": {"body": {"choices": [{"message": {"content": "A"}}]}}}
    rows = [{"custom_id": f"q{n}", **body} for n in (1, 2)]
    file = _read(_lines(tmp_path / "batch.jsonl", rows), paper)
    assert [prediction.answer for prediction in file.predictions] == ["C", "A"]
    assert file.conditions == ("unaided",)
    table = tmp_path / "ReadingRoom.tsv"
    table.write_text("index\tquestion\tprediction\n1\tx\tA\n2\tx\tB\n")
    assert [prediction.answer for prediction in _read(paper, table).predictions] == ["C", "B"]
    with pytest.raises(BadFile, match="an exam paper without answers"):
        _read(paper)


def test_several_files_are_parts_of_one_run_or_several_runs(tmp_path: Path) -> None:
    """Files with the same items are runs."""
    first = _lines(tmp_path / "a.jsonl", [{"item_id": "q1", "answer": "A"}])
    second = _lines(tmp_path / "b.jsonl", [{"item_id": "q2", "answer": "B"}])
    repeated = _lines(tmp_path / "c.jsonl", [{"item_id": "q1", "answer": "C"}])
    assert _answers(_read(first, second)) == {
        ("q1", 1): ("A", "answered"),
        ("q2", 1): ("B", "answered"),
    }
    assert _answers(_read(first, repeated)) == {
        ("q1", 1): ("A", "answered"),
        ("q1", 2): ("C", "answered"),
    }


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("id=item_id,answer=reply", "no column “reply” for the answer; it has item_id, out"),
        ("id=item_id,output=out,confidence=out", "the confidence “B” is not a number from 0 to 1"),
        ("id=item_id,output=out,order=item_id", "is not an order of 4 options"),
    ],
)
def test_an_invalid_column_is_refused(tmp_path: Path, columns: str, message: str) -> None:
    """The message has the file, the row and a remedy."""
    path = _lines(tmp_path / "a.jsonl", [{"item_id": "q1", "out": "B"}])
    with pytest.raises(BadFile, match=message):
        _read(path, columns=columns)


@pytest.mark.parametrize("words", ["id", "id=a", "id=a,id=b,answer=c", "id=a,truth=b", "answer="])
def test_an_invalid_specification_of_columns_is_refused(words: str) -> None:
    """The message lists the possible roles."""
    with pytest.raises(BadInput):
        parse_columns(words)


def test_duplicate_answers_of_a_run_are_refused(tmp_path: Path) -> None:
    """The message explains how to distinguish runs."""
    rows = [{"item_id": "q1", "answer": letter, "seed": n} for n, letter in enumerate("AB")]
    path = _lines(tmp_path / "a.jsonl", rows)
    with pytest.raises(BadFile, match=r"q1: given again at line 2; .* column of the run"):
        _read(path)
    assert _read(path, columns="id=item_id,answer=answer,run=seed").n_runs == 2


@pytest.mark.parametrize("ending", ["xlsx", "eval", "parquet", "json"])
def test_a_damaged_file_is_refused(tmp_path: Path, ending: str) -> None:
    """The file is truncated, or a file of another kind has its name."""
    writers = {
        "xlsx": _vlmevalkit,
        "eval": _inspect_eval,
        "parquet": _parquet,
        "json": _inspect_json,
    }
    path = writers[ending](tmp_path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadFile, match=path.name):
        _read(path)
    if ending == "eval":  # the content of the ZIP file is altered, not its directory
        content = bytearray(_inspect_eval(tmp_path).read_bytes())
        content[60:90] = b"\xff" * 30
        path.write_bytes(content)
        with pytest.raises(BadFile, match=f"{path.name}.* not a valid ZIP"):
            _read(path)
    other = tmp_path / f"other.{ending}"
    with zipfile.ZipFile(other, "w") as packed:
        packed.writestr("readme.txt", "nothing")
    with pytest.raises(BadFile, match="neither an XLSX workbook nor an Inspect log"):
        _read(other)


def test_answers_of_the_llava_scripts_are_in_the_column_text(tmp_path: Path) -> None:
    """Question files of these scripts have that column too, but contain no predictions."""
    rows = [
        {"question_id": f"q{n}", "prompt": "Which?", "text": words, "model_id": "llava-v1.5-7b"}
        for n, words in ((1, "B"), (2, "The answer is C."))
    ]
    file = _read(_lines(tmp_path / "answers.jsonl", rows))
    assert _answers(file) == {("q1", 1): ("B", "answered"), ("q2", 1): ("C", "answered")}
    records = [{"question_id": "q1", "image": "a.png", "text": "A"}]
    with pytest.raises(BadFile, match="contains no predictions"):
        _read(_lines(tmp_path / "questions.jsonl", records))


def test_generated_text_takes_precedence_over_the_column_answer(tmp_path: Path) -> None:
    """The column `answer` may contain the correct answer."""
    rows = [{"item_id": "q1", "generated_text": "B", "answer": "A"}]
    assert _answers(_read(_lines(tmp_path / "made.jsonl", rows))) == {("q1", 1): ("B", "answered")}


@pytest.mark.parametrize(
    ("start_of_file", "message"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old format .*Save As > Excel Workbook"),
        (b"\x80\x04\x95", "pickle.*write it as XLSX, CSV or JSON"),
    ],
)
def test_unsupported_file_types_are_refused_with_a_remedy(
    tmp_path: Path, start_of_file: bytes, message: str
) -> None:
    path = tmp_path / "result.xlsx"
    path.write_bytes(start_of_file + bytes(600))
    with pytest.raises(BadFile, match=message):
        _read(path)
