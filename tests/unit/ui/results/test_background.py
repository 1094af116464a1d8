"""The analysis in its own process: kept until something changes, its errors reported here."""

import hashlib
import io
import json
import math
import os
import signal
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from joblib.externals.loky import ProcessPoolExecutor

import analysis
from study.base.actor import COMMAND_LINE, Acting
from study.base.errors import NotFound, NotNow
from study.exchange.bundle import bundle_files
from study.lifecycle import judging, reviewing
from study.lifecycle.studies import close
from study.models.models import add_model
from study.reading.simulation import simulate
from study.store import Store, people
from study.store.judgements import REVIEW
from study.store.studies import cases as cases_of
from study.store.studies import study_row
from tests.conftest import ACTING, NOW
from ui.results import background
from ui.results.background import asked_now, job_of, report_of
from ui.server import worker
from ui.server.worker import Tell

Opened = Callable[..., Store]
PATIENCE_S = 120.0


@pytest.fixture
def read(opened: Opened) -> Store:
    """Return a store whose first of two readers has read."""
    store = opened(readers=("R1", "R2"), interim_results=True)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    return store


@pytest.fixture(autouse=True)
def _no_jobs() -> Iterator[None]:
    with patch.dict(background._JOBS, clear=True):
        yield


def _read_on(store: Store) -> None:
    simulate(store, study="trial", reader_id="R2", seed=1, accuracy=0.7, now=NOW)


def test_it_is_what_the_analysis_of_the_bundle_finds(read: Store) -> None:
    """Without the trails in it, which the analysis does not read."""
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    analysis = job.analysis()
    without = bundle_files(read, "trial", trails=False)
    files = bundle_files(read, "trial")
    for name in ("items.csv", "raters.csv", "readings.csv", "protocol.json"):
        assert without[name] == files[name]
    table = analysis.results.tables["accuracy"]
    assert table.loc[table["by"] == "overall", "rater_id"].tolist()[:1] == ["R1"]
    assert {figure.section for figure in analysis.figures} >= {"overview", "accuracy"}
    assert analysis.headline.raters.rows
    assert analysis.findings


def test_tables_that_only_some_studies_have_are_made_here_too(read: Store, tmp_path: Path) -> None:
    """Such as of a model that says how sure it is."""
    file = tmp_path / "model.csv"
    rows = "".join(f"q{n:04d},{'AB'[n % 2]},0.{n % 10}\n" for n in range(24))
    file.write_text(f"item_id,answer,confidence\n{rows}")
    add_model(read, file, study="trial", model_id="M", acting=ACTING)
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    assert len(job.analysis().results.tables["model_calibration"]) == 5


def test_what_experts_found_faulty_is_left_out_beside_the_primary_analysis(read: Store) -> None:
    """As soon as their review is closed, whichever study the cases are in."""
    with read.look() as look:
        cases = [case.item_id for case in cases_of(look, study_row(look, "trial").id)][:3]
    with read.change() as change:
        asked = [people.add(change, handle=case, made_at_utc="") for case in ("e1", "e2")]
    review = reviewing.open_review(
        read, "bank", name="look", item_ids=cases, reviewers=asked, acting=ACTING
    )
    with read.change() as change:
        row = judging.judging_row(change, REVIEW, review)
        for number, verdict in enumerate(("ambiguous", "sound", "ambiguous")):
            for person in asked:
                judging.judge(
                    change,
                    row,
                    judging.Judgement(position=number, person=person, verdict=verdict, comment=""),
                    now=NOW,
                )
    assert asked_now(read, "trial").faulty == ()
    judging.close(read, REVIEW, review, acting=ACTING)
    assert asked_now(read, "trial").faulty == tuple(sorted((cases[0], cases[2])))
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    table = job.analysis().results.tables["sensitivity"].set_index(["analysis", "rater_id"])["n"]
    dropped, primary = table["faulty questions dropped"], table["missing as wrong"]
    assert dropped["R1"] == primary["R1"] - 2


def test_it_is_kept_until_something_happens(read: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick one is then made again by itself."""
    monkeypatch.setattr(background, "QUICK_S", math.inf)
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    assert job_of(read, "trial") is job
    _read_on(read)
    again = job_of(read, "trial")
    assert again is not job
    assert again.asked == asked_now(read, "trial")
    assert again.is_done(PATIENCE_S)
    assert len(again.analysis().headline.raters.rows) == 2


def test_a_long_analysis_is_shown_until_a_refresh_is_requested(
    read: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise no large study that is being read could be looked at."""
    monkeypatch.setattr(background, "QUICK_S", 0.0)
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    _read_on(read)
    assert job_of(read, "trial") is job
    assert job.asked != asked_now(read, "trial")
    again = job_of(read, "trial", refresh=True)
    assert again is not job
    assert again.is_done(PATIENCE_S)


def test_how_far_it_is_only_grows(read: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """From nothing to less than all; the time left once it is known."""
    monkeypatch.setattr(background, "_TOLD_AFTER_S", 0.0)
    job = job_of(read, "trial")
    seen = []
    while not job.is_done(0.001):
        seen.append((job.share, job.left_s))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert all(0 <= share < 1 for share in shares)
    assert all(left is None or left >= 0 for _, left in seen)


@pytest.mark.slow
def test_an_error_of_the_other_process_is_raised_here(read: Store) -> None:
    """With its class and its words."""
    gone = background.Job(
        background.Asked(address=read.address, study="gone", head="", blinded=False)
    )
    with pytest.raises(NotFound, match="gone"):
        gone.analysis()
    faults = [analysis.Fault(file="items.csv", row=2, what="it is wrong", remedy="Fix it")]
    sent = worker.Job(_refuse, faults, kept="analysis")
    assert sent.is_done(PATIENCE_S)
    with pytest.raises(analysis.BundleError, match=r"items\.csv, row 2: it is wrong"):
        sent.outcome()


def _refuse(_: Tell, faults: list[analysis.Fault]) -> None:
    raise analysis.BundleError(faults)


@pytest.mark.slow
def test_a_process_that_was_ended_is_reported_and_started_again(read: Store) -> None:
    """As the system does when memory runs out."""
    pid = worker.Job(_pid, kept="analysis").outcome()
    job = job_of(read, "trial")
    os.kill(pid, signal.SIGKILL)
    assert job.is_done(PATIENCE_S)
    assert job_of(read, "trial") is job
    with pytest.raises(NotNow, match="stopped before it was done"):
        job.analysis()
    again = job_of(read, "trial")
    assert again is not job
    assert again.is_done(PATIENCE_S)
    assert again.analysis().findings


def _pid(_: Tell) -> int:
    return os.getpid()


def test_a_process_whose_server_is_gone_before_it_begins_ends() -> None:
    """It would wait ten minutes for a request."""
    orphaned = ProcessPoolExecutor(1, initializer=worker._begin, initargs=(0, 0, ""))
    with orphaned, pytest.raises(BrokenProcessPool):
        orphaned.submit(_wait).result(PATIENCE_S)


def _wait() -> None:
    threading.Event().wait()


def test_the_report_names_the_bundle_as_it_is_exported(read: Store) -> None:
    """Whose description lists its trails, though the tables were counted without them."""
    _read_on(read)
    close(
        read,
        study="trial",
        reason="done",
        acting=Acting(by=COMMAND_LINE, now=NOW + timedelta(days=1)),
    )
    assert job_of(read, "trial").is_done(PATIENCE_S)
    with zipfile.ZipFile(io.BytesIO(report_of(read, "trial"))) as archive:
        hashes = json.loads(archive.read("results.json"))["provenance"]["input"]["sha256"]
    exported = bundle_files(read, "trial")
    assert hashes == {name: hashlib.sha256(exported[name]).hexdigest() for name in hashes}
    assert "datapackage.json" in hashes
