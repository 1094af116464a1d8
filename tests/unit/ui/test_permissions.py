"""The permission matrix: two studies, all roles, signed-out visitors, and every page and route.

The tables are written out instead of derived from the program, so that a change of rights fails a
test. A page or route that is not in a table fails the test.
"""

import io
import secrets
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import streamlit as st
from starlette.routing import Mount, Route
from streamlit.testing.v1 import AppTest

from study.lifecycle import previews
from study.people.signing_in import Person
from study.store import Store, studies
from tests.conftest import ROOT
from tests.page_runs import open_page
from tests.unit.ui.two_studies import AMBER, COBALT, EVERYBODY, STATES, Deployment, stop
from ui.app.menu import every_page, pages_of
from ui.app.routes import routes
from ui.archive import exports as archive
from ui.reading import films

WHO = EVERYBODY[:7]
"""The columns of the table of pages; a study's people are marked by A, C, S, R."""

#                    nobody, deployment's D and C, the study's A, C, S, R
PAGES = {
    "sign_in.py": "      + + + + + + +",
    "studies.py": "      - + + + + + +",
    "read.py": "         - - - - - - +",
    "overview.py": "     - - - + + - -",
    "set_up.py": "       - - - + + - -",
    "people.py": "       - - - + + - -",
    "models.py": "       - - - + + - -",
    "results.py": "      - - - + + + -",
    "leaderboard.py": "  - - - + + + -",
    "archive.py": "      - - - + + + -",
    "trail.py": "        - - - + + - -",
    "new_study.py": "    - + + - - - -",
    "banks.py": "        - + + - - - -",
    "deployment.py": "   - + - - - - -",
    "score_card.py": "   - - - - - - +",
    "explore.py": "      - + + - - - -",
    "bank_review.py": "  - + + - - - -",
    "second_factor.py": "- + + + + + -",
    "reviews.py": "      - + + - - - -",
    "review.py": "       - + + - - - -",
    "scoring.py": "      - - - + + - -",
    "teaching.py": "     - + + + + + +",
    "teach.py": "        - + + + + + +",
    "preview.py": "      - - - + + - -",
    "preview_draft.py": "- + + - - - -",
}

# Everyone requests data of Amber. Columns: nobody, the deployment's two roles, then A, C, S and R
# of Amber and of Cobalt. Routes without a study use the person's own study.
_OWN_READER = "401 403 403  403 403 403 {0}  403 403 403 {0}"
_EXPORT = "401 401 401  {0} {0} {0} 401  {0} {0} {0} 401"
_SET_UP = "401 401 401  200 200 401 401  200 200 401 401"
_MAKE_STUDY = "401 200 200  401 401 401 401  401 401 401 401"
_FORM = "303 303 303  303 303 303 303  303 303 303 303"
_ANYBODY = "200 200 200  200 200 200 200  200 200 200 200"
_METRICS = "404 404 404  404 404 404 404  404 404 404 404"  # no token is configured
_SIGNED_IN = "401 200 200  200 200 200 200  200 200 200 200"
_TAUGHT = "401 404 404  404 404 404 404  404 404 404 404"  # only marked banks are used for teaching
_REVIEWED = "401 404 404  401 401 401 401  401 401 401 401"  # no review has been requested
_PREVIEW = "401 403 403  403 {0} 403 403  403 403 403 403"
_BEGUN_ANEW = (
    "401 403 403  403 204 404 404  404 404 404 404"  # the preview exists until this request
)
_ENDED = "401 404 404  404 404 404 404  404 404 404 404"


def _by_state(row: str, drawn: int, opened: int, closed: int) -> tuple[str, str, str]:
    return row.format(drawn), row.format(opened), row.format(closed)


ROUTES: dict[str, str | tuple[str, str, str]] = {
    "POST /sign-in": _FORM,
    "POST /sign-out": _FORM,
    "POST /choose": _FORM,
    "GET /healthz": _ANYBODY,
    "GET /readyz": _ANYBODY,
    "GET /metrics": _METRICS,
    "GET /here": _SIGNED_IN,
    "POST /here": _SIGNED_IN,
    "GET /films/{case}/{view}/{expires}/{signature}": (
        "401 401 401  401 401 401 404  401 401 401 403",
        "401 401 401  401 401 401 200  401 401 401 403",
        "401 401 401  401 401 401 200  401 401 401 403",
    ),
    "GET /desk": _by_state(_OWN_READER, 409, 200, 200),
    "GET /desk/cases/{position}": _by_state(_OWN_READER, 409, 404, 409),
    "POST /desk/records": _OWN_READER.format(403),  # unknown seal
    "GET /export/bundle.zip": _EXPORT.format(200),
    "GET /export/deposit.zip": _by_state(_EXPORT, 200, 409, 409),
    "GET /export/report.zip": _by_state(_EXPORT, 409, 409, 200),
    "GET /export/report.html": _by_state(_EXPORT, 409, 409, 200),
    "GET /export/report.pdf": _by_state(_EXPORT, 409, 409, 200),
    "GET /export/leaderboard.zip": (
        "401 401 401  409 409 409 401  409 409 409 401",
        "401 401 401  409 409 409 401  409 409 409 401",
        "401 401 401  200 200 200 401  409 409 409 401",
    ),
    "GET /export/figures/{name}": _by_state(_EXPORT, 409, 409, 200),
    "GET /export/closing-report.html": _EXPORT.format(200),
    "GET /export/missing.csv": _EXPORT.format(200),
    "GET /export/archive/{name}": "401 401 401  200 200 200 401  409 409 409 401",
    "GET /export/exam-paper/{format}.zip": _SET_UP,
    "GET /export/trail.csv": _SET_UP,
    "GET /export/deployment-trail.csv": "401 200 401  401 401 401 401  401 401 401 401",
    "GET /draft/protocol.toml": _MAKE_STUDY,
    "GET /study/protocol.toml": _SET_UP,
    "GET /example/bank.zip": _MAKE_STUDY,
    "GET /example/bank-format.txt": _MAKE_STUDY,
    "GET /example/predictions.csv": _SET_UP,
    "GET /example/readers.csv": _SET_UP,
    "GET /case-films/{view}": (
        "401 401 401  200 200 409 401  404 404 409 401",
        "401 401 401  200 200 409 401  404 404 409 401",
        "401 401 401  200 200 200 401  404 404 404 401",
    ),
    "GET /bank-films/{bank}/{item}/{view}": _MAKE_STUDY,
    "GET /verdicts/{review}": "401 409 409  401 401 401 401  401 401 401 401",
    "GET /preview/{mark}/desk": (_PREVIEW.format(200), _PREVIEW.format(200), _ENDED),
    "GET /preview/{mark}/desk/cases/{position}": (
        _PREVIEW.format(404),
        _PREVIEW.format(404),
        _ENDED,
    ),
    "POST /preview/{mark}/desk/records": (_PREVIEW.format(409), _PREVIEW.format(409), _ENDED),
    "GET /preview/{mark}/films/{case}/{view}": (_PREVIEW.format(200), _PREVIEW.format(200), _ENDED),
    "POST /preview/{mark}/again": (_BEGUN_ANEW, _BEGUN_ANEW, _ENDED),
    "GET /teaching/{bank}/{round}/desk": _TAUGHT,
    "POST /teaching/{bank}/{round}/desk/records": _TAUGHT.replace("404", "403"),  # seal of nobody
    "GET /teaching/{bank}/{round}/films/{case}/{view}": _TAUGHT,
    "GET /expert/{review}/desk": _REVIEWED,
    "POST /expert/{review}/desk/records": _REVIEWED.replace("404", "403"),  # seal of nobody
    "GET /expert/{review}/films/{case}/{view}": _REVIEWED,
    "GET /scoring/{scoring}/desk": _REVIEWED,
    "POST /scoring/{scoring}/desk/records": _REVIEWED.replace("404", "403"),  # seal of nobody
    "GET /scoring/{scoring}/films/{case}/{view}": _REVIEWED,
    "GET /score-card/{position}/films/{view}": (
        "401 401 401  401 401 401 409  401 401 401 409",
        "401 401 401  401 401 401 409  401 401 401 409",
        "401 401 401  401 401 401 200  401 401 401 200",
    ),
    "GET /reading-record": (
        "401 401 401  401 401 401 409  401 401 401 409",
        "401 401 401  401 401 401 409  401 401 401 409",
        "401 401 401  401 401 401 200  401 401 401 200",
    ),
    "GET /reading-record.pdf": (
        "401 401 401  401 401 401 409  401 401 401 409",
        "401 401 401  401 401 401 409  401 401 401 409",
        "401 401 401  401 401 401 200  401 401 401 200",
    ),
    "GET /viewer": _ANYBODY,
}


def _may_see(page: str, reader_id: str) -> bool:
    column = WHO.index(reader_id.replace(COBALT, AMBER))
    return PAGES[page].split()[column] == "+"


def _foreign_texts(reader_id: str) -> tuple[str, ...]:
    """Return texts that a person must not see: names of the other study, or of both."""
    if reader_id == "deployment administrator":
        return ()  # can enter either study
    return tuple(study for study in (AMBER, COBALT) if study not in reader_id)


def test_the_tables_contain_all_pages_and_routes() -> None:
    """A new page or route needs an entry."""
    assert set(PAGES) == {entry.file for entry in every_page()}
    assert set(PAGES) == {path.name for path in (ROOT / "pages").glob("*.py")}
    assert set(ROUTES) == {_route_name(route) for route in routes()}


def _route_name(route: Any) -> str:
    if isinstance(route, Mount):
        return f"GET /{route.path.split('/')[1]}"  # modules of the viewer, for each language
    assert isinstance(route, Route)
    (method,) = (route.methods or set()) - {"HEAD"}
    return f"{method} {route.path}"


@pytest.mark.parametrize("who", EVERYBODY)
def test_the_menu_contains_the_permitted_pages(
    enter: Callable[[str], Deployment], who: str
) -> None:
    """It contains no other page except signing in and the choice of a study."""
    files = {entry.file for entry in pages_of(enter("open").person(who))}
    aside = {"sign_in.py", "studies.py"}
    assert files - aside == {page for page in PAGES if _may_see(page, who)} - aside


_REFUSED = [("open", who) for who in EVERYBODY] + [
    (state, who) for state in ("drawn", "closed") for who in WHO
]


@pytest.mark.parametrize(("state", "who"), _REFUSED)
def test_pages_refuse_people_without_permission(
    enter: Callable[[str], Deployment], monkeypatch: pytest.MonkeyPatch, state: str, who: str
) -> None:
    """A page opened without the router shows one sentence and nothing else."""
    person = enter(state).person(who)
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    monkeypatch.setattr(st, "stop", stop)  # Streamlit's function would end the script
    refused = [str(ROOT / "pages" / page) for page in PAGES if not _may_see(page, who)]

    shown = AppTest.from_function(_one_after_the_other, default_timeout=60, args=(refused,)).run()
    assert not shown.exception
    reason = (
        "Your role here does not give you access to this page."
        if person
        else "Sign in to see this page."
    )
    assert [error.value for error in shown.error] == [reason] * len(refused)
    assert len(list(_elements(shown.main))) == len(refused)


def _one_after_the_other(pages: list[str]) -> None:
    """Run pages that all refuse within a single script of Streamlit's test runner."""
    import runpy
    from contextlib import suppress

    from tests.unit.ui.two_studies import Stopped

    for page in pages:
        with suppress(Stopped):
            runpy.run_path(page)


_SHOWN = [
    *(("drawn", f"{role} of amber") for role in ("coordinator", "statistician", "reader")),
    *(("open", who.replace(AMBER, COBALT)) for who in WHO),
    *(("closed", who) for who in WHO[1:]),
]


@pytest.mark.parametrize(("state", "who"), _SHOWN)
def test_pages_show_nothing_of_the_other_study(
    enter: Callable[[str], Deployment], monkeypatch: pytest.MonkeyPatch, state: str, who: str
) -> None:
    """No name, question, reason or count of a study is shown to people without a role in it."""
    deployment = enter(state)
    person = deployment.person(who)
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": person)
    monkeypatch.setattr(st, "switch_page", lambda page: None)  # the test runner has only this page
    for page in (page for page in PAGES if _may_see(page, who)):
        ran = open_page(page, draft=str(deployment.draft))
        assert not ran.exception, page
        assert not any("does not give you access" in error.value for error in ran.error), page
        shown = b"".join(_elements(ran.main)).lower()
        assert shown, page
        assert not [name for name in _foreign_texts(who) if name.encode() in shown], page
        assert state == "closed" or b"nobody-may-see" not in shown, page


def _elements(block: Any) -> Iterator[bytes]:
    """Yield the messages that are sent to the browser for a block and its children."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _elements(child)
        else:
            yield child.proto.SerializeToString()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("route", ROUTES)
def test_routes_answer_people_with_permission(
    altered: Callable[[str], Deployment], monkeypatch: pytest.MonkeyPatch, state: str, route: str
) -> None:
    """Everyone requests data of Amber; the table has the statuses, and no answer leaks data."""
    deployment = altered(state)
    report = "ui.results.report_parts._report"
    monkeypatch.setattr(report, lambda _, study, *rest: _report_of(study))
    monkeypatch.setattr("ui.server.access.MIN_DELAY_S", 0.0)  # delay after a wrong code
    method, path = route.split(" ")
    address = _address(deployment, path)
    row = ROUTES[route]
    expected = (row if isinstance(row, str) else row[STATES.index(state)]).split()
    answers = {}
    for person in EVERYBODY:
        message = {"seal": "nobody's", "records": []} if "records" in path else None
        answer = deployment.client(person).request(method, address, json=message)
        answers[person] = str(answer.status_code)
        shown = _unpacked(answer.content).replace(
            b"chamber", b""
        )  # a word in the demo bank contains "amber"
        assert not [name for name in _foreign_texts(person) if name.encode() in shown], person
        if state != "closed":
            assert b"nobody-may-see" not in shown, person
    assert answers == dict(zip(EVERYBODY, expected, strict=True))


def _report_of(study: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as files:
        for name in ("report.html", "report.pdf"):
            files.writestr(name, f"Report of {study}")
    return buffer.getvalue()


def _unpacked(content: bytes) -> bytes:
    """Return the content of an answer in lower case, with the contents of zip files."""
    if not content.startswith(b"PK\x03\x04"):
        return content.lower()
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        names = " ".join(files.namelist()).encode()
        return names + b"".join(_unpacked(files.read(name)) for name in files.namelist())


def _first_case(current_store: Store, reader: Person) -> str:
    """Return a reader's first case, or "none" where the study has not been opened."""
    with current_store.look() as look:
        assigned = studies.assignments(look, reader.reader or 0)
    return str(assigned[0]["id"]) if assigned else "none"


def _address(deployment: Deployment, path: str) -> str:
    """Return the address of a route for data of Amber."""
    coordinator, reader = (
        deployment.person(f"{name} of amber") for name in ("coordinator", "reader")
    )
    assert coordinator is not None
    assert reader is not None
    with deployment.store.look() as look:
        secret = str(look.value("SELECT value FROM deployment WHERE name = 'secret'"))
        item = studies.cases(look, coordinator.study or 0)[0].item_id
    now = datetime.now(UTC)
    if path == "/viewer":
        return f"{next(route for route in routes() if isinstance(route, Mount)).path}/start.js"
    if path.startswith("/films"):
        film = f"{_first_case(deployment.store, reader)}/1"
        return "/" + films.address(secret, reader, film, now_s=now.timestamp())
    if path.startswith("/preview"):
        mark, case = "0" * 32, "none"
        if deployment.state != "closed":
            walk = previews.preview(
                deployment.store, coordinator, entropy=secrets.token_bytes, now=now
            )
            mark, case = walk.mark, _first_case(walk.store, walk.reader)
        return path.format(mark=mark, position=1, case=case, view=1)
    if path.startswith("/export/archive"):
        archive.make_archive_files(coordinator)
        return "/export/archive/bundle.zip"
    if path.startswith("/export/figures"):
        return "/export/figures/overview-85mm.svg"
    query = {
        "/case-films/{view}": f"?item={item}",
        "/draft/protocol.toml": f"?draft={deployment.draft}",
        "/export/deposit.zip": "?author=Doe,%20Jane",
        "/export/leaderboard.zip": "?study=amber",
    }
    taught = {
        "format": "jsonl",
        "bank": 1,
        "round": 1,
        "case": "none",
        "item": 1,
        "review": 1,
        "scoring": 1,
    }
    return path.format(position=1, view=0, **taught) + query.get(path, "")


@pytest.mark.parametrize("route", [name for name in ROUTES if name.startswith("POST")])
def test_forms_of_other_sites_are_refused(altered: Callable[[str], Deployment], route: str) -> None:
    """The browser is signed in, and the origin is refused."""
    deployment = altered("open")
    address = _address(deployment, route.partition(" ")[2])
    for headers in ({"origin": "https://elsewhere.example"}, {"sec-fetch-site": "cross-site"}):
        for person in ("coordinator of amber", "reader of amber"):
            answer = deployment.client(person).post(address, headers=headers, content=b"{}")
            assert answer.status_code == 403
            assert deployment.person(person) is not None


@pytest.mark.parametrize("digits", [18, 30, 5000])
def test_numbers_out_of_range_are_not_found(
    enter: Callable[[str], Deployment], digits: int
) -> None:
    """Python reads 4,300 digits, and SQLite 18."""
    deployment, number = enter("closed"), "9" * digits
    for person, address, status in (
        ("coordinator of amber", f"/case-films/{number}?item=amber-q0000", 404),
        ("nobody", f"/case-films/{number}", 401),
        ("reader of amber", f"/score-card/{number}/films/{number}", 404),
        ("deployment coordinator", f"/draft/protocol.toml?draft={number}", 409),
    ):
        assert deployment.client(person).get(address).status_code == status
