"""Question banks for the benchmarks: one question per case, each with two full-size films.

The same seed and number give the same pixels. Noise that is proportional to the square root of the
signal, like quantum noise, makes the files as large as those of real films.
"""

import argparse
import io
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 2048, 2500
NOISE = 0.008
"""Standard deviation of the noise as a share of the full signal; an 8-bit PNG then has 2.2 MB."""
PNG_LEVEL = 4
_MARK_PX = 180

Signal = NDArray[np.float32]
Grey = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True, kw_only=True)
class DemoFilms:
    """The demo's films, frontal and lateral, as signals from 0 to 1, and a field of noise."""

    frontal: tuple[Signal, ...]
    lateral: tuple[Signal, ...]
    noise: Signal

    def film(self, number: int, view: int, *, bits: int) -> Grey:
        """Return film 0 (frontal) or 1 (lateral) of a case, which no other case has."""
        sources = self.lateral if view else self.frontal
        signal = sources[number % len(sources)]
        # The same field is shifted differently for each film instead of drawing a new one.
        shift = (number * 389 + view * 131, number * 577 + view * 257)
        noisy = with_noise(signal, np.roll(self.noise, shift, axis=(0, 1)))
        return mark_film(as_levels(noisy, bits), f"{number:03d}")


def enlarge_film(film: Image.Image, width: int, height: int) -> Signal:
    """Return a film from 0 to 1, cropped around its centre and enlarged to a size."""
    pixels = np.asarray(film).astype(np.float32)
    pixels = (pixels - pixels.min()) / max(float(np.ptp(pixels)), 1.0)
    rows, columns = pixels.shape
    target_columns = min(columns, round(rows * width / height))
    left = (columns - target_columns) // 2
    cut = Image.fromarray(pixels[:, left : left + target_columns])
    return np.asarray(cut.resize((width, height), Image.Resampling.BICUBIC)).clip(0, 1)


def with_noise(signal: Signal, noise: Signal, share: float = NOISE) -> Signal:
    """Return a signal with noise whose deviation is proportional to the root of the signal."""
    noisy: Signal = (signal + share * noise * np.sqrt(signal + 0.05)).clip(0, 1)
    return noisy


def as_levels(signal: Signal, bits: int) -> Grey:
    """Return a signal from 0 to 1 as grey levels over the full range of 8 or 16 bits."""
    top = 2**bits - 1
    levels: Grey = (signal * top + 0.5).astype(np.uint8 if bits == 8 else np.uint16)
    return levels


def mark_film(pixels: Grey, text: str) -> Grey:
    """Write the number of a film in white into a corner, like a side marker."""
    mark = Image.new("1", (_MARK_PX * 3, _MARK_PX * 2))
    font = ImageFont.load_default(_MARK_PX)
    ImageDraw.Draw(mark).text((20, 0), text, fill=1, font=font)
    pixels_marked = np.asarray(mark)[: pixels.shape[0], : pixels.shape[1]]
    pixels[: pixels_marked.shape[0], : pixels_marked.shape[1]][pixels_marked] = np.iinfo(
        pixels.dtype
    ).max
    return pixels


def demo_films(
    folder: Path, frontal: Sequence[str], lateral: Sequence[str], *, width: int, height: int
) -> DemoFilms:
    """Read the demo's films from a folder and resize them."""

    def read(names: Sequence[str]) -> tuple[Signal, ...]:
        with ThreadPoolExecutor(2) as pool:
            return tuple(
                pool.map(lambda name: enlarge_film(Image.open(folder / name), width, height), names)
            )

    noise = np.random.default_rng(20250604).standard_normal((height, width), dtype=np.float32)
    return DemoFilms(frontal=read(frontal), lateral=read(lateral), noise=noise)


def png(pixels: Grey) -> bytes:
    """Return a film as PNG."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=PNG_LEVEL)
    return out.getvalue()


DEMO = Path(__file__).parent.parent / "data" / "demo"
OPTIONS = ("Pneumothorax", "Pleural effusion", "Cardiomegaly", "None of these")
VIEWS = ("PA", "LATERAL")
SOURCES = 16
"""Number of demo films that are used for each view."""


def add_shrink(parser: argparse.ArgumentParser) -> None:
    """Add the option `--shrink`."""
    parser.add_argument("--shrink", type=int, default=1, help="divide the films' size by this")


def shrunk_size(divisor: int) -> dict[str, int]:
    """Return the width and height of films divided by a number, as arguments of `write_bank`."""
    return {"width": WIDTH // divisor, "height": HEIGHT // divisor}


def write_bank(
    folder: Path, n_cases: int, *, bits: int, width: int = WIDTH, height: int = HEIGHT
) -> Path:
    """Write a bank with its films unless it exists; return the path of the bank."""
    home = folder / f"{n_cases}-cases-{bits}-bit-{width}x{height}"
    path = home / "bank.json"
    if path.exists():
        return path
    (home / "films").mkdir(parents=True, exist_ok=True)
    sources = {view: _demo_films(view)[:n_cases] for view in VIEWS}
    box = demo_films(DEMO, sources["PA"], sources["LATERAL"], width=width, height=height)

    def write(job: tuple[int, int]) -> None:
        number, view = job
        (home / _film(number, view)).write_bytes(png(box.film(number, view, bits=bits)))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, [(n, view) for n in range(n_cases) for view in range(len(VIEWS))]))
    records = {f"q{n:03d}": _record(n) for n in range(n_cases)}
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def film_bytes(bank: Path) -> list[int]:
    """Return the file size of each film of a bank."""
    records = json.loads(bank.read_text(encoding="utf-8"))
    return [
        (bank.parent / film).stat().st_size
        for record in records.values()
        for film in record["ImagePath"]
    ]


def _demo_films(view: str) -> list[str]:
    records = json.loads((DEMO / "bank.json").read_text(encoding="utf-8"))
    films = {
        path: None
        for record in records.values()
        for path, each in zip(record["ImagePath"], record["ImageViewPosition"], strict=True)
        if each == view
    }
    return list(films)[:SOURCES]


def _film(number: int, view: int) -> str:
    return f"films/{number:03d}-{view}.png"


def _record(number: int) -> dict[str, Any]:
    return {
        "question": f"Film {number:03d}: which of these findings is present?",
        "options": [f"{letter}. {text}" for letter, text in zip("ABCD", OPTIONS, strict=True)],
        "correct_answer": "ABCD"[number % 4],
        "correct_answer_explanation": "",
        "task_name": "Presence Assessment",
        "category": "Benchmark",
        "subcategory": "",
        "study_id": f"S{number}",
        "PatientID": f"P{number}",
        "PatientSex": "MF"[number % 2],
        "PatientAge": "060Y",
        "Findings": "",
        "Impression": "",
        "ImagePath": [_film(number, view) for view in range(len(VIEWS))],
        "ImageViewPosition": list(VIEWS),
    }
