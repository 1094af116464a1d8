"""Wrong access codes tried of late: the more of them, the later a wrong one is told that it is.

A right code goes in at once, whoever else is guessing from the same address or at the same code.
"""

from datetime import datetime, timedelta

FREE = 5
FREE_AN_ADDRESS = 30
"""Wrong tries that are answered at once; a whole hospital may come from its proxy's address."""

LEAST_S, LONGEST_S = 0.25, 15.0
"""How long every wrong code waits for its answer, known or not, and how long one waits at most."""

NOTED = 100
"""Wrong tries from an address, and ten times as many and so on, that the trail tells of."""

REMEMBERED = timedelta(minutes=10)
_MOST_KEYS = 20_000


class Guesses:
    """Counts wrong tries, by address and by the open part of the code."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, datetime]] = {}  # the one tried last comes last

    def wrong(self, address: str, lookup: str, now: datetime) -> float:
        """Count a wrong try and return after how many seconds it is answered."""
        tried = self._count(f"code {lookup}", now), self._count(f"address {address}", now)
        over = max(tried[0] - FREE, tried[1] - FREE_AN_ADDRESS)
        return min(LEAST_S * 2.0 ** min(max(over, 0), 60), LONGEST_S)

    def right(self, lookup: str) -> None:
        """Forget what was tried at a code: its owner has come."""
        self._found.pop(f"code {lookup}", None)

    def from_address(self, address: str, now: datetime) -> int:
        """Return how many wrong codes came from an address, none of them long ago."""
        self._forget(now)
        return self._found.get(f"address {address}", (0, now))[0]

    def _count(self, key: str, now: datetime) -> int:
        self._forget(now)
        tried = self._found.pop(key, (0, now))[0] + 1
        self._found[key] = (tried, now)
        return tried

    def _forget(self, now: datetime) -> None:
        while self._found:
            key, (_, last) = next(iter(self._found.items()))
            if now - last <= REMEMBERED and len(self._found) <= _MOST_KEYS:
                return
            del self._found[key]


def is_noted(tried: int) -> bool:
    """Return whether a count is one the trail tells of.

    >>> [n for n in range(20_000) if is_noted(n)]
    [100, 1000, 10000]
    """
    while tried > NOTED and tried % 10 == 0:
        tried //= 10
    return tried == NOTED
