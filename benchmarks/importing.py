"""Importing a file in the release's format beside the plain way: seconds and peak memory.

The plain way is `json.load`, a pandas frame and `to_sql`: what a script does that checks nothing.
Each is a process of its own, in turn. The file is generated: four questions an examination, two
examinations a patient, texts as long as the release's. Its films are few and tiny, so that the
items are measured; decoding films costs what it costs.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_bytes
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.machine import Broken
from benchmarks.summary import bar, bar_lines
from study.lifecycle import deployments, studies
from study.protocol.protocol import Protocol
from study.store import Store, bank_contents, banks

DESCRIPTION = "importing half a million questions, beside json.load, pandas and to_sql"
MOST_TIMES, MOST_MEMORY, MOST_DRAW_S, MOST_COUNT_S = 1.0, 0.1, 2.0, 1.0

_FILMS = 1_000
_TASKS = (
    "Presence Assessment",
    "Location Assessment",
    "Negation Assessment",
    "Differential Diagnosis",
    "Geometric Information Assessment",
)
_WORDS = """
lungs clear without focal consolidation pleural effusion heart size normal
mediastinal contours within limits degenerative changes thoracic spine left right
upper lower lobe opacity atelectasis catheter
"""
_PLAIN = """
import json, sqlite3, sys
import pandas as pd
with open(sys.argv[1], encoding="utf-8") as file:
    frame = pd.DataFrame.from_dict(json.load(file), orient="index")
lists = [name for name in frame if frame[name].map(lambda one: isinstance(one, list)).any()]
frame[lists] = frame[lists].map(json.dumps)
with sqlite3.connect(sys.argv[2]) as connection:
    frame.to_sql("items", connection, index_label="item_id")
"""
_MEASURED = """
import json, resource, subprocess, sys, time
begun = time.monotonic()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, time.monotonic() - begun, used.ru_maxrss / 1024]))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--items", type=int, default=500_000)
    parser.add_argument("--repeats", type=int, default=1, help="how often each is timed")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure; return the times, the ratios and the bars."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = _write(folder / "release", args.items)
        runs = [_both(path, folder / str(n)) for n in range(args.repeats)]
        database = folder / str(args.repeats - 1) / "store.db"
        later = _later(Store(database), min(200, args.items // 10))
        size_mb = path.stat().st_size / 1e6
    seconds = {way: min(one[way][0] for one in runs) for way in ("ours", "plain")}
    memory = {way: max(one[way][1] for one in runs) for way in ("ours", "plain")}
    times, share = seconds["ours"] / seconds["plain"], memory["ours"] / memory["plain"]
    return {
        "items": args.items,
        "file_mb": size_mb,
        "seconds": seconds,
        "peak_memory_mb": memory,
        "seconds_ratio": times,
        "memory_ratio": share,
        **later,
        "bars": [
            bar("import beside the plain way", times, MOST_TIMES, "times"),
            bar("peak memory beside the plain way", share, MOST_MEMORY, "times"),
            bar("drawing 200 cases", later["draw_s"], MOST_DRAW_S, "s"),
            bar("counting the bank by task", later["count_s"], MOST_COUNT_S, "s"),
        ],
    }


def text(result: dict[str, Any]) -> str:
    """Return the result as lines for a person."""
    seconds, memory = result["seconds"], result["peak_memory_mb"]
    lines = [
        f"{result['items']:,} questions, {result['file_mb']:,.0f} MB",
        f"import     {seconds['ours']:8.1f} s {memory['ours']:8.0f} MB",
        f"plain way  {seconds['plain']:8.1f} s {memory['plain']:8.0f} MB",
        f"draw       {result['draw_s']:8.2f} s",
        f"count      {result['count_s']:8.2f} s",
    ]
    return "\n".join([*lines, *bar_lines(result["bars"])])


def _write(folder: Path, n_items: int) -> Path:
    """Write a bank in the release's format, item by item; return its file."""
    (folder / "metadata").mkdir(parents=True)
    (folder / "deid_png").mkdir()
    samples = (np.arange(600, dtype=np.uint16) * 97).reshape(20, 30)
    for n in range(min(_FILMS, n_items)):
        Image.fromarray(samples + np.uint16(n)).save(folder / f"deid_png/{n}.png")
    path = folder / "metadata/train_vqa_data.json"
    with path.open("w", encoding="utf-8") as file:
        for n, item in enumerate(islice(_items(), n_items)):
            file.write(f"{', ' if n else '{'}{json.dumps(f'q{n}')}: {json.dumps(item)}")
        file.write("}")
    return path


def _items() -> Iterator[dict[str, Any]]:
    random_words = random.Random(1)

    def words(n: int) -> str:
        return " ".join(random_words.choices(_WORDS.split(), k=n))

    n = 0
    while True:
        examination, patient = n // 4, n // 8
        yield {
            "question": f"Which of these findings is present where {words(10)}?",
            "options": [f"{letter}. {words(6)} {letter.lower()}" for letter in "ABCD"],
            "correct_answer": random_words.choice("ABCD"),
            "correct_answer_explanation": words(30),
            "task_name": random_words.choice(_TASKS),
            "category": random_words.choice(("Pleura", "Lung", "Heart", "Bones", "Devices")),
            "subcategory": random_words.choice(("Effusion", "Opacity", "Size")),
            "class": random_words.choice(("finding", "normal")),
            "validation_code": random_words.choice("01"),
            "study_id": f"pP{patient}_aA{examination}_s1.2.826.{examination}",
            "StudyInstanceUid": f"1.2.826.0.1.3680043.{examination}",
            "PatientID": f"P{patient}",
            "AccessionNumber": f"A{examination}",
            "PatientSex": random_words.choice("FM"),
            "PatientAge": f"{random_words.randrange(18, 95):03d}Y",
            "StudyDate": "20200101",
            "Manufacturer": "Maker",
            "Indication": words(8),
            "Comparison": "None.",
            "Findings": words(80),
            "Impression": words(20),
            "ImagePath": [f"../deid_png/{examination % _FILMS}.png"],
            "ImageViewPosition": ["POSTERO_ANTERIOR"],
            "ImageModality": ["DX"],
        }
        n += 1


def _both(path: Path, folder: Path) -> dict[str, tuple[float, float]]:
    folder.mkdir()
    store = folder / "store.db"
    deployments.init(store, entropy=token_bytes, now=datetime.now(UTC))
    release = str(path.parent.parent)
    ours = ("-m", "study", "import", release, "--db", str(store), "--bank", "bank")
    return {
        "plain": _measured("-c", _PLAIN, str(path), str(folder / "plain.db")),
        "ours": _measured(*ours),
    }


def _measured(*arguments: str) -> tuple[float, float]:
    """Run Python; return its seconds and its peak memory in MB."""
    words = (sys.executable, "-c", _MEASURED, sys.executable, *arguments)
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    code, seconds, memory_mb = json.loads(done.stdout)
    if code:
        raise Broken(f"{' '.join(arguments[:3])} ended with {code}: {done.stderr[-500:]}")
    return seconds, memory_mb


def _later(store: Store, cases: int) -> dict[str, float]:
    """Return what the first draw from the bank takes, and counting it by task."""

    def seconds(do: Callable[[], object]) -> float:
        begun = time.monotonic()
        do()
        return time.monotonic() - begun

    def count() -> None:
        with store.look() as look:
            bank_contents.counts(look, banks.bank_row(look, "bank").id, "task")

    protocol = Protocol(name="draw", cases=cases, seed=1)
    now = datetime.now(UTC)
    return {
        "draw_s": seconds(
            lambda: studies.draw(store, bank="bank", study="draw", protocol=protocol, now=now)
        ),
        "count_s": seconds(count),
    }
