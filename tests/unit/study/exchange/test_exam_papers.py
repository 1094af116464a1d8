"""Exam papers can be read by the intended libraries, and do not contain correct answers."""

import base64
import filecmp
import hashlib
import io
import json
import os
import random
import string
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pyarrow import parquet

from study.bank.importing import import_bank
from study.base.errors import BadFile
from study.base.provenance import Provenance
from study.cli import main
from study.exchange import exam_papers as shapes
from study.exchange.exam_papers import FORMATS, PaperForm, export_paper
from study.films import grey_levels
from study.lifecycle import studies
from study.models.model_protocol import ModelProtocol, Order, Shown
from study.models.models import read_model
from study.models.paper import Paper, paper_of_bank, paper_of_study, render_film
from study.protocol.protocol import Protocol
from study.reading.records import shown_letter
from study.store import Store, events
from tests import templates
from tests.conftest import ACTING, NOW, SECRETS, bank_records, write_bank

MODEL_PROTOCOL = ModelProtocol()
Opened = Callable[..., Store]


@pytest.fixture
def paper(opened: Opened) -> Paper:
    """Return the paper of a study of eight cases."""
    return paper_of_study(opened(option_order="random"), "trial", MODEL_PROTOCOL)


def _write_paper(
    store: Store, paper: Paper, out: Path, *formats: str, bank_ids: bool | None = None
) -> Path:
    form = PaperForm(formats=formats or tuple(FORMATS), bank_ids=bank_ids)
    export_paper(store, paper, out, form=form, acting=ACTING)
    return out


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_each_format_is_complete(banked: Store, paper: Paper, tmp_path: Path) -> None:
    """The checksums cover every file, and hashes equal those of the paper."""
    out = _write_paper(banked, paper, tmp_path / "out")
    assert {path.name for path in out.iterdir()} == set(FORMATS)
    for folder in out.iterdir():
        lines = (folder / "SHA256SUMS").read_text().splitlines()
        sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        assert sorted([*sums, "SHA256SUMS"]) == _files(folder)
        for name, digest in sums.items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        metadata = json.loads((folder / "paper.json").read_text())
        assert metadata["paper_sha256"] == paper.sha256
        assert metadata["model_protocol_sha256"] == MODEL_PROTOCOL.sha256
        assert "{question}" in metadata["prompt"]
        assert "licence: not stated" in (folder / "README.md").read_text()
        assert "simulated" not in (folder / "README.md").read_text()


def test_the_readme_states_the_licence_and_that_images_are_simulated(
    banked: Store, paper: Paper, tmp_path: Path
) -> None:
    """The licence is exported with the questions."""
    source = Provenance(version="1.0", licence="CC BY-NC 4.0", citation="Example et al., 2025")
    paper = replace(paper, provenance=source, simulated=True)
    out = _write_paper(banked, paper, tmp_path / "out", "jsonl") / "jsonl"
    text = (out / "README.md").read_text()
    for words in (
        "CC BY-NC 4.0",
        "Example et al., 2025",
        source.warning,
        "Its images are simulated.",
    ):
        assert words in text
    assert json.loads((out / "paper.json").read_text())["terms"] == source.warning


def test_the_leaderboard_file_can_be_imported_as_a_bank(
    banked: Store, paper: Paper, tmp_path: Path
) -> None:
    """The bank has no reference standard."""
    out = _write_paper(banked, paper, tmp_path / "out", "leaderboard") / "leaderboard"
    result = import_bank(banked, out / "input.json", name="again", images=out, acting=ACTING)
    assert (result.n_items, result.n_left_out) == (8, 0)
    imported = {item.item_id: item for item in paper_of_bank(banked, "again", MODEL_PROTOCOL).items}
    for item in paper.items:
        imported_item = imported[item.item_id]
        assert (imported_item.question, imported_item.options, imported_item.context) == (
            item.question,
            item.options,
            item.context,
        )
        assert [film.label for film in imported_item.films] == [film.label for film in item.films]
    with banked.look() as look:
        assert not look.rows(
            "SELECT 1 FROM reference_standard JOIN items ON items.id = item "
            "JOIN banks ON banks.id = bank WHERE banks.name = 'again'"
        )


def test_pandas_reads_the_tsv_as_vlmevalkit_does(
    banked: Store, paper: Paper, tmp_path: Path
) -> None:
    """Each row has images in its cell, or the index of a row with images; no cell is empty."""
    few = paper.items[0].options[1:]
    first = replace(paper.items[0], options=("None", *few), question='A "quoted"\nquestion\t?')
    paper = replace(paper, items=(first, *paper.items[1:]))
    out = _write_paper(banked, paper, tmp_path / "out", "vlmevalkit") / "vlmevalkit"
    table = pd.read_csv(out / "ReadingRoom.tsv", sep="\t")
    assert list(table.item_id) == [item.item_id for item in paper.items]
    assert table.question[0] == first.question
    assert table.A[0] == "None."
    assert not table.isna().to_numpy().any()
    assert "answer" not in table
    cells = {str(index): str(cell) for index, cell in zip(table["index"], table.image, strict=True)}
    cells = {index: cells[cell] if len(cell) <= 64 else cell for index, cell in cells.items()}
    for item, cell in zip(paper.items, cells.values(), strict=True):
        images = json.loads(cell.replace("'", '"'))
        for film, image in zip(item.films, images, strict=True):
            assert base64.b64decode(image) == film.png()


def test_the_parquet_file_contains_the_images(banked: Store, paper: Paper, tmp_path: Path) -> None:
    """The file has the format and metadata of Hugging Face datasets."""
    out = _write_paper(banked, paper, tmp_path / "out", "datasets") / "datasets"
    table = parquet.read_table(out / "data" / "test.parquet")
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert set(features) == set(table.column_names)
    rows = table.to_pylist()
    assert [row["item_id"] for row in rows] == [item.item_id for item in paper.items]
    assert rows[0]["options"] == list(paper.items[0].options)
    image = Image.open(io.BytesIO(rows[0]["images"][0]["bytes"]))
    assert image.mode == "L"
    assert (out / "README.md").read_text().startswith("---\nconfigs:")


def test_hugging_face_datasets_loads_the_paper(banked: Store, paper: Paper, tmp_path: Path) -> None:
    """Skipped if the library is not installed."""
    datasets = pytest.importorskip("datasets", reason="Hugging Face datasets is not installed")
    out = _write_paper(banked, paper, tmp_path / "out", "datasets") / "datasets"
    loaded = datasets.load_dataset(str(out), split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded[0]["images"][1].size == (80, 96)
    assert loaded["item_id"][:] == [item.item_id for item in paper.items]


def test_inspect_loads_the_paper(banked: Store, paper: Paper, tmp_path: Path) -> None:
    """Skipped if the library is not installed."""
    dataset = pytest.importorskip("inspect_ai.dataset", reason="Inspect AI is not installed")
    out = _write_paper(banked, paper, tmp_path / "out", "inspect") / "inspect"
    samples = list(dataset.json_dataset(str(out / "samples.jsonl")))
    assert [sample.id for sample in samples] == [item.item_id for item in paper.items]
    content = samples[0].input[-1].content
    assert Path(content[0].image).is_file()
    assert content[-1].text.startswith("Images, in order: 1: PA, 2: LATERAL.")


def test_the_files_of_an_inspect_task_exist(banked: Store, paper: Paper, tmp_path: Path) -> None:
    """The code of the task can be compiled."""
    out = _write_paper(banked, paper, tmp_path / "out", "inspect") / "inspect"
    compile((out / "task.py").read_text(), "task.py", "exec")
    for line in (out / "samples.jsonl").read_text().splitlines():
        sample = json.loads(line)
        assert sample["target"] == ""
        images = [part["image"] for part in sample["input"][-1]["content"][:-1]]
        assert len(images) == 2
        assert all((out / image).is_file() for image in images)


def test_a_batch_contains_complete_requests(
    banked: Store, paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is an item with its images; if a file is full, another file follows."""
    monkeypatch.setattr(shapes, "BATCH_REQUESTS", 5)
    out = tmp_path / "out"
    form = PaperForm(formats=["openai-batch"], model="gpt", bank_ids=True)
    export_paper(banked, paper, out, form=form, acting=ACTING)
    parts = sorted((out / "openai-batch").glob("*.jsonl"))
    assert [part.name for part in parts] == ["batch-001.jsonl", "batch-002.jsonl"]
    lines = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
    assert [line["custom_id"] for line in lines] == [item.item_id for item in paper.items]
    body = lines[0]["body"]
    assert (lines[0]["url"], body["model"]) == ("/v1/chat/completions", "gpt")
    requests = json.loads((out / "openai-batch" / "paper.json").read_text())["model_protocol"]
    for line in lines:
        sent = line["body"]["temperature"], line["body"]["max_completion_tokens"]
        assert sent == (requests["temperature"], requests["max_tokens"]) == (0.0, 1024)
    image = body["messages"][1]["content"][0]["image_url"]["url"]
    assert base64.b64decode(image.removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")


@pytest.mark.parametrize("bank_ids", [True, False])
def test_answers_in_every_format_can_be_imported(
    banked: Store, paper: Paper, tmp_path: Path, bank_ids: bool
) -> None:
    """Letters of shuffled options are converted to those of the bank; a batch needs the paper."""
    paper = paper_of_study(banked, "trial", replace(MODEL_PROTOCOL, order=Order.SHUFFLED))
    expected = {item.item_id: "ABCD"[item.number % 4] for item in paper.items}
    out = _write_paper(banked, paper, tmp_path / "out", bank_ids=bank_ids)
    paper_items = json.loads((out / "jsonl" / "paper.json").read_text())["items"]
    ids = {item.item_id: row["item_id"] for item, row in zip(paper.items, paper_items, strict=True)}
    assert (ids == {item_id: item_id for item_id in ids}) is bank_ids
    sent = {
        ids[item.item_id]: shown_letter(expected[item.item_id], item.shown_order)
        for item in paper.items
    }
    assert list(sent.values()) != list(expected.values())
    records = json.loads((out / "leaderboard" / "input.json").read_text())
    submitted = {key: {**record, "model_prediction": sent[key]} for key, record in records.items()}
    table = pd.read_csv(out / "vlmevalkit" / "ReadingRoom.tsv", sep="\t").drop(columns="image")
    table["prediction"] = [sent[item_id] for item_id in table.item_id]
    lines = (out / "jsonl" / "items.jsonl").read_text().splitlines()
    items = [json.loads(line) for line in lines]
    batch = [
        {
            "custom_id": key,
            "response": {"body": {"choices": [{"message": {"content": f"Answer: {letter}"}}]}},
        }
        for key, letter in sent.items()
    ]
    (tmp_path / "submission.json").write_text(json.dumps(submitted))
    table.to_csv(tmp_path / "result.tsv", sep="\t", index=False)
    for name, rows in (
        ("items.jsonl", [{**record, "output": sent[record["item_id"]]} for record in items]),
        ("batch.jsonl", batch),
    ):
        (tmp_path / name).write_text("\n".join(json.dumps(row) for row in rows))
    for name in ("submission.json", "result.tsv", "items.jsonl", "batch.jsonl"):
        paper_file = out / "jsonl" / "paper.json"
        model = read_model(banked, tmp_path / name, paper_file, study="trial")
        assert {record.item_id: record.answer for record in model.file.predictions} == expected, (
            name
        )


def test_images_of_16_bits_are_exported_with_those_of_8_bits(
    banked: Store, paper: Paper, tmp_path: Path
) -> None:
    """The lateral films have 8 bits, and samples equal those in the bank's files."""
    out = _write_paper(banked, paper, tmp_path / "out", "jsonl") / "jsonl"
    for line, item in zip((out / "items.jsonl").read_text().splitlines(), paper.items, strict=True):
        record = json.loads(line)
        first, second = record["images_16_bit"]
        assert second == ""
        pixels = grey_levels((out / first).read_bytes())
        assert np.array_equal(pixels, grey_levels(item.films[0].row.file.read_bytes()))
        assert grey_levels((out / record["images"][0]).read_bytes()).dtype == np.uint8


def test_a_paper_without_images_contains_no_image(
    banked: Store, paper: Paper, tmp_path: Path
) -> None:
    """Under the condition image-absent, no format has an image file, image cell or image bytes."""
    absent = paper_of_study(banked, "trial", replace(MODEL_PROTOCOL, condition=Shown.IMAGE_ABSENT))
    out = _write_paper(banked, absent, tmp_path / "out")
    assert not [name for name in _files(out) if name.endswith(".png")]
    assert "image" not in pd.read_csv(out / "vlmevalkit" / "ReadingRoom.tsv", sep="\t")
    for path in out.rglob("*"):
        assert path.is_dir() or b"PNG" not in path.read_bytes()


def _store_with_truth(folder: Path, seed: int, truth: Callable[[int], str]) -> Store:
    """Return a store with a study whose bank reveals the truth in several fields."""
    store = Store(templates.copy(folder, _empty_store))
    path = write_bank(folder / "bank")
    records = bank_records(12)
    for number, record in enumerate(records.values()):
        words = f"the answer is {truth(number)}, drawn with {seed}"
        record |= {
            "correct_answer": truth(number),
            "correct_answer_explanation": words,
            "Findings": words,
            "Impression": words * (seed + 1),
            "validation_code": str(seed),
            "class": truth(number),
            "category": truth(number),
            "subcategory": words,
            "task_name": truth(number),
        }
    path.write_text(json.dumps(records))
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    protocol = Protocol(cases=8, one_question_per="item", stratify_by=())
    studies.draw(store, bank="bank", study="trial", protocol=protocol, acting=ACTING)
    return store


def _empty_store(folder: Path) -> None:
    from study.lifecycle.deployments import init
    from tests.conftest import entropy_from

    init(folder / "store.db", entropy=entropy_from(1), now=NOW)


@pytest.mark.parametrize("order", Order)
def test_a_paper_does_not_depend_on_the_correct_answers(tmp_path: Path, order: Order) -> None:
    """Banks with other answers, reports, explanations and attributes give identical files."""
    outs = []
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        answers = random.Random(seed).choices("ABCD", k=24)
        store = _store_with_truth(folder, seed, answers.__getitem__)
        paper = paper_of_study(store, "trial", replace(MODEL_PROTOCOL, order=order))
        outs.append(_write_paper(store, paper, folder / "out"))
    names = _files(outs[0])
    assert names == _files(outs[1])
    assert filecmp.cmpfiles(outs[0], outs[1], names, shallow=False) == (names, [], [])


def test_names_of_files_reveal_no_patient_path_or_secret(
    banked: Store, paper: Paper, tmp_path: Path
) -> None:
    """Images are numbered; no file name or content has a patient, path or secret."""
    out = _write_paper(banked, paper, tmp_path / "out")
    films = [Path(name) for name in _files(out) if name.endswith(".png")]
    assert {film.stem.strip(string.digits) for film in films} == {""}
    content = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    for words in (*SECRETS, "_pa.png", "_lat.png", "Presence Assessment", "Category ", '"P1"'):
        assert words.encode() not in content


REVEALING_WORD = "truthful"
"""A word in every text of a bank, with the correct letter."""


def _store_that_reveals_truth(folder: Path) -> Store:
    """Return a store with a study of a bank in which everything but the pixels reveals the truth.

    IDs, the order of items, paths, text and EXIF data in images, file sizes and dates reveal it.
    """
    store = Store(templates.copy(folder, _empty_store))
    path = write_bank(folder / "bank")
    truths = random.Random(3).choices("ABCD", k=12)
    records: dict[str, Any] = {}
    for number, record in enumerate(list(bank_records(12).values())[:12]):
        truth = truths[number]
        names = []
        for view, image in enumerate(record["ImagePath"]):
            source = Image.open(path.parent / image)
            metadata, exif = PngInfo(), Image.Exif()
            metadata.add_text("Comment", f"{REVEALING_WORD} {truth}" + "x" * 997 * ord(truth))
            exif[0x010E] = f"{REVEALING_WORD} {truth}"
            name = f"{REVEALING_WORD}-{truth}/{number}-{view}.png"
            (path.parent / name).parent.mkdir(exist_ok=True)
            level = "ABCD".index(truth)
            source.save(path.parent / name, pnginfo=metadata, exif=exif, compress_level=level)
            os.utime(path.parent / name, (ord(truth) * 10**7,) * 2)
            names.append(name)
        attributes = {
            "site": truth,
            "StudyDate": f"2020010{level}",
            "note": f"{REVEALING_WORD} {truth}",
        }
        key = f"{truth}-{REVEALING_WORD}-{number:02}"
        records[key] = record | attributes | {"correct_answer": truth, "ImagePath": names}
    path.write_text(json.dumps(dict(sorted(records.items()))))
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    protocol = Protocol(cases=12, one_question_per="item", stratify_by=())
    studies.draw(store, bank="bank", study="trial", protocol=protocol, acting=ACTING)
    return store


def test_the_paper_of_a_bank_that_reveals_answers_does_not_reveal_them(
    tmp_path: Path,
) -> None:
    """The text, order, dates and sizes in the paper do not depend on the truth."""
    store = _store_that_reveals_truth(tmp_path)
    paper = paper_of_study(store, "trial", MODEL_PROTOCOL)
    truth = {item.item_id: item.item_id[0] for item in paper.items}
    outs = [_write_paper(store, paper, tmp_path / out) for out in ("out", "again")]
    out = outs[0]
    for path in out.rglob("*"):
        assert path.is_dir() or REVEALING_WORD.encode() not in path.read_bytes(), path
        assert REVEALING_WORD not in path.name
    rows = parquet.read_table(out / "datasets" / "data" / "test.parquet").to_pylist()
    assert len({row["item_id"] for row in rows}) == 12
    # The order of the rows is independent of the truth.
    letters = [truth[item.item_id] for item in paper.items]
    assert letters not in (sorted(letters), sorted(letters, reverse=True))
    letters_by_id = [
        letter for _, letter in sorted(zip((r["item_id"] for r in rows), letters, strict=True))
    ]
    assert letters_by_id not in (sorted(letters), sorted(letters, reverse=True))
    assert {row["shown_order"] for row in rows} == {"ABCD"}
    for name in _files(out):
        if name.endswith(".png"):
            png = (out / name).read_bytes()
            kinds = {png[at - 4 : at] for at in _chunks(png)}
            assert kinds == {b"IHDR", b"IDAT", b"IEND"}, name
    for film in {film.sha256: film for item in paper.items for film in item.films}.values():
        plain = io.BytesIO()
        Image.fromarray(grey_levels(film.row.file.read_bytes())).save(plain, "PNG")
        film.row.file.write_bytes(plain.getvalue())  # the pixels are the same, without metadata
        assert render_film(plain.getvalue(), "full") in {
            (out / "jsonl" / name).read_bytes()
            for name in _files(out / "jsonl")
            if "images/" in name
        }


def _chunks(png: bytes) -> Iterator[int]:
    """Yield the position of the content of each chunk of a PNG."""
    at = 8
    while at < len(png):
        yield at + 8
        at += 12 + int.from_bytes(png[at : at + 4], "big")


def test_papers_are_reproducible(banked: Store, paper: Paper, tmp_path: Path) -> None:
    """Zip files are identical too because they have a fixed date."""
    first, second = (_write_paper(banked, paper, tmp_path / f"{name}.zip") for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
        assert archive.testzip() is None


def test_the_trail_records_a_paper_that_was_written_completely(
    banked: Store, paper: Paper, tmp_path: Path
) -> None:
    """The event has the hash of the paper.

    Existing files are kept, and failures are not recorded.
    """
    out = _write_paper(banked, paper, tmp_path / "out", "jsonl")
    with banked.look() as look:
        last = list(events.walk(look, events.DEPLOYMENT))[-1]
    assert (last.kind, last.detail["what"]) == ("downloaded", "exam paper")
    assert last.detail["paper_sha256"] == paper.sha256
    with pytest.raises(BadFile, match="already exists"):
        _write_paper(banked, paper, out, "jsonl")
    paper.items[0].films[0].row.file.write_bytes(b"other")
    with pytest.raises(Exception, match="changed after its import"):
        _write_paper(banked, paper, tmp_path / "new", "jsonl")
    assert [path.name for path in tmp_path.iterdir() if "new" in path.name] == []
    with banked.look() as look:
        assert list(events.walk(look, events.DEPLOYMENT))[-1].number == last.number


def test_a_paper_can_be_written_by_command(
    banked: Store, paper: Paper, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The paper covers a study or a bank, in one or several formats."""
    line = ["models", "paper", "--db", str(banked.path)]
    out = tmp_path / "a"
    two = ["--format", "jsonl", "--format", "leaderboard", "--out", str(out)]
    assert main([*line, "--study", "trial", *two]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["jsonl", "leaderboard"]
    assert f"paper {paper.sha256}" in capsys.readouterr().out
    bank = ["--bank", "bank", "--format", "jsonl", "--order", "shuffled"]
    bank += ["--resolution", "quarter", "--out"]
    assert main([*line, *bank, str(tmp_path / "b")]) == 0
    small = (tmp_path / "b" / "jsonl" / "images" / "000001.png").read_bytes()
    assert grey_levels(small).shape == (24, 20)
    assert main([*line, "--out", str(tmp_path / "c")]) == 2
