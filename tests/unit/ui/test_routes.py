"""The HTTP routes: permissions, transferred data, and refusals."""

import asyncio
import gzip
import io
import json
import shutil
import sqlite3
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from benchmarks.postgres_cluster import wait_until
from study.base.canonical import stamp
from study.base.errors import Busy
from study.lifecycle import studies
from study.lifecycle.deployments import coordinator_code
from study.reading import desk
from study.store import Store, Transaction, deployment, events
from study.store import readings as stored_readings
from study.store.engine import Kind
from study.store.leases import lease
from tests.conftest import (
    ACTING,
    NOW,
    SECRETS,
    entropy_from,
    open_trial,
    person,
    preparation,
    presentation,
    reading,
    tamper,
)
from tests.film_decoder import unpacked
from ui import viewer
from ui.app.middleware import DOCUMENT, HEADERS
from ui.app.routes import routes
from ui.banks import questions
from ui.overview import case_films
from ui.reading import desk as reading_desk
from ui.reading import films
from ui.server import access, schedule
from ui.server.deployment import in_time, store

ROOT = Path(__file__).parents[3]
Sign = Callable[[str | None], TestClient]
_OUT_OF_REACH = "The database cannot be reached. Try again in a moment."


@pytest.fixture
def sign(banked: Store, monkeypatch: pytest.MonkeyPatch) -> Sign:
    """Return a function to sign in R1, R2, the coordinator or nobody to an open study."""
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    invited = open_trial(banked, {"cases": 8, "one_question_per": "item"}, "R1", "R2")
    codes = {"R1": invited[0].text, "R2": invited[1].text}
    codes["coordinator"] = coordinator_code(
        banked, study="trial", name="c", entropy=entropy_from(3), now=NOW
    )
    application = Starlette(routes=routes(), middleware=[HEADERS])

    def client(reader_id: str | None) -> TestClient:
        made = TestClient(application, follow_redirects=False)
        if reader_id:
            answer = made.post("/sign-in", data={"access_code": codes[reader_id]})
            assert answer.status_code == 303
            assert answer.headers["location"] == "./"
        return made

    client.codes = codes  # type: ignore[attr-defined]
    return client


def _film(client: TestClient, view: int = 0) -> str:
    url = client.get("/desk").json()["cases"][0]["views"][view]["url"]
    return f"/{url}"


def test_requests_do_not_wait_for_images_on_a_disk_that_hangs(
    sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty requests for images are refused, including those that the disk blocks."""
    monkeypatch.setattr("ui.server.deployment.IMAGE_MAX_WAIT_S", 0.2)
    works = threading.Event()

    def hang(*_: object) -> bytes:
        works.wait()
        return gzip.compress(b"film")

    monkeypatch.setattr(films, "prepared_film", hang)
    with sign("R1") as client, ThreadPoolExecutor(50) as pool:
        seal, image = client.get("/desk").json()["seal"], _film(client)
        images = [pool.submit(client.get, image) for _ in range(50)]
        try:
            for refused in map(Future.result, images):
                assert refused.status_code == 503
                assert refused.text.startswith("The images cannot be read at the moment.")
            assert client.get("/desk").status_code == 200
            message = {"seal": seal, "records": []}
            assert client.post("/desk/records", json=message).status_code == 200
        finally:
            works.set()
        wait_until(lambda: client.get(image).status_code == 200)


@pytest.mark.sqlite("blocks the connections to the file")
def test_answers_are_refused_while_a_disk_hangs_and_then_acknowledged_once(
    sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction of the first answer ends after its request was refused."""
    monkeypatch.setattr("ui.server.deployment.MAX_DURATION_S", 0.2)
    monkeypatch.setattr("ui.server.deployment.MAX_WAIT_S", 30.0)  # nobody waits for a blocked one
    works, blocked = threading.Event(), []

    def hang(sql: str) -> None:
        if sql == "COMMIT" and not works.is_set():
            blocked.append(sql)
            works.wait()

    def connect(*place: Any, **options: Any) -> sqlite3.Connection:
        connection = sqlite3.Connection(*place, **{**options, "timeout": 30.0})
        connection.set_trace_callback(hang)
        return connection

    with sign("R1") as client, ThreadPoolExecutor(20) as pool:
        desk_before = client.get("/desk").json()
        case = desk_before["cases"][0]["case"]
        monkeypatch.setattr("study.store.sqlite.sqlite3.connect", connect)
        send = partial(client.post, "/desk/records")
        records = [presentation(case), reading(case)]
        message = {"seal": desk_before["seal"], "records": records}
        try:
            answers = [send(json=message)]
            assert blocked == ["COMMIT"]
            answers += pool.map(lambda _: send(json=message), range(20))
            assert {answer.status_code for answer in answers} == {503}
            assert {answer.json()["why"] for answer in answers} == {_OUT_OF_REACH}
            assert client.get("/desk").json()["read"] == 0
        finally:
            works.set()
        wait_until(lambda: send(json=message).status_code == 200)
        repeated = send(json=message).json()
        assert repeated["stored"] == [record["id"] for record in records]
        assert client.get("/desk").json()["read"] == 1
    with store().look() as look:
        assert look.value("SELECT count(*) FROM readings") == 1


def test_requests_are_refused_while_a_disk_hangs(
    sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty readers' requests block forty threads; those of staff are refused as well."""
    monkeypatch.setattr(reading_desk, "prepare_ahead", lambda *_, **__: None)
    works, blocked = threading.Event(), []
    original = Store._database

    def hang(self: Store, kind: Kind) -> AbstractContextManager[Any]:
        blocked.append(kind)
        works.wait()
        return original(self, kind)

    with sign("R1") as client, sign("coordinator") as staff, ThreadPoolExecutor(60) as pool:
        with monkeypatch.context() as patch:
            for name in ("MAX_DURATION_S", "MAX_WAIT_S"):
                patch.setattr(f"ui.server.deployment.{name}", 0.2)
            patch.setattr(Store, "_database", hang)
            try:
                answers = pool.map(client.get, ["/desk"] * 60)
                assert {answer.json()["why"] for answer in answers} == {_OUT_OF_REACH}
                assert len(blocked) == 40
                for path in ("/here", "/desk/cases/1"):
                    assert client.get(path).status_code == 503
                for path in ("/case-films/1", "/export/bundle.zip"):
                    answer = staff.get(path)
                    assert (answer.status_code, answer.text) == (503, _OUT_OF_REACH)
                assert staff.post("/sign-out").status_code == 503  # signs out when the disk works
                assert client.get("/healthz").status_code == 200
            finally:
                works.set()
        wait_until(lambda: client.get("/desk").status_code == 200)


def test_a_page_whose_check_is_blocked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """After sixteen blocked checks no further one begins; an error is that of the check."""
    for name in ("MAX_DURATION_S", "MAX_WAIT_S"):
        monkeypatch.setattr(f"ui.server.deployment.{name}", 0.01)
    works, blocked = threading.Event(), []

    def hang() -> None:
        blocked.append(1)
        works.wait()

    try:
        for _ in range(20):
            with pytest.raises(Busy, match=_OUT_OF_REACH):
                in_time(hang)
        assert len(blocked) == 16
    finally:
        works.set()
    monkeypatch.setattr("ui.server.deployment.MAX_WAIT_S", 30.0)
    assert in_time(lambda: 1) == 1
    with pytest.raises(TimeoutError, match="of the check"):
        in_time(partial(_raise, TimeoutError("of the check")))


def _raise(error: Exception) -> NoReturn:
    raise error


def test_only_readers_reach_the_desk_and_the_films(sign: Sign) -> None:
    """Coordinators and signed-out clients get no data."""
    film = _film(sign("R1"))
    expected = {None: 401, "coordinator": 403, "R1": 200}
    for name, status in expected.items():
        assert sign(name).get("/desk").status_code == status
    records = {None: 401, "coordinator": 403, "R1": 403}
    for name, status in records.items():
        sent = {"seal": "not mine", "records": []}
        assert sign(name).post("/desk/records", json=sent).status_code == status
    for name, status in {None: 401, "coordinator": 401, "R2": 403, "R1": 200}.items():
        assert sign(name).get(film).status_code == status


def test_the_films_of_a_case_are_for_its_coordinator(sign: Sign, banked: Store) -> None:
    """In every state of the study, other people and other items are refused."""
    with banked.look() as look:
        rows = look.rows("SELECT item_id, study FROM cases JOIN items ON items.id = item")
        outside = look.value(
            "SELECT item_id FROM items WHERE id NOT IN (SELECT item FROM cases) LIMIT 1"
        )
    addresses = case_films.addresses(banked, rows[0]["study"], rows[0]["item_id"])
    assert [label for label, _ in addresses] == ["PA", "LATERAL"]
    assert sign("coordinator").get(f"/{addresses[0][1]}").status_code == 200
    studies.close(banked, study="trial", reason="done", acting=ACTING)
    for _, address in addresses:
        for name, status in {None: 401, "R1": 401, "coordinator": 200}.items():
            assert sign(name).get(f"/{address}").status_code == status
        answer = sign("coordinator").get(f"/{address}")
        assert answer.headers["content-type"] == "image/png"
        shown = np.asarray(Image.open(io.BytesIO(answer.content)))
        assert shown.dtype == np.uint8
        assert (shown.min(), shown.max()) == (0, 255)
    coordinator = sign("coordinator")
    for query in (f"2?item={rows[0]['item_id']}", f"0?item={outside}", "0?item=", "0"):
        assert coordinator.get(f"/case-films/{query}").status_code == 404
    assert case_films.addresses(banked, rows[0]["study"] + 1, rows[0]["item_id"]) == []


def test_the_address_of_a_film_is_signed_and_expires(sign: Sign) -> None:
    """Another film, another expiry time or another signature is refused."""
    client = sign("R1")
    film = _film(client)
    _, base, case, view, expires, signature = film.split("/")
    for forged in (
        f"/{base}/{case}/{int(view) + 1}/{expires}/{signature}",
        f"/{base}/{case}/{view}/{int(expires) + 3600}/{signature}",
        f"/{base}/{case}/{view}/1000/{signature}",
        f"/{base}/{case}/{view}/{expires}/{'0' * 32}",
        f"/{base}/{case}/{view}/{expires}/%C3%A9",
        f"/{base}/{case}/{'9' * 5000}/{expires}/{signature}",
        f"/{base}/{case}/{view}/{'9' * 5000}/{signature}",
        f"/{base}/{case}/-{view}/{expires}/{signature}",
        f"/{base}/{case[::-1]}/{view}/{expires}/{signature}",
    ):
        assert client.get(forged).status_code == 403
    assert sign("R2").get(film).status_code == 403


def test_a_film_of_another_readers_case_is_refused(sign: Sign, banked: Store) -> None:
    """A valid signature is not sufficient: the film is looked up among the reader's own cases."""
    client, other = sign("R1"), person(banked, "R2")
    case, view = _film(client).split("/")[2:4]
    with banked.look() as look:
        secret = deployment.secret(look)
    now_s = datetime.now(UTC).timestamp()
    own = desk.desk(banked, other, now=NOW).cases[0].views[0].film
    statuses = [
        sign("R2").get(f"/{films.address(secret, other, film, now_s=now_s)}").status_code
        for film in (own, f"{case}/{view}", "none/1")
    ]
    assert statuses == [200, 404, 404]


def test_a_prior_film_is_served_only_if_the_protocol_shows_it(sign: Sign, banked: Store) -> None:
    """A valid signature is not sufficient."""
    client, reader = sign("R1"), person(banked, "R1")
    tamper(banked, "INSERT INTO item_priors SELECT id, 1, 1, 'PA', '', 91 FROM items")
    with banked.look() as look:
        secret = deployment.secret(look)
    (case, _, _) = desk.desk(banked, reader, now=NOW).cases
    now_s = datetime.now(UTC).timestamp()
    replies = [
        client.get(f"/{films.address(secret, reader, f'{case.case}/{view}', now_s=now_s)}")
        for view in (1, 2, 3)
    ]
    assert [reply.status_code for reply in replies] == [200, 200, 404]
    views = client.get("/desk").json()["cases"][0]["views"]
    assert [view["prior"] for view in views] == ["", ""]
    assert questions.addresses(banked, 1, 1) == [
        ("PA", "bank-films/1/1/0"),
        ("LATERAL", "bank-films/1/1/1"),
        ("PA, Prior, 3 months earlier", "bank-films/1/1/2"),
    ]


@pytest.mark.parametrize(
    ("view_number", "bits", "files"), [(0, 16, "*_pa.png"), (1, 8, "*_lat.png")]
)
def test_films_are_transferred_without_loss(
    sign: Sign, tmp_path: Path, view_number: int, bits: int, files: str
) -> None:
    """All samples equal those of the file, at both depths."""
    client = sign("R1")
    view = client.get("/desk").json()["cases"][0]["views"][view_number]
    assert view["bits"] == bits
    answer = client.get(f"/{view['url']}")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "private, max-age=3600, immutable"
    samples = unpacked(gzip.compress(answer.content))
    stored = [np.asarray(Image.open(path)) for path in (tmp_path / "bank" / "films").glob(files)]
    assert any(np.array_equal(samples, film) for film in stored)
    if bits == 16:
        assert (view["low"], view["high"]) == (samples.min(), samples.max())


def test_films_are_prepared_before_they_are_requested(sign: Sign, banked: Store) -> None:
    """A request for the desk prepares the films of five cases and stores them."""
    sign("R1").get("/desk")
    films._cache().wait_until_idle()
    shelf = banked.path.with_name(f"{banked.path.name}-films")
    assert shelf.stat().st_mode & 0o077 == 0
    assert 6 < len(list(shelf.iterdir())) <= 10


def test_a_film_changed_after_its_import_is_not_served(
    sign: Sign, banked: Store, tmp_path: Path
) -> None:
    """A new process verifies the file before it uses the prepared film."""
    client = sign("R1")
    film = _film(client)
    films._cache().wait_until_idle()
    assert client.get(film).status_code == 200
    films._cache.cache_clear()
    assert client.get(film).status_code == 200
    films._cache.cache_clear()
    for path in (tmp_path / "bank" / "films").iterdir():
        path.write_bytes(path.read_bytes() + b"x")
    answer = client.get(film)
    assert (answer.status_code, "changed after its import" in answer.text) == (503, True)


def test_a_session_transfers_no_secrets(sign: Sign) -> None:
    """Headers and bodies of all answers are searched, from signing in to the last case."""
    client = sign("R1")
    messages = []
    desk = client.get("/desk")
    while not desk.json()["finished"]:
        case = desk.json()["cases"][0]
        messages += [desk.text, str(desk.headers)]
        messages += [str(client.get(f"/{view['url']}").headers) for view in case["views"]]
        sent = [presentation(case["case"]), reading(case["case"])]
        answer = client.post("/desk/records", json={"seal": desk.json()["seal"], "records": sent})
        messages.append(answer.text)
        desk = client.get("/desk")
    everything = "".join(messages)
    assert len(messages) > 8
    for secret in (*SECRETS, "correct", "truth", "q00", "_pa.png", "Presence Assessment"):
        assert secret not in everything.replace('"feedback"', "")


@pytest.fixture
def newcomer(banked: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[], TestClient]:
    """Return a function to sign R1 in to a study with all steps of preparation."""
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    (code,) = open_trial(
        banked,
        {
            "cases": 8,
            "one_question_per": "item",
            "consent": "**Agree**? <script>alert(1)</script>",
            "instructions": "Read.",
            "questionnaire": [{"id": "years", "question": "Years?", "kind": "number"}],
            "display_check": True,
            "practice_cases": 2,
            "cannot_answer": True,
            "break_every": 4,
        },
        "R1",
    )
    application = Starlette(routes=routes(), middleware=[HEADERS])

    def client() -> TestClient:
        made = TestClient(application, follow_redirects=False)
        made.post("/sign-in", data={"access_code": code.text})
        return made

    return client


def _send(client: TestClient, *records: dict[str, Any]) -> dict[str, Any]:
    seal = client.get("/desk").json()["seal"]
    answer = client.post("/desk/records", json={"seal": seal, "records": records})
    assert answer.status_code == 200
    return dict(answer.json())


def _prepare(client: TestClient) -> dict[str, Any]:
    return _send(
        client,
        preparation("consent"),
        preparation("instructions"),
        preparation("questionnaire", {"answers": {"years": 3}}),
        preparation("display", {"grey_step": 2}),
    )


def test_the_desk_lists_the_steps_before_the_first_case(
    newcomer: Callable[[], TestClient],
) -> None:
    """The steps are in order, with HTML or questions, and no case is sent."""
    first_desk = newcomer().get("/desk").json()
    question = {"id": "years", "question": "Years?", "kind": "number"}
    assert first_desk["preparation"] == [
        {
            "step": "consent",
            "html": "<p><strong>Agree</strong>? &lt;script&gt;alert(1)&lt;/script&gt;</p>\n",
        },
        {"step": "instructions", "html": "<p>Read.</p>\n"},
        {"step": "questionnaire", "questions": [{**question, "options": [], "required": True}]},
        {"step": "display"},
    ]
    assert (first_desk["cases"], first_desk["practice_total"]) == ([], 2)
    assert (first_desk["rules"]["cannot_answer"], first_desk["rules"]["break_every"]) == (True, 4)


def test_a_study_without_preparation_starts_with_its_cases(sign: Sign) -> None:
    """The page shows the first case at once."""
    first_desk = sign("R1").get("/desk").json()
    assert (first_desk["preparation"], first_desk["practice_total"]) == ([], 0)
    assert [case["practice"] for case in first_desk["cases"]] == [False] * 3
    assert (first_desk["rules"]["cannot_answer"], first_desk["rules"]["break_every"]) == (False, 0)


def test_a_reader_completes_a_study_without_receiving_secrets(
    newcomer: Callable[[], TestClient],
) -> None:
    """Practice cases give feedback after the answer, and cases of the study give none."""
    client = newcomer()
    seen, feedbacks = [client.get("/desk").text], []
    desk = _prepare(client)["desk"]
    while not desk["finished"]:
        seen.append(json.dumps(desk))
        case = desk["cases"][0]
        given_up: dict[str, Any] = {
            "option": None,
            "status": "skipped",
            "reason": "too dark",
            "selections": [],
        }
        answer = reading(case["case"]) if case["practice"] else reading(case["case"], **given_up)
        receipt = _send(client, presentation(case["case"]), answer)
        assert receipt["refused"] == []
        feedbacks.append(
            (
                case["practice"],
                [feedback["explanation"] for feedback in receipt["feedback"].values()],
            )
        )
        desk = receipt["desk"]
    assert feedbacks == [(True, [SECRETS[2]])] * 2 + [(False, [])] * 8
    for secret in (*SECRETS, "correct", "truth", "q00", "_pa.png", "Presence Assessment"):
        assert secret not in "".join(seen).replace('"feedback"', "")


def test_a_new_sign_in_requires_the_display_check_again(newcomer: Callable[[], TestClient]) -> None:
    """No case is sent before; a reload of the page does not require it."""
    client = newcomer()
    _prepare(client)
    assert client.get("/desk").json()["preparation"] == []
    first_desk = newcomer().get("/desk").json()
    assert (first_desk["preparation"], first_desk["cases"]) == ([{"step": "display"}], [])


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b"nonsense", b'{"seal": 1}', b"[" * 5000, b'{"records": 3}']
)
def test_invalid_messages_are_refused_in_one_sentence(sign: Sign, body: bytes) -> None:
    """Every answer has a status and a reason."""
    answer = sign("R1").post("/desk/records", content=body)
    assert answer.status_code == 400
    assert answer.json()["why"]


def test_a_post_from_another_site_is_refused(sign: Sign) -> None:
    """The Origin header must have the server's own host."""
    client = sign("R1")
    for path in ("/sign-in", "/sign-out", "/desk/records"):
        answer = client.post(path, headers={"origin": "https://elsewhere.example"})
        assert answer.status_code == 403
    assert client.get("/desk").status_code == 200


def test_refusals_have_different_reasons(sign: Sign) -> None:
    """The page distinguishes another reader, another address and an ended sign-in."""
    client = sign("R1")
    message = {"seal": client.get("/desk").json()["seal"], "sent_epoch_ms": 1.0, "records": []}

    def reason(answer: Response) -> str:
        assert answer.status_code in (401, 403)
        return str(answer.json()["reason"])

    foreign = {"origin": "https://elsewhere.example"}
    assert reason(client.post("/desk/records", json=message, headers=foreign)) == "wrong-origin"
    assert reason(sign("R2").post("/desk/records", json=message)) == "other-reader"
    assert reason(sign("coordinator").get("/desk")) == "other-reader"
    assert reason(sign(None).post("/desk/records", json=message)) == "signed-out"
    assert client.post("/desk/records", json=message).status_code == 200


def test_the_clock_of_a_slow_workstation_is_corrected(sign: Sign) -> None:
    """The message contains the time of sending by the clock of the page."""
    client = sign("R1")
    desk = client.get("/desk").json()
    case = desk["cases"][0]["case"]
    sent_ms = datetime.now(UTC).timestamp() * 1000 - 90_000
    shown = {**presentation(case), "shown_epoch_ms": sent_ms - 1300}
    record = reading(case, presented_epoch_ms=sent_ms - 1300, committed_epoch_ms=sent_ms)
    for records in ([shown], [record]):
        message = {"seal": desk["seal"], "sent_epoch_ms": sent_ms, "records": records}
        assert client.post("/desk/records", json=message).json()["refused"] == []
    with store().look() as look:
        assert "received_late" not in look.value("SELECT flags FROM readings")


def test_requests_without_user_activity_do_not_extend_the_sign_in(
    sign: Sign, banked: Store
) -> None:
    """The page asks for the remaining time by GET, and reports activity by POST."""
    client = sign("R1")

    def last_used(minutes: int) -> None:
        at = stamp(datetime.now(UTC) - timedelta(minutes=minutes))
        tamper(banked, f"UPDATE sign_ins SET active_at_utc = '{at}'")

    last_used(118)
    for _ in range(3):
        assert 60 < client.get("/here").json()["left_s"] <= 120
        assert client.get("/desk").status_code == 200
    assert client.post("/here").json()["left_s"] == 7200
    last_used(121)
    assert [client.get("/here").status_code, client.post("/here").status_code] == [401, 401]
    assert client.get("/desk").json()["reason"] == "signed-out"
    assert client.post("/here", headers={"origin": "https://a.example"}).status_code == 403


def test_signing_out_ends_the_sign_in(sign: Sign) -> None:
    """The desk is then refused in this browser."""
    client = sign("R1")
    client.post("/sign-out")
    assert client.get("/desk").status_code == 401


def test_an_altered_cookie_is_refused(sign: Sign) -> None:
    """Every character of the cookie counts."""
    client = sign("R1")
    token = client.cookies[access.COOKIE]
    client.cookies.clear()
    client.cookies.set(access.COOKIE, "x" + token[1:])
    assert client.get("/desk").status_code == 401


def test_signing_out_ends_every_copy_of_the_cookie(sign: Sign) -> None:
    """A cookie copied before signing out is refused afterwards."""
    client = sign("R1")
    copied = client.cookies[access.COOKIE]
    client.post("/sign-out")
    client.cookies.set(access.COOKIE, copied)
    assert client.get("/desk").status_code == 401


@pytest.mark.parametrize(("scheme", "secure"), [("http", False), ("https", True)])
def test_the_cookie_is_protected_from_scripts_and_other_sites(
    sign: Sign, scheme: str, secure: bool
) -> None:
    """It is HttpOnly and SameSite=strict, and Secure behind TLS."""
    client = sign(None)
    client.base_url = f"{scheme}://testserver"
    answer = client.post("/sign-in", data={"access_code": sign.codes["R1"]})  # type: ignore[attr-defined]
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert ("secure" in cookie) == secure


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the delays of answers, in seconds, which the tests do not wait for."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("ui.server.access.asyncio.sleep", sleep)
    return waits


def _try(client: TestClient, code: str) -> str:
    return client.post("/sign-in", data={"access_code": code}).headers["location"]


def test_a_correct_code_is_accepted_during_an_attack(
    sign: Sign, banked: Store, waited: list[float]
) -> None:
    """After 150 wrong codes the owner can sign in; delays increase and are recorded."""
    right = sign.codes["R1"]  # type: ignore[attr-defined]
    wrong, guesser = right[:-1] + "#", sign(None)
    assert {_try(guesser, wrong) for _ in range(150)} == {"./?refused=unknown"}
    assert max(waited[:5]) <= access.MIN_DELAY_S
    assert max(waited[20:]) <= access.MAX_DELAY_S
    assert min(waited[20:]) > access.MAX_DELAY_S / 2
    assert _try(sign(None), right) == "./"
    with banked.look() as look:
        recorded = look.rows("SELECT kind, chain FROM events WHERE kind LIKE '%guessed at'")
    assert sorted(event["kind"] for event in recorded) == [
        "code guessed at",
        "codes guessed at",
    ]
    slowed = len(waited)
    assert _try(sign(None), sign.codes["R2"]) == "./"  # type: ignore[attr-defined]
    assert len(waited) == slowed


def test_known_and_unknown_codes_are_refused_after_the_same_time(
    sign: Sign, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The delay includes the time for checking the code."""
    for code, took_s in ((sign.codes["R1"][:-1] + "#", 0.2), ("no such code", 0.05)):  # type: ignore[attr-defined]
        clock = SimpleNamespace(monotonic=partial(next, iter([0.0, took_s])))
        monkeypatch.setattr("ui.server.access.time", clock)
        assert _try(sign(None), code) == "./?refused=unknown"
        assert took_s + waited[-1] == pytest.approx(access.MIN_DELAY_S)


def test_the_delay_after_wrong_codes_increases_up_to_a_limit() -> None:
    """It counts attempts by code and by address, and is reset after ten minutes."""
    counted = access.WrongCodes()
    at_one_code = [counted.count_wrong(f"address {n}", "ABCDEF", NOW) for n in range(20)]
    assert at_one_code[:8] == [0.25] * 5 + [0.5, 1.0, 2.0]
    assert at_one_code[-1] == access.MAX_DELAY_S
    from_one_place = [counted.count_wrong("here", f"CODE{n}", NOW) for n in range(2000)]
    assert from_one_place[:32] == [0.25] * 30 + [0.5, 1.0]
    assert from_one_place[-1] == access.MAX_DELAY_S
    assert counted.n_from_address("here", NOW) == 2000
    later = NOW + access.COUNT_PERIOD + timedelta(seconds=1)
    assert counted.count_wrong("here", "ABCDEF", later) == access.MIN_DELAY_S
    assert len(counted._counts) == 2


def test_the_memory_of_wrong_codes_is_limited() -> None:
    """The oldest attempts are removed first, but not those of an active address."""
    counted = access.WrongCodes()
    for n in range(50_000):
        counted.count_wrong("here", f"{n}", NOW)
    assert len(counted._counts) <= 20_001
    assert counted.n_from_address("here", NOW) == 50_000


@pytest.mark.parametrize("path", ["/sign-in", "/desk/records", "/anything"])
def test_large_messages_are_refused_before_they_are_read(sign: Sign, path: str) -> None:
    """Signed-in and signed-out clients are both refused."""
    assert sign("R1").post(path, content=b"x" * 3_000_000).status_code == 413


def test_downloads_are_for_the_coordinator(sign: Sign) -> None:
    """The bundle and the report contain the reference standard."""
    for path in (
        "/export/bundle.zip",
        "/export/closing-report.html",
        "/export/missing.csv",
        "/export/archive/bundle.zip",
        "/export/report.html",
        "/export/report.pdf",
        "/export/report.zip",
    ):
        for name in (None, "R1"):
            assert sign(name).get(path).status_code == 401
    answer = sign("coordinator").get("/export/bundle.zip")
    assert answer.headers["cache-control"] == "no-store"
    assert "attachment" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert "items.csv" in archive.namelist()


def test_an_exam_paper_can_be_downloaded_from_an_open_study(sign: Sign, banked: Store) -> None:
    """The download is recorded without leaving a file; an unknown format is not found."""
    assert sign("R1").get("/export/exam-paper/jsonl.zip").status_code == 401
    coordinator = sign("coordinator")
    answer = coordinator.get("/export/exam-paper/jsonl.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        items = archive.read("jsonl/items.jsonl").decode().splitlines()
        metadata = json.loads(archive.read("jsonl/paper.json"))
    with banked.look() as look:
        assert len(items) == look.value("SELECT count(*) FROM cases")
        last = list(events.walk(look, events.DEPLOYMENT))[-1]
    assert last.detail["paper_sha256"] == metadata["paper_sha256"]
    assert last.actor == "c"
    assert not list(banked.path.parent.glob(".exam-paper*"))
    assert coordinator.get("/export/exam-paper/xml.zip").status_code == 404
    answer = coordinator.get("/export/exam-paper/jsonl.zip?condition=open-ended")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        item = json.loads(archive.read("jsonl/items.jsonl").decode().splitlines()[0])
    assert (item["condition"], item["options"]) == ("open-ended", {})
    wrong = coordinator.get("/export/exam-paper/jsonl.zip?condition=image-absent")
    assert wrong.status_code == 404


def test_the_inspection_routes_of_streamlit_are_disabled(sign: Sign) -> None:
    """Metrics and the health of scripts are not served."""
    for path in ("/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/script-health-check"):
        answer = sign("coordinator").get(path)
        assert (answer.status_code, answer.text) == (404, "Page not found.")
        assert "content-security-policy" in answer.headers


def test_every_answer_has_the_content_security_policy(sign: Sign) -> None:
    """The browser may connect only to this server."""
    for path in ("/desk", "/nowhere", f"/viewer/{viewer.version()}/start.js"):
        policy = sign(None).get(path).headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "http" not in policy
        assert "ws:" not in policy


def test_the_viewers_modules_are_served_as_javascript(sign: Sign) -> None:
    """Browsers refuse modules of any other type."""
    answer = sign(None).get(f"/viewer/{viewer.version()}/start.js")
    assert answer.headers["content-type"].startswith("text/javascript")


def test_the_films_of_an_open_study_are_prepared(sign: Sign, banked: Store) -> None:
    """Films of its cases are prepared once, and again after the stored films were deleted."""
    sign("R1")
    with banked.look() as look:
        hashes = {row.sha256 for row in stored_readings.films_to_read(look)}
        n_films = look.value("SELECT count(*) FROM films")
    folder = banked.path.with_name(f"{banked.path.name}-films")
    shutil.rmtree(folder, ignore_errors=True)
    for _ in range(2):
        schedule.prepare_films(banked, set(), threading.Event())
        assert {path.name.partition("-")[0] for path in folder.iterdir()} == hashes
        shutil.rmtree(folder)
    assert 0 < len(hashes) < n_films
    with lease(banked, "films"):  # another server prepares them
        schedule.prepare_films(banked, set(), threading.Event())
    assert not folder.exists()


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects SQL statements, with values, of new connections."""
    run: list[str] = []

    def connect(*place: Any, **options: Any) -> sqlite3.Connection:
        connection = sqlite3.Connection(*place, **options)
        connection.set_trace_callback(run.append)
        return connection

    monkeypatch.setattr(reading_desk, "prepare_ahead", lambda *_, **__: None)
    monkeypatch.setattr("study.store.sqlite.sqlite3.connect", connect)
    return run


@pytest.mark.sqlite("traces the connections to the file")
def test_an_answer_is_stored_in_one_transaction(sign: Sign, statements: list[str]) -> None:
    """The sign-in is checked in the transaction that stores the record."""
    client = sign("R1")
    desk_before = client.get("/desk").json()
    case = desk_before["cases"][0]["case"]
    for record in (presentation(case), reading(case)):
        statements.clear()
        sent = {"seal": desk_before["seal"], "records": [record]}
        assert client.post("/desk/records", json=sent).json()["stored"] == [record["id"]]
        begun = [sql for sql in statements if sql.startswith("BEGIN")]
        assert begun == ["BEGIN IMMEDIATE"]


@pytest.mark.sqlite("traces the connections to the file")
def test_an_answer_reads_its_context_once(sign: Sign, statements: list[str]) -> None:
    """Only data that the record changes are read again: next cases, sessions, its own row."""
    client = sign("R1")
    desk_before = client.get("/desk").json()
    case = desk_before["cases"][0]["case"]
    changed = ("position, condition, shown_order", "SELECT session,", "FROM presentations WHERE")
    for record in (presentation(case), reading(case)):
        statements.clear()
        sent = {"seal": desk_before["seal"], "records": [record]}
        assert client.post("/desk/records", json=sent).json()["stored"] == [record["id"]]
        read = Counter(sql for sql in statements if sql.startswith("SELECT"))
        again = {
            sql for sql, n in read.items() if n > 1 and not any(part in sql for part in changed)
        }
        assert not again
        assert sum(read.values()) <= 20


def test_no_rows_are_streamed_while_an_answer_is_stored(
    sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream takes three statements of PostgreSQL while all other writers wait."""
    monkeypatch.setattr(reading_desk, "prepare_ahead", lambda *_, **__: None)
    client = sign("R1")
    desk_before = client.get("/desk").json()
    for name in ("stream", "cursor"):
        monkeypatch.delattr(Transaction, name)
    case = desk_before["cases"][0]["case"]
    for record in (presentation(case), reading(case)):
        sent = {"seal": desk_before["seal"], "records": [record]}
        assert client.post("/desk/records", json=sent).json()["stored"] == [record["id"]]


@pytest.mark.sqlite("traces the connections to the file")
def test_messages_without_a_sign_in_change_nothing_in_the_store(
    sign: Sign, statements: list[str]
) -> None:
    """Neither signed-out clients nor ended sign-ins change the database."""
    stranger = sign(None)
    stranger.cookies.set("reading_room", "0" * 64)
    sent: dict[str, Any] = {"seal": "x", "records": []}
    statements.clear()
    assert stranger.post("/desk/records", json=sent).status_code == 401
    assert not [sql for sql in statements if sql.startswith("BEGIN IMMEDIATE")]

    client = sign("R1")
    desk_before = client.get("/desk").json()
    cookies = dict(client.cookies)
    client.post("/sign-out")
    client.cookies.update(cookies)
    case = desk_before["cases"][0]["case"]
    statements.clear()
    sent = {"seal": desk_before["seal"], "records": [presentation(case)]}
    for _ in range(2):
        assert client.post("/desk/records", json=sent).status_code == 401
    assert not [sql for sql in statements if sql.startswith("INSERT")]
    assert len([sql for sql in statements if sql.startswith("BEGIN IMMEDIATE")]) == 1


@pytest.mark.sqlite("counts the files of this engine")
def test_storing_an_answer_runs_code_from_at_most_twenty_files(sign: Sign) -> None:
    """Files of the project are counted from the request to the stored row.

    They are those of the second case: the first opens the connections to the store.
    """
    signed_in = sign("R1")
    first_desk = signed_in.get("/desk").json()
    cookies = {cookie.name: str(cookie.value) for cookie in signed_in.cookies.jar}
    passed: set[str] = set()

    def note(frame: FrameType, *_: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ("study", "ui"):
            passed.add(path.relative_to(ROOT).as_posix())

    def profile(function: Callable[..., None] | None) -> None:
        sys.setprofile(function)
        threading.setprofile(function)

    async def answer() -> None:
        application = ASGITransport(Starlette(routes=routes(), middleware=[HEADERS, DOCUMENT]))
        place = "http://testserver"
        async with AsyncClient(transport=application, base_url=place, cookies=cookies) as client:
            first, second = (case["case"] for case in first_desk["cases"][:2])
            made = [make(case) for case in (first, second) for make in (presentation, reading)]
            for record in made:
                sent = {"seal": first_desk["seal"], "records": [record]}
                profile(note if second in record["id"] else None)
                try:
                    reply = await client.post("/desk/records", json=sent)
                finally:
                    profile(None)
                assert reply.json()["stored"] == [record["id"]]

    with store().kept_open(), ThreadPoolExecutor(1) as thread:  # without a running event loop
        thread.submit(asyncio.run, answer()).result()
    assert "study/store/readings.py" in passed
    assert len(passed) <= 20, sorted(passed)
