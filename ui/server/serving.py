"""How the server that runs this program keeps within limits: its lines, its log, its words.

Streamlit starts the server and lets nothing of this be set from a file: it is set before it takes
its first connection.

A line that has not sent a whole request holds a file and nothing else: it is closed after
`HEADER_S`, and the oldest are closed if there are too many. A line that waits for an answer is
never cut off for a new one.

The same trouble is logged once a minute, with its count. A client that connects a thousand times a
second would otherwise have a thousand lines written, on the disk that holds the store.
"""

import asyncio
import logging
import resource
import signal
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

EVERY_S = 60.0
_MOST_KINDS = 500


class OnceAMinute(logging.Filter):
    """Lets a warning or an error through once a minute; the next one tells how many there were."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._told: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written."""
        if record.levelno < logging.WARNING:
            return True
        words = str(record.msg).partition("\n")[0][:80]
        kind = (record.name, record.pathname, record.lineno, words, record.exc_info and 1)
        now = self._clock()
        since, unsaid = self._told.get(kind, (float("-inf"), 0))
        if now - since < EVERY_S:
            self._told[kind] = (since, unsaid + 1)
            return False
        if len(self._told) >= _MOST_KINDS:
            self._told.clear()
        self._told[kind] = (now, 0)
        if unsaid:
            record.msg = f"{record.getMessage()} ({unsaid} more of the kind since the last line)"
            record.args = ()
        return True


def quieten() -> None:
    """Have everything that writes to the log write the same once a minute."""
    root, once = logging.getLogger(), OnceAMinute()
    for known in map(logging.getLogger, list(root.manager.loggerDict)):
        known.addFilter(once)
    written = logging.StreamHandler()  # of those that have no other, and come later
    written.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    written.addFilter(OnceAMinute())
    root.addHandler(written)


HEADER_S = 20.0
"""How long a line may be open without a request: before the first, and between two."""

STALLED_S = 120.0
"""How long a client may read nothing of an answer that is more than the line holds."""

MOST_WAITING = 256


class Lines:
    """The lines of one server.

    Parameters
    ----------
    most
        How many there may be, websockets among them; a further one is closed at once.
    most_waiting
        How many of them may be without a request; the oldest of more is closed.
    """

    def __init__(
        self, *, most: int, most_waiting: int = MOST_WAITING, header_s: float = HEADER_S
    ) -> None:
        self.most = most
        self._most_waiting = most_waiting
        self._header_s = header_s
        self._waiting: dict[CountedLine, asyncio.TimerHandle] = {}  # the oldest comes first

    def waits(self, line: "CountedLine") -> None:
        """Let a line wait for its next request, for a while."""
        self.leaves(line)
        self._waiting[line] = line.loop.call_later(self._header_s, line.transport.close)
        if len(self._waiting) > self._most_waiting:
            self.make_way(line)

    def leaves(self, line: "CountedLine") -> None:
        """Note that a line is waited for no longer: its request has arrived, or it was closed."""
        clock = self._waiting.pop(line, None)
        if clock is not None:
            clock.cancel()

    def make_way(self, newcomer: "CountedLine") -> bool:
        """Close a line that has waited longest, and return whether there was one.

        One that never sent a whole request goes before a browser's between two requests.
        """
        others = [line for line in self._waiting if line is not newcomer]
        oldest = next((other for other in others if other.cycle is None), next(iter(others), None))
        if oldest is None:
            return False
        self.leaves(oldest)
        oldest.transport.close()
        return True


class CountedLine(H11Protocol):
    """A connection that is counted among those of its server."""

    def __init__(self, *, lines: Lines, **uvicorns: Any) -> None:
        super().__init__(**uvicorns)
        self._lines = lines
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let a line in, if need be in the place of one that has sent nothing."""
        super().connection_made(transport)
        self._lines.waits(self)
        if len(self.connections) > self._lines.most and not self._lines.make_way(self):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a line that was closed."""
        self._lines.leaves(self)
        self._take_up()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Take what has come; a line with a whole header waits no longer."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._lines.leaves(self)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand a line over to the protocol of websockets, which looks after it itself."""
        self._lines.leaves(self)
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of this one's body, which nobody reads."""
        self._lines.waits(self)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Begin to count how long nothing is taken of an answer."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Go on with an answer."""
        self._take_up()
        super().resume_writing()

    def _watch(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._stalled = self.loop.call_later(STALLED_S, self._look, left)

    def _look(self, before: int) -> None:
        """Close a line that took nothing; a film on a slow one may need longer than that."""
        if self.transport.get_write_buffer_size() < before:
            self._watch()
        else:
            self.transport.abort()

    def _take_up(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


MOST_LINES = 4096
"""Connections at once; fewer where the system allows fewer files."""

MAX_MESSAGE = 5_000_000
"""Bytes a page may send at once over its websocket; files are sent another way."""

_BACKLOG = 128
"""How many connections are accepted in one go, before any is looked at."""

_OTHER_FILES = 256
"""Films, the store's connections, letters: what is open beside the lines."""

_log = logging.getLogger("reading_room.serving")


def settle() -> None:
    """Have the server of this process keep within its limits, and Streamlit keep to itself."""
    quieten()
    files = _raise_the_limit_of_files()
    _stay_at_home()
    _keep_paths_to_ourselves()
    server = _server()
    if server is None:
        _log.warning("The server's limits are not known to it: start it with `streamlit run`.")
        return
    most = max(16, min(MOST_LINES, files - _BACKLOG - _OTHER_FILES))
    server.config.http_protocol_class = partial(CountedLine, lines=Lines(most=most))  # type: ignore[assignment]
    server.config.backlog = _BACKLOG
    server.config.ws_max_size = MAX_MESSAGE


def _server() -> uvicorn.Server | None:
    """Return the server, known by its waiting for the signal to end: nothing else leads to it."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return server if isinstance(server, uvicorn.Server) else None


def _raise_the_limit_of_files() -> int:
    """Let this process open as many files as its system allows, and return how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # macOS says "no limit", and means less
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return MOST_LINES * 2 if soft == resource.RLIM_INFINITY else soft


def _stay_at_home() -> None:
    """Keep Streamlit from asking the internet for this machine's address, while everybody waits.

    It wants to know for a page of another origin. `ui.app.middleware` refuses such a page before.
    """
    net_util.get_external_ip = lambda: None
    net_util.get_internal_ip = lambda: None


def _keep_paths_to_ourselves() -> None:
    """Keep Streamlit from telling every browser where this program lies, and on what it runs."""
    original = AppSession._create_new_session_message

    def without_paths(session: AppSession, *what: object, **more: object) -> ForwardMsg:
        message = original(session, *what, **more)  # type: ignore[arg-type]
        message.new_session.main_script_path = ""
        message.new_session.initialize.environment_info.python_version = ""
        message.new_session.initialize.environment_info.server_os = ""
        return message

    AppSession._create_new_session_message = without_paths  # type: ignore[method-assign, assignment]
