"""Builds exam papers: items as shown to a model, without the reference standard.

Films are rendered to 8 bits in the window with which the reading page opens them; prompts are
templates filled with an item's texts.
"""

import json
import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from study.bank.managing import refuse_without_images
from study.bank.measures import prior_name
from study.bank.terms import view_label
from study.base.bank_model import LETTERS
from study.base.canonical import sha256_of, shuffled
from study.base.errors import NotFound, NotNow
from study.base.provenance import Provenance
from study.base.text import quoted
from study.base.translation import t
from study.films import grey_levels, imported_bytes, initial_window
from study.films.decoding import Grey
from study.models.model_protocol import ModelProtocol, Order, Shown, Template, template_of
from study.protocol.assignment import options_order
from study.protocol.protocol import Condition, Protocol, stored_protocol
from study.store import Store, Transaction, banks, deployment, readings, studies
from study.store.banks import FilmRow
from study.store.readings import ItemShown
from study.store.studies import refuse_restored, study_row

CLIPPED_SHARE = 0.01
"""Share of the samples clipped at each end in a film that specifies no window."""

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_AVERAGE_FILTER = 3  # PNG row filter: each byte minus the mean of the bytes to its left and above


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFilm:
    """A film of an item, with the label of its view, which may be empty.

    `sha256` is the hash of the file in the bank; items that share a film have the same hash. For a
    film of an earlier examination, `prior` states the interval; otherwise it is empty.
    """

    label: str
    sha256: str
    row: FilmRow
    prior: str = ""

    @property
    def name(self) -> str:
        """Return the label and the text for a prior film, or an empty string."""
        return ", ".join(part for part in (self.label, self.prior) if part)

    def png(self, resolution: str | int = "full") -> bytes:
        """Return the film rendered by `study.models.paper.render_film`."""
        return render_film(self._bytes(), resolution)

    def sixteen_bit(self) -> bytes | None:
        """Return a PNG of the samples if they have more than 8 bits, otherwise None."""
        return sixteen_bit_png(self._bytes())

    def _bytes(self) -> bytes:
        return imported_bytes(self.row.file, self.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperItem:
    """An item as shown to a model.

    Attributes
    ----------
    number : int
        Its position in the paper, from 1.
    item_id : str
        The bank's ID, which is not shown to the model.
    question : str
        The question.
    options : tuple of str
        The texts in the order shown, without letters; empty for open-ended questions.
    shown_order : str
        The canonical letters in the order shown: with ``"CAB"``, A shows the text of C
        (`study.reading.records.canonical_letter` returns an answer's canonical letter); empty
        without options.
    context : tuple of (str, str)
        Names and values of the information about the patient.
    films : tuple of PaperFilm
        In order; empty if no image is shown.
    """

    number: int
    item_id: str
    question: str
    options: tuple[str, ...]
    shown_order: str
    context: tuple[tuple[str, str], ...]
    films: tuple[PaperFilm, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """An exam paper: the questions, the protocol and the source, without the reference standard.

    Attributes
    ----------
    study, bank, split : str
        The source; `study` is empty for a bank, `split` for all splits.
    provenance : Provenance
        The bank's provenance.
    simulated : bool
        Whether the bank's images are simulated.
    asked : ModelProtocol
        How the model is asked.
    protocol_sha256 : str
        Hash of the canonical JSON of the study's current protocol; empty for a bank. It differs
        from the study's own hash, which also covers the bank with its reference standard.
    items : tuple of PaperItem
        In a pseudo-random order derived from their IDs.
    """

    study: str
    bank: str
    split: str
    provenance: Provenance
    simulated: bool
    asked: ModelProtocol
    protocol_sha256: str
    items: tuple[PaperItem, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the content that the paper's hash covers."""
        return {
            "study": self.study,
            "bank": self.bank,
            "split": self.split,
            "protocol_sha256": self.protocol_sha256,
            "model_protocol": self.asked.as_json(),
            "items": [
                {
                    "item_id": item.item_id,
                    "question": item.question,
                    "options": list(item.options),
                    "shown_order": item.shown_order,
                    "context": dict(item.context),
                    "films": [
                        [film.label, film.sha256, *([film.prior] if film.prior else [])]
                        for film in item.films
                    ],
                }
                for item in self.items
            ],
        }

    @property
    def sha256(self) -> str:
        """Return the hash of the questions and the protocol."""
        return sha256_of(self.as_json())


def paper_ids(look: Transaction, item_ids: Iterable[str]) -> dict[str, str]:
    """Return the ID of each item in exam papers.

    A bank's IDs may reveal the answer (``q7-effusion-yes``). IDs in papers are keyed hashes: they
    are equal in all papers of a deployment, and cannot be traced to an item without its secret.
    """
    return {
        item_id: f"q{deployment.keyed_mark(look, f'item {item_id}')[:20]}" for item_id in item_ids
    }


def paper_of_study(
    store: Store, study: str, model_protocol: ModelProtocol, *, rater: str = "model", run: int = 1
) -> Paper:
    """Return the paper of a study's cases, read without access to the reference standard.

    Parameters
    ----------
    model_protocol
        How the model is asked.
    rater, run
        The name and run that determine the order of options, as for a reader of that name; unused
        with the bank's order.

    Raises
    ------
    NotFound
        There is no such study.
    NotNow
        The study is still a draft, or was restored without its films.
    """
    with store.look() as look:
        wrong_images = studies.images_shown_instead(look, study)
    with store.look(sealed=True) as look:
        if studies.find(look, study) is None and study in (
            draft.name for draft in studies.listed_drafts(look)
        ):
            raise NotNow(t("{study} is still a draft. Draw its cases first.", study=quoted(study)))
        row = study_row(look, study)
        refuse_restored(row)
        protocol = stored_protocol(row)
        rows = readings.items_shown(look, study=row.id)
        assignment = _Assignment(
            protocol=protocol, asked=model_protocol, rater=rater, run=run, wrong_images=wrong_images
        )
        items = tuple(_paper_items(look, rows, assignment))
        return Paper(
            study=study,
            bank=row.bank_name,
            split="",
            provenance=banks.bank_row(look, row.bank_name).provenance,
            simulated=bool(row.simulated_films),
            asked=_with_fitting_template(model_protocol, items),
            protocol_sha256=sha256_of(protocol.as_json()),
            items=items,
        )


def paper_of_bank(
    store: Store,
    bank: str,
    model_protocol: ModelProtocol,
    *,
    split: str = "",
    rater: str = "model",
    run: int = 1,
) -> Paper:
    """Return the paper of a bank or a split; parameters as for `paper_of_study`.

    Raises
    ------
    NotFound
        There is no such bank, or the split has no items.
    NotNow
        The bank was restored with a study and has no films.
    """
    with store.look() as look:
        row = banks.bank_row(look, bank)
        split_ids = banks.ids_of_split(look, row.id, split) if split else None
    refuse_without_images(row)
    with store.look(sealed=True) as look:
        items_shown = readings.items_shown(look, bank=row.id)
        rows = [item for item in items_shown if split_ids is None or item.item_id in split_ids]
        if not rows:
            raise NotFound(
                t(
                    "The bank {bank} has no items of the split {split}.",
                    bank=quoted(bank),
                    split=quoted(split),
                )
            )
        assignment = _Assignment(protocol=Protocol(), asked=model_protocol, rater=rater, run=run)
        items = tuple(_paper_items(look, rows, assignment))
        return Paper(
            study="",
            bank=bank,
            split=split,
            provenance=row.provenance,
            simulated=bool(row.simulated),
            asked=_with_fitting_template(model_protocol, items),
            protocol_sha256="",
            items=items,
        )


def _with_fitting_template(
    model_protocol: ModelProtocol, items: Sequence[PaperItem]
) -> ModelProtocol:
    """Return the model protocol, with template 2 instead of 1 if there are prior films."""
    prior = any(film.prior for item in items for film in item.films)
    return (
        replace(model_protocol, template="2")
        if prior and model_protocol.template == "1"
        else model_protocol
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assignment:
    """The settings by which items are assigned to a model.

    Parameters
    ----------
    wrong_images
        For each item, the item whose images the study shows instead.
    """

    protocol: Protocol
    asked: ModelProtocol
    rater: str
    run: int
    wrong_images: Mapping[str, str] = field(default_factory=dict)


def _paper_items(
    look: Transaction, rows: Sequence[ItemShown], assignment: _Assignment
) -> Iterator[PaperItem]:
    """Yield the items in a pseudo-random order, because a bank's order may depend on the answer."""
    protocol, model_protocol = assignment.protocol, assignment.asked
    by_id = {row.item_id: row for row in rows}
    ids = shuffled(by_id, seed=protocol.seed, purpose="paper order")
    keys = protocol.context if model_protocol.context is None else model_protocol.context
    open_ended = model_protocol.condition == Shown.OPEN_ENDED
    prior = "prior" in keys
    films = {
        item_id: _films_of(look, by_id[item_id].item, model_protocol, prior=prior)
        for item_id in ids
    }
    for number, item_id in enumerate(ids, start=1):
        row = by_id[item_id]
        texts = json.loads(row.options)
        key_text = f"{assignment.rater}/{item_id}/{Condition.UNAIDED}/{assignment.run}"
        order = "" if open_ended else _option_order(len(texts), protocol, model_protocol, key_text)
        yield PaperItem(
            number=number,
            item_id=item_id,
            question=row.question,
            options=tuple(texts[LETTERS.index(letter)] for letter in order),
            shown_order=order,
            context=readings.shown_context(look, [row.item], keys)[row.item],
            films=_films_shown(films, ids, number - 1, assignment),
        )


def _films_of(
    look: Transaction, item: int, model_protocol: ModelProtocol, *, prior: bool
) -> tuple[PaperFilm, ...]:
    rows = readings.films_shown(look, item, prior=prior)
    if model_protocol.views == "first":
        rows = [next(each) for _, each in groupby(rows, key=attrgetter("prior"))]
    return tuple(
        PaperFilm(
            label=view_label(row.label)[0],
            sha256=row.sha256,
            row=row,
            prior=prior_name(row.days) if row.prior else "",
        )
        for row in rows
    )


def _option_order(
    n_options: int, protocol: Protocol, model_protocol: ModelProtocol, key_text: str
) -> str:
    if model_protocol.order == Order.CANONICAL:
        return LETTERS[:n_options]
    if model_protocol.order == Order.SHUFFLED:
        protocol = replace(protocol, option_order="random")
    return options_order(n_options, protocol, key_text)


def _films_shown(
    films: dict[str, tuple[PaperFilm, ...]], ids: Sequence[str], place: int, assignment: _Assignment
) -> tuple[PaperFilm, ...]:
    """Return the films shown with the item at a place.

    Wrong images are those that the study shows to its readers, if it has that condition. Otherwise
    they are those of the next item that shares no film with this one.

    Raises
    ------
    NotNow
        All items show the same films.
    """
    own_films, condition = films[ids[place]], assignment.asked.condition
    if condition in (Shown.IMAGE, Shown.OPEN_ENDED):
        return own_films
    if condition == Shown.IMAGE_ABSENT:
        return ()
    if ids[place] in assignment.wrong_images:
        return films[assignment.wrong_images[ids[place]]]
    own_hashes = {film.sha256 for film in own_films}
    for item_id in (*ids[place + 1 :], *ids[:place]):
        if own_hashes.isdisjoint(film.sha256 for film in films[item_id]):
            return films[item_id]
    raise NotNow(t("All items show the same images, so there is no other image to show instead."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt: the system prompt (empty for none), and the text after the images."""

    system: str
    text: str


def prompt_of(item: PaperItem, protocol: ModelProtocol) -> Prompt:
    """Return the prompt for an item; the item's films are sent before its text, in order.

    Raises
    ------
    BadInput
        There is no such template.
    """
    template = template_of(protocol)
    options = zip(LETTERS, item.options, strict=False)
    context = ", ".join(f"{key} {words}" for key, words in item.context)
    parts = (
        _views_line(template, item),
        template.patient.format(context=context) if context else "",
        template.question.format(
            question=item.question,
            options="\n".join(f"{letter}. {text}" for letter, text in options),
        ),
        template.explained if protocol.explanation else template.answer,
    )
    system = template.system if protocol.system is None else protocol.system
    return Prompt(system=system, text="\n\n".join(part for part in parts if part))


def _views_line(template: Template, item: PaperItem) -> str:
    if not item.films:
        return template.without_views
    if not any(film.name for film in item.films):
        return ""
    prior = any(film.prior for film in item.films)
    view_names = (
        template.view.format(number=number, label=film.name or "view not stated")
        for number, film in enumerate(item.films, start=1)
    )
    images_line = template.with_views.format(views=("; " if prior else ", ").join(view_names))
    return f"{images_line} {template.prior}" if prior else images_line


def render_film(data: bytes, resolution: str | int = "full") -> bytes:
    """Return a film as an 8-bit greyscale PNG without metadata, in the reading page's window.

    Parameters
    ----------
    data : bytes
        The film's file.
    resolution : {"full", "quarter"} or int
        All pixels, a quarter of each side, or a width in pixels; films are never enlarged. Samples
        are averaged over the area of a pixel before the window is applied, as on the reading page.

    Raises
    ------
    BadFile
        The film cannot be decoded.
    """
    pixels = grey_levels(data)
    low, high = opening_window(pixels, initial_window(data))
    smaller = _reduced(pixels, resolution)
    if smaller is None:  # a lookup table is faster than computing each pixel
        shades = _grey_levels(np.arange(np.iinfo(pixels.dtype).max + 1), low, high)[pixels]
    else:
        shades = _grey_levels(smaller, low, high)
    return _png(shades)


def sixteen_bit_png(data: bytes) -> bytes | None:
    """Return a film of more than 8 bits as a PNG of its samples without metadata, otherwise None.

    Raises
    ------
    BadFile
        The film cannot be decoded.
    """
    pixels = grey_levels(data)
    return _png(pixels) if pixels.dtype == np.uint16 else None


def opening_window(pixels: Grey, own_window: tuple[float, float] | None) -> tuple[float, float]:
    """Return the samples that are black and white when the reading page opens a film.

    Films of 8 bits open with all levels. Others open in their own window, or without one between
    the 1st and 99th percentile (``openingPreset`` and ``quantileWindow`` of the reading page).
    """
    if pixels.dtype == np.uint8:
        low, high = int(pixels.min()), int(pixels.max())
        return low, max(high, low + 1)
    if own_window is not None:
        return own_window
    cumulative = np.cumsum(np.bincount(pixels.ravel()))
    low, high = (
        int(np.searchsorted(cumulative, max(1, math.ceil(share * pixels.size))))
        for share in (CLIPPED_SHARE, 1 - CLIPPED_SHARE)
    )
    return low, max(low + 1, high)


def _grey_levels(samples: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Return grey levels with `low` black and `high` white (``shade`` of the reading page)."""
    share = np.clip((samples - low) / (high - low), 0, 1)
    return np.floor(share * 255 + 0.5).astype(np.uint8)


def _reduced(pixels: Grey, resolution: str | int) -> NDArray[Any] | None:
    """Return the samples of a reduced film, or None if its size does not change."""
    height, width = pixels.shape
    scale = 0.25 if resolution == "quarter" else 1.0
    if isinstance(resolution, int):
        scale = min(1.0, resolution / width)
    if scale == 1.0:
        return None
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    smaller = Image.fromarray(pixels.astype(np.float32)).resize(size, Image.Resampling.BOX)
    return np.asarray(smaller, dtype=np.float64)


def _png(pixels: NDArray[Any]) -> bytes:
    """Return samples as a greyscale PNG, with one row filter for speed."""
    height, width = pixels.shape
    size = pixels.itemsize
    samples = np.ascontiguousarray(pixels, dtype=f">u{size}").view(np.uint8)
    left, above = np.zeros_like(samples), np.zeros_like(samples)
    left[:, size:] = samples[:, :-size]
    above[1:] = samples[:-1]
    rows = np.full((height, 1 + samples.shape[1]), _AVERAGE_FILTER, dtype=np.uint8)
    mean = ((left ^ above) >> 1) + (left & above)  # without overflow
    rows[:, 1:] = samples - mean
    # For radiographs, run-length coding compresses as well as full deflate, in a sixth of the time.
    deflate = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    header = struct.pack(">IIBBBBB", width, height, 8 * size, 0, 0, 0, 0)
    data = deflate.compress(rows.tobytes()) + deflate.flush()
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return _PNG_SIGNATURE + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
    )
