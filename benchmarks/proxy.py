"""A counting TCP proxy in front of a server, which can also simulate a slow line.

Browser throttling does not affect workers and websockets; this proxy does, because it only handles
bytes. It records to which response each byte belongs, and when the last byte was sent to the
browser.

A token bucket limits the total rate of all connections, so that downloads share the line; the
delay is added. The clock is an argument.
"""

import asyncio
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class SlowLine:
    """One direction of a line.

    Parameters
    ----------
    bytes_per_s
        The rate; None for an unlimited line.
    delay_s
        Delay of every byte: half of a round trip.
    burst_bytes
        Maximum burst after a silence; small, because it only compensates for late timers.
    """

    bytes_per_s: float | None = None
    delay_s: float = 0.0
    burst_bytes: int = 16_384
    _free_s: float = field(default=float("-inf"), init=False)

    def send(self, n_bytes: int, now_s: float) -> tuple[float, float]:
        """Send a chunk and return when its last byte leaves, and when it arrives (seconds)."""
        if self.bytes_per_s is None:
            return now_s, now_s + self.delay_s
        earliest = now_s - self.burst_bytes / self.bytes_per_s
        self._free_s = max(self._free_s, earliest) + n_bytes / self.bytes_per_s
        left_s = max(now_s, self._free_s)
        return left_s, left_s + self.delay_s


@dataclass(frozen=True, kw_only=True)
class LineKind:
    """A kind of line: its name, rate and delay in both directions."""

    name: str
    bytes_per_s: float | None = None
    round_trip_s: float = 0.0

    def direction(self) -> SlowLine:
        """Return a fresh line for one direction."""
        return SlowLine(bytes_per_s=self.bytes_per_s, delay_s=self.round_trip_s / 2)


LOCAL = LineKind(name="local")
SLOW = LineKind(name="slow", bytes_per_s=10e6 / 8, round_trip_s=0.2)


CHUNK_BYTES = 8_192

Note = Callable[[bytes, float], None]
_REQUEST = re.compile(rb"(?:^|\r\n)(?:GET|POST|HEAD|PUT|DELETE|OPTIONS) (\S+) HTTP/1\.[01]\r\n")


@dataclass
class Exchange:
    """A request and its response; times are seconds since 1970, None without a response."""

    path: str
    asked_s: float
    sent_bytes: int = 0
    received_bytes: int = 0
    first_s: float | None = None
    last_s: float | None = None
    is_cut: bool = False
    """Whether the connection ended before the response began, e.g. because its page was closed."""

    @property
    def is_pending(self) -> bool:
        """Return whether a response is still possible."""
        return not self.received_bytes and not self.is_cut

    @property
    def n_bytes(self) -> int:
        """Return its bytes in both directions."""
        return self.sent_bytes + self.received_bytes


@dataclass
class Log:
    """The log of all exchanges, in the order of their requests."""

    exchanges: list[Exchange] = field(default_factory=list)
    last_s: float = 0.0

    @property
    def n_bytes(self) -> int:
        """Return all bytes so far, in both directions."""
        return sum(exchange.n_bytes for exchange in self.exchanges)

    def exchanges_under(self, *prefixes: str) -> list[Exchange]:
        """Return the exchanges whose path starts with one of these."""
        return [each for each in self.exchanges if each.path.startswith(prefixes)]


@dataclass
class _Connection:
    """The request being answered on one connection: browsers do not pipeline."""

    log: Log
    current: Exchange | None = None

    def up(self, data: bytes, now_s: float) -> None:
        request = _REQUEST.search(data)
        if request or self.current is None:
            path = request[1].decode("latin-1") if request else "?"
            self.current = Exchange(path=path, asked_s=now_s)
            self.log.exchanges.append(self.current)
        self.current.sent_bytes += len(data)
        self.log.last_s = now_s

    def down(self, data: bytes, now_s: float) -> None:
        self.log.last_s = now_s
        if self.current is None:
            return
        self.current.received_bytes += len(data)
        self.current.first_s = self.current.first_s or now_s
        self.current.last_s = now_s

    def ended(self) -> None:
        if self.current is not None:
            self.current.is_cut = not self.current.received_bytes


@dataclass
class Proxy:
    """A proxy on a separate port."""

    port: int
    log: Log

    @property
    def url(self) -> str:
        """Return the address to open."""
        return f"http://127.0.0.1:{self.port}"

    def quiet_for_s(self) -> float:
        """Return the time since the last byte."""
        return time.time() - self.log.last_s


async def _pump(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    line: SlowLine,
    note: Note,
    wait_s: float,
) -> None:
    """Forward bytes in one direction; the next chunk is read when the last has left."""
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while (item := await queue.get())[1]:
            arrives_s, data = item
            if (ahead_s := arrives_s - time.monotonic()) > 0:
                await asyncio.sleep(ahead_s)
            note(data, time.time())
            writer.write(data)
            await writer.drain()

    delivering = asyncio.create_task(deliver())
    try:
        if wait_s:
            await asyncio.sleep(wait_s)
        while data := await reader.read(CHUNK_BYTES):
            left_s, arrives_s = line.send(len(data), time.monotonic())
            queue.put_nowait((arrives_s, data))
            if (ahead_s := left_s - time.monotonic()) > 0:
                await asyncio.sleep(ahead_s)
    except OSError:
        pass
    finally:
        queue.put_nowait((0.0, b""))
        with suppress(OSError):
            await delivering
        writer.close()


async def _serve(
    proxy: Proxy,
    target_port: int,
    kind: LineKind,
    stop: asyncio.Event,
    ready: threading.Event,
    entrance: socket.socket,
) -> None:
    up, down = kind.direction(), kind.direction()

    writers: list[asyncio.StreamWriter] = []
    handlers: set[asyncio.Task[None] | None] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        handlers.add(asyncio.current_task())
        with suppress(asyncio.CancelledError, OSError):  # the proxy ends, or its target is away
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target_port)
            writers.append(far_writer)
            connection = _Connection(proxy.log)
            # A connection to the proxy is immediate, but takes a round trip on a real line.
            try:
                await asyncio.gather(
                    _pump(reader, far_writer, up, connection.up, kind.round_trip_s),
                    _pump(far_reader, writer, down, connection.down, 0.0),
                )
            finally:
                connection.ended()
                far_writer.close()
        writer.close()

    server = await asyncio.start_server(connected, sock=entrance)
    async with server:
        ready.set()
        await stop.wait()
    # A task of the server itself would leave the socket of an accepted connection open.
    while running := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in running & handlers:
            task.cancel()
        await asyncio.wait(running, timeout=1)
    for each in writers:
        each.transport.abort()


@contextmanager
def proxied(
    target_port: int, kind: LineKind, entrance: socket.socket | None = None
) -> Iterator[Proxy]:
    """Run a proxy in front of a port of this machine, in a thread with an event loop.

    The proxy listens at the `entrance`, which it closes, or at a free port.
    """
    entrance = entrance or socket.create_server(("127.0.0.1", 0))
    # Connections inherit it. asyncio omits it for sockets of `create_server`, and a message would
    # wait 40 ms for the acknowledgement of the previous one.
    entrance.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    proxy = Proxy(port=entrance.getsockname()[1], log=Log())
    loop, stop, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    def serve() -> None:
        loop.run_until_complete(_serve(proxy, target_port, kind, stop, ready, entrance))
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
