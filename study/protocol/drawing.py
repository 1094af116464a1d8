"""Works out what a protocol would draw from a bank, without writing anything.

The draw itself and the forecast on the set-up page are one calculation: what is foreseen is drawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from study.bank.content import flags
from study.bank.terms import age_in_years
from study.base.errors import BadInput
from study.base.translation import t
from study.protocol.protocol import ITEM_LISTS, Protocol
from study.protocol.sampling import Stratum, draw, draw_practice, pooled
from study.store import Store, Transaction, bank_contents, banks, draws
from study.store.draws import Conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What a draw gives: cases with their strata in order, practice cases, and the strata."""

    cases: tuple[tuple[str, str], ...]
    practice: tuple[str, ...]
    strata: tuple[Stratum, ...]


def foresee(store: Store, bank: int, protocol: Protocol) -> Rehearsed:
    """Return what a draw would give; nothing is written.

    Raises
    ------
    BadInput
        The bank cannot give it; the text says what falls short.
    """
    with store.look() as look:
        return rehearse(look, bank, protocol)


def rehearse(look: Transaction, bank: int, protocol: Protocol) -> Rehearsed:
    """Return what a draw from a bank gives, or refuse as `foresee` does."""
    _check_prior(look, bank, protocol)
    _check_strata(look, bank, protocol)
    asked = _conditions(look, bank, protocol)
    found = draws.to_draw(look, bank, protocol.one_question_per, protocol.stratify_by, asked)
    drawn = draw(pooled(found), protocol)
    return Rehearsed(
        cases=drawn.cases,
        practice=tuple(_practice(look, bank, drawn.cases, protocol, asked)),
        strata=drawn.strata,
    )


def left(store: Store, bank: int, protocol: Protocol) -> tuple[int, int]:
    """Return how many items of a bank may be drawn, and of how many units they are.

    Raises
    ------
    BadInput
        A list names what the bank has not.
    """
    with store.look() as look:
        asked = _conditions(look, bank, protocol)
        return draws.left(look, bank, protocol.one_question_per, asked)


def _check_prior(look: Transaction, bank: int, protocol: Protocol) -> None:
    if "prior" in protocol.context and not banks.n_with_prior(look, bank):
        raise BadInput(
            t(
                "context names prior, but no question of the bank has a prior image. Remove it, or "
                "choose another bank."
            )
        )


def _check_strata(look: Transaction, bank: int, protocol: Protocol) -> None:
    for name in [one for one in protocol.stratify_by if one in ("bank", *draws.ATTRIBUTES)]:
        if not draws.has_attribute(look, bank, name):
            raise BadInput(
                t("stratify_by names {name}, which no item of the bank has. Remove it.", name=name)
            )
        if name != "bank" and draws.tells_the_answer(look, bank, name):
            raise BadInput(
                t(
                    "stratify_by names {name}, which in this bank tells the reference standard. "
                    "Remove it.",
                    name=name,
                )
            )


def _conditions(look: Transaction, bank: int, protocol: Protocol) -> Conditions:
    """Return what an item has to meet, with all that the bank has to be asked for it."""
    for key in ITEM_LISTS:
        strange = draws.unknown(look, bank, getattr(protocol, key))
        if strange:
            raise BadInput(
                t(
                    "{key} names {n} item(s) that the bank does not have, such as {examples}. "
                    "Take them out, or choose another bank.",
                    key=key,
                    n=len(strange),
                    examples=", ".join(strange[:3]),
                )
            )
    without = set(protocol.without_items)
    if protocol.without_flags:
        for rule, item_id, _ in flags(bank_contents.questions(look, bank)):
            if rule in protocol.without_flags:
                without.add(item_id)
    return Conditions(
        views=protocol.required_views,
        ages=_ages(look, bank, protocol) if protocol.age else None,
        sexes=protocol.sex or None,
        items=protocol.only_items or None,
        without=tuple(sorted(without)) or None,
    )


def _ages(look: Transaction, bank: int, protocol: Protocol) -> tuple[str, ...]:
    """Return the ages in words that lie within the protocol's; a range has to as a whole."""
    low, high = protocol.age
    found = {words: age_in_years(words) for words in draws.ages(look, bank)}
    return tuple(
        words
        for words, years in found.items()
        if (protocol.unknown_age if years is None else low <= years[0] and years[1] <= high)
    )


def locked(protocol: Protocol, study: str, bank_sha256: str, drawn: Rehearsed) -> dict[str, Any]:
    """Return what a study's hash covers: its protocol, its bank, the drawn cases."""
    values = protocol.as_json()
    found = {
        "protocol": {**values, "name": values["name"] or study},
        "bank_sha256": bank_sha256,
        "cases": [item_id for item_id, _ in drawn.cases],
    }
    return {**found, "practice_cases_drawn": list(drawn.practice)} if drawn.practice else found


def _practice(
    look: Transaction,
    bank: int,
    cases: Iterable[tuple[str, str]],
    protocol: Protocol,
    asked: Conditions,
) -> list[str]:
    """Draw practice cases: they meet what the sample does, but for the list it is drawn from."""
    if not protocol.practice_cases:
        return []
    sample = {item_id for item_id, _ in cases}
    # A bank may name neither patient nor examination, or give one film to several of them.
    eligible = banks.to_practise_on(look, bank) - banks.sharing_films(look, bank, sample)
    if asked != Conditions(items=asked.items):
        met = draws.to_draw(look, bank, "item", (), replace(asked, items=None))
        eligible &= {item_id for item_id, _ in met}
    candidates = draws.units(look, bank)
    return draw_practice(candidates, eligible, sample, protocol)
