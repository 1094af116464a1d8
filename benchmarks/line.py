"""A slow line as arithmetic: when a chunk of bytes leaves it and when it arrives.

One token bucket holds the rate of all connections together, so two downloads share the line as two
downloads do; the delay comes on top. The clock is an argument.
"""

from dataclasses import dataclass, field


@dataclass
class Line:
    """One direction of a line.

    Parameters
    ----------
    bytes_per_s
        Its rate; None for a line that is as fast as the machine.
    delay_s
        What every byte takes beside its own sending: half of a round trip.
    burst_bytes
        How much may go at once after a silence. Small: it only makes up for late timers.
    """

    bytes_per_s: float | None = None
    delay_s: float = 0.0
    burst_bytes: int = 16_384
    _free_s: float = field(default=float("-inf"), init=False)

    def send(self, n_bytes: int, now_s: float) -> tuple[float, float]:
        """Take a chunk and return when its last byte has left, and when it arrives (seconds)."""
        if self.bytes_per_s is None:
            return now_s, now_s + self.delay_s
        earliest = now_s - self.burst_bytes / self.bytes_per_s
        self._free_s = max(self._free_s, earliest) + n_bytes / self.bytes_per_s
        left_s = max(now_s, self._free_s)
        return left_s, left_s + self.delay_s


@dataclass(frozen=True, kw_only=True)
class LineKind:
    """What a line is called and what it does to bytes, in both directions alike."""

    name: str
    bytes_per_s: float | None = None
    round_trip_s: float = 0.0

    def direction(self) -> Line:
        """Return a fresh line for one direction."""
        return Line(bytes_per_s=self.bytes_per_s, delay_s=self.round_trip_s / 2)


LOCAL = LineKind(name="local")
SLOW = LineKind(name="slow", bytes_per_s=10e6 / 8, round_trip_s=0.2)
