"""Import of a file in the release's format, compared with a plain script, and use of the result.

The plain script uses `json.load`, a pandas frame and `to_sql`, without any checks. The two programs
run in separate processes, one after the other. The generated file has as many questions as the
release, with four questions per examination, two examinations per patient, and text of the same
length. Its films are few and tiny, because decoding is not compared. Both programs are started once
before the measurement, so that their bytecode is cached. Then cases are drawn, and the questions of
the bank are filtered, counted and searched as on their page.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_bytes
from select import select
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from benchmarks.machine import Broken, memory_mb
from benchmarks.summary import bar_lines, target
from study.base.actor import COMMAND_LINE, Acting
from study.lifecycle import deployments, studies
from study.protocol.protocol import Protocol
from study.store import Store

DESCRIPTION = "importing a bank of the release's size, compared with json.load, pandas and to_sql"
SMALLEST = "--items 200"
MOST_TIMES, MOST_MEMORY, MOST_DRAW_S, MOST_FILTER_S = 1.0, 0.1, 2.0, 1.0
N_ITEMS = 654_656
"""Number of questions in the three splits of the release."""

_LOOKED_EVERY_S = 1.0
"""Interval between measurements of memory, which slow the program down on busy processors."""

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
_PLAIN_SCRIPT = """
import json, sqlite3, sys
import pandas as pd
with open(sys.argv[1], encoding="utf-8") as file:
    frame = pd.DataFrame.from_dict(json.load(file), orient="index")
lists = [name for name in frame if frame[name].map(lambda one: isinstance(one, list)).any()]
frame[lists] = frame[lists].map(json.dumps)
with sqlite3.connect(sys.argv[2]) as connection:
    frame.to_sql("items", connection, index_label="item_id")
"""
_EXPLORER_SCRIPT = """
import json, sys, time
from pathlib import Path
from study.store import Store, bank_contents, banks
from ui.banks.questions import FACETS, facets, filtered, value_counts
store, seconds = Store(Path(sys.argv[1])), {}
def timed(name, do):
    begun = time.monotonic()
    kept = do()
    seconds[name] = time.monotonic() - begun
    return kept
with store.look() as look:
    bank = banks.bank_row(look, "bank")
frame = timed("open", lambda: facets(store, bank.id, bank.content_sha256))
names = [name for name in FACETS if frame[name].nunique() > 1]
for name in FACETS:
    timed(f"count by {name}", lambda: value_counts(frame, name))
wanted = {name: list(value_counts(frame, name).index[:2]) for name in names}
for name in names:
    timed(f"filter by {name}", lambda: filtered(frame, {name: wanted[name]}))
timed("filter by all together", lambda: value_counts(filtered(frame, wanted), "task"))
with store.look(sealed=True) as look:
    for what, text in (("words", "pleural effusion"), ("an id", "q12345"), ("nothing", "nowhere")):
        timed(f"search for {what}", lambda: bank_contents.search_items(look, bank.id, text))
    timed("list a page", lambda: bank_contents.listed(look, frame.index[:50]))
print(json.dumps(seconds))
"""


class _Cost(NamedTuple):
    """The cost of a program: wall-clock and processor time in seconds, peak memory in MB."""

    seconds: float
    processor_s: float
    memory_mb: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--items", type=int, default=N_ITEMS)
    parser.add_argument("--repeats", type=int, default=1, help="how often each is timed")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure both programs; return the times, the ratios and the targets."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = _write(folder / "release", args.items)
        runs = [_measured_pair(path, folder / str(n)) for n in range(args.repeats)]
        store = folder / str(args.repeats - 1) / "store.db"
        draws_s = _draw_times(Store(store), min(200, args.items // 10))
        explored_s = _explorer_times(store)
        size_mb = path.stat().st_size / 1e6
    costs = {way: min((run[way] for run in runs), key=lambda cost: cost.seconds) for way in runs[0]}
    memory = {way: max(run[way].memory_mb for run in runs) for way in costs}
    times, share = (
        costs["ours"].seconds / costs["plain"].seconds,
        memory["ours"] / max(memory["plain"], 1),
    )
    opened_s = explored_s.pop("open")
    slowest = max(explored_s, key=explored_s.__getitem__)
    return {
        "items": args.items,
        "file_mb": size_mb,
        "load_average_1_min": os.getloadavg()[0],
        "seconds": {way: cost.seconds for way, cost in costs.items()},
        "processor_seconds": {way: cost.processor_s for way, cost in costs.items()},
        "peak_memory_mb": memory,
        "seconds_ratio": times,
        "memory_ratio": share,
        "draws_s": draws_s,
        "explorer_opened_s": opened_s,
        "explorer_s": explored_s,
        "bars": [
            target("import compared with the plain script", times, MOST_TIMES, "times"),
            target("peak memory compared with the plain script", share, MOST_MEMORY, "times"),
            target("drawing 200 cases, the first time", draws_s[0], MOST_DRAW_S, "s"),
            target(f"the explorer's slowest, {slowest}", explored_s[slowest], MOST_FILTER_S, "s"),
        ],
    }


def text(result: dict[str, Any]) -> str:
    """Return the result as lines of text."""
    lines = [
        f"{result['items']:,} questions, {result['file_mb']:,.0f} MB; load "
        f"{result['load_average_1_min']:.1f} on {os.cpu_count()} processors",
        *(
            f"{way:<10} {result['seconds'][way]:8.1f} s {result['processor_seconds'][way]:8.1f} s "
            f"of processors {result['peak_memory_mb'][way]:8.0f} MB"
            for way in ("ours", "plain")
        ),
        f"draws      {', '.join(f'{seconds:.2f}' for seconds in result['draws_s'])} s",
        f"explorer opened the first time   {result['explorer_opened_s']:8.2f} s",
        *(
            f"explorer   {name:<22}{seconds:8.3f} s"
            for name, seconds in result["explorer_s"].items()
        ),
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


def _measured_pair(path: Path, folder: Path) -> dict[str, _Cost]:
    folder.mkdir()
    store = folder / "store.db"
    deployments.init(store, entropy=token_bytes, now=datetime.now(UTC))
    release = str(path.parent.parent)
    command = ("-m", "study", "import", release, "--db", str(store), "--bank", "bank")
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment.setdefault("PYTHONPYCACHEPREFIX", str(folder.parent / "compiled"))
    for arguments in (("-c", "import pandas"), (*command[:3], "--help")):
        _run_measured(*arguments, env=environment)
    return {
        "plain": _run_measured(
            "-c", _PLAIN_SCRIPT, str(path), str(folder / "plain.db"), env=environment
        ),
        "ours": _run_measured(*command, env=environment),
    }


def _run_measured(*arguments: str, env: Mapping[str, str]) -> _Cost:
    """Run Python and return its cost, including that of its child processes."""
    start_s, peak = time.monotonic(), 0.0
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            (sys.executable, *arguments), stdout=subprocess.DEVNULL, stderr=output, env=env
        )
        with os.fdopen(os.pidfd_open(process.pid)) as end:
            while not select([end], [], [], _LOOKED_EVERY_S)[0]:
                peak = max(peak, memory_mb(process.pid))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise Broken(f"{' '.join(arguments[:3])} ended badly: {output.read()[-500:]}")
    return _Cost(time.monotonic() - start_s, used.ru_utime + used.ru_stime, peak)


def _draw_times(store: Store, cases: int) -> list[float]:
    """Return the durations of three draws, of which the first has no caches."""
    seconds = []
    for seed in range(3):
        protocol = Protocol(name="draw", cases=cases, seed=seed)
        start_s = time.monotonic()
        studies.draw(
            store,
            bank="bank",
            study=f"draw {seed}",
            protocol=protocol,
            acting=Acting(by=COMMAND_LINE, now=datetime.now(UTC)),
        )
        seconds.append(time.monotonic() - start_s)
    return seconds


def _explorer_times(store: Path) -> dict[str, float]:
    """Return how long the page of a bank's questions takes to open, filter, count and search."""
    words = (sys.executable, "-c", _EXPLORER_SCRIPT, str(store))
    seconds: dict[str, float] = json.loads(
        subprocess.run(words, capture_output=True, check=True).stdout
    )
    return seconds
