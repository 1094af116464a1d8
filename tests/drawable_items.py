"""Items for tests of sampling, created without a bank."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from study.protocol.protocol import Protocol
from study.protocol.sampling import Candidate, DrawnSample, build_pool, draw


@dataclass(frozen=True, kw_only=True)
class Drawable:
    """An item that can be drawn, with the values for stratification."""

    item_id: str
    examination_id: str
    patient_id: str
    strata: Mapping[str, str]

    def unit(self, protocol: Protocol) -> str:
        """Return the id of the item, examination or patient that may be drawn only once."""
        return {
            "item": self.item_id,
            "examination": self.examination_id,
            "patient": self.patient_id or self.examination_id,
        }[protocol.one_question_per]


def draw_from(items: Iterable[Drawable], protocol: Protocol) -> DrawnSample:
    """Draw cases from the items as a protocol specifies."""
    pool = build_pool(
        (item.item_id, item.unit(protocol), *(item.strata[name] for name in protocol.stratify_by))
        for item in items
    )
    return draw(pool, protocol)


def for_practice(items: Iterable[Drawable]) -> list[Candidate]:
    """Return the items as candidates for practice cases."""
    return [(item.item_id, item.examination_id, item.patient_id) for item in items]
