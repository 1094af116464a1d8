"""Several processes import a bank with the same result, and none of them keeps running."""

import json
import os
import signal
import tracemalloc
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from select import select
from typing import Any

import pytest

from study.bank import importing, reading
from study.bank.content import check_content
from study.bank.importing import FaultyBank, Imported, import_bank
from study.bank.items import ItemReader
from study.bank.reading import ImportOptions
from study.bank.workers import map_in_order
from study.base.canonical import canonical_json, parsed_json
from study.base.errors import NotNow, StudyError
from study.lifecycle import deployments
from study.store import Store, bank_contents, banks
from study.tables import source, text_file
from tests.conftest import ACTING, NOW, entropy_from
from tests.unit.study.bank.conftest import ItemDict

N_ITEMS = 90


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat a file of a few items as a large file."""
    monkeypatch.setattr(source, "PIECE_LENGTH", 3_000)
    monkeypatch.setattr(text_file, "_PART_BYTES", 2_000)
    monkeypatch.setattr(reading, "_MIN_BYTES_FOR_WORKERS", 0)


def _items(item: ItemDict) -> dict[str, Any]:
    """Return items, some of them with errors and others with unknown values."""
    items: dict[str, Any] = {}
    for n in range(N_ITEMS):
        record = item | {
            "PatientID": f"P{n // 4}",
            "study_id": f"S{n // 2}",
            "tag": f"{n % 3} \n é",
        }
        record["question"] = f'Is this number {n}, or "}}, {{" as some write it?'
        if n % 17 == 3:
            record["correct_answer"] = "none of them"
        if n % 19 == 4:
            record["PatientAge"] = "old"
        if n % 23 == 5:
            record["ImagePath"] = ["../deid_png/nowhere.png"]
        items[f"q{n}"] = record
    return items


def _create_store(folder: Path) -> Store:
    folder.mkdir()
    return deployments.init(folder / "store.db", entropy=entropy_from(1), now=NOW)


def _stored_rows(store: Store) -> list[Any]:
    with store.look() as look:
        bank = banks.bank_row(look, "bank")
        tables = ("films", "items", "item_views", "reference_standard", "report_texts")
        rows = [look.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]
        return [bank.content_sha256, bank.source_sha256, rows, *banks.complete_items(look, bank.id)]


def _summary(result: Imported) -> list[Any]:
    return [
        result.n_items,
        result.n_left_out,
        result.left_out,
        result.missing,
        result.notes,
        result.guessable,
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("write", [json.dumps, lambda items: json.dumps(items, indent=1)])
@pytest.mark.parametrize("listed", [False, True])
def test_the_result_does_not_depend_on_the_number_of_workers(
    tmp_path: Path,
    root: Path,
    item: ItemDict,
    write: Callable[[Any], str],
    listed: bool,
) -> None:
    """Rows, hash, errors, notes and their order are equal for objects and lists."""
    items: Any = _items(item)
    if listed:
        items = [{"question_id": key, **value} for key, value in items.items()]
        del items[50]["question_id"]
    path = root / "metadata/bank.json"
    path.write_text(write(items), encoding="utf-8")
    results = []
    for n_workers in (0, 1, 3):
        store = _create_store(tmp_path / f"with {n_workers}")
        result = import_bank(
            *(store, path),
            name="bank",
            images=root / "deid_png",
            options=ImportOptions(skip_faulty=True, n_workers=n_workers),
            acting=ACTING,
        )
        with pytest.raises(FaultyBank) as refused:
            import_bank(
                *(store, path),
                name="b",
                images=root / "deid_png",
                options=ImportOptions(n_workers=n_workers),
                acting=ACTING,
            )
        results.append([_stored_rows(store), _summary(result), str(refused.value)])
    assert results[0][1][0] < N_ITEMS
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        (', "q60"', ' "q60"', "a comma is missing"),
        ('"q70": {', '"q70" {', "a colon is missing"),
        ('"q80": {', '"q80": {{', "a key in double quotes is missing"),
    ],
)
def test_the_position_of_invalid_json_does_not_depend_on_the_workers(
    store: Store, root: Path, item: ItemDict, old: str, new: str, where: str
) -> None:
    """Workers divide the file into parts without parsing it."""
    path = root / "metadata/bank.json"
    text = json.dumps(_items(item))
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(json.JSONDecodeError) as plain:
        json.loads(path.read_text())
    for n_workers in (0, 2):
        with pytest.raises(StudyError, match=where) as refused:
            import_bank(
                *(store, path),
                name="b",
                images=root / "deid_png",
                options=ImportOptions(n_workers=n_workers),
                acting=ACTING,
            )
        place = f"line {plain.value.lineno}, column {plain.value.colno:,}: "
        assert place in str(refused.value)


def test_items_that_contain_objects_are_read_one_by_one(
    tmp_path: Path, root: Path, item: ItemDict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of such items is guessed incorrectly, so each part is read again."""
    given_back, give_back = [], source.OpenSource.give_back

    def noted(self: Any, pieces: Any) -> None:
        given_back.append(len(pieces))
        give_back(self, pieces)

    monkeypatch.setattr(source.OpenSource, "give_back", noted)
    items = {
        key: {
            part: content
            for name, entry in (value | {"correct_answer": "A"}).items()
            for part, content in ((name, entry), (f"more of {name}", {"of": n}))
        }
        for n, (key, value) in enumerate(_items(item).items())
    }
    path = root / "metadata/bank.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    results = []
    for n_workers in (0, 2):
        store = _create_store(tmp_path / f"with {n_workers}")
        import_bank(
            *(store, path),
            name="bank",
            images=root / "deid_png",
            options=ImportOptions(missing_images="drop", n_workers=n_workers),
            acting=ACTING,
        )
        results.append(_stored_rows(store))
    assert results[0] == results[1]
    assert len(given_back) == 2
    assert given_back[1] > 1


@pytest.mark.thorough
def test_memory_does_not_grow_with_the_size_of_the_file(
    store: Store, root: Path, item: ItemDict
) -> None:
    """The memory is measured by Python, in this process."""
    peaks, sizes = [], []
    for n_items in (400, 1_200):
        path = root / f"metadata/{n_items}.json"
        items = {
            f"q{n}": item | {"PatientID": f"P{n}", "study_id": f"S{n}"} for n in range(n_items)
        }
        sizes.append(path.write_text(json.dumps(items), encoding="utf-8"))
        arguments: dict[str, Any] = {
            "name": f"of {n_items}",
            "images": root / "deid_png",
            "acting": ACTING,
        }
        tracemalloc.start()
        try:
            import_bank(store, path, options=ImportOptions(n_workers=0), **arguments)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 10
    assert peaks[1] < sizes[1] / 3


def test_results_and_errors_come_in_order() -> None:
    def half(n: int) -> int:
        if n == 7:
            raise ValueError("seven")
        return n // 2

    results = map_in_order(half, range(20), 3)
    assert [next(results) for _ in range(7)] == [n // 2 for n in range(7)]
    with pytest.raises(ValueError, match="seven"):
        next(results)


def test_no_worker_keeps_running() -> None:
    """Workers end if their work is abandoned or their parent is killed."""
    with closing(map_in_order(lambda _: os.getpid(), iter(int, 1), 2)) as results:
        workers = {next(results) for _ in range(4)}
    assert len(workers) == 2
    assert not any(map(_is_running, workers))

    read_end, write_end = os.pipe()
    parent = os.fork()
    if not parent:  # the command prints the ids of its workers and runs until it is killed
        os.close(read_end)
        for pid in map_in_order(lambda _: os.getpid(), iter(int, 1), 2):
            os.write(write_end, f"{pid}\n".encode())
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        workers = {int(pipe.readline()) for _ in range(4)}
        ends = [os.pidfd_open(pid) for pid in workers]
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
    for end in ends:
        assert _wait_for_end(end)


def test_a_worker_that_is_killed_ends_the_import(
    store: Store, root: Path, item: ItemDict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is stored, and the same command imports everything."""
    path = root / "metadata/bank.json"
    items = {key: value | {"correct_answer": "A"} for key, value in _items(item).items()}
    path.write_text(json.dumps(items), encoding="utf-8")
    arguments: dict[str, Any] = {
        "name": "bank",
        "images": root / "deid_png",
        "acting": ACTING,
    }
    arguments["options"] = ImportOptions(missing_images="drop", n_workers=2)
    own_pid, draft = os.getpid(), ItemReader.draft

    def killed(self: Any, *record: Any) -> Any:
        if os.getpid() != own_pid:
            os.kill(os.getpid(), signal.SIGKILL)
        return draft(self, *record)

    with monkeypatch.context() as patch:
        patch.setattr(ItemReader, "draft", killed)
        with pytest.raises(NotNow, match="stopped before it was done"):
            import_bank(store, path, **arguments)
    with store.look() as look:
        assert banks.listed(look) == []
    assert import_bank(store, path, **arguments).n_items > N_ITEMS / 2
    assert sorted(store.path.parent.glob(f"{store.path.name}-import*")) == []


def test_a_worker_killed_in_the_check_of_content_undoes_the_import(
    store: Store, root: Path, item: ItemDict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction of the import is rolled back."""
    path = root / "metadata/bank.json"
    items = {f"q{n}": item for n in range(N_ITEMS)}
    path.write_text(json.dumps(items), encoding="utf-8")
    own_pid = os.getpid()

    def killed(items: Any) -> list[Any]:
        if os.getpid() != own_pid:
            os.kill(os.getpid(), signal.SIGKILL)
        return check_content(items)

    monkeypatch.setattr(importing, "check_content", killed)
    arguments: dict[str, Any] = {
        "name": "bank",
        "images": root / "deid_png",
        "acting": ACTING,
    }
    with pytest.raises(NotNow, match="Nothing was imported"):
        import_bank(store, path, options=ImportOptions(n_workers=3), **arguments)
    with store.look() as look:
        assert banks.listed(look) == []
        assert not look.value("SELECT count(*) FROM items")
    assert (
        import_bank(store, path, options=ImportOptions(n_workers=0), **arguments).n_items == N_ITEMS
    )


def test_sqlite_writes_json_as_python_does(store: Store) -> None:
    """The hash of a bank's content depends on the exact text."""
    characters = [chr(n) for n in (*range(1, 0x180), 0x2028, 0x2029, 0xFFFF, 0x1F600)]
    with store.look() as look:
        for text in (*characters, "".join(characters)):
            assert look.value("SELECT json_quote(:text)", text=text) == canonical_json(text)
            row = look.value("SELECT json_group_object(:text, :text)", text=text)
            assert row == canonical_json({text: text})
            assert parsed_json(row) == {text: text}


def test_a_second_import_is_refused_while_the_first_runs(
    store: Store, root: Path, item: ItemDict
) -> None:
    """The second import starts while the first checks its content, and is refused."""
    path = root / "metadata/bank.json"
    items = {key: value | {"correct_answer": "A"} for key, value in _items(item).items()}
    path.write_text(json.dumps(items), encoding="utf-8")
    refused = []

    def start_second_import(step: str, _done: int, _total: int) -> None:
        if step == "store":
            with suppress(StudyError):
                import_bank(store, path, name="second", images=root / "deid_png", acting=ACTING)
                refused.append("not refused")
            refused.append("refused")

    import_bank(
        *(store, path),
        name="bank",
        images=root / "deid_png",
        options=ImportOptions(missing_images="drop", progress=start_second_import),
        acting=ACTING,
    )
    assert refused == ["refused"]
    with store.look() as look:
        assert [bank.name for bank in banks.listed(look)] == ["bank"]
        assert bank_contents.totals(look, 1)["examinations"] > 1


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _wait_for_end(end: int) -> bool:
    """Wait for the end of a process that is not a child of this one."""
    with os.fdopen(end) as file:
        return bool(select([file], [], [], 30)[0])
