"""Items to draw from, made without a bank."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from study.protocol.protocol import Protocol
from study.protocol.sampling import Candidate, Draw, draw, pooled


@dataclass(frozen=True, kw_only=True)
class Drawable:
    """An item that could be drawn, with what it can be stratified by."""

    item_id: str
    examination_id: str
    patient_id: str
    strata: Mapping[str, str]

    def unit(self, protocol: Protocol) -> str:
        """Return what of it may be drawn once only."""
        return {
            "item": self.item_id,
            "examination": self.examination_id,
            "patient": self.patient_id or self.examination_id,
        }[protocol.one_question_per]


def draw_from(found: Iterable[Drawable], protocol: Protocol) -> Draw:
    """Draw the cases a protocol asks for."""
    pool = pooled(
        (one.item_id, one.unit(protocol), *(one.strata[name] for name in protocol.stratify_by))
        for one in found
    )
    return draw(pool, protocol)


def for_practice(found: Iterable[Drawable]) -> list[Candidate]:
    """Return the same items as they are drawn for practice."""
    return [(one.item_id, one.examination_id, one.patient_id) for one in found]
