"""Writes exam papers for models, with a folder for each harness format and reproducible bytes."""

import base64
import csv
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from study.bank.guessing import ids_reveal_answers
from study.base.actor import Acting
from study.base.bank_model import LETTERS
from study.exchange.bundle import ZIP_DATE, checksum_lines, sha256_of_file, write_in_place
from study.models.model_protocol import ModelProtocol, Order, Shown, template_of
from study.models.paper import Paper, PaperFilm, PaperItem, Prompt, paper_ids, prompt_of
from study.store import Store, banks
from study.trail.trails import record_export

IMAGES, SIXTEEN_BIT = "images", "images-16-bit"
BATCH_BYTES, BATCH_REQUESTS = 190_000_000, 50_000
"""Limits of a provider's batch file: 200 MB (with a margin), and the number of requests."""

_ROW_GROUP_SIZE = 50
_CONTEXT_KEYS = {"Sex": "Gender"}
_PANDAS_EMPTY_STRINGS = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
        *("1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)
"""Strings that pandas reads as an empty cell, from the documentation of `read_csv`."""

WITH_IMAGES = frozenset({"leaderboard", "inspect", "jsonl"})
"""The formats that refer to images as files in their folder."""

WITH_SIXTEEN_BIT = frozenset({"leaderboard", "jsonl"})
"""The formats that also refer to 16-bit versions of the images."""

_STRING_FEATURE = {"dtype": "string", "_type": "Value"}
_TASK_TEMPLATE = '''"""An exam paper for Inspect AI: inspect eval task.py --model PROVIDER/MODEL."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate

SAMPLES = Path(__file__).resolve().parent / "samples.jsonl"


@task
def reading_room() -> Task:
    """Ask every item; answers are scored when the log is submitted."""
    return Task(
        dataset=json_dataset(str(SAMPLES)),
        solver=generate(),
        epochs={runs},
        config=GenerateConfig(temperature={temperature}, max_tokens={max_tokens}),
    )
'''

OnRendered = Callable[[int, int], None]

MODEL = "MODEL"
"""The placeholder in formats that require a model's name, if none was given."""

_README_HEADERS = {
    "datasets": "---\nconfigs:\n- config_name: default\n  data_files:\n"
    "  - split: test\n    path: data/test.parquet\n---\n\n"
}
_USAGE_NOTES = {
    "leaderboard": "`input.json` is the leaderboard's input, and this folder its image root.",
    "vlmevalkit": "Put `ReadingRoom.tsv` into `LMUData` and run with `--data ReadingRoom "
    "--mode infer`. An option that pandas would read as an empty cell (`None`, `NA`) ends with a "
    "full stop.",
    "datasets": '`load_dataset("path/to/this/folder", split="test")`.',
    "openai-batch": "Submit each `batch-*.jsonl`. Answers are returned by `custom_id`.",
    "inspect": "`inspect eval task.py --model PROVIDER/MODEL`. Submit the log.",
    "jsonl": "`items.jsonl` has one item per line; image paths are relative to this folder.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedFilms:
    """The rendered films of a paper: their folder and names, and which have a 16-bit version."""

    folder: Path
    names: Mapping[str, str]
    sixteen_bit: frozenset[str]

    def image(self, film: PaperFilm) -> str:
        """Return the path of a film within a paper."""
        return f"{IMAGES}/{self.names[film.sha256]}"

    def original(self, film: PaperFilm) -> str:
        """Return the path of a film's 16-bit version; empty if it has only 8 bits."""
        name = self.names[film.sha256]
        return f"{SIXTEEN_BIT}/{name}" if name in self.sixteen_bit else ""

    def png(self, film: PaperFilm) -> bytes:
        """Return the bytes of a film."""
        return (self.folder / self.image(film)).read_bytes()

    def base64(self, film: PaperFilm) -> str:
        """Return the bytes of a film in Base64."""
        return base64.b64encode(self.png(film)).decode("ascii")


def leaderboard(paper: Paper, films: RenderedFilms, folder: Path, model: str) -> None:
    """Write `input.json`, the leaderboard's input by ID; image paths are relative to the folder."""
    with (folder / "input.json").open("w", encoding="utf-8", newline="\n") as file:
        file.write("{")
        for item in paper.items:
            context = "".join(
                f"{_CONTEXT_KEYS.get(key, key)}:{words}." for key, words in _context_facts(item)
            )
            record = {
                "question": item.question,
                "options": [f"{letter}. {text}" for letter, text in _options_by_letter(item)],
                "image_path": [films.image(film) for film in item.films],
                "image_path_16_bit": [films.original(film) for film in item.films],
                "frontal_lateral": [film.name for film in item.films],
                "context": f"<context>{context}</context>",
                "shown_order": item.shown_order,
            }
            comma = "" if item.number == 1 else ","
            file.write(f"{comma}\n{_json(item.item_id)}: {_json(record)}")
        file.write("\n}\n")


def vlmevalkit(paper: Paper, films: RenderedFilms, folder: Path, model: str) -> None:
    """Write `ReadingRoom.tsv`, a custom multiple-choice set with images and without answers.

    An item with the same images as an earlier item refers to its index, as VLMEvalKit permits.
    """
    n_options = max(len(item.options) for item in paper.items)
    has_images = any(item.films for item in paper.items)
    columns = ["index", "item_id", "shown_order", "hint", "question", *LETTERS[:n_options]]
    first: dict[tuple[str, ...], int] = {}
    with (folder / "ReadingRoom.tsv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, dialect="excel-tab", lineterminator="\n")
        table.writerow([*columns, "image"] if has_images else columns)
        for item in paper.items:
            hint = ". ".join(f"{key}: {words}" for key, words in _context_facts(item))
            texts = [_pandas_safe(text) for text in item.options]
            row = [item.number, item.item_id, item.shown_order, hint, item.question, *texts]
            row += [""] * (len(columns) - len(row))
            if has_images:
                film_hashes = tuple(film.sha256 for film in item.films)
                images = [] if film_hashes in first else [films.base64(film) for film in item.films]
                row.append(_image_cell(images) if images else first[film_hashes])
                first.setdefault(film_hashes, item.number)
            table.writerow(row)


def openai_batch(paper: Paper, films: RenderedFilms, folder: Path, model: str) -> None:
    """Write requests to `/v1/chat/completions` within the limits, as `batch-001.jsonl`, ...."""
    model_protocol = paper.asked
    settings = {
        "temperature": model_protocol.temperature,
        "max_completion_tokens": model_protocol.max_tokens,
        "seed": model_protocol.seeds[0] if model_protocol.seeds else None,
    }
    body = {"model": model, **{key: value for key, value in settings.items() if value is not None}}
    part, n_bytes, n_requests = 0, BATCH_BYTES, 0
    for line in _batch_requests(paper, films, body):
        if n_bytes + len(line) > BATCH_BYTES or n_requests == BATCH_REQUESTS:
            part, n_bytes, n_requests = part + 1, 0, 0
        with (folder / f"batch-{part:03}.jsonl").open("ab") as file:
            file.write(line)
        n_bytes, n_requests = n_bytes + len(line), n_requests + 1


def inspect(paper: Paper, films: RenderedFilms, folder: Path, model: str) -> None:
    """Write `task.py` and `samples.jsonl`, a task for Inspect AI without a scorer."""
    (folder / "task.py").write_text(_task_text(paper.asked), encoding="utf-8")
    with (folder / "samples.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for item in paper.items:
            images = [{"type": "image", "image": films.image(film)} for film in item.films]
            sample = {
                "id": item.item_id,
                "input": _messages(prompt_of(item, paper.asked), images),
                "target": "",
                "metadata": {
                    "shown_order": item.shown_order,
                    "condition": str(paper.asked.condition),
                },
            }
            file.write(_json(sample) + "\n")


def _task_text(model_protocol: ModelProtocol) -> str:
    return _TASK_TEMPLATE.format(
        runs=model_protocol.runs,
        temperature=model_protocol.temperature,
        max_tokens=model_protocol.max_tokens,
    )


def jsonl(paper: Paper, films: RenderedFilms, folder: Path, model: str) -> None:
    """Write `items.jsonl`, with all facts about an item on each line."""
    with (folder / "items.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for item in paper.items:
            file.write(_json(_item_record(paper, item, films)) + "\n")


def datasets(paper: Paper, films: RenderedFilms, folder: Path, model: str) -> None:
    """Write `data/test.parquet`, a data set for Hugging Face `datasets`, with the images."""
    import pyarrow  # takes 0.1 s to import, and is rarely needed
    from pyarrow import parquet

    text = pyarrow.string()
    image = pyarrow.struct([("bytes", pyarrow.binary()), ("path", text)])
    types = {
        "item_id": text,
        "question": text,
        "options": pyarrow.list_(text),
        "shown_order": text,
        "context": pyarrow.list_(text),
        "condition": text,
        "system": text,
        "prompt": text,
        "views": pyarrow.list_(text),
        "images": pyarrow.list_(image),
    }
    features = {name: [_STRING_FEATURE] if pyarrow.types.is_list(kind) else _STRING_FEATURE
            for name, kind in types.items()} | {"images": [{"_type": "Image"}]}  # fmt: skip
    schema = pyarrow.schema(
        list(types.items()), metadata={"huggingface": json.dumps({"info": {"features": features}})}
    )
    (folder / "data").mkdir()
    waiting = iter(paper.items)
    with parquet.ParquetWriter(folder / "data" / "test.parquet", schema) as writer:
        while items := list(islice(waiting, _ROW_GROUP_SIZE)):
            rows = [_row(paper, item, films) for item in items]
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


Write = Callable[[Paper, RenderedFilms, Path, str], None]
FORMATS: Mapping[str, Write] = {
    "leaderboard": leaderboard,
    "vlmevalkit": vlmevalkit,
    "datasets": datasets,
    "openai-batch": openai_batch,
    "inspect": inspect,
    "jsonl": jsonl,
}
"""The writers of all formats by name; some formats require a model's name."""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _options_by_letter(item: PaperItem) -> Iterator[tuple[str, str]]:
    return zip(LETTERS, item.options, strict=False)


def _context_facts(item: PaperItem) -> Iterator[tuple[str, str]]:
    """Yield the patient's context and the list of prior images, for formats without a prompt."""
    yield from item.context
    prior = [f"{n} ({film.name})" for n, film in enumerate(item.films, start=1) if film.prior]
    if prior:
        yield "Prior images", "; ".join(prior)


def _pandas_safe(text: str) -> str:
    """Add a full stop to text such as `None`, which pandas would read as an empty cell."""
    return f"{text}." if text in _PANDAS_EMPTY_STRINGS else text


def _image_cell(images: Sequence[str]) -> str:
    return images[0] if len(images) == 1 else str(list(images))


def _messages(prompt: Prompt, images: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    user_message = {"role": "user", "content": [*images, {"type": "text", "text": prompt.text}]}
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return [*system, user_message]


def _batch_requests(paper: Paper, films: RenderedFilms, body: Mapping[str, Any]) -> Iterator[bytes]:
    for item in paper.items:
        images = [
            {
                "type": "image_url",
                "image_url": {"url": f"data:image/png;base64,{films.base64(film)}"},
            }
            for film in item.films
        ]
        request = {
            "custom_id": item.item_id,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {**body, "messages": _messages(prompt_of(item, paper.asked), images)},
        }
        yield _json(request).encode() + b"\n"


def _item_record(paper: Paper, item: PaperItem, films: RenderedFilms) -> dict[str, Any]:
    prompt = prompt_of(item, paper.asked)
    return {
        "item_id": item.item_id,
        "question": item.question,
        "options": dict(_options_by_letter(item)),
        "shown_order": item.shown_order,
        "context": dict(item.context),
        "condition": str(paper.asked.condition),
        "system": prompt.system,
        "prompt": prompt.text,
        "views": [film.name for film in item.films],
        "images": [films.image(film) for film in item.films],
        "images_16_bit": [films.original(film) for film in item.films],
    }


def _row(paper: Paper, item: PaperItem, films: RenderedFilms) -> dict[str, Any]:
    images = [{"bytes": films.png(film), "path": films.names[film.sha256]} for film in item.films]
    return {
        **_item_record(paper, item, films),
        "options": list(item.options),
        "context": [f"{key}: {words}" for key, words in item.context],
        "images": images,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperForm:
    """How a paper is written.

    Attributes
    ----------
    formats
        Names in `FORMATS`; each is written to a separate, complete folder.
    model
        The name of the model in batch files.
    bank_ids
        Whether to use the bank's IDs and not those of `study.models.paper.paper_ids`; by default,
        the bank's IDs are used unless they reveal answers.
    """

    formats: Sequence[str] = tuple(FORMATS)
    model: str = MODEL
    bank_ids: bool | None = None


USUAL_FORM = PaperForm()


def export_paper(
    store: Store,
    paper: Paper,
    out: Path,
    *,
    form: PaperForm = USUAL_FORM,
    acting: Acting,
    progress: OnRendered = lambda n_done, total: None,
) -> bool:
    """Write a paper to a new folder, or a ZIP file if `out` ends in ``.zip``, and record it.

    Return whether items are identified by the bank's IDs.

    Parameters
    ----------
    progress
        Function called after each image with the number of rendered images and the total.

    Raises
    ------
    BadFile
        `out` already exists, or it cannot be written; no partial export remains.
    StudyError
        An image cannot be read, or has changed since its import.
    """
    formats, bank_ids = form.formats, form.bank_ids
    if bank_ids is None:
        with store.look() as look:
            bank_ids = not ids_reveal_answers(
                banks.Questions(look, banks.bank_row(look, paper.bank).id)
            )
    paper_written = paper if bank_ids else _with_paper_ids(store, paper)
    metadata = {**_metadata(paper_written), "paper_sha256": paper.sha256}
    as_zip = out.suffix == ".zip"
    with write_in_place(out, as_zip=as_zip) as place:
        paper_folder = place.with_name("paper") if as_zip else place
        paper_folder.mkdir()
        with tempfile.TemporaryDirectory(dir=paper_folder.parent) as scratch:
            films = _render_films(paper, formats, Path(scratch), progress)
            for name in dict.fromkeys(formats):
                _write_format(paper_written, metadata, films, paper_folder / name, name, form.model)
        record_export(
            store,
            study=paper.study,
            file="exam paper",
            acting=acting,
            bank=paper.bank,
            formats=sorted(set(formats)),
            n_items=len(paper.items),
            paper_sha256=paper.sha256,
        )
        if as_zip:
            _zip(paper_folder, place)
    return bank_ids


def _zip(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in _file_names(folder):
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.external_attr = 0o644 << 16
            is_compressed = name.endswith((".png", ".parquet"))
            info.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
            with (folder / name).open("rb") as source, archive.open(info, "w") as target:
                while part := source.read(1 << 20):
                    target.write(part)


def _file_names(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def _render_films(
    paper: Paper, formats: Sequence[str], folder: Path, progress: OnRendered
) -> RenderedFilms:
    """Render each film once; films are numbered in the order of their first use."""
    films: dict[str, PaperFilm] = {}
    for item in paper.items:
        for film in item.films:
            films.setdefault(film.sha256, film)
    for name in (IMAGES, SIXTEEN_BIT):
        (folder / name).mkdir()
    with_sixteen_bit = not WITH_SIXTEEN_BIT.isdisjoint(formats)
    names, sixteen_bit = {}, set()
    for number, (sha256, film) in enumerate(films.items(), start=1):
        names[sha256] = name = f"{number:06}.png"
        (folder / IMAGES / name).write_bytes(film.png(paper.asked.resolution))
        original = film.sixteen_bit() if with_sixteen_bit else None
        if original is not None:
            (folder / SIXTEEN_BIT / name).write_bytes(original)
            sixteen_bit.add(name)
        progress(number, len(films))
    return RenderedFilms(folder=folder, names=names, sixteen_bit=frozenset(sixteen_bit))


def _with_paper_ids(store: Store, paper: Paper) -> Paper:
    with store.look() as look:
        ids = paper_ids(look, (item.item_id for item in paper.items))
    return replace(
        paper, items=tuple(replace(item, item_id=ids[item.item_id]) for item in paper.items)
    )


def _write_format(
    paper: Paper,
    metadata: dict[str, Any],
    films: RenderedFilms,
    folder: Path,
    name: str,
    model: str,
) -> None:
    folder.mkdir()
    FORMATS[name](paper, films, folder, model)
    if name in WITH_IMAGES:
        _link_images(films.folder / IMAGES, folder / IMAGES)
    if name in WITH_SIXTEEN_BIT and films.sixteen_bit:
        _link_images(films.folder / SIXTEEN_BIT, folder / SIXTEEN_BIT)
    text = json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
    (folder / "paper.json").write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(_readme(paper, name), encoding="utf-8")
    sums = checksum_lines(
        {file_name: sha256_of_file(folder / file_name) for file_name in _file_names(folder)}
    )
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")


def _link_images(source: Path, target: Path) -> None:
    """Link the images into another folder without copying them, if possible."""
    target.mkdir()
    for path in sorted(source.iterdir()):
        try:
            os.link(path, target / path.name)
        except OSError:  # the file system does not support links
            shutil.copyfile(path, target / path.name)


def _metadata(paper: Paper) -> dict[str, Any]:
    return {
        "study": paper.study,
        "bank": paper.bank,
        "split": paper.split,
        "provenance": paper.provenance.as_dict(),
        "terms": paper.provenance.warning,
        "simulated_images": paper.simulated,
        "protocol_sha256": paper.protocol_sha256,
        "model_protocol": paper.asked.as_json(),
        "model_protocol_sha256": paper.asked.sha256,
        "prompt": template_of(paper.asked).printed(paper.asked),
        "items": [
            {"index": item.number, "item_id": item.item_id, "shown_order": item.shown_order}
            for item in paper.items
        ],
    }


def _readme(paper: Paper, name: str) -> str:
    model_protocol, source = paper.asked, paper.provenance
    what = f"study “{paper.study}”" if paper.study else f"bank “{paper.bank}”"
    terms = [
        f"- {key.replace('_', ' ')}: {words}"
        for key, words in (source.as_dict() or {"licence": "not stated"}).items()
    ]
    letters = (
        "There are no options; answers are free text."
        if model_protocol.condition == Shown.OPEN_ENDED
        else "Letters are those of the bank's own order of options."
        if model_protocol.order == Order.CANONICAL
        else "Options were shuffled; letters are those shown, and `paper.json` maps them back."
    )
    open_ended = model_protocol.condition == Shown.OPEN_ENDED
    options = "no options" if open_ended else f"options in {model_protocol.order} order"
    return "\n".join(
        (
            f"{_README_HEADERS.get(name, '')}# Exam paper: {what}\n",
            f"{len(paper.items)} items, condition {model_protocol.condition}, {options}, images at "
            f"{model_protocol.resolution} resolution. The paper contains no reference standard.\n",
            f"{_USAGE_NOTES[name]}\n",
            f"{letters} Submit answers by `item_id`, together with `paper.json`:\n",
            "    python -m study models add FILE paper.json --db DB --study NAME --model NAME\n",
            "`paper.json` describes how the paper was made, with its hashes; `SHA256SUMS` has the "
            "hash of each file.\n",
            f"Question bank {paper.bank}:\n",
            *terms,
            *(("", source.warning) if source.warning else ()),
            *(("", "Its images are simulated.") if paper.simulated else ()),
            "",
        )
    )
