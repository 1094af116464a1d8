"""Connections to the server: limits, time limits, and which connection is closed first."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from tests.conftest import run_in_thread
from ui.server import serving
from ui.server.serving import STALLED_S, ConnectionLimits, CountedConnection

Say = Callable[[bytes], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]

Found = TypeVar("Found")

POSTED = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n"
WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def served(
    limits: ConnectionLimits, state: ServerState | None = None
) -> AsyncIterator[tuple[Say, asyncio.Event]]:
    """Serve a page at once, and ``/later`` when the event is set."""
    go_on = asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/later":
            await go_on.wait()
        await PlainTextResponse("done")(scope, receive, send)

    config = uvicorn.Config(application, lifespan="off", log_config=None)
    config.load()
    state = state or ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: CountedConnection(limits=limits, config=config, server_state=state, app_state={}),
        sock=socket.create_server(("127.0.0.1", 0)),  # as Streamlit creates it
    )
    async with AsyncExitStack() as opened, server:

        async def say(words: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            opened.push_async_callback(_closed, writer)
            writer.write(words)
            await writer.drain()
            return reader, writer

        yield say, go_on


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def within_ten_seconds(scene: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
    """Return the result of a coroutine, which must end within ten seconds."""
    return run_in_thread(asyncio.wait_for(scene(), 10))


@pytest.mark.parametrize(
    "words", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n", WHOLE, WHOLE + b"GET"]
)
def test_a_connection_without_a_complete_request_is_closed(words: bytes) -> None:
    """The limit applies before the first request and between two requests."""

    async def scene() -> bytes:
        async with served(ConnectionLimits(max_connections=10, header_s=0.05)) as (say, _):
            reader, _writer = await say(words)
            return await reader.read()

    assert within_ten_seconds(scene).endswith(b"done" if words.startswith(WHOLE) else b"")


@pytest.mark.parametrize(
    ("first", "answer"),
    [(b"GET / HT", b""), (POSTED, b"done")],
)
def test_slow_bytes_do_not_extend_the_time_limit(first: bytes, answer: bytes) -> None:
    """Neither bytes of a header nor of an unread body restart the time limit."""

    async def scene() -> bytes:
        async with served(ConnectionLimits(max_connections=10, header_s=0.2)) as (say, _):
            reader, writer = await say(first)
            ended = asyncio.create_task(_until_closed(reader))
            while not ended.done():
                writer.write(b"x")
                await asyncio.sleep(0.01)
            return ended.result()

    assert within_ten_seconds(scene).endswith(answer)


async def _until_closed(reader: asyncio.StreamReader) -> bytes:
    """Return the received bytes when the connection was closed or reset."""
    received = b""
    with suppress(ConnectionResetError):
        while more := await reader.read(1024):
            received += more
    return received


def test_idle_connections_are_closed_for_new_ones() -> None:
    """Of fifty incomplete requests the oldest are closed, and a new request is answered."""

    async def scene() -> tuple[list[bool], bytes]:
        async with served(ConnectionLimits(max_connections=10, header_s=60)) as (say, _):
            silent = [await say(b"GET / HT") for _ in range(50)]
            reader, _writer = await say(LAST % b"/")
            return [stream.at_eof() for stream, _ in silent], await reader.read()

    closed, answered = within_ten_seconds(scene)
    assert closed[:40] == [True] * 40
    assert closed[-5:] == [False] * 5
    assert answered.endswith(b"done")


def test_the_number_of_waiting_connections_is_limited() -> None:
    """The limit is far below the number of connections that active clients may have."""

    async def scene() -> list[bool]:
        async with served(ConnectionLimits(max_connections=1000, max_silent=5, header_s=60)) as (
            say,
            _,
        ):
            silent = [await say(b"GET / HT") for _ in range(20)]
            while not silent[14][0].at_eof():
                await asyncio.sleep(0.01)
            return [stream.at_eof() for stream, _ in silent]

    assert within_ten_seconds(scene) == [True] * 15 + [False] * 5


def test_a_connection_that_sent_a_request_is_kept_longer() -> None:
    """It is kept although it is the oldest connection."""

    async def scene() -> bytes:
        async with served(ConnectionLimits(max_connections=1000, max_silent=5, header_s=60)) as (
            say,
            _,
        ):
            reader, writer = await say(WHOLE)
            await reader.readuntil(b"done")
            for _ in range(20):
                await say(b"GET / HT")
            writer.write(LAST % b"/")
            return await reader.read()

    assert within_ten_seconds(scene).endswith(b"done")


def test_browsers_between_two_requests_do_not_count_as_incomplete_requests() -> None:
    """Browsers keep open as many connections as the server allows."""

    async def scene() -> list[bytes]:
        async with served(ConnectionLimits(max_connections=1000, max_silent=5, header_s=60)) as (
            say,
            _,
        ):
            browsers = [await say(WHOLE) for _ in range(20)]
            for reader, _writer in browsers:
                await reader.readuntil(b"done")
            for _reader, writer in browsers:
                writer.write(LAST % b"/")
            return [await reader.read() for reader, _ in browsers]

    assert [reply[-4:] for reply in within_ten_seconds(scene)] == [b"done"] * 20


def test_the_body_of_a_response_does_not_wait_for_the_acknowledgement_of_its_header() -> None:
    """Small packets are sent at once on every connection."""

    async def scene() -> list[int]:
        state = ServerState()
        async with served(ConnectionLimits(max_connections=10), state) as (say, _):
            reader, _writer = await say(WHOLE)
            await reader.readuntil(b"done")
            sockets = [line.transport.get_extra_info("socket") for line in state.connections]
            return [each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in sockets]

    assert within_ten_seconds(scene) == [1]


def test_a_connection_that_waits_for_an_answer_is_kept() -> None:
    """If all connections are in use, a new one is refused."""

    async def scene() -> tuple[bytes, list[bytes]]:
        async with served(ConnectionLimits(max_connections=3, header_s=0.1)) as (say, go_on):
            busy = [await say(LAST % b"/later") for _ in range(3)]
            reader, _writer = await say(b"")
            try:
                refused = await reader.read()
            except ConnectionResetError:
                refused = b""
            go_on.set()
            return refused, [await stream.read() for stream, _ in busy]

    refused, answered = within_ten_seconds(scene)
    assert refused == b""
    assert all(reply.endswith(b"done") for reply in answered)


class Clock:
    """An event loop whose timers fire on request."""

    def __init__(self) -> None:
        self.set: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []

    def call_later(self, after_s: float, run: Callable[..., None], *what: Any) -> Any:
        """Set a timer and return a handle that cancels it."""
        self.set.append((after_s, run, what))
        return self

    def cancel(self) -> None:
        """Cancel the timer that was set last."""
        self.set.pop()

    def ring(self) -> float:
        """Fire the timer that was set last and return its delay."""
        after_s, run, what = self.set.pop()
        run(*what)
        return after_s


class Wire(asyncio.Transport):
    """A transport with a number of bytes that the client has not read yet."""

    left = 0
    aborted = False

    def get_write_buffer_size(self) -> int:
        """Return the number of unread bytes."""
        return self.left

    def abort(self) -> None:
        """Record that the connection was closed."""
        self.aborted = True


def test_a_slow_client_gets_its_answer_and_a_stalled_client_is_closed() -> None:
    """The time limit restarts with each part of the answer that the client reads."""
    clock, wire = Clock(), Wire()
    config = uvicorn.Config(PlainTextResponse("done"), lifespan="off", log_config=None)
    config.load()
    line = CountedConnection(
        limits=ConnectionLimits(max_connections=10),
        config=config,
        server_state=ServerState(),
        app_state={},
        _loop=clock,
    )
    line.connection_made(wire)
    wire.left = 10_000_000
    line.pause_writing()
    for _ in range(9):
        wire.left -= 1_000_000
        assert clock.ring() == STALLED_S
    assert not wire.aborted
    clock.ring()
    assert wire.aborted


@pytest.mark.parametrize("is_abstract", [False, True])
def test_systemd_is_notified_when_connections_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_abstract: bool
) -> None:
    """Not before, and only once: processes that the server starts do not inherit the socket."""
    server = SimpleNamespace(started=False)
    monkeypatch.setattr(serving, "_server", lambda: server)
    name = f"@{tmp_path.name}" if is_abstract else str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", name)

    async def starts() -> None:
        report = asyncio.create_task(serving.report_start())
        await asyncio.sleep(0)
        with pytest.raises(BlockingIOError):
            manager.recv(100)
        server.started = True
        await report
        assert manager.recv(100) == b"READY=1"

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.setblocking(False)
        manager.bind(name.replace("@", "\0", 1) if is_abstract else name)
        run_in_thread(starts())
    assert "NOTIFY_SOCKET" not in os.environ
