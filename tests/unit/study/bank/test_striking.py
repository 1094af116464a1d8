"""Items that are struck off a bank: who keeps them, who does not see them again."""

import pytest

from study.bank.removing import remove_bank
from study.bank.striking import strike
from study.base.errors import BadInput, NotFound, NotNow
from study.lifecycle import exposure, studies
from study.protocol.protocol import Protocol
from study.protocol.sampling import foresee
from study.store import Store, bank_contents, banks
from study.store import studies as stored
from study.trail.verification import verify
from tests.conftest import NOW

WHOLE = Protocol.from_json({"cases": 24, "one_question_per": "item"})


def _drawn(store: Store, n: int) -> set[str]:
    values = {"cases": n, "one_question_per": "item"}
    return {item for item, _ in foresee(store, 1, Protocol.from_json(values)).cases}


def test_what_is_struck_off_is_not_drawn_until_it_is_taken_back(banked: Store) -> None:
    gone = min(_drawn(banked, 24))
    strike(banked, "bank", gone, reason="The film is another patient's.", now=NOW)
    with pytest.raises(BadInput):
        foresee(banked, 1, WHOLE)
    assert gone not in _drawn(banked, 23)
    strike(banked, "bank", gone, reason="It is not.", back=True, now=NOW)
    assert gone in _drawn(banked, 24)
    assert verify(banked) == []
    with banked.look() as look:
        kinds = [row["kind"] for row in look.rows("SELECT kind FROM events ORDER BY id")]
    assert kinds[-2:] == ["item struck off", "item taken back"]


def test_a_study_keeps_what_it_drew_and_says_so(banked: Store) -> None:
    studies.draw(banked, bank="bank", study="trial", protocol=WHOLE, now=NOW)
    gone = min(_drawn(banked, 24))
    strike(banked, "bank", gone, reason="Ambiguous.", now=NOW)
    with banked.look() as look:
        study = stored.find(look, "trial")
        assert study is not None
        assert len(stored.cases(look, study.id)) == 24
    told = exposure.cautions(banked, "trial")[0]
    assert gone in told
    assert told.startswith("1 case was struck off")


def test_practice_cases_are_not_of_what_is_struck_off(banked: Store) -> None:
    values = {"cases": 4, "one_question_per": "item", "practice_cases": 2}
    protocol = Protocol.from_json(values)
    for item in foresee(banked, 1, protocol).practice:
        strike(banked, "bank", item, reason="Poor film.", now=NOW)
    with banked.look() as look:
        numbers = bank_contents.struck(look, 1)
        struck = {row.item_id for row in bank_contents.listed(look, numbers)}
    assert len(struck) == 2
    assert not struck & set(foresee(banked, 1, protocol).practice)


@pytest.mark.parametrize(
    ("bank", "item", "back", "reason", "error"),
    [
        ("none", "q", False, "Why.", NotFound),
        ("bank", "none", False, "Why.", NotFound),
        ("bank", "", True, "Why.", NotNow),
        ("bank", "", False, " ", BadInput),
    ],
)
def test_what_makes_no_sense_is_refused(
    banked: Store, bank: str, item: str, back: bool, reason: str, error: type[Exception]
) -> None:
    known = item or min(_drawn(banked, 24))
    with pytest.raises(error):
        strike(banked, bank, known, reason=reason, back=back, now=NOW)
    with banked.look() as look:
        assert not bank_contents.struck(look, 1)


def test_a_search_takes_its_signs_as_they_are_and_a_bank_goes_with_its_strikes(
    banked: Store,
) -> None:
    with banked.look(sealed=True) as look:
        assert len(bank_contents.containing(look, 1, "")) == 24
        assert bank_contents.containing(look, 1, "%") == set()
        (row,) = bank_contents.listed(look, [1])
        assert 1 in bank_contents.containing(look, 1, row.question.upper())
        assert bank_contents.containing(look, 1, row.item_id) == {1}
    strike(banked, "bank", row.item_id, reason="Gone.", now=NOW)
    remove_bank(banked, "bank", now=NOW)
    with banked.look() as look:
        assert not banks.names(look)
        assert not look.value("SELECT count(*) FROM struck_items")
