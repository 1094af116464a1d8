"""The coordinator's downloads: the bundle and the report, asked for with the cookie each time.

They hold the reference standard, so they do not go through Streamlit's media files, which answer
anybody who knows the address.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from analysis import AnalysisError
from study.bundle import bundle_files, zipped
from study.downloads import record_download
from study.errors import StudyError
from study.roles import Act
from study.store import Store
from study.words import t
from ui.access import allowed
from ui.deployment import store
from ui.results import report, report_file

_PAGES = {"report.html": "text/html", "report.pdf": "application/pdf"}


def routes() -> list[Route]:
    """Return the download routes."""
    return [
        Route("/export/bundle.zip", _bundle, methods=["GET"]),
        Route("/export/report.zip", _report, methods=["GET"]),
        *(Route(f"/export/{name}", _report_page, methods=["GET"]) for name in _PAGES),
    ]


async def _bundle(request: Request) -> Response:
    return await _for_coordinator(
        request,
        "bundle.zip",
        "application/zip",
        lambda kept, study: zipped(bundle_files(kept, study)),
    )


async def _report(request: Request) -> Response:
    return await _for_coordinator(request, "report.zip", "application/zip", report)


async def _report_page(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    return await _for_coordinator(
        request, name, _PAGES[name], lambda kept, study: report_file(kept, study, name)
    )


async def _for_coordinator(
    request: Request, name: str, media_type: str, make: Callable[[Store, str], bytes]
) -> Response:
    def work() -> Response:
        person = allowed(request, Act.EXPORT)
        if person is None or person.study is None:
            return PlainTextResponse(t("Sign in as whoever may export the study."), status_code=401)
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{name}"',
        }
        content = make(store(), person.study_name)
        record_download(
            store(),
            study=person.study_name,
            what=name,
            content=content,
            by=person.by,
            now=datetime.now(UTC),
        )
        return Response(content, media_type=media_type, headers=headers)

    try:
        return await run_in_threadpool(work)
    except (StudyError, AnalysisError) as error:
        return PlainTextResponse(str(error), status_code=409)
