"""Writes exam papers for models: a folder for each shape, the same bytes every time, no truth."""

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from study.bank.guessing import ids_tell
from study.base.actor import By
from study.base.errors import BadFile
from study.exchange.bundle import ZIP_DATE
from study.exchange.formats.exam_papers import (
    FORMATS,
    IMAGES,
    SIXTEEN_BIT,
    WITH_IMAGES,
    WITH_SIXTEEN_BIT,
    Rendered,
)
from study.models.model_protocol import Order, Shown
from study.models.paper import Paper, PaperFilm, paper_ids
from study.models.prompting import template_of
from study.store import Store, banks
from study.trail.trails import record_taking

Progress = Callable[[int, int], None]

MODEL = "MODEL"
"""Stands where a shape has to name a model and none was named."""


def hand_out(
    store: Store,
    paper: Paper,
    out: Path,
    *,
    formats: Sequence[str] = tuple(FORMATS),
    model: str = MODEL,
    bank_ids: bool | None = None,
    by: By,
    now: datetime,
    progress: Progress = lambda done, total: None,
) -> bool:
    """Write a paper to a new folder, or to one file where `out` ends in ``.zip``; tell the trail.

    Return whether items go by the bank's ids in it.

    Parameters
    ----------
    formats
        Of `FORMATS`; each is a folder of its own, whole by itself.
    model
        The model that a batch file names.
    bank_ids
        Whether items go by the bank's ids or by those of `study.models.paper.paper_ids`; None: by
        the bank's, unless they tell what is right.
    progress
        Told after each image how many of how many are rendered.

    Raises
    ------
    BadFile
        Something lies at `out` already, or it cannot be written; nothing half-done is left.
    StudyError
        An image cannot be read, or was changed since its import.
    """
    if bank_ids is None:
        with store.look() as look:
            bank_ids = not ids_tell(banks.Questions(look, banks.bank_row(look, paper.bank).id))
    try:
        with _new(out) as made:
            written = paper if bank_ids else _with_own_ids(store, paper)
            about = {**_about(written), "paper_sha256": paper.sha256}
            with tempfile.TemporaryDirectory(dir=made.parent) as scratch:
                films = _rendered(paper, formats, Path(scratch), progress)
                for name in dict.fromkeys(formats):
                    _write(written, about, films, made / name, name, model)
            record_taking(
                store,
                study=paper.study,
                what="exam paper",
                by=by,
                now=now,
                bank=paper.bank,
                formats=sorted(set(formats)),
                n_items=len(paper.items),
                paper_sha256=paper.sha256,
            )
    except OSError as error:
        raise BadFile(f"{out} cannot be written: {error.strerror or error}.") from error
    return bank_ids


@contextmanager
def _new(out: Path) -> Iterator[Path]:
    """Give a folder to fill, and put it in place, zipped or as it is, once that is done."""
    as_zip = out.suffix == ".zip"
    out = Path(os.path.realpath(out))
    if out.exists() and (as_zip or not out.is_dir() or any(out.iterdir())):
        raise BadFile(f"{out} is already there. Name a new folder (or .zip), or empty it.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
        made = Path(scratch) / "paper"
        made.mkdir()
        yield made
        if as_zip:
            _zip(made, Path(scratch) / "paper.zip")
            made = Path(scratch) / "paper.zip"
        elif out.is_dir():
            out.rmdir()
        made.rename(out)


def _zip(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in _files(folder):
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.external_attr = 0o644 << 16
            packs = name.endswith((".png", ".parquet"))
            info.compress_type = zipfile.ZIP_STORED if packs else zipfile.ZIP_DEFLATED
            with (folder / name).open("rb") as source, archive.open(info, "w") as target:
                while part := source.read(1 << 20):
                    target.write(part)


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def _rendered(paper: Paper, formats: Sequence[str], folder: Path, progress: Progress) -> Rendered:
    """Render each film once, named by where in the paper it is first shown."""
    films: dict[str, PaperFilm] = {}
    for item in paper.items:
        for film in item.films:
            films.setdefault(film.sha256, film)
    for name in (IMAGES, SIXTEEN_BIT):
        (folder / name).mkdir()
    wanted = not WITH_SIXTEEN_BIT.isdisjoint(formats)
    names, deep = {}, set()
    for number, (sha256, film) in enumerate(films.items(), start=1):
        names[sha256] = name = f"{number:06}.png"
        (folder / IMAGES / name).write_bytes(film.png(paper.asked.resolution))
        original = film.sixteen_bit() if wanted else None
        if original is not None:
            (folder / SIXTEEN_BIT / name).write_bytes(original)
            deep.add(name)
        progress(number, len(films))
    return Rendered(folder=folder, names=names, sixteen_bit=frozenset(deep))


def _with_own_ids(store: Store, paper: Paper) -> Paper:
    with store.look() as look:
        ids = paper_ids(look, (one.item_id for one in paper.items))
    return replace(
        paper, items=tuple(replace(one, item_id=ids[one.item_id]) for one in paper.items)
    )


def _write(
    paper: Paper, about: dict[str, Any], films: Rendered, folder: Path, name: str, model: str
) -> None:
    folder.mkdir()
    FORMATS[name](paper, films, folder, model)
    if name in WITH_IMAGES:
        _link(films.folder / IMAGES, folder / IMAGES)
    if name in WITH_SIXTEEN_BIT and films.sixteen_bit:
        _link(films.folder / SIXTEEN_BIT, folder / SIXTEEN_BIT)
    told = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
    (folder / "paper.json").write_text(told, encoding="utf-8")
    (folder / "README.md").write_text(_readme(paper, name), encoding="utf-8")
    sums = "".join(f"{_digest(folder / one)}  {one}\n" for one in _files(folder))
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")


def _link(source: Path, target: Path) -> None:
    """Have the same images in another folder without a second copy of them."""
    target.mkdir()
    for path in sorted(source.iterdir()):
        try:
            os.link(path, target / path.name)
        except OSError:  # not every file system can
            shutil.copyfile(path, target / path.name)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _about(paper: Paper) -> dict[str, Any]:
    return {
        "study": paper.study,
        "bank": paper.bank,
        "split": paper.split,
        "provenance": paper.provenance.told(),
        "terms": paper.provenance.warning,
        "simulated_images": paper.simulated,
        "protocol_sha256": paper.protocol_sha256,
        "model_protocol": paper.asked.as_json(),
        "model_protocol_sha256": paper.asked.sha256,
        "prompt": template_of(paper.asked).printed(paper.asked),
        "items": [
            {"index": one.number, "item_id": one.item_id, "shown_order": one.shown_order}
            for one in paper.items
        ],
    }


_HEAD = {
    "datasets": "---\nconfigs:\n- config_name: default\n  data_files:\n"
    "  - split: test\n    path: data/test.parquet\n---\n\n"
}
_USE = {
    "leaderboard": "`input.json` is the leaderboard's input, and this folder its image root.",
    "vlmevalkit": "Put `ReadingRoom.tsv` into `LMUData` and run with `--data ReadingRoom "
    "--mode infer`. An option that pandas would take for an empty cell (`None`, `NA`) has a full "
    "stop behind it.",
    "datasets": '`load_dataset("path/to/this/folder", split="test")`.',
    "openai-batch": "Hand in each `batch-*.jsonl`. Answers come back by `custom_id`.",
    "inspect": "`inspect eval task.py --model PROVIDER/MODEL`. The log is what comes back.",
    "jsonl": "`items.jsonl` has an item a line; its images are named from this folder.",
}


def _readme(paper: Paper, name: str) -> str:
    asked, source = paper.asked, paper.provenance
    what = f"study {paper.study!r}" if paper.study else f"bank {paper.bank!r}"
    terms = [
        f"- {key.replace('_', ' ')}: {words}"
        for key, words in (source.told() or {"licence": "not stated"}).items()
    ]
    letters = (
        "There are no options; what is answered is kept as words."
        if asked.condition == Shown.OPEN_ENDED
        else "Letters are those of the bank's own order of options."
        if asked.order == Order.CANONICAL
        else "Options were shuffled; letters are those shown, and `paper.json` turns them back."
    )
    open_ended = asked.condition == Shown.OPEN_ENDED
    options = "no options" if open_ended else f"options in {asked.order} order"
    return "\n".join(
        (
            f"{_HEAD.get(name, '')}# Exam paper: {what}\n",
            f"{len(paper.items)} items, condition {asked.condition}, {options}, images at "
            f"{asked.resolution} resolution. There is no reference standard in it.\n",
            f"{_USE[name]}\n",
            f"{letters} Answers go back by `item_id`, with `paper.json` beside them:\n",
            "    python -m study models add FILE paper.json --db DB --study NAME --model NAME\n",
            "`paper.json` says how it was made, with its hashes; `SHA256SUMS` has one of each "
            "file.\n",
            f"Question bank {paper.bank}:\n",
            *terms,
            *(("", source.warning) if source.warning else ()),
            *(("", "Its images are simulated.") if paper.simulated else ()),
            "",
        )
    )
