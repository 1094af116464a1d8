"""Works out what a protocol would draw from a bank, without writing anything.

The draw itself and the forecast on the set-up page are one calculation: what is foreseen is drawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from study.base.errors import BadInput
from study.base.translation import t
from study.protocol.protocol import Protocol
from study.protocol.sampling import Candidate, Stratum, draw, draw_practice, pooled
from study.store import Store, Transaction, banks


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
    if "site" in protocol.stratify_by:
        raise BadInput(
            t("stratify_by names site, but question banks do not record sites. Remove it.")
        )
    found = banks.to_draw(look, bank, protocol.one_question_per, protocol.stratify_by)
    drawn = draw(pooled(found), protocol)
    return Rehearsed(
        cases=drawn.cases,
        practice=tuple(_practice(look, bank, drawn.cases, protocol)),
        strata=drawn.strata,
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
) -> list[str]:
    if not protocol.practice_cases:
        return []
    sample = {item_id for item_id, _ in cases}
    films = banks.films_by_item(look, bank)
    shown = set[str]().union(*(films.get(item_id, ()) for item_id in sample))
    # A bank may name neither patient nor examination, or give one film to several of them.
    elsewhere = {item_id for item_id, own in films.items() if own.isdisjoint(shown)}
    eligible = banks.with_truth(look, bank) & elsewhere
    candidates = look.tuples(Candidate, banks.UNITS, bank=bank)
    return draw_practice(candidates, eligible, sample, protocol)
