"""How many lines to the server there may be, and how long one may keep it waiting.

A line that has not sent a whole request holds a file and nothing else: it is closed after
`HEADER_S`, and the oldest of them make way where there are too many. Whoever waits for an answer is
never cut off for somebody new.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_S = 20.0
"""How long a line may be open without a request: before the first, and between two."""

STALLED_S = 120.0
"""How long somebody may take nothing of an answer that is more than the line holds."""

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
        """Note that a line is waited for no longer: its request is there, or it has gone."""
        clock = self._waiting.pop(line, None)
        if clock is not None:
            clock.cancel()

    def make_way(self, newcomer: "CountedLine") -> bool:
        """Close a line that has waited longest, and return whether there was one.

        One that never sent a whole request goes before a browser's between two requests.
        """
        others = [one for one in self._waiting if one is not newcomer]
        oldest = next((one for one in others if one.cycle is None), next(iter(others), None))
        if oldest is None:
            return False
        self.leaves(oldest)
        oldest.transport.close()
        return True


class CountedLine(H11Protocol):
    """A line to the server that is told to the others of its server."""

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
