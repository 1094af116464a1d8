"""Finds clues by which answers can be guessed without the films, each with a count and a test.

Three clues are tested: the letter of the correct answer, whether it is the longest option, and the
name of the view. A clue is reported if it is statistically significant and would improve a guessing
reader's accuracy by at least `MIN_GAIN`. The report contains counts, but no single questions.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # submodules are imported on first use, which takes 0.5 s
from numpy.typing import NDArray

from study.base.bank_model import LETTERS, GuessableQuestion, Rule
from study.base.translation import t

ALPHA = 0.01
"""The significance level, which is low because several clues are tested in every bank."""

MIN_GAIN = 0.05
"""The minimum reported gain over chance, as a share of the questions."""

_MIN_EXPECTED = 5.0
_MIN_COUNT = 5
_MAX_EXACT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Excess:
    """How many questions a clue answers correctly, their total, the expected number and p."""

    n: int
    total: int
    expected: float
    p: float

    @property
    def is_clue(self) -> bool:
        return self.p < ALPHA and self.n - self.expected >= MIN_GAIN * self.total


def clue_sentences(questions: Iterable[GuessableQuestion], *, shuffled: bool) -> tuple[str, ...]:
    """Return a sentence for each clue by which correct answers can be guessed.

    Parameters
    ----------
    questions
        The questions that have a reference standard; iterated several times.
    shuffled
        Whether each reader sees the options in a different order, so that letters are not a clue.
    """
    return tuple(clues_by_rule(questions, shuffled=shuffled).values())


def clues_by_rule(questions: Iterable[GuessableQuestion], *, shuffled: bool) -> dict[Rule, str]:
    """Return the sentences of `clue_sentences` by rule."""
    clue_counts = _ClueCounts()
    for question in questions:
        clue_counts.add(question)
    counts_by_text = _AnswerCounts()
    for question in questions if clue_counts.has_frequent_answer() else ():
        options = [option.strip() for option in question.options]
        if frequent := {text for text in options if clue_counts.is_frequent(text)}:
            counts_by_text.add(frequent, options[question.place], question.view)
    associations = [
        *counts_by_text.associations(),
        *(() if shuffled else clue_counts.letters().associations()),
    ]
    sentences = {
        Rule.LONGEST: _longest_sentence(clue_counts.sizes, clue_counts.n_longest),
        Rule.LETTER: ""
        if shuffled
        else _letter_sentence(position_balance(clue_counts.places(), least_gain=MIN_GAIN)),
        Rule.VIEW_TELLS: _view_sentence(associations),
    }
    return {rule: sentence for rule, sentence in sentences.items() if sentence}


def ids_reveal_answers(questions: Iterable[GuessableQuestion]) -> bool:
    """Return whether IDs contain the correct option's letter, position or text more than by chance.

    >>> def asked(name):
    ...     for n in range(40):
    ...         truth = "AB"[n % 2]
    ...         item_id = name.format(n=n + 100, truth=truth)
    ...         yield GuessableQuestion(("Yes", "No"), truth, "", item_id)
    >>> [ids_reveal_answers(asked(name)) for name in ("q-{n}", "no-{n}", "q{n}/{truth}")]
    [False, False, True]
    """
    by_source: dict[str, tuple[Counter[int], list[int]]] = {}
    for question in questions:
        id_parts = _PARTS.findall(question.item_id.casefold())
        parts, joined = {part.lstrip("0") or "0" for part in id_parts}, "".join(id_parts)
        sources = {
            "letter": [letter.casefold() in parts for letter in LETTERS[: len(question.options)]],
            "from 0": [str(place) in parts for place in range(len(question.options))],
            "from 1": [str(place + 1) in parts for place in range(len(question.options))],
            "text": [_contains_text(text, joined) for text in question.options],
        }
        for source, named_options in sources.items():
            if named_options.count(True) == 1:
                sizes, hits = by_source.setdefault(source, (Counter(), []))
                sizes[len(question.options)] += 1
                hits.append(named_options[question.place])
    return any(_exceeds_chance(sizes, sum(hits)) for sizes, hits in by_source.values())


def _contains_text(text: str, joined: str) -> bool:
    words = "".join(_PARTS.findall(text.casefold()))
    return len(words) > 1 and words in joined


def _exceeds_chance(sizes: Counter[int], n: int) -> bool:
    expected = sum(count / k for k, count in sizes.items())
    return (
        n >= _MIN_COUNT
        and _Excess(
            n=n, total=sizes.total(), expected=expected, p=_tail_probability(n, sizes)
        ).is_clue
    )


_PARTS = re.compile(r"[^\W\d_]+|\d+")


class _ClueCounts:
    """Counts collected in one pass over all questions."""

    def __init__(self) -> None:
        self._shown: Counter[tuple[int, int, str]] = Counter()
        self.sizes: Counter[int] = Counter()
        self.n_longest = 0
        self._hashes: Counter[int] = Counter()  # of texts, most of which occur only once

    def add(self, question: GuessableQuestion) -> None:
        k, place = len(question.options), question.place
        self._shown[place, k, question.view] += 1
        lengths = [len(option.strip()) for option in question.options]
        if lengths.count(max(lengths)) == 1:
            self.sizes[k] += 1
            self.n_longest += lengths[place] == max(lengths)
        self._hashes[hash(question.options[place].strip())] += 1

    def places(self) -> Counter[tuple[int, int]]:
        """Return the number of questions by position of the correct option and size."""
        n_correct: Counter[tuple[int, int]] = Counter()
        for (place, k, _), n in self._shown.items():
            n_correct[place, k] += n
        return n_correct

    def letters(self) -> "_AnswerCounts":
        """Return how often each letter is offered and correct."""
        answer_counts = _AnswerCounts()
        for (place, k, view), n in self._shown.items():
            answer_counts.add(LETTERS[:k], LETTERS[place], view, n)
        return answer_counts

    def is_frequent(self, text: str) -> bool:
        """Return whether an answer is correct often enough to be tested."""
        return self._hashes[hash(text)] >= _MIN_COUNT

    def has_frequent_answer(self) -> bool:
        """Return whether any answer is correct often enough to be tested."""
        return max(self._hashes.values(), default=0) >= _MIN_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How often each position is correct, the expected numbers, and the p-value.

    `n` and `expected` are by position, and empty if no question has a reference standard. `most` is
    the position with the largest excess, and `total` the number of questions that offer it. `p` is
    1 if it was not computed because the excess is too small for a clue.
    """

    n: tuple[int, ...]
    expected: tuple[float, ...]
    most: int
    total: int
    p: float


def position_balance(
    places: Mapping[tuple[int, int], int], *, least_gain: float = -math.inf
) -> Balance:
    """Test the positions of the correct options against chance.

    Parameters
    ----------
    places
        The number of questions by position of the correct option, from 0, and number of options.
    least_gain
        The minimum excess, as a share of the questions, for which p is computed.
    """
    if not places:
        return Balance(n=(), expected=(), most=0, total=0, p=1.0)
    n_correct: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for (place, size), n in places.items():
        n_correct[place] += n
        sizes[size] += n
    letters = range(max(sizes))
    expected = np.array([sum(n / k for k, n in sizes.items() if k > place) for place in letters])
    excess = np.array([n_correct[place] for place in letters]) - expected
    largest = int(excess.argmax())
    offering = {k: n for k, n in sizes.items() if k > largest}
    if excess[largest] < least_gain * sum(offering.values()):
        p = 1.0
    elif expected.min() >= _MIN_EXPECTED:
        p = _goodness_of_fit(excess, sizes)
    else:
        p = min(1.0, len(excess) * _tail_probability(n_correct[largest], offering))
    return Balance(
        n=tuple(n_correct[place] for place in letters),
        expected=tuple(map(float, expected)),
        most=largest,
        total=sum(offering.values()),
        p=p,
    )


def _letter_sentence(letters: Balance) -> str:
    if not letters.n:
        return ""
    most_frequent = letters.most
    expected = letters.expected[most_frequent]
    excess = _Excess(
        n=letters.n[most_frequent], total=letters.total, expected=expected, p=letters.p
    )
    if not excess.is_clue:
        return ""
    return t(
        "The correct answer is {letter} in {n} of {total} questions ({expected} expected, {p}): "
        "readers can guess it. Shuffle the options.",
        letter=LETTERS[most_frequent],
        **_message_values(excess),
    )


def _goodness_of_fit(excess: NDArray[np.float64], sizes: Mapping[int, int]) -> float:
    """Return the p-value of Pearson's test for questions with different numbers of options.

    With equal numbers of options the statistic is Pearson's; otherwise it is the quadratic form of
    the excess counts in the (generalised) inverse of their covariance.
    """
    covariance = np.zeros((len(excess), len(excess)))
    for k, n in sizes.items():
        covariance[:k, :k] += n * (np.eye(k) / k - 1 / k**2)
    statistic = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    return float(scipy.special.chdtrc(len(excess) - 1, max(statistic, 0.0)))


def _longest_sentence(sizes: Counter[int], n: int) -> str:
    expected = sum(count / k for k, count in sizes.items())
    excess = _Excess(
        n=n, total=sum(sizes.values()), expected=expected, p=_tail_probability(n, sizes)
    )
    if not excess.is_clue:
        return ""
    return t(
        "The correct answer is the longest option in {n} of {total} questions that have one "
        "({expected} expected, {p}): readers can guess it. Make the options equally long.",
        **_message_values(excess),
    )


def _message_values(excess: _Excess) -> dict[str, object]:
    expected = f"{round(excess.expected, 1):g}"
    return {"n": excess.n, "total": excess.total, "expected": expected, "p": _p_text(excess.p)}


def _p_text(p: float) -> str:
    return t("p < 0.001") if p < 0.001 else t("p = {p}", p=f"{p:.3f}")


def _tail_probability(n: int, sizes: Mapping[int, int]) -> float:
    """Return the probability of at least `n` hits if each question has a chance of 1 / `k`.

    It is exact up to 2,000 questions; for more, the normal approximation with continuity correction
    is used.
    """
    if sum(sizes.values()) > _MAX_EXACT:
        mean = sum(count / k for k, count in sizes.items())
        variance = sum(count * (k - 1) / k**2 for k, count in sizes.items())
        return math.erfc((n - 0.5 - mean) / (2 * variance) ** 0.5) / 2
    probabilities = np.ones(1)
    for k, count in sizes.items():
        probabilities = np.convolve(probabilities, _binomial(count, 1 / k))
    return float(min(1.0, probabilities[n:].sum()))


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    hits = np.arange(n + 1)
    ways = _log_choose(n, hits)
    probabilities: NDArray[np.float64] = np.exp(ways + hits * np.log(p) + (n - hits) * np.log1p(-p))
    return probabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class _Association:
    """How often an answer is correct with a view, and without it."""

    answer: str
    view: str
    n: int
    total: int
    n_else: int
    total_else: int
    p: float

    @property
    def gain(self) -> float:
        return self.n / self.total - self.n_else / self.total_else


class _AnswerCounts:
    """How often answers are offered and correct, in total and with each view."""

    def __init__(self) -> None:
        self._n_correct: Counter[str] = Counter()
        self._n_correct_with: Counter[tuple[str, str]] = Counter()
        self._n_offered: Counter[str] = Counter()
        self._n_offered_with: Counter[tuple[str, str]] = Counter()

    def add(self, answers: Iterable[str], right: str, view: str, n: int = 1) -> None:
        """Count one question, or `n` equal ones, by the answers offered."""
        for answer in answers:
            self._n_offered[answer] += n
            self._n_offered_with[answer, view] += n
            if answer == right:
                self._n_correct[answer] += n
                self._n_correct_with[answer, view] += n

    def associations(self) -> Iterator[_Association]:
        """Yield the associations of answer and view that can be tested."""
        for (answer, view), n_offered in self._n_offered_with.items():
            n_offered_else, n_right = self._n_offered[answer] - n_offered, self._n_correct[answer]
            if not view or min(n_offered, n_offered_else, n_right) < _MIN_COUNT:
                continue
            n = self._n_correct_with[answer, view]
            yield _Association(
                answer=answer,
                view=view,
                n=n,
                total=n_offered,
                n_else=n_right - n,
                total_else=n_offered_else,
                p=_fisher(n, n_offered, n_right, self._n_offered[answer]),
            )


def _view_sentence(associations: Sequence[_Association]) -> str:
    """Return a sentence on the strongest association between an answer and a view name.

    An answer is a text or a letter. Fisher's exact test is computed for each answer and each view
    that occur at least five times, among the questions that offer the answer; the smallest p-value
    is used after Bonferroni's correction.
    """
    if not associations:
        return ""
    best = min(associations, key=lambda association: (association.p, -association.gain))
    p = min(1.0, best.p * len(associations))
    if p >= ALPHA or best.gain < MIN_GAIN:
        return ""
    return t(
        "The correct answer is “{answer}” in {n} of the {total} questions with the view {view} "
        "that offer it, and in {others} of the {rest} others ({p}): readers can guess it from the "
        "name of the view. Balance the views, or leave their names out of the bank.",
        answer=best.answer,
        view=best.view,
        n=best.n,
        total=best.total,
        others=best.n_else,
        rest=best.total_else,
        p=_p_text(p),
    )


def _fisher(n: int, n_offered: int, n_right: int, total: int) -> float:
    """Return the one-sided p-value of Fisher's exact test.

    It is the probability that at least `n` of the `n_right` correct answers to `total` questions
    are among the `n_offered` questions with the view.
    """
    hits = np.arange(n, min(n_offered, n_right) + 1)
    return float(
        min(
            1.0,
            np.exp(
                _log_choose(n_right, hits)
                + _log_choose(total - n_right, n_offered - hits)
                - _log_choose(total, n_offered)
            ).sum(),
        )
    )


def _log_choose(n: int, k: NDArray[np.int_] | int) -> NDArray[np.float64]:
    k = np.asarray(k)
    return np.asarray(math.lgamma(n + 1) - _log_gamma(k + 1) - _log_gamma(n - k + 1))


_log_gamma = np.vectorize(math.lgamma, otypes=[float])
