"""Merging: two deployments, one protocol; every conflict is named and nothing half-done stays."""

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

import analysis
from study.base.actor import By
from study.base.errors import BadFile
from study.exchange.bundle import bundle_files
from study.exchange.merging import merge
from study.exchange.restoring import SAME, restore
from study.models.models import add_model, withdraw_model
from study.store import Store, events
from study.trail.verification import verify, verify_study
from tests.conftest import NOW, tamper
from tests.sites import bundle_of, close, empty, site

BY = By(name="c", role="coordinator")
LATER = NOW + timedelta(days=30)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the stores of three closed sites, made once."""
    folder = tmp_path_factory.mktemp("sites")
    for number, bank in enumerate(("bank", "another name", "bank"), start=1):
        made = site(
            folder / f"site{number}",
            number,
            person_id=f"P{number}",
            simulated=f"S{number}",
            bank=bank,
        )
        close(made)
    return folder


def _copy(sites: Path, tmp_path: Path, number: int) -> Store:
    folder = tmp_path / f"copy{number}"
    folder.mkdir()
    return Store(Path(shutil.copy(sites / f"site{number}" / "store.db", folder / "store.db")))


@pytest.fixture
def home(sites: Path, tmp_path: Path) -> Store:
    """Return a closed study."""
    return _copy(sites, tmp_path, 1)


@pytest.fixture
def other(sites: Path, tmp_path: Path) -> Store:
    """Return the same study, closed, of another deployment: its own readers, the same model."""
    return _copy(sites, tmp_path, 2)


@pytest.fixture
def third(sites: Path, tmp_path: Path) -> Store:
    """Return a third one."""
    return _copy(sites, tmp_path, 3)


def _conflicts(store: Store, path: Path, **changed: str) -> str:
    before = bundle_files(store, "trial")
    with pytest.raises(BadFile) as refused:
        merge(store, path, study="trial", **changed, by=BY, now=LATER)
    assert bundle_files(store, "trial") == before
    assert verify(store) == []
    return str(refused.value)


def test_a_merged_study_has_both_sites(home: Store, other: Store, tmp_path: Path) -> None:
    """Readers with their site, one model once, both chains, and the analysis takes it."""
    done = merge(home, bundle_of(other), study="trial", site="Bergen", by=BY, now=LATER)
    assert (done.readers, done.models) == (("P2", "S2"), ())
    assert verify(home) == []
    files = bundle_files(home, "trial")
    assert files[f"audit-{done.deployment_id}.jsonl"] == bundle_files(other, "trial")["audit.jsonl"]
    found = analysis.read_bundle(bundle_of(home, "merged.zip"))
    raters = found.raters.set_index("rater_id")
    assert list(raters.index) == ["P1", "S1", "P2", "S2", "M1"]
    assert raters.loc["S2", "site"] == "Bergen"
    n_lines = sum(len(files[name].splitlines()) for name in files if name.startswith("audit"))
    assert verify_study(home, "trial").n_events == n_lines


def test_without_a_name_the_site_is_the_other_deployment(home: Store, other: Store) -> None:
    """Its id tells it apart from any other."""
    done = merge(home, bundle_of(other), study="trial", by=BY, now=LATER)
    assert done.site == done.deployment_id
    assert verify(home) == []


def test_a_third_site_joins(home: Store, other: Store, third: Store) -> None:
    """One bundle after the other."""
    for one in (other, third):
        merge(home, bundle_of(one), study="trial", by=BY, now=LATER)
    assert verify(home) == []
    assert len([name for name in bundle_files(home, "trial") if name.startswith("audit-")]) == 2


def test_a_merged_study_restores_elsewhere(home: Store, other: Store, tmp_path: Path) -> None:
    """To the last byte, with every site's chain."""
    merge(home, bundle_of(other), study="trial", site="Bergen", by=BY, now=LATER)
    target = empty(tmp_path / "target", 9)
    restore(target, bundle_of(home, "merged.zip"), by=BY, now=LATER)
    first, again = bundle_files(home, "trial"), bundle_files(target, "trial")
    sites = [name for name in first if name.startswith("audit-")]
    assert {name: again[name] for name in (*SAME, *sites)} == {
        name: first[name] for name in (*SAME, *sites)
    }
    assert verify(target) == []


def test_a_restored_study_merges_and_is_merged_into(
    home: Store, other: Store, tmp_path: Path
) -> None:
    """Where it was read counts, not where it is."""
    target = empty(tmp_path / "target", 9)
    restore(target, bundle_of(home), by=BY, now=LATER)
    merge(target, bundle_of(other), study="trial", by=BY, now=LATER)
    assert verify(target) == []
    back = empty(tmp_path / "back", 10)
    restore(back, bundle_of(other, "again.zip"), by=BY, now=LATER)
    done = merge(home, bundle_of(back), study="trial", by=BY, now=LATER)
    assert verify(home) == []
    assert "was merged already" in _conflicts(home, bundle_of(other, "once-more.zip"))
    assert done.readers == ("P2", "S2")


def test_the_same_bundle_twice_is_refused(home: Store, other: Store) -> None:
    """By the deployment it is of, and by each reader."""
    path = bundle_of(other)
    merge(home, path, study="trial", by=BY, now=LATER)
    found = _conflicts(home, path)
    assert "was merged already" in found
    assert "the reader P2 is in both" in found


def test_its_own_bundle_is_refused(home: Store) -> None:
    """A study is no other site of itself."""
    assert "was read in itself" in _conflicts(home, bundle_of(home))


def test_readers_and_models_of_one_name_are_refused_by_name(home: Store, tmp_path: Path) -> None:
    """However the name is written; and a model with other predictions."""
    twin = site(tmp_path / "twin", 2, person_id="p1", simulated="M1x", model="DCBA")
    close(twin)
    found = _conflicts(home, bundle_of(twin))
    assert "the reader p1 is in both" in found
    assert "the model M1 is in both, with other predictions" in found


def test_a_model_withdrawn_at_one_site_alone_is_a_conflict(home: Store, other: Store) -> None:
    """Whichever it is: what one site found to be the wrong file would count for both."""
    withdraw_model(home, study="trial", model_id="M1", reason="Wrong file", now=LATER)
    assert "the model M1 was withdrawn here, and counts in the other" in _conflicts(
        home, bundle_of(other)
    )
    assert "the model M1 was withdrawn there, and counts in the other" in _conflicts(
        other, bundle_of(home)
    )
    withdraw_model(other, study="trial", model_id="M1", reason="Wrong file", now=LATER)
    merge(home, bundle_of(other, "again.zip"), study="trial", by=BY, now=LATER)
    assert verify(home) == []


def test_a_model_comes_along_under_a_name_that_was_withdrawn_here(
    home: Store, other: Store, tmp_path: Path
) -> None:
    """It is another model, vouched for by the other site's chain; here it may be withdrawn too."""
    for store, letter in ((home, "B"), (other, "C")):
        path = tmp_path / f"{letter}.json"
        path.write_text(json.dumps({f"q{i:04d}": letter for i in range(24)}))
        add_model(store, path, study="trial", model_id="M2", now=LATER)
    withdraw_model(home, study="trial", model_id="M2", reason="Wrong file", now=LATER)
    done = merge(home, bundle_of(other), study="trial", by=BY, now=LATER)
    assert done.models == ("M2",)
    assert verify(home) == []
    readings = bundle_files(home, "trial")["readings.csv"].decode().splitlines()
    assert {line.split(",")[2] for line in readings if line.startswith("M2,")} == {"C"}
    target = empty(tmp_path / "target", 9)
    restore(target, bundle_of(home, "merged.zip"), by=BY, now=LATER)
    withdraw_model(home, study="trial", model_id="M2", reason="Wrong too", now=LATER)
    assert verify(home) == verify(target) == []


def test_a_reader_with_a_models_name_is_refused(home: Store, other: Store) -> None:
    """They could not be told apart in a table."""
    with home.change() as change:
        change.execute(
            "INSERT INTO readers (study, reader_id, level, years, site, simulated, "
            "invited_at_utc) VALUES (1, 'm1 ', '', '', '', 0, 'x')"
        )
    with pytest.raises(BadFile, match="its model M1 has the name of a reader here"):
        merge(home, bundle_of(other), study="trial", by=BY, now=LATER)


def test_another_protocol_is_refused_by_its_hash(home: Store, tmp_path: Path) -> None:
    """One seed apart is another study."""
    store = site(tmp_path / "x", 2, person_id="P2", simulated="S2", margin=0.1)
    close(store)
    assert "another protocol" in _conflicts(home, bundle_of(store))


def test_open_studies_are_not_merged(tmp_path: Path) -> None:
    """Neither here nor there."""
    here = site(tmp_path / "here", 1)
    there = site(tmp_path / "there", 2, person_id="P2", simulated="S2")
    found = _conflicts(here, bundle_of(there))
    assert "'trial' is still open" in found
    assert "while its study was still open" in found


def test_a_merged_bundle_is_not_merged_again(home: Store, other: Store, third: Store) -> None:
    """Each site comes once, from where it was read."""
    merge(other, bundle_of(home), study="trial", by=BY, now=LATER)
    assert "holds other sites itself" in _conflicts(third, bundle_of(other))


def test_amendments_must_agree(home: Store, other: Store) -> None:
    """What was in force at one site alone is named."""
    with other.change() as change:
        change.execute("DROP TRIGGER amendments_refuse_update")
        change.execute("UPDATE amendments SET changes = replace(changes, '3', '4')")
    assert "amended otherwise" in _conflicts(home, bundle_of(other))


@pytest.mark.parametrize("name", ["x" * 101, "a\x00b"])
def test_a_site_needs_a_sound_name(home: Store, other: Store, name: str) -> None:
    """It stands in tables and figures."""
    assert "the site" in _conflicts(home, bundle_of(other), site=name)


ALTERATIONS = [
    ("UPDATE events SET actor = 'x' WHERE chain LIKE '%#%' AND number = 5", "event 5 ("),
    ("DELETE FROM events WHERE chain LIKE '%#%' AND number > 20", "cut off"),
    ("UPDATE chain_heads SET told_as = '' WHERE chain LIKE '%#%'", "event 1 ("),
    (
        "DELETE FROM readings WHERE assignment IN (SELECT id FROM assignments WHERE reader = 4)",
        "is missing",
    ),
    ("UPDATE readers SET site = 'Oslo' WHERE reader_id = 'S2'", "the reader S2: site altered"),
    ("UPDATE readers SET site = 'Oslo' WHERE reader_id = 'S1'", "the reader S1: site altered"),
    ("DELETE FROM readers WHERE reader_id = 'P2'", "the reader P2 is missing"),
    ("UPDATE assignments SET shown_order = 'DCBA' WHERE reader = 3", "assignments of P2"),
]


@pytest.mark.parametrize(("statement", "named"), ALTERATIONS, ids=[one[0] for one in ALTERATIONS])
def test_alterations_of_a_merged_site_are_found(
    home: Store, other: Store, statement: str, named: str
) -> None:
    """Verification walks both chains and vouches by both."""
    merge(home, bundle_of(other), study="trial", site="Bergen", by=BY, now=LATER)
    tamper(home, statement)
    assert any(named in breach for breach in verify(home)), verify(home)


def test_a_merged_chain_cannot_be_exchanged_for_a_shorter_one(home: Store, other: Store) -> None:
    """The study's own chain says where the other one ended."""
    done = merge(home, bundle_of(other), study="trial", by=BY, now=LATER)
    chain = events.merged_chain("trial", done.deployment_id)
    with home.look() as look:
        last = list(events.walk(look, chain))[-2]
    tamper(
        home,
        f"DELETE FROM events WHERE chain = '{chain}' AND number > {last.number}",
        f"UPDATE chain_heads SET number = {last.number}, hash = '{last.hash}' "
        f"WHERE chain = '{chain}'",
    )
    assert any("its chain was exchanged" in breach for breach in verify(home))
    tamper(
        home,
        f"DELETE FROM events WHERE chain = '{chain}'",
        f"DELETE FROM chain_heads WHERE chain = '{chain}'",
    )
    assert any("its chain was exchanged" in breach for breach in verify(home))
