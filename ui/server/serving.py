"""The server's limits on connections and log messages, and on what Streamlit discloses.

Streamlit starts the server and has no settings for these limits, so this module sets them before
the first connection.

A connection that has not sent a complete request only occupies a file descriptor: it is closed
after `HEADER_S`, and if too many never sent a request, the oldest are closed. A connection
that waits for a response is never closed in favour of a new one.

The same problem is logged only once a minute, with its count. Otherwise a client that connects a
thousand times a second would cause as many lines on the disk that contains the store.
"""

import asyncio
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from streamlit import net_util
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from uvicorn.protocols.http.h11_impl import H11Protocol

LOG_PERIOD_S = 60.0
_MAX_KINDS = 500


class OnceAMinute(logging.Filter):
    """Logs a warning or an error once a minute, with the number of suppressed messages."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last_reports: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write a record."""
        if record.levelno < logging.WARNING:
            return True
        words = str(record.msg).partition("\n")[0][:80]
        kind = (record.name, record.pathname, record.lineno, words, record.exc_info and 1)
        now = self._clock()
        last_report, n_more = self._last_reports.get(kind, (float("-inf"), 0))
        if now - last_report < LOG_PERIOD_S:
            self._last_reports[kind] = (last_report, n_more + 1)
            return False
        if len(self._last_reports) >= _MAX_KINDS:
            self._last_reports.clear()
        self._last_reports[kind] = (now, 0)
        if n_more:
            record.msg = f"{record.getMessage()} ({n_more} more of this kind since the last line)"
            record.args = ()
        return True


def limit_repeated_messages() -> None:
    """Apply `OnceAMinute` to every log handler."""
    root, limiter = logging.getLogger(), OnceAMinute()
    for known in map(logging.getLogger, list(root.manager.loggerDict)):
        known.addFilter(limiter)
    handler = logging.StreamHandler()  # for loggers without a handler that are created later
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    handler.addFilter(OnceAMinute())
    root.addHandler(handler)


HEADER_S = 20.0
"""How long a connection may be idle, before the first request and between two requests."""

STALLED_S = 120.0
"""How long a client may stop reading a response that exceeds the send buffer."""

MAX_SILENT = 256


class ConnectionLimits:
    """The connections of one server.

    Parameters
    ----------
    max_connections
        Maximum number of connections, including websockets; a further connection is closed at once.
    max_silent
        Maximum number of connections that have not yet sent a complete request; beyond it, the
        oldest is closed.
    """

    def __init__(
        self, *, max_connections: int, max_silent: int = MAX_SILENT, header_s: float = HEADER_S
    ) -> None:
        self.max_connections = max_connections
        self._max_silent = max_silent
        self._header_s = header_s
        self._silent: dict[CountedConnection, asyncio.TimerHandle] = {}  # the oldest is first
        self._idle: dict[CountedConnection, asyncio.TimerHandle] = {}  # between two requests

    def start_waiting(self, connection: "CountedConnection") -> None:
        """Let a connection wait for its next request for a limited time."""
        self.stop_waiting(connection)
        waiting = self._silent if connection.cycle is None else self._idle
        waiting[connection] = connection.loop.call_later(self._header_s, connection.transport.close)
        if len(self._silent) > self._max_silent:
            self.close_oldest(connection)

    def stop_waiting(self, connection: "CountedConnection") -> None:
        """Record that a connection no longer waits: its request has arrived, or it was closed."""
        clock = self._silent.pop(connection, None) or self._idle.pop(connection, None)
        if clock is not None:
            clock.cancel()

    def close_oldest(self, new_connection: "CountedConnection") -> bool:
        """Close the connection that has waited longest, and return whether there was one.

        Connections that never sent a complete request are closed before those of a browser between
        two requests.
        """
        waiting = (*self._silent, *self._idle)
        oldest = next(
            (connection for connection in waiting if connection is not new_connection), None
        )
        if oldest is None:
            return False
        self.stop_waiting(oldest)
        oldest.transport.close()
        return True


class CountedConnection(H11Protocol):
    """A connection that is counted against the limits of its server."""

    def __init__(self, *, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(**options)
        self._limits = limits
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, if necessary in place of one that has sent nothing.

        asyncio sends small packets at once only on sockets that were created with a protocol
        number, which Streamlit's listener was not. The header and body of a response are written
        separately, so the body would wait about 40 ms for the acknowledgement of the header.
        """
        super().connection_made(transport)
        _send_at_once(transport)
        self._limits.start_waiting(self)
        if len(self.connections) > self._limits.max_connections and not self._limits.close_oldest(
            self
        ):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a closed connection."""
        self._limits.stop_waiting(self)
        self._stop_watching()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Receive data; a connection with a complete header no longer waits."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._limits.stop_waiting(self)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Pass a connection to the websocket protocol, which manages it."""
        self._limits.stop_waiting(self)
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the unread rest of this request's body."""
        self._limits.start_waiting(self)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Start measuring the time since the client last read."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Continue a response."""
        self._stop_watching()
        super().resume_writing()

    def _watch(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._stalled = self.loop.call_later(STALLED_S, self._check_progress, left)

    def _check_progress(self, before: int) -> None:
        """Close a connection whose client read nothing for too long."""
        if self.transport.get_write_buffer_size() < before:
            self._watch()
        else:
            self.transport.abort()

    def _stop_watching(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def _send_at_once(transport: asyncio.Transport) -> None:
    """Switch off the delay that collects small packets (Nagle's algorithm), if this is TCP."""
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


MAX_CONNECTIONS = 4096
"""Maximum number of connections; lower if the system allows fewer open files."""

MAX_MESSAGE = 5_000_000
"""Maximum size of a websocket message in bytes; files are uploaded by another route."""

_BACKLOG = 128
"""Number of connections accepted before any of them is processed."""

_OTHER_FILES = 256
"""Open files other than connections: films, the store's connections, mail."""

_log = logging.getLogger("reading_room.serving")


def apply_server_limits() -> None:
    """Apply the limits to this process's server, and keep Streamlit from disclosing details."""
    limit_repeated_messages()
    files = _raise_file_limit()
    _disable_address_lookup()
    _hide_paths()
    server = _server()
    if server is None:
        _log.warning("The limits of the server are unknown: start it with `streamlit run`.")
        return
    max_connections = max(16, min(MAX_CONNECTIONS, files - _BACKLOG - _OTHER_FILES))
    server.config.http_protocol_class = partial(
        CountedConnection, limits=ConnectionLimits(max_connections=max_connections)
    )  # type: ignore[assignment]
    server.config.backlog = _BACKLOG
    server.config.ws_max_size = MAX_MESSAGE


def _server() -> uvicorn.Server | None:
    """Return the server, which is accessible only through its signal handler."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return server if isinstance(server, uvicorn.Server) else None


async def report_start() -> None:
    """Notify systemd, if it started the program, that connections are accepted: sd_notify(3)."""
    address, server = os.environ.pop("NOTIFY_SOCKET", ""), _server()
    if not address or server is None:
        return
    while not server.started:
        await asyncio.sleep(0.05)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
        # A name that begins with @ is in the abstract namespace, not a file.
        connection.connect(f"\0{address[1:]}" if address.startswith("@") else address)
        connection.sendall(b"READY=1")


def _raise_file_limit() -> int:
    """Raise the limit of open files to the system's maximum, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # macOS reports "no limit", although there is one
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return MAX_CONNECTIONS * 2 if soft == resource.RLIM_INFINITY else soft


def _disable_address_lookup() -> None:
    """Keep Streamlit from looking up this machine's public address, which blocks the server.

    Streamlit needs the address only for pages of another origin, which `ui.app.middleware`
    refuses.
    """
    net_util.get_external_ip = lambda: None
    net_util.get_internal_ip = lambda: None


def _hide_paths() -> None:
    """Keep Streamlit from sending the program's path and the system's versions to every browser."""
    original = AppSession._create_new_session_message

    def without_paths(session: AppSession, *args: object, **more: object) -> ForwardMsg:
        message = original(session, *args, **more)  # type: ignore[arg-type]
        message.new_session.main_script_path = ""
        message.new_session.initialize.environment_info.python_version = ""
        message.new_session.initialize.environment_info.server_os = ""
        return message

    AppSession._create_new_session_message = without_paths  # type: ignore[method-assign, assignment]
