"""Fixtures for all tests: a fixed time, fixed entropy, a small bank of real files, stores."""

import asyncio
import gc
import json
import os
import resource
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from datetime import UTC, datetime
from functools import cache
from html import escape
from itertools import count
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings
from PIL import Image

from study.bank.importing import import_bank
from study.base.actor import COMMAND_LINE, Acting
from study.lifecycle import studies
from study.lifecycle.deployments import init
from study.people import codes
from study.people.codes import Code, new_code
from study.people.invitations import Invitation
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import Protocol
from study.store import Store, is_server, people
from study.store.studies import study_row
from tests import first_imports, postgres, slow_tests, templates
from tests.postgres import Databases

if TYPE_CHECKING:
    from analysis.report.content import ReportContent

# A few examples, the same in every run, so that a failure is caused by the change under test;
# `make explore` tries ten times as many new ones. A busy machine would miss a deadline.
DEFAULT_EXAMPLES = 50
settings.register_profile(
    "same examples", derandomize=True, max_examples=DEFAULT_EXAMPLES, deadline=None
)
settings.register_profile("explore", max_examples=10 * DEFAULT_EXAMPLES, deadline=None)
settings.load_profile("same examples")

# Hashing an access code is slow by design, and the tests use the same few codes.
codes._hash = cache(codes._hash)

# Test files are kept in memory if there is room: each commit of a store waits for the disk, which
# would account for most of the running time of the tests.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4e9:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

Outcome = TypeVar("Outcome")

# Imported objects are not collected; see `pytest_collection_finish`.
collect_garbage = gc.collect
MEMORY_LIMIT_BYTES = 1_200_000_000
MEMORY_GROWTH_BYTES = 300_000_000
NEXT_COLLECTION_BYTES = pytest.StashKey[float]()
gc.disable()

# This module imports the complete program, for the processes forked from it.
collect_ignore = ["preloaded.py"]

MAIN = sys.modules["__main__"]
ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
NOW = datetime(2025, 6, 4, 12, 0, tzinfo=UTC)
ACTING = Acting(by=COMMAND_LINE, now=NOW)
TASKS = (
    "Presence Assessment",
    "Negation Assessment",
    "Differential Diagnosis",
    "Location and Distribution Assessment",
    "Geometric Information Assessment",
)
REFUSED = "prohibited|permission denied"
"""A pattern for the error with which a database refuses access to a sealed table."""
SECRETS = ("FINDINGS-NOBODY-MAY-SEE", "IMPRESSION-NOBODY-MAY-SEE", "EXPLANATION-NOBODY-MAY-SEE")


def number_of_examples(few: int) -> int:
    """Return the number of examples for a costly property: few, or ten times as many."""
    return few * settings().max_examples // DEFAULT_EXAMPLES


def entropy_from(seed: int) -> Callable[[int], bytes]:
    """Return a function that returns the same sequence of bytes in every run."""
    generator = np.random.default_rng(seed)
    return lambda n: generator.bytes(n)


def bank_records(n_patients: int, per_patient: int = 2) -> dict[str, dict[str, Any]]:
    """Return a bank in the ReXVQA format, with secrets that readers must never receive."""
    records = {}
    number = count()
    for patient in range(n_patients):
        for _ in range(per_patient):
            i = next(number)
            records[f"q{i:04d}"] = {
                "question": f"Which finding is present in film {i}?",
                "options": [f"{letter}. Finding {letter}{i % 3}" for letter in "ABCD"],
                "correct_answer": "ABCD"[(i * 7) % 4],
                "correct_answer_explanation": SECRETS[2],
                "task_name": TASKS[i % 5],
                "category": f"Category {i % 2}",
                "subcategory": "",
                "study_id": f"S{patient}",
                "PatientID": f"P{patient}",
                "PatientSex": "MF"[patient % 2],
                "PatientAge": f"{40 + patient % 50:03d}Y",
                "Findings": SECRETS[0],
                "Impression": SECRETS[1],
                "ImagePath": [f"films/{patient}_pa.png", f"films/{patient}_lat.png"],
                "ImageViewPosition": ["PA", "LATERAL"],
            }
    return records


def write_bank(folder: Path, n_patients: int = 12, per_patient: int = 2) -> Path:
    """Write a bank file with 16-bit frontal and 8-bit lateral films, and return its path."""
    (folder / "films").mkdir(parents=True, exist_ok=True)
    rows, columns = np.mgrid[0:96, 0:80]
    for patient in range(n_patients):
        film = (rows * 500 + columns * 120 + patient * 31).astype(np.uint16)
        Image.fromarray(film).save(folder / f"films/{patient}_pa.png")
        Image.fromarray((film >> 8).astype(np.uint8)).save(folder / f"films/{patient}_lat.png")
    path = folder / "bank.json"
    path.write_text(json.dumps(bank_records(n_patients, per_patient)))
    return path


def write_bank_with_priors(folder: Path, n_patients: int = 12, per_patient: int = 2) -> Path:
    """Write the same bank with a film from three months earlier; the last patient has none."""
    path = write_bank(folder, n_patients, per_patient)
    records = json.loads(path.read_text())
    rows, columns = np.mgrid[0:90, 0:84]
    for record in records.values():
        patient = int(record["PatientID"][1:])
        if patient == n_patients - 1:
            continue
        name = f"films/{patient}_before.png"
        film = (rows * 400 + columns * 200 + patient * 37).astype(np.uint16)
        Image.fromarray(film).save(folder / name)
        record |= {"prior_images": [name], "prior_views": ["AP"], "prior_days": 91}
    path.write_text(json.dumps(records))
    return path


class DocstringExamples:
    """A plugin that collects docstring examples only from modules that have them."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Skip the collection of examples in `tests` and in modules without a prompt."""
        collectors = yield
        in_tests = ROOT / "tests" in file_path.parents
        if file_path.suffix == ".py" and not in_tests and ">>>" in file_path.read_text("utf-8"):
            return collectors
        return [each for each in collectors if not isinstance(each, DoctestModule)]


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugins, among them the fixtures for PostgreSQL."""
    config.pluginmanager.register(first_imports)
    config.pluginmanager.register(postgres)
    config.pluginmanager.register(DocstringExamples())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests. Start with the longest test, so that it does not run alone at the end."""
    slow = set(slow_tests.listed())
    for item in items:
        if slow_tests.function_of(item.nodeid) in slow:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: "test_every_page" not in item.nodeid)


def pytest_collection_finish() -> None:
    """Exclude imported objects from garbage collection, and leave its timing to Python.

    By default Python collects after every 700 new objects, most of which a test keeps until it
    ends. Streamlit collects after each run of a page, and statsmodels in each correction for
    multiple tests. Each of these thousands of collections would take 60 to 200 ms.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    gc.enable()
    gc.collect = lambda generation=2: 0


def pytest_runtest_setup() -> None:
    """Isolate a test from the store named in the environment and from the previous test.

    Streamlit's test runner leaves its page as the main module, which a process started later would
    run. As a fixture, this would add a second of processor time to the run of all tests.
    """
    os.environ.pop("READING_ROOM_DB", None)
    sys.modules["__main__"] = MAIN


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Collect garbage after a test file if much memory is in use.

    A collection takes about 1 s of processor time, so the next takes place only after the memory
    has grown.
    """
    file_ends = nextitem is None or nextitem.path != item.path
    if file_ends and _memory_bytes() > item.session.stash.get(
        NEXT_COLLECTION_BYTES, MEMORY_LIMIT_BYTES
    ):
        collect_garbage()
        limit = max(_memory_bytes() + MEMORY_GROWTH_BYTES, MEMORY_LIMIT_BYTES)
        item.session.stash[NEXT_COLLECTION_BYTES] = limit


def _memory_bytes() -> float:
    """Return the memory in use, or infinity if the system does not report it."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * resource.getpagesize() if statm.is_file() else inf


def pytest_sessionfinish() -> None:
    """Restore garbage collection, so that pytest reports resources that were not closed."""
    gc.collect = collect_garbage


@pytest.fixture
def now() -> datetime:
    """Return a fixed time."""
    return NOW


@pytest.fixture(scope="session", autouse=True)
def _templates(tmp_path_factory: pytest.TempPathFactory, databases: Databases | None) -> None:
    """Create the folder for templates of stores."""
    templates.use_folder(tmp_path_factory.mktemp("templates"), databases)


@pytest.fixture
def cold() -> None:
    """Open the store's file at each use, as a command does."""


def _kept_open(request: pytest.FixtureRequest, store: Store) -> AbstractContextManager[None]:
    """Keep a store's connections open, as a server does: opening them takes a third of the time.

    The latest rows are then in the write-ahead log: copy a store with `Store.copy_to`.
    """
    return nullcontext() if "cold" in request.fixturenames else store.kept_open()


@pytest.fixture
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """Return an empty store."""
    store = Store(templates.copy(tmp_path, _create_empty_store))
    with _kept_open(request, store):
        yield store


@pytest.fixture
def banked(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """Return a store with a bank of 24 items of 12 patients."""
    store = Store(templates.copy(tmp_path, bank_store))
    with ExitStack() as used:
        if "opened" not in request.fixturenames:  # the test may replace the file
            used.enter_context(_kept_open(request, store))
        yield store


@pytest.fixture
def opened(banked: Store, request: pytest.FixtureRequest) -> Iterator[Callable[..., Store]]:
    """Return a function that draws and opens ``trial`` with its arguments as protocol values."""
    untouched = templates.version(banked.path)
    used = ExitStack()

    def make(readers: tuple[str, ...] = ("R1", "R2"), **values: Any) -> Store:
        def trial(folder: Path) -> None:
            _open_trial(Store(templates.copy(folder, bank_store)), readers, values)

        if untouched and templates.version(banked.path) == untouched:
            templates.copy(banked.path.parent, trial, readers, values)
        else:
            _open_trial(banked, readers, values)
        used.enter_context(_kept_open(request, banked))
        return banked

    with used:
        yield make


def _create_empty_store(folder: Path) -> Store:
    return init(folder / "store.db", entropy=entropy_from(1), now=NOW)


def bank_store(folder: Path, n_patients: int = 12) -> Store:
    """Create a store in a folder, with a bank of `n_patients` patients, and return it."""
    store, path = _create_empty_store(folder), write_bank(folder / "bank", n_patients)
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    return store


def _open_trial(store: Store, readers: tuple[str, ...], values: Mapping[str, Any]) -> None:
    open_trial(store, {"cases": 8, "one_question_per": "item", **values}, *readers)


def draw_trial(store: Store, values: Mapping[str, Any]) -> None:
    """Draw the study ``trial`` from ``bank`` with these protocol values."""
    protocol = Protocol.from_json(values)
    studies.draw(store, bank="bank", study="trial", protocol=protocol, acting=ACTING)


def open_trial(store: Store, values: Mapping[str, Any], *readers: str) -> list[Code]:
    """Draw ``trial``, invite readers and open it; return their codes."""
    draw_trial(store, values)
    codes = invite(store, *readers)
    studies.open_study(store, study="trial", acting=ACTING)
    return codes


def invite(store: Store, *readers: str) -> list[Code]:
    """Invite readers to ``trial`` and return their codes."""
    source = entropy_from(len(readers) * 100 + sum(map(ord, "".join(readers))))
    codes = [new_code(source) for _ in readers]
    studies.invite(
        store,
        study="trial",
        invitations=[Invitation(reader_id=reader) for reader in readers],
        codes=codes,
        acting=ACTING,
    )
    return codes


def person(store: Store, reader_id: str = "R1") -> Person:
    """Return a signed-in reader of ``trial``."""
    with store.look() as look:
        study = study_row(look, "trial")
        row = people.reader(look, study.id, reader_id)
    assert row is not None
    return Person(
        role=Role.READER, study=study.id, study_name="trial", reader=row.id, name=reader_id
    )


def preparation(step: str, detail: object = None, **changed: Any) -> dict[str, Any]:
    """Return the record of a step before the first case as the page sends it."""
    return {
        "kind": "preparation",
        "id": f"prepared-{step}",
        "step": step,
        "epoch_ms": NOW.timestamp() * 1000,
        "detail": ({"agreed": True} if step == "consent" else {}) if detail is None else detail,
        **changed,
    }


def presentation(case: str, at: datetime = NOW) -> dict[str, Any]:
    """Return a presentation record as the page sends it."""
    return {
        "kind": "presentation",
        "id": f"shown-{case}",
        "case": case,
        "shown_epoch_ms": at.timestamp() * 1000,
        "circumstances": {"renderer": "webgl2"},
    }


def reading(case: str, option: str | None = "A", **changed: Any) -> dict[str, Any]:
    """Return a reading record as the page sends it."""
    return {
        "kind": "reading",
        "id": f"read-{case}",
        "case": case,
        "option": option,
        "status": "answered" if option else "timed_out",
        "confidence": None,
        "comment": None,
        "times": {
            "response_ms": 1234.5,
            "elapsed_ms": 1234.5,
            "hidden_ms": 0.0,
            "paused_ms": 0.0,
            "first_selection_ms": 800.25,
        },
        "selections": [{"option": option, "at_ms": 800.25}] if option else [],
        "behaviour": {"zoom": 2},
        "presented_epoch_ms": NOW.timestamp() * 1000,
        "committed_epoch_ms": NOW.timestamp() * 1000 + 1234.5,
        "flags": [],
        "supersedes": None,
        **changed,
    }


def tamper(store: Store, *statements: str) -> None:
    """Alter a store's database directly, bypassing its triggers and constraints."""
    if is_server(store.address):
        postgres.tamper(store.address, statements)
        return
    connection = sqlite3.connect(store.path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    triggers = list(connection.execute("SELECT name, sql FROM sqlite_master WHERE type='trigger'"))
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert connection.execute(statement).rowcount > 0, statement
    for _, definition in triggers:
        connection.execute(definition)
    connection.commit()
    connection.close()


def run_in_thread(coroutine: Coroutine[Any, Any, Outcome]) -> Outcome:
    """Run a coroutine in a separate thread: Playwright runs an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture
def without_printing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace each figure by the description of its chart, and the PDF by its data.

    Drawing and typesetting take most of the time of a report. The tests of figures and of the PDF
    check that equal content gives equal bytes, and `test_awkward_reports` creates complete reports.
    """
    # Imported here because the process that starts the workers loads this file and runs no test.
    from analysis.report.formats.pdf import prepare_template

    def description(chart: object, part: int = 1) -> bytes:
        text = escape(f"{part}: {chart!r}")
        return f"<svg xmlns='http://www.w3.org/2000/svg'><desc>{text}</desc></svg>".encode()

    def data(content: "ReportContent") -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            template = prepare_template(content, Path(folder))
            return b"%PDF-" + template.with_name("data.json").read_bytes()

    for form in ("svg", "png"):
        monkeypatch.setattr(f"analysis.figures.drawing.to_print.{form}", description)
    monkeypatch.setattr("analysis.report.formats.output.report_pdf", data)
