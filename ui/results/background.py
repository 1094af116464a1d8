"""Runs the analysis in a separate process at low priority, so that answers are not delayed."""

import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

from study.base.canonical import stamp
from study.base.errors import BadFile, NotNow
from study.base.translation import ENGLISH, language, t
from study.exchange.bundle import bundle_files, zip_files
from study.lifecycle.reviewing import faulty_cases
from study.lifecycle.studies import accuracy_is_shown
from study.store import Store
from study.store.studies import study_row
from ui.overview.current_state import chain_head
from ui.server import worker
from ui.server.worker import OnProgress

if TYPE_CHECKING:  # importing it takes longer than everything else in the server
    from analysis import Results
    from analysis.report.figures import ReportFigure
    from analysis.report.findings.finding import Finding
    from analysis.report.headline import Headline

_MAX_KEPT_JOBS = 4
WAIT_BEFORE_PROGRESS_S = 0.7
"""How long a page waits before it shows the progress of the analysis."""

QUICK_S = 5.0
"""Analyses that take longer are not repeated automatically after every change."""

_KEPT_MODULE = "analysis"
"""The module that is loaded in the process kept for the next analysis."""

_ESTIMATE_AFTER_S = 2.0
_LONG_TABLE_ROWS = 10_000

_STEP_WEIGHT_S = {
    "bundle": 3.0,
    "figures": 1.0,
    "findings": 0.5,
    "headline": 2.0,
    "handing over": 1.5,
}
_SLOW_TABLE_WEIGHT_S = {
    "agreement_pairs": 6.0,
    "agreement_between": 11.0,
    "agreement_indices": 2.0,
    "time_model": 14.0,
}
_OTHER_TABLE_WEIGHT_S = 0.2
"""Seconds per step with 300 readers, 8 models and 200 cases; they weight the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisRequest:
    """A state of a study, identified by its trail, with the reference standard or blinded."""

    address: str
    study: str
    head: str
    blinded: bool
    faulty: tuple[str, ...] = ()
    language: str = ENGLISH


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The parts of an analysis that pages show."""

    results: "Results"
    figures: "list[ReportFigure]"
    findings: "list[Finding]"
    headline: "Headline"


class Job(worker.Job[Analysis]):
    """An analysis: running, done or failed."""

    def __init__(self, request: AnalysisRequest) -> None:
        self.request, self.begun_at_utc = request, stamp(datetime.now(UTC))
        self._start, self._stop = time.monotonic(), 0.0
        self.is_end_reported = False
        """Whether a page has reported that the process ended; the next request starts another."""
        super().__init__(_analyse, request, kept_module=_KEPT_MODULE, on_end=self._mark_end)

    @property
    def is_quick(self) -> bool:
        """Whether the analysis was fast enough to be repeated after every change."""
        return self._stop - self._start < QUICK_S

    @property
    def share(self) -> float:
        """Return the completed share of the work, 0 to 1."""
        return self.progress.share

    @property
    def remaining_s(self) -> float | None:
        """Return the remaining time in seconds; None while it is unknown."""
        elapsed_s, share = time.monotonic() - self._start, self.share
        if elapsed_s < _ESTIMATE_AFTER_S or not share:
            return None
        return elapsed_s * (1 - share) / share

    def analysis(self) -> Analysis:
        """Return the analysis when it is done.

        Raises
        ------
        StudyError, AnalysisError
            The study no longer exists, its bundle cannot be analysed, or the process was stopped.
        """
        try:
            return self.outcome()
        except worker.ProcessEnded as error:
            self.is_end_reported = True
            raise NotNow(
                t(
                    "The analysis stopped before it was done; the server may be short of memory. "
                    "Reload the page to start it again."
                )
            ) from error

    def _mark_end(self, _: bool) -> None:
        self._stop = time.monotonic()


def current_request(store: Store, study: str) -> AnalysisRequest:
    """Return the request for the study's current state in the current language."""
    return AnalysisRequest(
        address=store.address,
        study=study,
        head=chain_head(store, study),
        blinded=not accuracy_is_shown(store, study),
        faulty=_faulty_cases(store, study),
        language=language(),
    )


def _faulty_cases(store: Store, study: str) -> tuple[str, ...]:
    """Return the cases that an expert review found faulty."""
    with store.look() as look:
        return tuple(faulty_cases(look, study_row(look, study).id))


def job_of(store: Store, study: str, *, refresh: bool = False) -> Job:
    """Return the analysis of a study; start it if necessary.

    After a change of the study, a fast analysis is repeated; a slow analysis is returned unchanged
    unless `refresh` is set. Only one analysis runs at a time.
    """
    request = current_request(store, study)
    key = (request.address, study, request.blinded, request.language)
    with _LOCK:
        job = _JOBS.pop(key, None)
        if (
            job is None
            or job.is_end_reported
            or (job.is_done() and _is_stale(job, request, refresh=refresh))
        ):
            job = Job(request)
        _JOBS[key] = job
        while len(_JOBS) > _MAX_KEPT_JOBS:
            del _JOBS[next(iter(_JOBS))]
    return job


def _is_stale(job: Job, request: AnalysisRequest, *, refresh: bool) -> bool:
    return job.request != request and (refresh or job.is_quick)


def report_of(store: Store, study: str, language: str = ENGLISH) -> bytes:
    """Return the zipped report of a study whose accuracy may be seen, in a language.

    Raises
    ------
    StudyError, AnalysisError
        The same errors as `Job.analysis`.
    """
    request = replace(current_request(store, study), blinded=False, language=language)
    return worker.Job(_write_report, request, kept_module=_KEPT_MODULE).outcome()


def leaderboard_of(
    store: Store, studies: Sequence[str], cards: Sequence[Mapping[str, str]]
) -> tuple[str, bytes]:
    """Return the leaderboard of the studies as HTML, and as a zipped folder of its files.

    Raises
    ------
    StudyError
        A study no longer exists, its bundle cannot be analysed, or the process was stopped.
    """
    requests = [
        AnalysisRequest(
            address=store.address, study=study, head="", blinded=False, language=language()
        )
        for study in studies
    ]
    rows = [dict(card) for card in cards]
    return worker.Job(_write_leaderboard, requests, rows, kept_module=_KEPT_MODULE).outcome()


@lru_cache(1)
def preload_analysis() -> None:
    """Import the analysis here and in its process before anyone needs it."""

    def load() -> None:
        worker.Job(_do_nothing, kept_module=_KEPT_MODULE)
        import_module("ui.results.report_parts")

    threading.Thread(target=load, daemon=True).start()


_JOBS: dict[tuple[str, str, bool, str], Job] = {}
_LOCK = threading.Lock()


# The following functions run in the other process.

_LAST_RESULTS: "dict[AnalysisRequest, Results]" = {}


def _do_nothing(_: OnProgress) -> None:
    pass


def _analyse(report_progress: OnProgress, request: AnalysisRequest) -> Analysis:
    from analysis.registry import STATISTICS
    from analysis.report.figures import report_figures
    from analysis.report.findings import findings
    from analysis.report.headline import headline
    from analysis.translation import use_language

    steps = {
        "bundle": 0.0,
        **{statistic.name: _OTHER_TABLE_WEIGHT_S for statistic in STATISTICS},
        **_SLOW_TABLE_WEIGHT_S,
        **_STEP_WEIGHT_S,
    }
    done = 0.0

    def start_step(step: str) -> None:
        nonlocal done
        report_progress("analysis", done, sum(steps.values()))
        done += steps.get(step, _OTHER_TABLE_WEIGHT_S)  # some tables exist only for some studies

    start_step("bundle")
    results = _compute_results(request, start_step)
    with use_language(request.language):
        start_step("figures")
        figures = report_figures(results)
        start_step("findings")
        findings_by_theme = findings(results)
        start_step("headline")
        headline_of_results = headline(results)
    start_step("handing over")
    return Analysis(
        results=_with_categories(results),
        figures=figures,
        findings=findings_by_theme,
        headline=headline_of_results,
    )


def _with_categories(results: "Results") -> "Results":
    """Return the results with the strings of long tables stored as categories."""
    tables = {
        name: table.astype(
            dict.fromkeys(table.select_dtypes(["str", "object"]).columns, "category")
        )
        if len(table) > _LONG_TABLE_ROWS
        else table
        for name, table in results.tables.items()
    }
    return replace(results, tables=tables)


def _compute_results(request: AnalysisRequest, on_step: Any = None) -> "Results":
    import analysis

    # Numbers are the same in every language.
    request = replace(request, language=ENGLISH)
    if request not in _LAST_RESULTS:
        _LAST_RESULTS.clear()
        options = analysis.Options(faulty=request.faulty)
        _LAST_RESULTS[request] = analysis.analyse(
            _read_bundle(request, trails=False), options, on_step=on_step
        )
    return _LAST_RESULTS[request]


def _write_report(_: OnProgress, request: AnalysisRequest) -> bytes:
    import analysis

    # The report states the hash of the exported bundle, including its trails.
    results = replace(_compute_results(request), bundle=_read_bundle(request, trails=True))
    with tempfile.TemporaryDirectory() as folder:
        analysis.write_results(results, folder, language=request.language)
        return _zip_folder(Path(folder))


def _write_leaderboard(
    _: OnProgress, requests: Sequence[AnalysisRequest], cards: Sequence[dict[str, str]]
) -> tuple[str, bytes]:
    import pandas as pd

    from analysis.errors import AnalysisError
    from analysis.report.leaderboard import write_leaderboard
    from analysis.translation import use_language

    table = pd.DataFrame(cards).fillna("") if cards else None
    try:
        bundles = {study.study: _read_bundle(study, trails=False) for study in requests}
        with tempfile.TemporaryDirectory() as folder, use_language(requests[0].language):
            html = write_leaderboard(bundles, folder, cards=table)
            return html, _zip_folder(Path(folder))
    except AnalysisError as error:
        raise BadFile(str(error)) from error


def _zip_folder(folder: Path) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return out.getvalue()


def _read_bundle(request: AnalysisRequest, *, trails: bool) -> Any:
    import analysis

    files = bundle_files(
        Store.at(request.address), request.study, blinded=request.blinded, trails=trails
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle.zip"
        path.write_bytes(zip_files(files))
        return analysis.read_bundle(path)
