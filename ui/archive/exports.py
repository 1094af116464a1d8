"""The downloads of a study: bundle, report, archive, each asked for with the cookie.

They do not go through Streamlit's media files, which answer anybody who knows the address. While
accuracy may not be seen, the bundle is the blinded one, and there is no report.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from study.base.errors import BadFile
from study.base.translation import ENGLISH, t
from study.exchange.bundle import bundle_files, zipped
from study.exchange.closing_report import report_files
from study.lifecycle.studies import accuracy_is_shown
from study.people.roles import Act
from study.people.signing_in import Person
from study.trail.trails import record_download
from ui.archive import closing as archive
from ui.parts.downloads import attachment
from ui.server.access import acting, answer
from ui.server.deployment import store

_PAGES = {"report.html": "text/html", "report.pdf": "application/pdf"}
_CLOSING = {"closing-report.html": "text/html", "missing.csv": "text/csv"}
_ZIP = "application/zip"


def routes() -> list[Route]:
    """Return the download routes."""
    return [
        Route("/export/bundle.zip", _bundle, methods=["GET"]),
        Route("/export/report.zip", _report, methods=["GET"]),
        Route("/export/figures/{name}", _figure, methods=["GET"]),
        *(Route(f"/export/{name}", _report_page, methods=["GET"]) for name in _PAGES),
        *(Route(f"/export/{name}", _closing_report, methods=["GET"]) for name in _CLOSING),
        Route("/export/archive/{name}", _archive, methods=["GET"]),
    ]


async def _bundle(request: Request) -> Response:
    def make(person: Person) -> Response:
        kept, study = store(), person.study_name
        blinded = not accuracy_is_shown(kept, study)
        content = zipped(bundle_files(kept, study, blinded=blinded))
        return _sent(person, "bundle.zip", content, _ZIP)

    return await _for_whoever_may(request, make)


async def _report(request: Request) -> Response:
    return await _for_whoever_may(
        request,
        lambda person: _sent(person, "report.zip", _reported(person, "", request), _ZIP),
    )


async def _report_page(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    return await _for_whoever_may(
        request,
        lambda person: _sent(person, name, _reported(person, name, request), _PAGES[name]),
    )


async def _figure(request: Request) -> Response:
    def make(person: Person) -> Response:
        from analysis import AnalysisError
        from ui.results.figure_files import figure_file

        name, matrix = str(request.path_params["name"]), dict(request.query_params)
        try:
            content, media_type = figure_file(store(), person.study_name, name, matrix)
        except AnalysisError as error:
            raise BadFile(str(error)) from error
        return _sent(person, name, content, media_type)

    return await _for_whoever_may(request, make)


async def _closing_report(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    return await _for_whoever_may(
        request,
        lambda person: _sent(
            person, name, report_files(store(), person.study_name)[name], _CLOSING[name]
        ),
    )


async def _archive(request: Request) -> Response:
    name = str(request.path_params["name"])
    return await _for_whoever_may(
        request,
        lambda person: FileResponse(
            archive.hand_out(person, name),
            media_type="application/octet-stream",
            headers=attachment(name),
        ),
    )


def _reported(person: Person, name: str, request: Request) -> bytes:
    """Return a file of the report, or the whole of it; refused where it cannot be made.

    In English, or in the language that is asked for.
    """
    # Loading the analysis takes longer than all else of the server, and few starts need it.
    from analysis import AnalysisError
    from ui.results.analysis import report, report_file

    study, language = person.study_name, request.query_params.get("language", ENGLISH)
    try:
        if name:
            return report_file(store(), study, name, language)
        return report(store(), study, language)
    except AnalysisError as error:
        raise BadFile(str(error)) from error


def _sent(person: Person, name: str, content: bytes, media_type: str) -> Response:
    """Hand a file out, and record to whom."""
    study = person.study_name
    record_download(store(), study=study, what=name, content=content, **acting(person))
    return Response(content, media_type=media_type, headers=attachment(name))


async def _for_whoever_may(request: Request, make: Callable[[Person], Response]) -> Response:
    return await answer(
        request, Act.EXPORT, make, t("Sign in with an account that can export the study.")
    )
