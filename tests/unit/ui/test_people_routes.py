"""Signing in and choosing a study over HTTP, with the reason of every refusal."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from study.lifecycle import deployments
from study.people import persons, single_sign_on
from study.people.codes import new_code
from study.people.persons import Newcomer
from study.people.roles import Role
from study.people.single_sign_on import Identity
from study.store import Store
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, draw_trial, entropy_from, invite
from ui.app.middleware import HEADERS
from ui.app.routes import routes
from ui.server import access as ui_access
from ui.server.access import refusal_text

Client = Callable[[], TestClient]


@pytest.fixture
def client(banked: Store, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Return a function that opens a browser at a deployment with one open study."""
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    draw_trial(banked, {"cases": 8, "one_question_per": "item"})
    application = Starlette(routes=routes(), middleware=[HEADERS])
    return lambda: TestClient(application, follow_redirects=False)


def _give(store: Store, handle: str, role: Role, study: str, days: float, seed: int) -> str:
    code = new_code(entropy_from(seed), datetime.now(UTC) + timedelta(days=days))
    persons.grant_role(
        store,
        Newcomer(handle=handle, role=role, email=f"{handle}@example.org"),
        study=study,
        code=code,
        acting=ACTING,
    )
    return code.text


def _try(client: TestClient, code: str) -> str:
    answer = client.post("/sign-in", data={"access_code": code})
    assert answer.status_code == 303
    return str(answer.headers["location"])


def test_every_refusal_has_a_reason_and_a_message(client: Client, banked: Store) -> None:
    """Codes that are unknown, expired or without a role have different reasons."""
    expired = _give(banked, "old", Role.STATISTICIAN, "trial", -1, 21)
    stranger = _give(banked, "gone", Role.STATISTICIAN, "trial", 9, 23)
    with banked.change() as change:
        change.execute(
            "UPDATE grants SET revoked_at_utc = 'x' WHERE person = "
            "(SELECT id FROM people WHERE handle = 'gone')"
        )
    tried = {"nonsense": "unknown", expired: "expired", stranger: "no-part"}
    for code, reason in tried.items():
        assert _try(client(), code) == f"./?refused={reason}"
        assert refusal_text(reason)
    assert client().post("/sign-in", data={"ticket": "x"}).headers["location"] == (
        "./?refused=ticket"
    )
    assert refusal_text("rubbish") == ""


def test_staff_of_a_study_sign_out_before_its_reader_signs_in(
    client: Client, banked: Store
) -> None:
    """In the same browser a reader's sign-in is refused until then."""
    reader = invite(banked, "R1")[0].text
    browser = client()
    assert _try(browser, _give(banked, "c", Role.COORDINATOR, "trial", 9, 24)) == "./"
    assert _try(browser, reader) == "./?refused=runs-it"
    assert refusal_text("runs-it")
    browser.post("/sign-out")
    assert _try(browser, reader) == "./"


def test_a_ticket_signs_in_once(client: Client, banked: Store) -> None:
    """The route accepts it in place of a code, and refuses it the second time."""
    _give(banked, "carla", Role.COORDINATOR, "", 9, 25)
    identity = Identity(
        issuer="i", subject="s", email="carla@example.org", vouched=datetime.now(UTC)
    )
    ticket = single_sign_on.issue_ticket(
        banked, identity, entropy=entropy_from(26), now=datetime.now(UTC)
    )
    first = client()
    assert first.post("/sign-in", data={"ticket": ticket}).headers["location"] == "./"
    assert ui_access.COOKIE in first.cookies
    second_response = client().post("/sign-in", data={"ticket": ticket})
    assert second_response.headers["location"] == "./?refused=ticket"


def test_a_person_can_choose_only_their_own_studies(client: Client, banked: Store) -> None:
    """An administrator can enter every study; other people's roles cannot be chosen."""
    text = deployments.administrator_code(banked, name="admin", entropy=entropy_from(27), now=NOW)
    admin = client()
    assert _try(admin, text) == "./"
    with banked.look() as look:
        grant = look.value("SELECT id FROM grants WHERE role = 'administrator'")
        study = look.value("SELECT id FROM studies")
    chosen = admin.post("/choose", data={"grant": grant, "study": study})
    assert chosen.headers["location"] == "./"
    assert admin.get("/export/bundle.zip").status_code == 200
    stan = client()
    _try(stan, _give(banked, "stan", Role.STATISTICIAN, "trial", 9, 28))
    for choice in ({"grant": grant, "study": study}, {"grant": "x"}, {"grant": "9" * 30}, {}):
        assert stan.post("/choose", data=choice).headers["location"] == "./?refused=choice"
    assert client().post("/choose", data={"grant": grant}).headers["location"] == (
        "./?refused=choice"
    )
    foreign = {"origin": "https://elsewhere.example"}
    assert admin.post("/choose", data={"grant": grant}, headers=foreign).status_code == 403
    assert verify(banked) == []


def test_signing_out_ends_the_single_sign_on_session(client: Client) -> None:
    """The page does this after the form, whose target must have our origin."""
    browser = client()
    assert browser.post("/sign-out").headers["location"] == "./"
    browser.cookies.set(ui_access.STREAMLIT_COOKIE, "x")
    assert browser.post("/sign-out").headers["location"] == "./?signed-out=1"
