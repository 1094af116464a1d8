"""How likely a run of the same letter is by chance.

The chance meant: at every case each of its options is as likely as the others, whatever was chosen
before. Then a run of length r goes on with probability 1/k at a case of k options and begins anew
otherwise, and the chance of a run of `length` somewhere in the list follows case by case (a Markov
chain over r; W. Feller, An Introduction to Probability Theory, vol. 1, 3rd ed., 1968, XIII.7).
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The same letter from one place of a list to another, both included, counted from 0."""

    letter: str
    first: int
    last: int

    @property
    def length(self) -> int:
        """How many cases it goes over."""
        return self.last - self.first + 1


def runs_of(letters: Sequence[str | None]) -> list[Run]:
    """Return the runs of a list in order; a case without a letter ends a run.

    >>> [(run.letter, run.length) for run in runs_of(["A", "A", None, "A", "B"])]
    [('A', 2), ('A', 1), ('B', 1)]
    """
    found: list[Run] = []
    for place, letter in enumerate(letters):
        if letter is None:
            continue
        if found and found[-1].letter == letter and found[-1].last == place - 1:
            found[-1] = Run(letter=letter, first=found[-1].first, last=place)
        else:
            found.append(Run(letter=letter, first=place, last=place))
    return found


def run_probability(length: int, n_options: Sequence[int]) -> float:
    """Return the chance of a run of at least `length` somewhere in a list.

    Parameters
    ----------
    length
        Cases in a row, 1 or more.
    n_options
        How many options each answered case had, in order.

    Examples
    --------
    Two fair coins fall alike with probability 1/2; three hold a pair of neighbours with 3/4:

    >>> run_probability(2, [2, 2]), run_probability(2, [2, 2, 2])
    (0.5, 0.75)
    """
    if length <= 1:
        return 1.0 if n_options else 0.0
    chances = [0.0] * length  # chances[r]: the list so far ends in a run of r, none was long enough
    reached = 0.0
    for place, k in enumerate(n_options):
        if place == 0:
            chances[1] = 1.0
            continue
        reached += chances[-1] / k
        onwards = [chance / k for chance in chances[1:-1]]
        chances = [0.0, (1 - 1 / k) * sum(chances), *onwards]
    return reached
