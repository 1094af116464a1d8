"""Computes facts about the quality of a study's readings, which are shown but never acted on.

A fact names the reader and the affected readings, and their number out of a total. It is not a
verdict; there may be a good reason. The reference standard is not used: the store denies access to
it in the transaction that reads the readings.

The probability of a run of the same letter is computed under the assumption that all options of a
case are equally likely and independent of earlier choices. A run of length r then continues with
probability 1/k at a case with k options and restarts otherwise, and the probability of a run of
`length` anywhere in the list follows case by case (a Markov chain over r; W. Feller, An
Introduction to Probability Theory, vol. 1, 3rd ed., 1968, XIII.7).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from study.base.canonical import moment
from study.monitoring.interventions import excluded_readings
from study.monitoring.progress import readings_of_study
from study.protocol.protocol import Condition, Protocol, stored_protocol
from study.reading.records import shown_letter
from study.store import Store
from study.store.progress import ReadingRow
from study.store.studies import study_row

GLANCE_MS = 2_000.0
"""Faster answers are listed as glances; see also `accepting.TOO_FAST_MS`."""


HIDDEN_MS = 60_000.0
"""A reading is listed if its case was hidden for at least this long."""


RARE_RUN_PROBABILITY = 0.001
"""A run is listed if its probability in a list of the same length is lower than this."""


MIN_TROUBLED, MIN_TROUBLED_SHARE = 2, 0.5
"""A case is listed if at least this number and this share of its readings had problems."""


_Rows = Sequence[ReadingRow]


class FactKind(StrEnum):
    """The subject of a fact."""

    TOO_FAST = "too fast"
    GLANCE = "glance"
    HIDDEN = "hidden"
    ONE_KEY = "one key"
    CLOCK = "clock"
    LATE = "late"
    FILM = "film"
    WINDOW = "window"
    SOFTWARE = "software"
    TRANSLATED = "translated"
    FAULTY = "faulty"
    SCREENS = "screens"
    WASHOUT = "washout"
    CASE = "case"


FLAGS: Mapping[FactKind, frozenset[str]] = {
    FactKind.TOO_FAST: frozenset({"too_fast"}),
    FactKind.CLOCK: frozenset({"clock_disagreement", "clock_implausible", "clock_set"}),
    FactKind.LATE: frozenset(
        {"received_late", "presentation_lost", "received_while_paused", "received_after_lapse"}
    ),
    FactKind.FILM: frozenset({"film_not_whole", "view_not_shown", "display_lost", "page_covered"}),
    FactKind.WINDOW: frozenset(
        {"page_zoom", "pixel_ratio_changed", "low_pixel_ratio", "window_too_small"}
    ),
    FactKind.SOFTWARE: frozenset({"software_rendering"}),
    FactKind.TRANSLATED: frozenset({"page_translated"}),
    FactKind.FAULTY: frozenset({"question_faulty"}),
}
"""The stored flags that a fact counts; see ``docs/reading-page.md``."""


_CASE_FLAGS = FLAGS[FactKind.FILM] | FLAGS[FactKind.TOO_FAST] | {"page_stalled", "over_time_limit"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityFact:
    """A fact about `n` of `total` readings (or pairs of readings, for the wash-out).

    `reader_id` is empty if the fact is about a case, which `item_id` names. `readings` are the IDs
    of the `n` readings. `values` contains further facts, such as the letter and the probability of
    a run.
    """

    kind: FactKind
    reader_id: str
    n: int
    total: int
    readings: tuple[str, ...]
    item_id: str = ""
    session: int | None = None
    values: Mapping[str, Any]


def find_quality_facts(store: Store, study: str) -> list[QualityFact]:
    """Return the facts about a study's readings, sorted by kind and reader.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look(sealed=True) as look:
        row = study_row(look, study)
        rows = readings_of_study(store, look, row)
    return facts_of(rows, stored_protocol(row))


def facts_of(rows: _Rows, protocol: Protocol) -> list[QualityFact]:
    """Return the facts about readings, which are rows from `study.store.progress`."""
    read = [row for row in rows if row.current and row.timing_source == "browser"]
    by_reader = _group_by(read, "reader_id")
    facts = [
        fact
        for kind, test in _READING_TESTS.items()
        for fact in _facts_by_test(kind, test, by_reader)
    ]
    facts += [fact for own_rows in by_reader.values() for fact in _run_facts(own_rows)]
    facts += [fact for own_rows in by_reader.values() for fact in _screen_facts(own_rows)]
    facts += [
        fact for own_rows in by_reader.values() for fact in _washout_facts(own_rows, protocol)
    ]
    facts += _case_facts(read)
    return sorted(facts, key=lambda fact: list(FactKind).index(fact.kind))


def _group_by(rows: _Rows, key: str) -> dict[Any, list[ReadingRow]]:
    by_key: dict[Any, list[ReadingRow]] = {}
    for row in rows:
        by_key.setdefault(getattr(row, key), []).append(row)
    return by_key


_Test = Callable[[ReadingRow], bool | None]


def _has_any_flag(flags: frozenset[str]) -> _Test:
    return lambda row: not flags.isdisjoint(row.flags)


def _is_glance(row: ReadingRow) -> bool | None:
    if row.status != "answered" or row.supersedes or row.response_ms is None:
        return None
    return bool(row.response_ms < GLANCE_MS)


def _is_hidden(row: ReadingRow) -> bool | None:
    return None if row.hidden_ms is None else bool(row.hidden_ms >= HIDDEN_MS)


_READING_TESTS: Mapping[FactKind, _Test] = {
    **{kind: _has_any_flag(flags) for kind, flags in FLAGS.items()},
    FactKind.GLANCE: _is_glance,
    FactKind.HIDDEN: _is_hidden,
}
"""Functions that return whether a reading has the property of a fact; None if unknown."""


def _facts_by_test(
    kind: FactKind, test: _Test, by_reader: Mapping[str, _Rows]
) -> Iterator[QualityFact]:
    for reader_id, own_rows in by_reader.items():
        results = [(row, test(row)) for row in own_rows]
        matching = tuple(row.id for row, result in results if result)
        if matching:
            yield QualityFact(
                kind=kind,
                reader_id=reader_id,
                n=len(matching),
                total=sum(result is not None for _, result in results),
                readings=matching,
                values={},
            )


def _run_facts(own_rows: _Rows) -> Iterator[QualityFact]:
    """Yield improbable runs of the same key, which is the letter shown at the chosen option."""
    own_rows = [row for row in own_rows if row.condition != Condition.OPEN_ENDED]
    letters = [
        shown_letter(row.answer, row.shown_order) if row.answer is not None else None
        for row in own_rows
    ]
    options = [len(row.shown_order) for row in own_rows if row.answer is not None]
    chances: dict[int, float] = {}
    for run in runs_of(letters):
        if run.length not in chances:
            chances[run.length] = run_probability(run.length, options)
        if chances[run.length] < RARE_RUN_PROBABILITY:
            yield _run_fact(own_rows, run, chances[run.length], len(options))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the same letter in a list, from index `first` to index `last`, inclusive."""

    letter: str
    first: int
    last: int

    @property
    def length(self) -> int:
        """Return the number of cases in the run."""
        return self.last - self.first + 1


def _run_fact(own_rows: _Rows, run: Run, chance: float, n_answered: int) -> QualityFact:
    return QualityFact(
        kind=FactKind.ONE_KEY,
        reader_id=own_rows[0].reader_id,
        n=run.length,
        total=n_answered,
        readings=tuple(row.id for row in own_rows[run.first : run.last + 1]),
        values={"letter": run.letter, "chance": chance},
    )


def _screen_facts(own_rows: _Rows) -> Iterator[QualityFact]:
    """Yield sessions with several screens or browsers, with the readings not on the usual one."""
    for session, rows in _group_by(own_rows, "session").items():
        known = [(row, setup) for row in rows if (setup := screen_setup(row.circumstances))]
        n_by_setup = Counter(setup for _, setup in known)
        if len(n_by_setup) > 1:
            most_common = n_by_setup.most_common(1)[0][0]
            others = tuple(row.id for row, setup in known if setup != most_common)
            yield QualityFact(
                kind=FactKind.SCREENS,
                reader_id=rows[0].reader_id,
                n=len(others),
                total=len(known),
                readings=others,
                session=session,
                values={"setups": tuple(n_by_setup)},
            )


_BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "Firefox": "Firefox",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
"""Browser names by token in the user agent, which may also contain the tokens of later entries."""


def screen_setup(circumstances: Mapping[str, Any]) -> str:
    """Return the screen and browser of a presentation, such as ``1920 x 1080, Chrome``, if known.

    >>> screen_setup({"screen": [1920, 1080], "user_agent": "Mozilla/5.0 ... Firefox/140.0"})
    '1920 x 1080, Firefox'
    """
    screen, agent = circumstances.get("screen"), circumstances.get("user_agent")
    parts = []
    if isinstance(screen, list) and len(screen) == 2:
        parts.append(f"{screen[0]} x {screen[1]}")
    if isinstance(agent, str) and agent:
        parts.append(next((name for mark, name in _BROWSERS.items() if mark in agent), "?"))
    return ", ".join(parts)


def _washout_facts(own_rows: _Rows, protocol: Protocol) -> Iterator[QualityFact]:
    """Yield the fact about the time between sessions, even if it was always long enough."""
    gaps_days: list[float] = []
    too_early: list[str] = []
    for rows in _group_by(own_rows, "case_id").values():
        for first, later in _session_pairs(rows):
            days = (moment(later.shown_at_utc) - moment(first.received_at_utc)).total_seconds()
            gaps_days.append(days / 86_400)
            if gaps_days[-1] < protocol.washout_days:
                too_early.append(later.id)
    if gaps_days:
        yield QualityFact(
            kind=FactKind.WASHOUT,
            reader_id=own_rows[0].reader_id,
            n=len(too_early),
            total=len(gaps_days),
            readings=tuple(too_early),
            values={"shortest_days": min(gaps_days), "washout_days": protocol.washout_days},
        )


def _session_pairs(rows: _Rows) -> Iterator[tuple[ReadingRow, ReadingRow]]:
    """Yield pairs of consecutive readings of a case in different sessions."""
    order = sorted(rows, key=lambda row: (row.session, row.position))
    for first, later in pairwise(order):
        if first.session != later.session:
            yield first, later


def _case_facts(read: _Rows) -> Iterator[QualityFact]:
    """Yield cases that several readers skipped, timed out on, or could not see correctly."""
    for number, rows in sorted(_group_by(read, "case_number").items()):
        troubled = [row for row in rows if _is_troubled(row)]
        if len(troubled) >= MIN_TROUBLED and len(troubled) >= MIN_TROUBLED_SHARE * len(rows):
            yield QualityFact(
                kind=FactKind.CASE,
                reader_id="",
                item_id=rows[0].item_id,
                n=len(troubled),
                total=len(rows),
                readings=tuple(row.id for row in troubled),
                values={"case_number": number, **_count_troubles(troubled)},
            )


def _is_troubled(row: ReadingRow) -> bool:
    return row.status != "answered" or not _CASE_FLAGS.isdisjoint(row.flags)


def _count_troubles(rows: Iterable[ReadingRow]) -> dict[str, int]:
    n_by_status = Counter(row.status if row.status != "answered" else "flagged" for row in rows)
    return dict(n_by_status)


def runs_of(letters: Sequence[str | None]) -> list[Run]:
    """Return the runs in a list in order; a case without a letter ends a run.

    >>> [(run.letter, run.length) for run in runs_of(["A", "A", None, "A", "B"])]
    [('A', 2), ('A', 1), ('B', 1)]
    """
    runs: list[Run] = []
    for place, letter in enumerate(letters):
        if letter is None:
            continue
        if runs and runs[-1].letter == letter and runs[-1].last == place - 1:
            runs[-1] = Run(letter=letter, first=runs[-1].first, last=place)
        else:
            runs.append(Run(letter=letter, first=place, last=place))
    return runs


def run_probability(length: int, n_options: Sequence[int]) -> float:
    """Return the probability of a run of at least `length` anywhere in a list.

    Parameters
    ----------
    length
        Number of consecutive cases, 1 or more.
    n_options
        The number of options of each answered case, in order.

    Examples
    --------
    Two fair coins show the same side with probability 1/2; of three coins in a row, two neighbours
    show the same side with probability 3/4:

    >>> run_probability(2, [2, 2]), run_probability(2, [2, 2, 2])
    (0.5, 0.75)
    """
    if length <= 1:
        return 1.0 if n_options else 0.0
    # chances[r]: the probability that the list so far ends in a run of r and has none of `length`
    chances = [0.0] * length
    probability = 0.0
    for place, k in enumerate(n_options):
        if place == 0:
            chances[1] = 1.0
            continue
        probability += chances[-1] / k
        continued = [chance / k for chance in chances[1:-1]]
        chances = [0.0, (1 - 1 / k) * sum(chances), *continued]
    return probability


class ReadingFacts(NamedTuple):
    """The facts about a reading that a coordinator may see while the study is open.

    `excluded` is the reason for its exclusion, or empty; `given_up` is the reader's reason for
    skipping the case.
    """

    id: str
    reader_id: str
    position: int
    session: int
    condition: str
    repeat: int
    item_id: str
    status: str
    response_ms: float | None
    elapsed_ms: float | None
    hidden_ms: float | None
    paused_ms: float | None
    shown_at_utc: str
    received_at_utc: str
    flags: tuple[str, ...]
    comment: str
    given_up: str
    setup: str
    excluded: str


_STORED_FIELDS = ReadingFacts._fields[:-2]


def current_readings(store: Store, study: str) -> list[ReadingFacts]:
    """Return all current readings, including excluded ones, by reader and position.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look(sealed=True) as look:
        row_of_study = study_row(look, study)
        rows = [row for row in readings_of_study(store, look, row_of_study) if row.current]
        excluded = excluded_readings(look, row_of_study)
    stored = attrgetter(*_STORED_FIELDS)
    return [
        ReadingFacts._make(
            (*stored(row), screen_setup(row.circumstances), excluded.get(row.id, ""))
        )
        for row in rows
    ]


def find_reading(
    facts: Iterable[ReadingFacts], reader_id: str, position: int, condition: str = ""
) -> ReadingFacts | None:
    """Return the reading of a reader at a position, or None.

    In sequential reading, `condition` selects one of the two readings; by default, it is the last.
    """
    matches = [
        fact
        for fact in facts
        if (fact.reader_id, fact.position) == (reader_id, position)
        and condition in ("", fact.condition)
    ]
    return matches[-1] if matches else None
