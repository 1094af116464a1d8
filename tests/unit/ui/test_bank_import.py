"""Imports in a separate process: progress, errors and cancellation."""

import json
import shutil
from pathlib import Path

import pytest

from study.bank.importing import FaultyBank
from study.bank.layout import banks_folder
from study.bank.uploads import ReceivedBank
from study.base.errors import NotNow
from study.store import Store, banks
from study.store.leases import lease
from tests.conftest import ACTING, write_bank
from ui.server import bank_import


@pytest.fixture
def brought(store: Store) -> ReceivedBank:
    """Return an unpacked bank of 24 items."""
    place = banks_folder(store) / "one"
    write_bank(place)
    return ReceivedBank(place=place, is_temporary=True)


def _begin(store: Store, arrived: ReceivedBank) -> bank_import.ImportJob:
    return bank_import.begin(store, arrived, "one", acting=ACTING)


def test_the_result_of_an_import_is_shown_until_dismissed(
    store: Store, brought: ReceivedBank
) -> None:
    """Every person sees it, on every request."""
    job = _begin(store, brought)
    assert job.is_done(60)
    assert job.outcome().n_items == 24
    assert bank_import.current(store) is job
    bank_import.put_away(store)
    assert bank_import.current(store) is None
    with store.look() as look:
        assert [row.n_items for row in banks.listed(look)] == [24]


def test_every_import_has_its_own_number(store: Store, brought: ReceivedBank) -> None:
    """A page identifies an import by it, because the `id` of a deleted job may be reused."""
    numbers = set()
    for _ in range(3):
        job = _begin(store, brought)
        assert job.is_done(60)
        numbers.add(job.number)
        bank_import.put_away(store)
        del job
    assert len(numbers) == 3


def test_errors_of_the_import_process_reach_the_page(store: Store, brought: ReceivedBank) -> None:
    """The page gets all details, and the unpacked files are deleted."""
    file = brought.place / "bank.json"
    items = json.loads(file.read_text())
    items["q0001"]["question"] = ""
    film = brought.place / items["q0002"]["ImagePath"][0]
    film.unlink()
    file.write_text(json.dumps(items))
    job = _begin(store, brought)
    assert job.is_done(60)
    with pytest.raises(FaultyBank) as refused:
        job.outcome()
    assert [fault.key for fault in refused.value.faults] == ["q0001"]
    assert refused.value.missing.n_films == 1
    assert not brought.place.exists()


def test_an_import_waits_for_that_of_another_server(store: Store, brought: ReceivedBank) -> None:
    """The lease is returned when the import ends, even after a refusal."""
    with lease(store, "import"):
        second = shutil.copytree(brought.place, banks_folder(store) / "second")
        with pytest.raises(NotNow, match="under way"):
            _begin(store, ReceivedBank(place=second, is_temporary=True))
    assert not second.exists()
    assert _begin(store, brought).outcome().n_items == 24
    with lease(store, "import") as is_ours:
        assert is_ours()


def test_a_cancelled_import_leaves_no_files(store: Store, brought: ReceivedBank) -> None:
    """No other import can start until it has ended."""
    keep = shutil.copytree(brought.place, banks_folder(store) / "kept")
    job = _begin(store, brought)
    second = ReceivedBank(
        place=shutil.copytree(keep, banks_folder(store) / "second"), is_temporary=True
    )
    with pytest.raises(NotNow, match="under way"):
        _begin(store, second)
    assert not second.place.exists()
    job.cancel()
    assert job.is_done(60)
    with pytest.raises(NotNow, match="Cancelled"):
        job.outcome()
    assert not brought.place.exists()
    second_import = _begin(store, ReceivedBank(place=Path(keep), is_temporary=False))
    assert second_import.is_done(60)
    assert second_import.outcome().n_items == 24
    assert Path(keep).exists()
