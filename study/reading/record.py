"""A reader's record of what they have read: cases, days and time, to print and keep.

It may be had once every case is read, or once the study is closed. How many answers match is in it
only where the score card tells it.
"""

from dataclasses import dataclass

from study.base.errors import NotAllowed, NotFound, NotNow
from study.base.translation import t
from study.people.signing_in import Person
from study.reading.peers import Count
from study.reading.receipts import receipt
from study.reading.score_card import ScoreCard, score_card
from study.store import Store, readings, studies


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRecord:
    """What a reader has read of a study.

    Moments are UTC, None where nothing was read. `reading_ms` is the time that cases were in view
    with the timer running, over the `n_timed` readings whose time could be measured. `card` is the
    score card, or None where the reader is shown none.
    """

    study: str
    reader: str
    n_assigned: int
    n_read: int
    first_at_utc: str | None
    last_at_utc: str | None
    reading_ms: float
    n_timed: int
    receipt: str
    card: ScoreCard | None

    @property
    def score(self) -> Count | None:
        """How many answers match, where the score card tells it and anything can."""
        return self.card.total if self.card and self.card.total.n else None


def reading_record(store: Store, person: Person) -> ReadingRecord:
    """Return a reader's own record.

    Raises
    ------
    NotAllowed
        The person is no reader.
    NotNow
        There are cases left to read, and the study is not closed.
    NotFound
        The study is not there.
    """
    if person.reader is None:
        raise NotAllowed(t("Only readers of this study have a reading record."))
    with store.look(sealed=True) as look:
        study = studies.find(look, person.study_name)
        if study is None:
            raise NotFound(t("This study no longer exists."))
        done = readings.spent(look, person.reader)
        if study.state != "closed" and done["n_read"] < max(1, done["n_assigned"]):
            raise NotNow(t("The reading record is available once you have read every case."))
        signs = receipt(look, study, person.reader, person.name)
    return ReadingRecord(
        study=study.name, reader=person.name, receipt=signs, card=_card(store, person), **done
    )


def _card(store: Store, person: Person) -> ScoreCard | None:
    try:
        return score_card(store, person)
    except (NotAllowed, NotNow):
        return None
