"""Determines where a bank's reference standard may be shown, and which readers may have seen it.

The reference standard belongs to the bank, so a study can reveal what another study hides. Banks
with common patients, examinations, image files or questions are recognised under any name; see
`study.store.banks.study_shows_bank`. This module returns the warnings for coordinators as
sentences; `study.lifecycle.studies` refuses what is not allowed.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from study.bank.guessing import clue_sentences
from study.base.actor import Acting
from study.base.errors import NotNow
from study.base.text import quoted
from study.base.translation import t, tn
from study.people.roles import Role, role_title
from study.protocol.protocol import Feedback, Protocol, stored_protocol
from study.store import (
    Store,
    Transaction,
    bank_contents,
    banks,
    events,
    people,
    readings,
    studies,
    teaching,
)
from study.store.events import EventKind
from study.store.people import GrantRow
from study.store.studies import StudyRow, study_row


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCases:
    """A study, or a bank in teaching, in which a person may have learnt the answers.

    In teaching, `role` is None and `study` is the bank's name.
    """

    study: str
    role: Role | None

    @property
    def as_detail(self) -> dict[str, str]:
        """Return the detail for the trail."""
        return {"study": self.study, "role": self.role} if self.role else {"bank": self.study}


def studies_reading(look: Transaction, bank: int, *, excluding: int = 0) -> list[str]:
    """Return the open studies with a bank's cases whose accuracy is hidden.

    Parameters
    ----------
    excluding
        The number of a study to leave out.
    """
    return [
        row.name
        for row in _other_studies(look, bank, excluding)
        if row.state == "open" and not stored_protocol(row).interim_results
    ]


def withheld_reason(look: Transaction, bank: int) -> str:
    """Return why text that reveals the answers of a bank is hidden, or an empty string.

    This is the reference standard, and text that may repeat it: verdicts and scores with their
    comments, and the reasons why items were struck off.
    """
    if not studies_reading(look, bank):
        return ""
    return t(
        "Verdicts, comments and reasons are hidden while cases from this bank are being read in a "
        "study. They can be seen once that study is closed."
    )


def refuse_withheld(look: Transaction, bank: int) -> None:
    """Raise `NotNow` if text that reveals the answers of a bank is hidden."""
    if reason := withheld_reason(look, bank):
        raise NotNow(reason)


def revealing_studies(look: Transaction, bank: int, *, excluding: int = 0) -> list[str]:
    """Return the studies that reveal the reference standard of a bank's items."""
    return [row.name for row in _other_studies(look, bank, excluding) if reveals(row)]


def reveals(study: StudyRow) -> bool:
    """Return whether a study currently reveals the reference standard of its cases.

    A study does this after closing, and while it is open if results can be seen or if readers see
    the correct answer after each case.
    """
    if study.state != "open":
        return bool(study.state == "closed")
    protocol = stored_protocol(study)
    return protocol.interim_results or protocol.feedback is Feedback.AFTER_CASE


def record_truth_shown(store: Store, bank: str, *, acting: Acting) -> None:
    """Record that a bank's reference standard is shown to a person.

    Raises
    ------
    NotNow
        Cases of the bank are being read in an open study that hides it.
    """
    with store.change() as change:
        if studies_reading(change, banks.bank_row(change, bank).id):
            raise NotNow(
                t(
                    "Cases from this bank are being read in a study. The reference standard can "
                    "be shown once that study is closed."
                )
            )
        events.record(change, "", acting, kind=EventKind.TRUTH_SHOWN, detail={"bank": bank})


def study_list(names: Sequence[str]) -> str:
    """Return the names of studies as a list within a sentence."""
    return ", ".join(map(quoted, names))


def interim_refusal(names: Sequence[str]) -> str:
    """Return why accuracy cannot be shown while other studies with the same cases are open."""
    return tn(
        "Cases from this bank are being read in the study {studies}, where no one can see "
        "accuracy yet. A study that shows results while it is open can be opened once that study "
        "is closed.",
        "Cases from this bank are being read in the studies {studies}, where no one can see "
        "accuracy yet. A study that shows results while it is open can be opened once those "
        "studies are closed.",
        len(names),
        studies=study_list(names),
    )


def record_others(
    change: Transaction, study: StudyRow, others: Sequence[str], kind: EventKind, acting: Acting
) -> None:
    """Record an event of a study in the audit trails of other studies with the same cases."""
    for other in others:
        events.record(change, other, acting, kind=kind, detail={"study": study.name})


def known_cases(look: Transaction, person: int, study: StudyRow) -> tuple[KnownCases, ...]:
    """Return the studies and teaching in which a person may have seen the truth of a study's bank.

    These are studies with the same cases that the person runs or analyses, studies that showed them
    the correct answers, and teaching. Reviewers and scorers cannot be readers.
    """
    taught = tuple(
        KnownCases(study=bank.name, role=None)
        for bank in teaching.banks_practised(look, person)
        if banks.study_shows_bank(look, bank.id, study.id)
    )
    return taught + tuple(
        dict.fromkeys(
            KnownCases(study=part.study_name, role=Role(part.role))
            for part in people.all_grants_of(look, person)
            if part.study
            and part.study_name
            and part.study != study.id
            and banks.study_shows_bank(look, study.bank, part.study)
            and _may_know_answers(look, part)
        )
    )


def exposed_readers(look: Transaction, study: StudyRow) -> dict[str, tuple[KnownCases, ...]]:
    """Return where readers of a study may have seen its answers, without other readers."""
    roles = {}
    for reader in people.readers(look, study.id):
        person = people.person_of_reader(look, reader.id)
        cases_seen = () if person is None else known_cases(look, person, study)
        if cases_seen:
            roles[reader.reader_id] = cases_seen
    return roles


def exposure_sentence(reader: str, cases_seen: Sequence[KnownCases]) -> str:
    """Return the sentence about a reader who may know the answers."""
    return t(
        "{reader} may have seen the reference standard of these cases, {parts}.",
        reader=reader,
        parts=", ".join(_place_phrase(place) for place in cases_seen),
    )


def _place_phrase(place: KnownCases) -> str:
    study = quoted(place.study)
    if place.role is None:
        return t("in teaching with {study}", study=study)
    if place.role is Role.READER:
        return t("as a reader in {study}, where correct answers were shown", study=study)
    return t("as {role} of {study}", role=role_title(place.role), study=study)


def _other_studies(look: Transaction, bank: int, excluding: int) -> list[StudyRow]:
    return [
        row
        for row in reversed(studies.listed(look))
        if row.state != "drawn"
        and row.id != excluding
        and banks.study_shows_bank(look, bank, row.id)
    ]


def _may_know_answers(look: Transaction, part: GrantRow) -> bool:
    if part.role != Role.READER:
        return True
    study = studies.find(look, part.study_name or "")
    if study is None or part.reader is None or not readings.has_begun(look, part.reader):
        return False
    protocol = stored_protocol(study)
    after_study = protocol.feedback is Feedback.AFTER_STUDY and study.state == "closed"
    return bool(after_study or protocol.feedback is Feedback.AFTER_CASE or protocol.practice_cases)


def opening_warnings(store: Store, study: str) -> tuple[str, ...]:
    """Return the warnings to show before a drawn study is opened.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look() as look:
        row = study_row(look, study)
        protocol = stored_protocol(row)
        # Counts over a few cases reveal their truth. While they are being read, count the bank.
        reading = studies_reading(look, row.bank, excluding=row.id)
        bank_questions = banks.Questions(look, row.bank, None if reading else row.id)
        return (
            *_struck_warning(look, row.id),
            *clue_sentences(bank_questions, shuffled=protocol.option_order == "random"),
            *other_study_warnings(look, row.bank, protocol, excluding=row.id),
            *(
                exposure_sentence(reader, parts)
                for reader, parts in exposed_readers(look, row).items()
            ),
        )


def _struck_warning(look: Transaction, study: int) -> tuple[str, ...]:
    struck = bank_contents.struck_cases(look, study)
    if not struck:
        return ()
    return (
        tn(
            "{n} case was struck off the bank after the draw, and stays in the study: {items}.",
            "{n} cases were struck off the bank after the draw, and stay in the study: {items}.",
            len(struck),
            items=", ".join(struck),
        ),
    )


def consent_to_read(store: Store, study: str) -> str:
    """Return the consent text of a study's readers, to be checked before it is opened.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look() as look:
        consent = stored_protocol(study_row(look, study)).consent
    if not consent:
        return t("Readers are not asked for consent: the consent text is empty.")
    return t("Readers must agree to this text before they start:") + f"\n\n{consent.strip()}\n"


def exposed_reader_warnings(
    store: Store, study: str, readers: Container[str] | None = None
) -> tuple[str, ...]:
    """Return a sentence for each reader of a study, or of `readers`, who may know the answers.

    Raises
    ------
    NotFound
        The study does not exist.
    """
    with store.look() as look:
        cases_seen = exposed_readers(look, study_row(look, study))
    return tuple(
        exposure_sentence(reader, parts)
        for reader, parts in cases_seen.items()
        if readers is None or reader in readers
    )


def other_study_warnings(
    look: Transaction, bank: int, protocol: Protocol, *, excluding: int = 0
) -> tuple[str, ...]:
    """Return warnings about other studies with the same cases for a study with this protocol."""
    reading, revealing = (
        studies_reading(look, bank, excluding=excluding),
        revealing_studies(look, bank, excluding=excluding),
    )
    lines = []
    if reading and protocol.interim_results:
        lines.append(interim_refusal(reading))
    elif reading and protocol.feedback is Feedback.AFTER_CASE:
        lines.append(
            t(
                "This study shows its readers the correct answers to cases that are being read in "
                "{studies}. The audit trails of these studies will record this.",
                studies=study_list(reading),
            )
        )
    if revealing:
        lines.append(
            t(
                "Correct answers to cases from this bank are shown in {studies}. Anyone who has "
                "seen them there should not read here. The audit trails of these studies will "
                "record this.",
                studies=study_list(revealing),
            )
        )
    n_learners = teaching.n_learners(look, bank)
    if n_learners:
        lines.append(
            tn(
                "{n} person has practised with this bank in teaching, where the answers are "
                "shown. They should not read in this study.",
                "{n} people have practised with this bank in teaching, where the answers are "
                "shown. They should not read in this study.",
                n_learners,
            )
        )
    return tuple(lines)
