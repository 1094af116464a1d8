"""The analysis runs in a separate process, keeps its results and reports its errors."""

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
from ui.results.background import current_request, job_of, report_of
from ui.server import worker
from ui.server.worker import OnProgress

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


def test_the_results_equal_the_analysis_of_the_bundle(read: Store) -> None:
    """The bundle for the analysis omits the trails."""
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


def test_tables_of_special_designs_are_computed(read: Store, tmp_path: Path) -> None:
    """An example is the calibration of a model that states its confidence."""
    file = tmp_path / "model.csv"
    rows = "".join(f"q{n:04d},{'AB'[n % 2]},0.{n % 10}\n" for n in range(24))
    file.write_text(f"item_id,answer,confidence\n{rows}")
    add_model(read, file, study="trial", model_id="M", acting=ACTING)
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    assert len(job.analysis().results.tables["model_calibration"]) == 5


def test_a_sensitivity_analysis_omits_items_that_experts_found_faulty(read: Store) -> None:
    """They are omitted once their review is closed, in any study."""
    with read.look() as look:
        cases = [case.item_id for case in cases_of(look, study_row(look, "trial").id)][:3]
    with read.change() as change:
        judges = [people.add(change, handle=case, made_at_utc="") for case in ("e1", "e2")]
    review = reviewing.open_review(
        read, "bank", name="look", item_ids=cases, reviewers=judges, acting=ACTING
    )
    with read.change() as change:
        row = judging.judging_row(change, REVIEW, review)
        for number, verdict in enumerate(("ambiguous", "sound", "ambiguous")):
            for person in judges:
                judging.judge(
                    change,
                    row,
                    judging.Judgement(position=number, person=person, verdict=verdict, comment=""),
                    now=NOW,
                )
    assert current_request(read, "trial").faulty == ()
    judging.close(read, REVIEW, review, acting=ACTING)
    assert current_request(read, "trial").faulty == tuple(sorted((cases[0], cases[2])))
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    table = job.analysis().results.tables["sensitivity"].set_index(["analysis", "rater_id"])["n"]
    dropped, primary = table["faulty questions dropped"], table["missing as wrong"]
    assert dropped["R1"] == primary["R1"] - 2


def test_results_are_kept_until_the_study_changes(
    read: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick analysis is then repeated automatically."""
    monkeypatch.setattr(background, "QUICK_S", math.inf)
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    assert job_of(read, "trial") is job
    _read_on(read)
    second_job = job_of(read, "trial")
    assert second_job is not job
    assert second_job.request == current_request(read, "trial")
    assert second_job.is_done(PATIENCE_S)
    assert len(second_job.analysis().headline.raters.rows) == 2


def test_a_long_analysis_is_shown_until_a_refresh_is_requested(
    read: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the results of a large open study could never be viewed."""
    monkeypatch.setattr(background, "QUICK_S", 0.0)
    job = job_of(read, "trial")
    assert job.is_done(PATIENCE_S)
    _read_on(read)
    assert job_of(read, "trial") is job
    assert job.request != current_request(read, "trial")
    second_job = job_of(read, "trial", refresh=True)
    assert second_job is not job
    assert second_job.is_done(PATIENCE_S)


def test_the_reported_progress_never_decreases(
    read: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts at 0 and stays below 1; the remaining time is shown once it is known."""
    monkeypatch.setattr(background, "_ESTIMATE_AFTER_S", 0.0)
    job = job_of(read, "trial")
    messages = []
    while not job.is_done(0.001):
        messages.append((job.share, job.remaining_s))
    shares = [share for share, _ in messages]
    assert shares == sorted(shares)
    assert all(0 <= share < 1 for share in shares)
    assert all(left is None or left >= 0 for _, left in messages)


@pytest.mark.thorough
def test_an_error_of_the_other_process_is_raised(read: Store) -> None:
    """Its class and message are kept."""
    failing_job = background.Job(
        background.AnalysisRequest(address=read.address, study="gone", head="", blinded=False)
    )
    with pytest.raises(NotFound, match="gone"):
        failing_job.analysis()
    faults = [analysis.Fault(file="items.csv", row=2, what="it is wrong", remedy="Fix it")]
    sent = worker.Job(_refuse, faults, kept_module="analysis")
    assert sent.is_done(PATIENCE_S)
    with pytest.raises(analysis.BundleError, match=r"items\.csv, row 2: it is wrong"):
        sent.outcome()


def _refuse(_: OnProgress, faults: list[analysis.Fault]) -> None:
    raise analysis.BundleError(faults)


@pytest.mark.thorough
def test_a_killed_process_is_reported_and_started_again(read: Store) -> None:
    """The system kills processes when memory runs out."""
    pid = worker.Job(_pid, kept_module="analysis").outcome()
    job = job_of(read, "trial")
    os.kill(pid, signal.SIGKILL)
    assert job.is_done(PATIENCE_S)
    assert job_of(read, "trial") is job
    with pytest.raises(NotNow, match="stopped before it was done"):
        job.analysis()
    second_job = job_of(read, "trial")
    assert second_job is not job
    assert second_job.is_done(PATIENCE_S)
    assert second_job.analysis().findings


def _pid(_: OnProgress) -> int:
    return os.getpid()


def test_a_process_ends_if_its_server_ended_before_it_began() -> None:
    """Otherwise it would wait ten minutes for a request."""
    orphaned = ProcessPoolExecutor(1, initializer=worker._prepare_process, initargs=(0, 0, ""))
    with orphaned, pytest.raises(BrokenProcessPool):
        orphaned.submit(_wait).result(PATIENCE_S)


def _wait() -> None:
    threading.Event().wait()


def test_the_report_states_the_hash_of_the_exported_bundle(read: Store) -> None:
    """The description lists the trails, although the tables were computed without them."""
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
