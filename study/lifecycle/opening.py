"""What a coordinator should know before a study is drawn or opened: sentences, nothing refused.

Refused is by `study.lifecycle.studies`; what it will refuse is said here beforehand.
"""

from collections.abc import Container

from study.bank.guessing import guessable
from study.base.translation import t, tn
from study.lifecycle.exposure import (
    acquainted,
    being_read,
    in_words,
    interim_refusal,
    listed,
    told_in,
)
from study.protocol.protocol import Feedback, Protocol, stored_protocol
from study.store import Store, Transaction, bank_contents, banks, teaching
from study.store.studies import study_row


def cautions(store: Store, study: str) -> tuple[str, ...]:
    """Return what to know of a drawn study before it is opened.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look() as look:
        row = study_row(look, study)
        protocol = stored_protocol(row)
        # A count of a few cases is their truth: while others read them, the whole bank is counted.
        reading = being_read(look, row.bank, but=row.id)
        asked = banks.Questions(look, row.bank, None if reading else row.id)
        return (
            *_struck(look, row.id),
            *guessable(asked, shuffled=protocol.option_order == "random"),
            *elsewhere(look, row.bank, protocol, but=row.id),
            *(in_words(reader, parts) for reader, parts in acquainted(look, row).items()),
        )


def _struck(look: Transaction, study: int) -> tuple[str, ...]:
    found = bank_contents.struck_cases(look, study)
    if not found:
        return ()
    return (
        tn(
            "{n} case was struck off the bank after the draw, and stays in the study: {items}.",
            "{n} cases were struck off the bank after the draw, and stay in the study: {items}.",
            len(found),
            items=", ".join(found),
        ),
    )


def consent_to_read(store: Store, study: str) -> str:
    """Return what readers of a study agree to, to be read once more before it is opened.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look() as look:
        consent = stored_protocol(study_row(look, study)).consent
    if not consent:
        return t("Readers are not asked for consent: the consent text is empty.")
    return t("Readers must agree to this text before they start:") + f"\n\n{consent.strip()}\n"


def acquaintances(
    store: Store, study: str, readers: Container[str] | None = None
) -> tuple[str, ...]:
    """Return a sentence for each reader of a study, or of some, who may know its answers.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look() as look:
        seen = acquainted(look, study_row(look, study))
    return tuple(
        in_words(reader, parts)
        for reader, parts in seen.items()
        if readers is None or reader in readers
    )


def elsewhere(look: Transaction, bank: int, protocol: Protocol, *, but: int = 0) -> tuple[str, ...]:
    """Return what other studies on the same cases mean for one with this protocol."""
    reading, telling = being_read(look, bank, but=but), told_in(look, bank, but=but)
    found = []
    if reading and protocol.interim_results:
        found.append(interim_refusal(reading))
    elif reading and protocol.feedback is Feedback.AFTER_CASE:
        found.append(
            t(
                "This study shows its readers the correct answers to cases that are being read in "
                "{studies}. The audit trails of these studies will record this.",
                studies=listed(reading),
            )
        )
    if telling:
        found.append(
            t(
                "Correct answers to cases from this bank are shown in {studies}. Anyone who has "
                "seen them there should not read here. The audit trails of these studies will "
                "record this.",
                studies=listed(telling),
            )
        )
    n_learners = teaching.n_learners(look, bank)
    if n_learners:
        found.append(
            tn(
                "{n} person has practised with this bank in teaching, where the answers are "
                "shown. They should not read in this study.",
                "{n} people have practised with this bank in teaching, where the answers are "
                "shown. They should not read in this study.",
                n_learners,
            )
        )
    return tuple(found)
