"""What a reader's page may know, as objects without a field for anything else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from study.protocol.questionnaire import ReaderQuestion
from study.reading.outcomes import Taken


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmView:
    """A film as a reader may know it: its name and how to draw it, never its number or path.

    The name is the case's id and the view's place in it: another one for every reader, and for
    every time a reader is shown the film. A `prior` one is of an earlier examination, made so many
    `days` before, where that is known.
    """

    film: str
    label: str
    width: int
    height: int
    bits: int
    low: int
    high: int
    spacing_mm: float | None
    prior: bool = False
    days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReading:
    """A reader's own earlier answer, shown to them where the protocol lets them go back."""

    id: str
    option: str | None
    words: str | None
    status: str
    confidence: int | None
    comment: str
    faulty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """A case as its reader sees it. There is no field for anything else, on purpose.

    An open-ended one has no options.
    """

    case: str
    position: int
    condition: str
    question: str
    options: tuple[tuple[str, str], ...]
    context: tuple[tuple[str, str], ...]
    views: tuple[FilmView, ...]
    presented: bool
    practice: bool = False
    reading: OwnReading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A step before the first case: its text in Markdown, or its questions, if it has any."""

    step: str
    markdown: str
    questions: tuple[ReaderQuestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What a reader's page needs to go on: the rules, how far they are, and the next cases.

    `total`, `read` and the cases' positions count within the `session` the reader is in. While
    there is `preparation` to do there are no cases; practice cases come before the study's, and are
    in neither `total` nor `read`. In `review` every case is read, and the reader may still go back
    until they say that they have finished. Under a `hold` nothing is handed out; `opens_at_utc` and
    `opens_in_ms` then say when the session opens, where that is known. `stored` counts the records
    of this reader that the store has, which grows unless the store has gone back; `receipt` is the
    reader's, where no case is handed out.
    """

    seal: str
    study: str
    reader: str
    simulated_films: bool
    total: int
    read: int
    rules: Mapping[str, Any]
    cases: tuple[CaseView, ...]
    preparation: tuple[StepView, ...] = ()
    practice_total: int = 0
    session: int = 1
    sessions: int = 1
    review: bool = False
    hold: str = ""
    opens_at_utc: str | None = None
    opens_in_ms: int | None = None
    stored: int = 0
    receipt: str = ""

    @property
    def finished(self) -> bool:
        """Whether every assigned case has a reading."""
        return self.session == self.sessions and self.read == self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFeedback:
    """What a reader learns after a practice case, or where the protocol says so.

    Of an open-ended case `option` is the text of the reference answer, and whether the reader's
    words come to the same nobody knows yet: `correct` is None.
    """

    option: str
    correct: bool | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of a batch of records, and the desk after it.

    `told` are the records of which a reader learns what is right, once they are stored: `feedback`.
    """

    stored: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    desk: Desk
    told: tuple[Taken, ...] = ()
    feedback: Mapping[str, CaseFeedback] = field(default_factory=dict)

    @classmethod
    def of(cls, taken: Sequence[Taken], desk: Desk, **more: Any) -> "Receipt":
        """Return the receipt of records by what became of each, with the desk after them."""
        return cls(
            stored=tuple(one.id for one in taken if not one.refused),
            refused=tuple((one.id, one.refused) for one in taken if one.refused),
            desk=desk,
            **more,
        )
