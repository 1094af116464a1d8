"""Tells where answers can be guessed without the films: each place with its count and its test.

Three places are looked at: the letter of the right answer, whether it is the longest option, and
the name of the view it is shown with. Only counts are told, never which question it was; and only
what could not well be chance, and would gain a reader who guesses at least `LEAST_GAIN`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are first used: a fifth of a second
from numpy.typing import NDArray

from study.base.bank_model import LETTERS, GuessableQuestion, Rule
from study.base.translation import t

ALPHA = 0.01
"""A p-value from here up is taken for chance: several places are looked at in every bank."""

LEAST_GAIN = 0.05
"""The least by which guessing has to do better than chance, as a share of the questions."""

_LEAST_EXPECTED = 5.0
_LEAST_COUNT = 5
_MOST_EXACT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Excess:
    """How often something held, of how many, how often by chance, and how likely by chance."""

    n: int
    of: int
    expected: float
    p: float

    @property
    def tells(self) -> bool:
        return self.p < ALPHA and self.n - self.expected >= LEAST_GAIN * self.of


def guessable(asked: Iterable[GuessableQuestion], *, shuffled: bool) -> tuple[str, ...]:
    """Return a sentence for each place where the right answers can be guessed.

    Parameters
    ----------
    asked
        The questions that have a reference standard; gone through several times, held never.
    shuffled
        Whether readers see the options in an order of their own, so that letters tell nothing.
    """
    return tuple(clues(asked, shuffled=shuffled).values())


def clues(asked: Iterable[GuessableQuestion], *, shuffled: bool) -> dict[Rule, str]:
    """Return the sentences of `guessable` by the rule that each tells of."""
    seen = _Seen()
    for one in asked:
        seen.add(one)
    texts = _Offers()
    for one in asked if seen.any_often() else ():
        options = [option.strip() for option in one.options]
        if often := {text for text in options if seen.often(text)}:
            texts.add(often, options[one.place], one.view)
    ties = [*texts.ties(), *(() if shuffled else seen.letters().ties())]
    told = {
        Rule.LONGEST: _longest(seen.sizes, seen.n_longest),
        Rule.LETTER: "" if shuffled else _letter(balance(seen.places())),
        Rule.VIEW_TELLS: _view(ties),
    }
    return {rule: sentence for rule, sentence in told.items() if sentence}


def ids_tell(asked: Iterable[GuessableQuestion]) -> bool:
    """Return whether ids name the correct option, by letter, place or text, more than by chance.

    >>> def asked(name):
    ...     for n in range(40):
    ...         truth = "AB"[n % 2]
    ...         item_id = name.format(n=n + 100, truth=truth)
    ...         yield GuessableQuestion(("Yes", "No"), truth, "", item_id)
    >>> [ids_tell(asked(name)) for name in ("q-{n}", "no-{n}", "q{n}/{truth}")]
    [False, False, True]
    """
    named: dict[str, tuple[Counter[int], list[int]]] = {}
    for one in asked:
        in_order = _SIGNS.findall(one.item_id.casefold())
        signs, run = {sign.lstrip("0") or "0" for sign in in_order}, "".join(in_order)
        ways = {
            "letter": [letter.casefold() in signs for letter in LETTERS[: len(one.options)]],
            "from 0": [str(place) in signs for place in range(len(one.options))],
            "from 1": [str(place + 1) in signs for place in range(len(one.options))],
            "text": [_said(text, run) for text in one.options],
        }
        for way, found in ways.items():
            if found.count(True) == 1:
                sizes, hits = named.setdefault(way, (Counter(), []))
                sizes[len(one.options)] += 1
                hits.append(found[one.place])
    return any(_named_too_often(sizes, sum(hits)) for sizes, hits in named.values())


def _said(text: str, run: str) -> bool:
    words = "".join(_SIGNS.findall(text.casefold()))
    return len(words) > 1 and words in run


def _named_too_often(sizes: Counter[int], n: int) -> bool:
    expected = sum(count / k for k, count in sizes.items())
    return (
        n >= _LEAST_COUNT
        and _Excess(n=n, of=sizes.total(), expected=expected, p=_at_least(n, sizes)).tells
    )


_SIGNS = re.compile(r"[^\W\d_]+|\d+")


class _Seen:
    """What one look at all questions tells."""

    def __init__(self) -> None:
        self._shown: Counter[tuple[int, int, str]] = Counter()
        self.sizes: Counter[int] = Counter()
        self.n_longest = 0
        self._hashes: Counter[int] = Counter()  # of texts, most of which are met once

    def add(self, one: GuessableQuestion) -> None:
        k, place = len(one.options), one.place
        self._shown[place, k, one.view] += 1
        lengths = [len(option.strip()) for option in one.options]
        if lengths.count(max(lengths)) == 1:
            self.sizes[k] += 1
            self.n_longest += lengths[place] == max(lengths)
        self._hashes[hash(one.options[place].strip())] += 1

    def places(self) -> Counter[tuple[int, int]]:
        """Return how many questions have their right option in a place, of so many."""
        found: Counter[tuple[int, int]] = Counter()
        for (place, k, _), n in self._shown.items():
            found[place, k] += n
        return found

    def letters(self) -> "_Offers":
        """Return how often letters are offered and right."""
        found = _Offers()
        for (place, k, view), n in self._shown.items():
            found.add(LETTERS[:k], LETTERS[place], view, n)
        return found

    def often(self, text: str) -> bool:
        """Return whether an answer is right often enough to be looked at."""
        return self._hashes[hash(text)] >= _LEAST_COUNT

    def any_often(self) -> bool:
        """Return whether any answer is."""
        return max(self._hashes.values(), default=0) >= _LEAST_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How often each place is the right one, how often by chance, and how likely by chance.

    `of` is how many questions offer the place that is right too often; `n` and `expected` go by
    place, and are empty where no question has a reference standard.
    """

    n: tuple[int, ...]
    expected: tuple[float, ...]
    most: int
    of: int
    p: float


def balance(places: Mapping[tuple[int, int], int]) -> Balance:
    """Hold the places of the right options against chance.

    Parameters
    ----------
    places
        How many questions have their right option in a place, counted from 0, of so many.
    """
    if not places:
        return Balance(n=(), expected=(), most=0, of=0, p=1.0)
    seen: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for (place, size), n in places.items():
        seen[place] += n
        sizes[size] += n
    letters = range(max(sizes))
    expected = np.array([sum(n / k for k, n in sizes.items() if k > place) for place in letters])
    excess = np.array([seen[place] for place in letters]) - expected
    most = int(excess.argmax())
    offering = {k: n for k, n in sizes.items() if k > most}
    if expected.min() >= _LEAST_EXPECTED:
        p = _goodness_of_fit(excess, sizes)
    else:
        p = min(1.0, len(excess) * _at_least(seen[most], offering))
    return Balance(
        n=tuple(seen[place] for place in letters),
        expected=tuple(map(float, expected)),
        most=most,
        of=sum(offering.values()),
        p=p,
    )


def _letter(letters: Balance) -> str:
    if not letters.n:
        return ""
    most = letters.most
    expected = letters.expected[most]
    found = _Excess(n=letters.n[most], of=letters.of, expected=expected, p=letters.p)
    if not found.tells:
        return ""
    return t(
        "The correct answer is {letter} in {n} of {total} questions ({expected} expected, {p}): "
        "readers can guess it. Shuffle the options.",
        letter=LETTERS[most],
        **_counts(found),
    )


def _goodness_of_fit(excess: NDArray[np.float64], sizes: Mapping[int, int]) -> float:
    """Return the p-value of Pearson's test, each question against its own number of options.

    Where all have the same number it is Pearson's statistic; else the quadratic form of the counts'
    excess in the (generalised) inverse of their covariance.
    """
    covariance = np.zeros((len(excess), len(excess)))
    for k, n in sizes.items():
        covariance[:k, :k] += n * (np.eye(k) / k - 1 / k**2)
    statistic = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    return float(scipy.special.chdtrc(len(excess) - 1, max(statistic, 0.0)))


def _longest(sizes: Counter[int], n: int) -> str:
    expected = sum(count / k for k, count in sizes.items())
    found = _Excess(n=n, of=sum(sizes.values()), expected=expected, p=_at_least(n, sizes))
    if not found.tells:
        return ""
    return t(
        "The correct answer is the longest option in {n} of {total} questions that have one "
        "({expected} expected, {p}): readers can guess it. Make the options equally long.",
        **_counts(found),
    )


def _counts(found: _Excess) -> dict[str, object]:
    expected = f"{round(found.expected, 1):g}"
    return {"n": found.n, "total": found.of, "expected": expected, "p": _p(found.p)}


def _p(p: float) -> str:
    return t("p < 0.001") if p < 0.001 else t("p = {p}", p=f"{p:.3f}")


def _at_least(n: int, sizes: Mapping[int, int]) -> float:
    """Return how likely at least `n` hits are, one of its own `k` options being hit by chance.

    Exact up to 2,000 questions, beyond that by the normal distribution with its correction.
    """
    if sum(sizes.values()) > _MOST_EXACT:
        mean = sum(count / k for k, count in sizes.items())
        variance = sum(count * (k - 1) / k**2 for k, count in sizes.items())
        return float(scipy.special.ndtr((mean - n + 0.5) / variance**0.5))
    likely = np.ones(1)
    for k, count in sizes.items():
        likely = np.convolve(likely, _binomial(count, 1 / k))
    return float(min(1.0, likely[n:].sum()))


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    hits = np.arange(n + 1)
    ways = _log_choose(n, hits)
    likely: NDArray[np.float64] = np.exp(ways + hits * np.log(p) + (n - hits) * np.log1p(-p))
    return likely


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tie:
    """An answer and a view: how often it is right with that view, and without it."""

    answer: str
    view: str
    n: int
    of: int
    n_else: int
    of_else: int
    p: float

    @property
    def gain(self) -> float:
        return self.n / self.of - self.n_else / self.of_else


class _Offers:
    """How often answers are offered and right, in all and with each view."""

    def __init__(self) -> None:
        self._right: Counter[str] = Counter()
        self._right_with: Counter[tuple[str, str]] = Counter()
        self._offered: Counter[str] = Counter()
        self._offered_with: Counter[tuple[str, str]] = Counter()

    def add(self, answers: Iterable[str], right: str, view: str, n: int = 1) -> None:
        """Count a question, or `n`, by the answers it offers, if they are looked at."""
        for answer in answers:
            self._offered[answer] += n
            self._offered_with[answer, view] += n
            if answer == right:
                self._right[answer] += n
                self._right_with[answer, view] += n

    def ties(self) -> Iterator[_Tie]:
        """Yield the ties that can be tested."""
        for (answer, view), of in self._offered_with.items():
            of_else, n_right = self._offered[answer] - of, self._right[answer]
            if not view or min(of, of_else, n_right) < _LEAST_COUNT:
                continue
            n = self._right_with[answer, view]
            yield _Tie(
                answer=answer,
                view=view,
                n=n,
                of=of,
                n_else=n_right - n,
                of_else=of_else,
                p=_fisher(n, of, n_right, self._offered[answer]),
            )


def _view(ties: Sequence[_Tie]) -> str:
    """Return the strongest tie of an answer, by its text or letter, to the name of a view.

    Fisher's exact test for each answer that is right five times and each view seen five times,
    among the questions that offer the answer; the smallest p-value by Bonferroni over all of them.
    """
    if not ties:
        return ""
    best = min(ties, key=lambda tie: (tie.p, -tie.gain))
    p = min(1.0, best.p * len(ties))
    if p >= ALPHA or best.gain < LEAST_GAIN:
        return ""
    return t(
        "The correct answer is “{answer}” in {n} of the {total} questions with the view {view} "
        "that offer it, and in {others} of the {rest} others ({p}): readers can guess it from the "
        "name of the view. Balance the views, or leave their names out of the bank.",
        answer=best.answer,
        view=best.view,
        n=best.n,
        total=best.of,
        others=best.n_else,
        rest=best.of_else,
        p=_p(p),
    )


def _fisher(n: int, of: int, n_right: int, total: int) -> float:
    """Return how likely at least `n` of the `n_right` among `total` fall into `of` by chance."""
    hits = np.arange(n, min(of, n_right) + 1)
    return float(
        min(
            1.0,
            np.exp(
                _log_choose(n_right, hits)
                + _log_choose(total - n_right, of - hits)
                - _log_choose(total, of)
            ).sum(),
        )
    )


def _log_choose(n: int, k: NDArray[np.int_] | int) -> NDArray[np.float64]:
    k, gammaln = np.asarray(k), scipy.special.gammaln
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
