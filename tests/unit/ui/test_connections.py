"""Lines to the server: who is let in, who is closed for keeping it waiting, who makes way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, TypeVar

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from tests.conftest import run_apart
from ui.server.serving import STALLED_S, CountedLine, Lines

Say = Callable[[bytes], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]

Found = TypeVar("Found")

POSTED = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n"
WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def served(lines: Lines) -> AsyncIterator[tuple[Say, asyncio.Event]]:
    """Serve a page that answers at once, and ``/later`` that does when the event is set."""
    go_on = asyncio.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/later":
            await go_on.wait()
        await PlainTextResponse("done")(scope, receive, send)

    config, state = uvicorn.Config(application, lifespan="off", log_config=None), ServerState()
    config.load()
    server = await asyncio.get_running_loop().create_server(
        lambda: CountedLine(lines=lines, config=config, server_state=state, app_state={}),
        "127.0.0.1",
        0,
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
    """Return the result of a scene."""
    return run_apart(asyncio.wait_for(scene(), 10))


@pytest.mark.parametrize(
    "words", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n", WHOLE, WHOLE + b"GET"]
)
def test_a_line_without_a_whole_request_is_closed_in_time(words: bytes) -> None:
    """Before the first request and between two."""

    async def scene() -> bytes:
        async with served(Lines(most=10, header_s=0.05)) as (say, _):
            reader, _writer = await say(words)
            return await reader.read()

    assert within_ten_seconds(scene).endswith(b"done" if words.startswith(WHOLE) else b"")


@pytest.mark.parametrize(
    ("first", "answer"),
    [(b"GET / HT", b""), (POSTED, b"done")],
)
def test_dribbling_does_not_hold_a_line(first: bytes, answer: bytes) -> None:
    """A byte of a header sets no clock back, nor one of a body that nobody reads."""

    async def scene() -> bytes:
        async with served(Lines(most=10, header_s=0.2)) as (say, _):
            reader, writer = await say(first)
            ended = asyncio.create_task(_until_closed(reader))
            while not ended.done():
                writer.write(b"x")
                await asyncio.sleep(0.01)
            return ended.result()

    assert within_ten_seconds(scene).endswith(answer)


async def _until_closed(reader: asyncio.StreamReader) -> bytes:
    """Return what came before the line was closed, or reset with bytes on it that nobody read."""
    received = b""
    with suppress(ConnectionResetError):
        while more := await reader.read(1024):
            received += more
    return received


def test_those_who_send_nothing_make_way_for_those_who_do() -> None:
    """Of fifty half requests the oldest are closed, and a new one is answered."""

    async def scene() -> tuple[list[bool], bytes]:
        async with served(Lines(most=10, header_s=60)) as (say, _):
            silent = [await say(b"GET / HT") for _ in range(50)]
            reader, _writer = await say(LAST % b"/")
            return [stream.at_eof() for stream, _ in silent], await reader.read()

    closed, answered = within_ten_seconds(scene)
    assert closed[:40] == [True] * 40
    assert closed[-5:] == [False] * 5
    assert answered.endswith(b"done")


def test_the_number_of_waiting_lines_is_limited() -> None:
    """Far below the number of lines there may be: those are for people."""

    async def scene() -> list[bool]:
        async with served(Lines(most=1000, most_waiting=5, header_s=60)) as (say, _):
            silent = [await say(b"GET / HT") for _ in range(20)]
            while not silent[14][0].at_eof():
                await asyncio.sleep(0.01)
            return [stream.at_eof() for stream, _ in silent]

    assert within_ten_seconds(scene) == [True] * 15 + [False] * 5


def test_a_browser_between_two_requests_stays_before_those_who_never_sent_one() -> None:
    """Its line is the oldest, and is kept."""

    async def scene() -> bytes:
        async with served(Lines(most=1000, most_waiting=5, header_s=60)) as (say, _):
            reader, writer = await say(WHOLE)
            await reader.readuntil(b"done")
            for _ in range(20):
                await say(b"GET / HT")
            writer.write(LAST % b"/")
            return await reader.read()

    assert within_ten_seconds(scene).endswith(b"done")


def test_nobody_who_waits_for_an_answer_is_cut_off() -> None:
    """Where all lines are busy the newcomer is refused, not a line in use."""

    async def scene() -> tuple[bytes, list[bytes]]:
        async with served(Lines(most=3, header_s=0.1)) as (say, go_on):
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
    """A loop whose timers fire on request."""

    def __init__(self) -> None:
        self.set: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []

    def call_later(self, after_s: float, run: Callable[..., None], *what: Any) -> Any:
        """Set a clock, whose handle takes it away again."""
        self.set.append((after_s, run, what))
        return self

    def cancel(self) -> None:
        """Take the clock away that was set last."""
        self.set.pop()

    def ring(self) -> float:
        """Let the clock ring that was set last; return after how long."""
        after_s, run, what = self.set.pop()
        run(*what)
        return after_s


class Wire(asyncio.Transport):
    """A line with a number of bytes on it that nobody has read yet."""

    left = 0
    aborted = False

    def get_write_buffer_size(self) -> int:
        """Return how much is left."""
        return self.left

    def abort(self) -> None:
        """Note that the line was closed."""
        self.aborted = True


def test_a_slow_client_gets_its_answer_and_a_stalled_client_is_closed() -> None:
    """A film of 10 MB on a slow line takes longer than a line may stand still."""
    clock, wire = Clock(), Wire()
    config = uvicorn.Config(PlainTextResponse("done"), lifespan="off", log_config=None)
    config.load()
    line = CountedLine(
        lines=Lines(most=10), config=config, server_state=ServerState(), app_state={}, _loop=clock
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
