"""Limits on requests: origins, uploads, bodies, waiting writes, and the messages in the log."""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Message
from starlette.websockets import WebSocket
from streamlit.runtime.app_session import AppSession

from study.base.errors import Busy, StudyError
from study.store import Store
from tests.conftest import run_in_thread
from tests.unit.ui.two_studies import EVERYBODY, Deployment
from ui.app import middleware
from ui.app.middleware import HEADERS, BodyReceiver, BodyRefused
from ui.app.routes import routes
from ui.server import deployment
from ui.server.access import COOKIE, SECURE_COOKIE
from ui.server.serving import LOG_PERIOD_S, OnceAMinute, _hide_paths

Enter = Callable[[str], Deployment]
_FORM = b"application/x-www-form-urlencoded"
UPLOAD = "/_stcore/upload_file/session/file"


async def _greet(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("come in")
    await websocket.close()


async def _hold(websocket: WebSocket) -> None:
    await websocket.accept()
    async for _ in websocket.iter_bytes():
        pass


async def _length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
def streamlits() -> Starlette:
    """Return our middleware around routes at the addresses of Streamlit's."""
    expected = [
        WebSocketRoute("/_stcore/stream", _greet),
        WebSocketRoute("/held", _hold),
        Route("/_stcore/upload_file/{session}/{file}", _length, methods=["PUT"]),
    ]
    return Starlette(routes=[*expected, *routes()], middleware=[HEADERS])


@pytest.mark.parametrize(
    ("page", "host", "enters"),
    [
        ("http://testserver", "testserver", True),
        ("http://testserver:80", "testserver", True),
        ("https://testserver", "testserver", False),
        ("http://testserver:3000", "testserver", False),
        ("http://localhost:3000", "localhost:8501", False),
        ("http://localhost:8501", "localhost:8501", True),
        ("https://elsewhere.example", "testserver", False),
        ("http://reading.hospital.example", "127.0.0.1:8501", False),
        ("null", "testserver", False),
        ("http://[::1", "testserver", False),
        ("http://testserver", "", False),
        (None, "testserver", True),
    ],
)
def test_a_websocket_is_opened_only_by_a_page_of_this_server(
    streamlits: Starlette, page: str | None, host: str, enters: bool
) -> None:
    """Scheme, host and port are compared. Clients other than browsers send no origin."""
    headers = {"host": host} | ({"origin": page} if page else {})
    with TestClient(streamlits) as client:
        if enters:
            with client.websocket_connect("/_stcore/stream", headers=headers) as opened:
                assert opened.receive_text() == "come in"
        else:
            with (
                pytest.raises(WebSocketDenialResponse) as refused,
                client.websocket_connect("/_stcore/stream", headers=headers),
            ):
                pass
            assert refused.value.status_code == 403
            assert "pass on Host" in refused.value.text


def test_behind_tls_the_origin_is_compared_with_the_proxys_address(streamlits: Starlette) -> None:
    """The scheme is that of the request to the proxy."""
    client = TestClient(streamlits, base_url="https://reading.example")
    own = {"origin": "https://reading.example"}
    with client.websocket_connect("wss://reading.example/_stcore/stream", headers=own) as opened:
        assert opened.receive_text() == "come in"


def test_websockets_without_sign_in_are_limited(
    streamlits: Starlette, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signed-in people are not limited, and a closed websocket makes room for another."""
    monkeypatch.setattr("ui.app.middleware.MAX_ANONYMOUS_WEBSOCKETS", 1)
    reader = {"cookie": f"{COOKIE}={enter('open').tokens['reader of amber']}"}
    path = "/held"
    with TestClient(streamlits) as client:
        with client.websocket_connect(path):
            with (
                pytest.raises(WebSocketDenialResponse) as refused,
                client.websocket_connect(path),
            ):
                pass
            assert refused.value.status_code == 503
            with (
                client.websocket_connect(path, headers=reader),
                client.websocket_connect(path, headers=reader),
            ):
                pass
        with client.websocket_connect(path):
            pass


@pytest.mark.parametrize("who", EVERYBODY)
def test_only_roles_with_uploads_can_upload(streamlits: Starlette, enter: Enter, who: str) -> None:
    """Readers and signed-out clients cannot fill the server's memory."""
    deployment = enter("open")
    client = TestClient(streamlits)
    if who in deployment.tokens:
        client.cookies.set(COOKIE, deployment.tokens[who])
    runs = "administrator" in who or "coordinator" in who
    answer = client.put(UPLOAD, content=b"x" * 100_000)
    assert (answer.status_code, answer.text) == (
        (200, "100000") if runs else (403, "Sign in with an account that can upload files.")
    )


def _scope(path: str, token: str = "", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    cookie = [(b"cookie", f"{COOKIE}={token}".encode())] if token else []
    return {
        "type": "http",
        "method": "PUT" if path == UPLOAD else "POST",
        "path": path,
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"content-type", _FORM), *cookie, *headers],
        "client": ("127.0.0.1", 1),
        "server": ("testserver", 80),
    }


class Sender:
    """Sends an endless body in pieces and counts the bytes that were read."""

    def __init__(self, piece: bytes) -> None:
        self._piece = piece
        self.taken = 0

    async def __call__(self) -> Message:
        """Send the next piece."""
        self.taken += len(self._piece)
        return {"type": "http.request", "body": self._piece, "more_body": True}


def _answer(application: Starlette, scope: dict[str, Any], receive: Any) -> tuple[int, str]:
    """Return the status and the body of the answer to a request."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    run_in_thread(application(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


@pytest.mark.parametrize("length", [b"10", b"", None])
def test_request_bodies_are_read_up_to_the_limit(
    streamlits: Starlette, enter: Enter, length: bytes | None
) -> None:
    """The limit also applies to chunked bodies and to wrong content lengths."""
    reader = enter("open").tokens["reader of amber"]
    headers = [] if length is None else [(b"content-length", length)]
    for path, limit in (
        ("/desk/records", middleware.MAX_RECORDS_BYTES),
        ("/sign-in", middleware.MAX_FORM_BYTES),
    ):
        sender = Sender(b"x" * 1000)
        status, _ = _answer(streamlits, _scope(path, reader, *headers), sender)
        assert status == 413
        assert sender.taken <= limit + 1000


def test_the_sign_in_is_checked_before_the_body_is_read(
    streamlits: Starlette, enter: Enter
) -> None:
    """Records, previews and uploads of signed-out clients are refused unread."""
    enter("open")

    async def unread() -> Message:
        raise AssertionError("the body was read")

    assert _answer(streamlits, _scope("/desk/records"), unread)[0] == 401
    assert _answer(streamlits, _scope("/preview/0123/desk/records"), unread)[0] == 401
    assert _answer(streamlits, _scope(UPLOAD), unread)[0] == 403


def test_a_request_with_a_stalled_body_times_out(
    streamlits: Starlette, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An incomplete form occupies a connection for at most half a minute."""
    enter("open")
    monkeypatch.setattr(middleware, "MAX_PAUSE_S", 0.01)

    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    assert _answer(streamlits, _scope("/sign-in"), never)[0] == 408


def test_the_volume_of_uploads_is_limited_per_sign_in_and_hour(
    enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Received bytes count for their sign-in only, and for an hour."""
    deployment = enter("open")
    monkeypatch.setattr(middleware, "MAX_UPLOADED_BYTES", 2500)
    now = [0.0]
    intake = BodyReceiver(clock=lambda: now[0])

    async def send(reader_id: str, *headers: tuple[bytes, bytes]) -> int:
        taken = 0
        with suppress(BodyRefused):
            scope = _scope(UPLOAD, deployment.tokens[reader_id], *headers)
            receive = await intake.admit(scope, Sender(b"x" * 1000))
            for _ in range(2):
                await receive()
                taken += 1000
        return taken

    async def everybody() -> list[int]:
        first = [await send("coordinator of amber") for _ in range(3)]
        other = await send("coordinator of cobalt")
        announced = await send("coordinator of cobalt", (b"content-length", b"600"))
        now[0] = 3601.0
        return [*first, other, announced, await send("coordinator of amber")]

    assert run_in_thread(everybody()) == [2000, 0, 0, 2000, 0, 2000]


def test_a_client_that_disconnects_causes_no_traceback(
    streamlits: Starlette, enter: Enter, caplog: pytest.LogCaptureFixture
) -> None:
    """It gets no answer, and nothing is logged."""
    reader = enter("open").tokens["reader of amber"]
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def hung_up() -> Message:
        return {"type": "http.disconnect"}

    for path in ("/desk/records", "/sign-in"):
        run_in_thread(streamlits(_scope(path, reader), hung_up, send))
    assert (sent, caplog.records) == ([], [])


def test_behind_tls_only_the_cookie_with_the_host_prefix_is_accepted(
    streamlits: Starlette, altered: Enter
) -> None:
    """No other host can set a cookie with this prefix."""
    token = altered("open").tokens["reader of amber"]
    for scheme, name, status in (
        ("https", SECURE_COOKIE, 200),
        ("https", COOKIE, 401),
        ("http", COOKIE, 200),
    ):
        client = TestClient(streamlits, base_url=f"{scheme}://testserver")
        assert client.get("/desk", headers={"cookie": f"a=b; {name}={token}"}).status_code == status
    client = TestClient(streamlits, base_url="https://testserver", follow_redirects=False)
    left = client.post("/sign-out", headers={"cookie": f"{SECURE_COOKIE}={token}"})
    (ended,) = (header for header in left.headers.get_list("set-cookie") if SECURE_COOKIE in header)
    assert "secure" in ended.lower()
    assert "path=/;" in ended.lower()


def test_security_headers_require_tls_where_it_is_used(streamlits: Starlette) -> None:
    """The policy forbids the camera in either case."""
    for scheme, message in (("https", True), ("http", False)):
        headers = TestClient(streamlits, base_url=f"{scheme}://testserver").get("/nowhere").headers
        assert ("strict-transport-security" in headers) == message
        assert ("cross-origin-opener-policy" in headers) == message
        assert "camera=()" in headers["permissions-policy"]


@pytest.mark.sqlite("opens the file itself")
def test_reading_requests_do_not_wait_for_writing_requests(
    streamlits: Starlette, altered: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the database locked, sixty posts are refused and the desk is answered."""
    monkeypatch.setattr(deployment, "MAX_WAIT_S", 0.2)
    deployed = altered("open")
    cookies = {COOKIE: deployed.tokens["reader of amber"]}
    with TestClient(streamlits, cookies=cookies) as client:
        seal = client.get("/desk").json()["seal"]
        other = sqlite3.connect(deployed.store.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answers: list[Any] = []

        def post() -> None:
            message = {"seal": seal, "records": []}
            answers.append(client.post("/desk/records", json=message))

        posts = [threading.Thread(target=post) for _ in range(60)]
        for thread in posts:
            thread.start()
        assert client.get("/desk").status_code == 200
        assert len(answers) < 60  # the request for the desk was answered before the posts ended
        for thread in posts:
            thread.join()
        other.execute("ROLLBACK")
        assert {answer.status_code for answer in answers} == {503}
        assert {answer.json()["why"] for answer in answers} == {
            "The database is busy. Try again in a moment."
        }
        post()
    assert answers[-1].status_code == 200


def test_a_write_that_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The writes before it continue."""
    monkeypatch.setattr(deployment, "MAX_WAIT_S", 0.05)
    go_on = threading.Event()

    async def many() -> list[Any]:
        first = [asyncio.create_task(deployment.in_turn(go_on.wait)) for _ in range(8)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await deployment.in_turn(lambda: None)
        go_on.set()
        return await asyncio.gather(*first)

    assert run_in_thread(many()) == [True] * 8


@pytest.mark.sqlite("errors of SQLite")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("database is locked", "The database is busy."),
        ("database or disk is full", "the disk is full"),
        ("unable to open database file", "cannot be opened"),
        ("database disk image is malformed", "is damaged"),
    ],
)
def test_errors_of_the_database_name_its_file_only_in_the_log(
    store: Store, caplog: pytest.LogCaptureFixture, words: str, sentence: str
) -> None:
    """Signed-out visitors can see the message on the sign-in page."""
    with pytest.raises(StudyError, match=sentence) as error, store.look():
        raise sqlite3.OperationalError(words)
    assert "/" not in str(error.value)
    assert str(store.path) in caplog.text


def test_paths_and_versions_are_removed_from_streamlits_first_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It contains the path of the script, Python's version and the operating system."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    def original(session: AppSession) -> ForwardMsg:
        message = ForwardMsg()
        message.new_session.main_script_path = "/srv/somewhere/ui/app/router.py"
        message.new_session.main_script_hash = "abc"
        message.new_session.initialize.environment_info.python_version = "3.11"
        message.new_session.initialize.environment_info.server_os = "Plan 9"
        return message

    monkeypatch.setattr(AppSession, "_create_new_session_message", original)
    _hide_paths()
    sent = AppSession._create_new_session_message(None).new_session  # type: ignore[call-arg, arg-type]
    assert sent.main_script_hash == "abc"
    assert b"srv" not in sent.SerializeToString()
    assert b"Plan 9" not in sent.SerializeToString()
    assert b"3.11" not in sent.SerializeToString()


def _record(words: str, *args: object, level: int = logging.ERROR) -> logging.LogRecord:
    return logging.LogRecord("asyncio", level, "base_events.py", 1, words, args, None)


def test_repeated_errors_are_logged_once_a_minute_with_their_count() -> None:
    """Other errors are logged at once, and messages of lower levels are always logged."""
    now = [0.0]
    once = OnceAMinute(clock=lambda: now[0])
    full = "socket.accept() out of system resource\nsocket: %s"
    assert [once.filter(_record(full, fd)) for fd in range(1000)] == [True] + [False] * 999
    assert once.filter(_record("something else"))
    assert all(once.filter(_record("hello", level=logging.INFO)) for _ in range(3))
    now[0] = LOG_PERIOD_S
    repeated = _record(full, 7)
    assert once.filter(repeated)
    assert repeated.getMessage().endswith("socket: 7 (999 more of this kind since the last line)")


def test_the_memory_of_repeated_errors_is_limited() -> None:
    """Ten thousand different errors are not kept."""
    once = OnceAMinute(clock=lambda: 0.0)
    assert all(once.filter(_record(f"trouble {n}")) for n in range(10_000))
    assert len(once._last_reports) <= 500
