"""Health checks, metrics, request ids and the log in JSON."""

import io
import json
import logging
import os
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient, WebSocketDenialResponse

from benchmarks.postgres_cluster import wait_until
from study.base.errors import Busy, StudyError
from study.store import Store, Transaction, readings
from tests.conftest import invite
from ui.app.middleware import HEADERS
from ui.app.routes import routes
from ui.server import deployment, health, metrics, request_log
from ui.server.request_log import JsonLines, RouteTemplates, request_log_middleware

TOKEN = {"Authorization": "Bearer of the metrics"}


@pytest.fixture
def client(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> tuple[TestClient, Store]:
    """Return a client of a server with an open study, and the server's store."""
    trial = opened(readers=("R1",))
    monkeypatch.setenv("READING_ROOM_DB", str(trial.path))
    monkeypatch.setenv(metrics.VARIABLE, "of the metrics")
    monkeypatch.setattr(health, "CACHED_READINESS", health.CachedReadiness(lambda: trial))
    actual = routes()
    application = Starlette(routes=actual, middleware=[request_log_middleware(actual), HEADERS])
    return TestClient(application, follow_redirects=False), trial


def test_a_server_with_its_store_and_images_is_ready(client: tuple[TestClient, Store]) -> None:
    """The responses are never cached, and do not contain data of the deployment."""
    browser, _ = client
    for path in ("/healthz", "/readyz"):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert answer.json()["status"] == "ok"
        assert answer.headers["cache-control"] == "no-store"
        assert "trial" not in answer.text
    assert browser.get("/readyz").json()["checks"] == dict.fromkeys(
        ("store", "disk", "images"), "ok"
    )


def _no_space(_: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "free_bytes", lambda store: 199_999_999)


def _read_only(_: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)


def _no_account_of_readers(_: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(store: Store, *, sealed: bool = False) -> AbstractContextManager[Transaction]:
        if sealed:
            raise StudyError("The database refuses an account.")
        return opened(store)

    opened = Store.look
    monkeypatch.setattr(Store, "look", look)


def _no_image(store: Store, _: pytest.MonkeyPatch) -> None:
    with store.look() as look:
        readings.films_to_read(look)[0].file.unlink()


def _no_store(store: Store, _: pytest.MonkeyPatch) -> None:
    store.path.rename(store.path.with_name("elsewhere.db"))


@pytest.mark.parametrize(
    ("harm", "check", "reason"),
    [
        (_no_space, "disk", "199 MB are free; 200 MB are needed."),
        (_read_only, "store", "The store or its folder is read-only."),
        (_no_image, "images", "Images of open studies are missing: 1."),
        (
            _no_account_of_readers,
            "store",
            "The store cannot be opened. See the server's log.",
        ),
        pytest.param(
            _no_store,
            "store",
            "The store cannot be opened. See the server's log.",
            marks=pytest.mark.sqlite("renames the file"),
        ),
    ],
)
def test_each_failing_check_is_reported(
    client: tuple[TestClient, Store],
    monkeypatch: pytest.MonkeyPatch,
    harm: Callable[[Store, pytest.MonkeyPatch], None],
    check: str,
    reason: str,
) -> None:
    """The process stays alive, so /healthz still passes."""
    browser, store = client
    harm(store, monkeypatch)
    answer = browser.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"][check] == reason
    assert browser.get("/healthz").status_code == 200


def test_a_disk_that_hangs_is_reported_and_occupies_one_thread(
    client: tuple[TestClient, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other requests that hang may occupy all threads; afterwards the server is ready again."""
    _, store = client
    monkeypatch.setattr(health, "MAX_DURATION_S", 0.05)
    monkeypatch.setattr(health, "RESULT_LIFE_S", 0.0)
    works, begun = threading.Event(), []

    def hang() -> Store:
        begun.append(1)
        works.wait()
        return store

    monkeypatch.setattr(health, "CACHED_READINESS", health.CachedReadiness(hang))

    async def hang_too(_: Request) -> Response:
        await run_in_threadpool(works.wait)
        return Response()

    app = Starlette(routes=[*routes(), Route("/hangs", hang_too)])
    with TestClient(app) as browser, ThreadPoolExecutor(50) as pool:
        others = [pool.submit(browser.get, "/hangs") for _ in range(45)]
        for path in ("/readyz", "/readyz", "/metrics"):
            answer = browser.get(path, headers=TOKEN)
            assert ("does not answer" in answer.text) == (path == "/readyz")
            assert answer.status_code == (503 if path == "/readyz" else 200)
        assert browser.get("/healthz").status_code == 200
        assert not any(other.done() for other in others)
        assert begun == [1]
        works.set()
        wait_until(lambda: browser.get("/readyz").status_code == 200)


def test_metrics_need_the_token(
    client: tuple[TestClient, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a configured token there are no metrics."""
    browser, _ = client
    assert browser.get("/metrics").status_code == 401
    assert browser.get("/metrics", headers={"Authorization": "Bearer x"}).status_code == 401
    assert browser.get("/metrics", headers={b"Authorization": b"Bearer \xe4"}).status_code == 401
    assert browser.get("/metrics", headers=TOKEN).status_code == 200
    monkeypatch.delenv(metrics.VARIABLE)
    for headers in ({}, TOKEN, {"Authorization": "Bearer "}):
        assert browser.get("/metrics", headers=headers).status_code == 404


def test_metrics_count_requests_by_template(client: tuple[TestClient, Store]) -> None:
    """Unknown paths and methods share one label, so a stranger cannot fill the memory."""
    browser, _ = client
    browser.get("/films/secret-case/1/2/signature")
    for n in range(3):
        browser.request(f"ODD{n}", f"/nowhere/{n}")
    text = browser.get("/metrics", headers=TOKEN).text
    assert 'route="/films/{case}/{view}/{expires}/{signature}"' in text
    assert 'reading_room_requests_total{method="other",route="other",status="404"}' in text
    assert "secret-case" not in text
    assert "nowhere" not in text
    assert "reading_room_ready 1.0" in text
    assert "reading_room_images " in text


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [("abc-123", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("", False)],
)
def test_a_response_has_the_id_of_its_request(
    client: tuple[TestClient, Store], sent: str, is_kept: bool
) -> None:
    """An invalid id is replaced, because it is written to the log."""
    browser, _ = client
    returned = browser.get("/healthz", headers={"X-Request-ID": sent}).headers["x-request-id"]
    assert (returned == sent) is is_kept
    assert returned


def test_an_unexpected_error_has_the_id_of_its_request() -> None:
    """The person reports the id, and the log has the error under it."""

    def fails(_: Request) -> None:
        raise ValueError("secret detail")

    route = Route("/fails", fails)
    application = Starlette(routes=[route], middleware=[request_log_middleware([route]), HEADERS])
    browser = TestClient(application, raise_server_exceptions=False)
    answer = browser.get("/fails", headers={"X-Request-ID": "abc-123"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "abc-123")
    assert answer.text == "An error occurred. The server's log has it under abc-123."


def test_a_refused_websocket_has_the_id_of_its_request(client: tuple[TestClient, Store]) -> None:
    """The log line of the refusal has it too, so that an administrator finds the reason."""
    browser, _ = client
    headers = {"Origin": "http://elsewhere", "X-Request-ID": "abc-123"}
    with (
        pytest.raises(WebSocketDenialResponse) as refused,
        browser.websocket_connect("/_stcore/stream", headers=headers),
    ):
        pass
    assert refused.value.status_code == 403
    assert refused.value.headers["x-request-id"] == "abc-123"


def test_the_log_has_one_line_of_json_per_request(
    client: tuple[TestClient, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line contains a code, a query, a cookie, or a value in a path."""
    browser, store = client
    (code,) = invite(store, "R9")
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("reading_room.requests")
    monkeypatch.setattr(logger, "handlers", [handler])
    logger.setLevel(logging.INFO)
    browser.post("/sign-in?code=QUERY", data={"access_code": code.text})
    browser.get("/bank-films/SECRET/1/2?x=QUERY")
    browser.get("/unknown/SECRET")
    logger.setLevel(logging.NOTSET)
    fields: list[dict[str, Any]] = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["route"] for line in fields] == [
        "/sign-in",
        "/bank-films/{bank}/{item}/{view}",
        "other",
    ]
    assert all(line["request_id"] and line["ms"] >= 0 for line in fields)
    for word in ("QUERY", "SECRET", code.text, browser.cookies.get("reading_room") or "none"):
        assert word not in written.getvalue()


def test_every_route_is_logged_by_its_template() -> None:
    """A new route cannot be logged by its path."""
    actual = routes()
    templates = RouteTemplates(actual)
    for route in actual:
        path = re.sub(r"[{}]|:path", "", str(getattr(route, "path", "")))
        path += "/module.js" if isinstance(route, Mount) else ""
        assert templates.of(path) != "other"


def test_an_unknown_log_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the variable and the values."""
    monkeypatch.setenv(request_log.VARIABLE, "jason")
    with pytest.raises(SystemExit, match=r"READING_ROOM_LOG is “jason”\. Use json or text\."):
        request_log.set_up()


def test_a_store_that_cannot_be_reached_shows_no_password(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The password is not in the responses or the log."""
    monkeypatch.setenv("READING_ROOM_DB", "postgresql://clinic:S3cret@127.0.0.1:1/reading_room")
    monkeypatch.setenv(metrics.VARIABLE, "of the metrics")
    monkeypatch.setattr(health, "CACHED_READINESS", health.CachedReadiness(deployment.store))
    actual = routes()
    application = Starlette(routes=actual, middleware=[request_log_middleware(actual), HEADERS])
    browser = TestClient(application, follow_redirects=False, raise_server_exceptions=False)
    for path in ("/healthz", "/readyz", "/metrics", "/desk", "/sign-in"):
        answer = browser.get(path, headers=TOKEN)
        assert "S3cret" not in answer.text
    assert browser.get("/readyz").status_code == 503
    assert "S3cret" not in caplog.text


def test_checks_that_wait_too_long_get_a_response(
    client: tuple[TestClient, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for earlier checks, for example of a disk that does not respond."""

    async def refuse(*_: object) -> None:
        raise Busy("The database is busy.")

    browser, _ = client
    for module in (health, metrics):
        monkeypatch.setattr(module, "in_turn", refuse)
    answer = browser.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
    assert browser.get("/metrics", headers=TOKEN).status_code == 503
