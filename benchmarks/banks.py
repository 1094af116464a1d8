"""Question banks for the benchmarks: one question a case, with two films of its own."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.films import HEIGHT, WIDTH, lightbox, png

DEMO = Path(__file__).parent.parent / "data" / "demo"
OPTIONS = ("Pneumothorax", "Pleural effusion", "Cardiomegaly", "None of these")
VIEWS = ("PA", "LATERAL")
SOURCES = 16
"""Demo films used for each view. Neighbouring cases never share one."""


def write_bank(
    folder: Path, n_cases: int, *, bits: int, width: int = WIDTH, height: int = HEIGHT
) -> Path:
    """Write a bank with its films, unless the folder has them already; return the bank's path."""
    home = folder / f"{n_cases}-cases-{bits}-bit-{width}x{height}"
    path = home / "bank.json"
    if path.exists():
        return path
    (home / "films").mkdir(parents=True, exist_ok=True)
    sources = {view: _demo_films(view) for view in VIEWS}
    box = lightbox(DEMO, sources["PA"], sources["LATERAL"], width=width, height=height)

    def write(job: tuple[int, int]) -> None:
        number, view = job
        (home / _film(number, view)).write_bytes(png(box.film(number, view, bits=bits)))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, [(n, view) for n in range(n_cases) for view in range(len(VIEWS))]))
    records = {f"q{n:03d}": _record(n) for n in range(n_cases)}
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def film_bytes(bank: Path) -> list[int]:
    """Return what each film of a bank weighs, as a file."""
    records = json.loads(bank.read_text(encoding="utf-8"))
    return [
        (bank.parent / film).stat().st_size
        for record in records.values()
        for film in record["ImagePath"]
    ]


def _demo_films(view: str) -> list[str]:
    records = json.loads((DEMO / "bank.json").read_text(encoding="utf-8"))
    found = {
        path: None
        for record in records.values()
        for path, each in zip(record["ImagePath"], record["ImageViewPosition"], strict=True)
        if each == view
    }
    return list(found)[:SOURCES]


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
