"""What is judged by two, blind to each other, and by a third where they differ."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from study.base.errors import BadInput, NotAllowed
from study.base.translation import t

LONGEST_COMMENT = 2000
JUDGES = 2
"""How many judge each thing before it is known whether another has to."""


class Given(Protocol):
    """A judge's latest verdict and comment."""

    @property
    def verdict(self) -> str: ...
    @property
    def comment(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(ABC):
    """How far something is that people judge.

    Parameters
    ----------
    judges
        Numbers of the people who judge it, in order; the third only where the first two differ.
    given
        What each of them last said, by number.
    """

    judges: tuple[int, ...]
    given: Mapping[int, Given]

    @staticmethod
    @abstractmethod
    def settled(verdicts: Sequence[str]) -> str | None:
        """Return what verdicts in the order of the judges come to; None where one more has to."""

    @property
    def result(self) -> str | None:
        """Return what it is found to be, or None while another has to judge it."""
        return self.settled(
            [self.given[judge].verdict for judge in self.judges if judge in self.given]
        )

    @property
    def waits_for(self) -> tuple[int, ...]:
        """Return who has to judge it now."""
        waiting = tuple(judge for judge in self.judges[:JUDGES] if judge not in self.given)
        if waiting or self.result:
            return waiting
        return tuple(judge for judge in self.judges[JUDGES:][:1] if judge not in self.given)


def judges(position: int, n: int) -> list[int]:
    """Return the order in which `n` people judge what is at a position.

    Among n (n - 1) in a row every pair of them begins with two, in either order.

    >>> [judges(position, 3) for position in range(4)]
    [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]]
    """
    first = position % n
    second = (first + 1 + position // n % (n - 1)) % n
    return [first, second, *(number for number in range(n) if number not in (first, second))]


def is_new(judged: Judged | None, person: int, verdict: str, comment: str) -> bool:
    """Return whether a verdict or comment differs from the judge's latest.

    Raises
    ------
    NotAllowed
        It is not theirs to judge.
    BadInput
        The comment is too long.
    """
    if len(comment) > LONGEST_COMMENT:
        raise BadInput(t("Shorten the comment to {n} characters.", n=LONGEST_COMMENT))
    if judged is None or person not in (*judged.waits_for, *judged.given):
        raise NotAllowed(t("This question is not yours to review."))
    before = judged.given.get(person)
    return before is None or (before.verdict, before.comment) != (verdict, comment)
