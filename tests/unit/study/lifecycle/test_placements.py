"""Readers get their arm and list when the study is opened.

Later readers take over a list or get the next list.
"""

from collections import Counter
from typing import Any

import pytest

from study.base.canonical import sha256_of
from study.base.errors import BadInput, NotNow
from study.lifecycle import studies
from study.lifecycle.studies import opening_obstacle
from study.monitoring.interventions import withdraw
from study.people.codes import new_code
from study.people.invitations import Invitation
from study.store import Store, people
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, draw_trial, entropy_from, tamper

ARMS = {
    "arms": [
        {"name": "control", "conditions": ["unaided"]},
        {"name": "absent", "conditions": ["image-absent"]},
    ]
}
BLOCKS = {"reads_per_case": 2, "anchor": 2}


def _drawn(store: Store, **values: Any) -> None:
    draw_trial(store, {"cases": 10, "one_question_per": "item", **values})


def _invite(store: Store, *readers: tuple[str, str, str]) -> None:
    studies.invite(
        store,
        study="trial",
        invitations=[
            Invitation(reader_id=name, level=level, site=site) for name, level, site in readers
        ],
        codes=[new_code(entropy_from(sum(map(ord, name)))) for name, _, _ in readers],
        acting=ACTING,
    )


def _readers(store: Store) -> list[people.ReaderRow]:
    with store.look() as look:
        return people.readers(look, study_row(look, "trial").id)


def _items(store: Store, reader_id: str) -> dict[str, int | None]:
    """Return the cases of a reader with their blocks."""
    with store.look() as look:
        rows = look.rows(
            "SELECT item_id, block FROM assignments JOIN readers ON readers.id = reader "
            "JOIN cases ON cases.id = case_id JOIN items ON items.id = item "
            "WHERE reader_id = :reader_id ORDER BY assignments.position",
            reader_id=reader_id,
        )
    return {row["item_id"]: row["block"] for row in rows}


def test_arms_are_concealed_until_opening_and_balanced_after_it(banked: Store) -> None:
    """Four readers in four strata are divided equally; a later reader completes a block."""
    _drawn(banked, **ARMS)
    _invite(banked, ("R1", "a", "x"), ("R2", "a", "y"), ("R3", "b", "x"), ("R4", "b", "y"))
    assert {row.arm for row in _readers(banked)} == {""}
    studies.open_study(banked, study="trial", acting=ACTING)
    assert Counter(row.arm for row in _readers(banked)) == {"control": 2, "absent": 2}
    _invite(banked, ("R5", "A", "x"))
    first, *_, late = _readers(banked)
    assert {first.arm, late.arm} == {"control", "absent"}
    assert verify(banked) == []


def test_a_study_with_an_arm_without_readers_is_not_opened(banked: Store) -> None:
    """Each arm must have at least as many readers as reads of each case."""
    _drawn(banked, **ARMS, **BLOCKS)
    _invite(banked, ("R1", "", ""))
    with pytest.raises(NotNow, match=r"arms: no reader would be in the arm (control|absent)"):
        studies.open_study(banked, study="trial", acting=ACTING)
    _invite(banked, ("R2", "", ""))
    assert "reads_per_case = 2, but the arm control has only 1 reader" in opening_obstacle(
        banked, "trial"
    )
    _invite(banked, ("R3", "", ""), ("R4", "", ""))
    studies.open_study(banked, study="trial", acting=ACTING)


def test_a_withdrawn_reader_is_replaced_and_a_later_reader_gets_the_next_list(
    banked: Store,
) -> None:
    """The new reader has the same cases in the same order, in the same arm."""
    _drawn(banked, **BLOCKS)
    _invite(banked, ("R1", "a", ""), ("R2", "b", ""), ("R3", "a", ""), ("R4", "b", ""))
    studies.open_study(banked, study="trial", acting=ACTING)
    assert sorted(row.list or 0 for row in _readers(banked)) == [1, 2, 3, 4]
    for name in ("R1", "R2"):
        withdraw(banked, study="trial", reader_id=name, reason="Moved away.", acting=ACTING)
    _invite(banked, ("R5", "b", ""))
    assert list(_items(banked, "R5").items()) == list(_items(banked, "R2").items())
    _invite(banked, ("R6", "c", ""), ("R7", "c", ""))
    assert _items(banked, "R6") == _items(banked, "R1")
    assert [row.list for row in _readers(banked)][-1] == 5
    blocks = [_items(banked, row.reader_id) for row in _readers(banked)[2:]]
    assert {len(items) for items in blocks} == {6}
    anchors = [{item for item, block in items.items() if block == 0} for items in blocks]
    assert {len(anchor) for anchor in anchors} == {2}
    assert len(set(map(frozenset, anchors))) == 1
    assert verify(banked) == []


def test_the_readers_of_a_site_get_consecutive_lists(banked: Store) -> None:
    """Thus the readers of a site read all cases equally often."""
    _drawn(banked, reads_per_case=2)
    _invite(banked, *((f"R{number}", "", "xy"[number % 2]) for number in range(4)))
    studies.open_study(banked, study="trial", acting=ACTING)
    by_site: dict[str, list[int]] = {"x": [], "y": []}
    for row in _readers(banked):
        by_site[row.site].append(row.list or 0)
    assert {site: sorted(numbers) for site, numbers in by_site.items()} == {
        "x": [1, 2],
        "y": [3, 4],
    }
    for site in by_site:
        read = [_items(banked, row.reader_id) for row in _readers(banked) if row.site == site]
        assert Counter(item for items in read for item in items) == dict.fromkeys(
            [item for items in read for item in items], 1
        )
        assert sum(map(len, read)) == 10


@pytest.mark.parametrize("column", ["arm = 'absent'", "list = 9"])
def test_an_altered_arm_or_list_is_detected(banked: Store, column: str) -> None:
    """The event of the assignment has the arm and the list."""
    _drawn(banked, **BLOCKS)
    _invite(banked, ("R1", "", ""), ("R2", "", ""))
    studies.open_study(banked, study="trial", acting=ACTING)
    tamper(banked, f"UPDATE readers SET {column} WHERE reader_id = 'R2'")
    assert any("the arm or the list of R2 was altered" in line for line in verify(banked))


def test_wrong_images_are_those_of_another_patient_with_the_same_views(banked: Store) -> None:
    """No film replaces those of more than a few other cases."""
    _drawn(banked, conditions=["unaided", "wrong-image"], sessions=2)
    with banked.look() as look:
        pairs = look.rows(
            "SELECT own.patient_id AS own, other.patient_id AS other, other.id AS item "
            "FROM wrong_images "
            "JOIN cases AS a ON a.id = case_id JOIN items AS own ON own.id = a.item "
            "JOIN cases AS b ON b.id = shown_case JOIN items AS other ON other.id = b.item"
        )
    assert len(pairs) == 10
    assert all(row["own"] != row["other"] for row in pairs)
    assert max(Counter(row["item"] for row in pairs).values()) <= 2


def test_the_draw_is_refused_if_a_case_has_no_possible_wrong_image(banked: Store) -> None:
    """The message names the case and its views."""
    tamper(
        banked,
        "UPDATE item_views SET label = 'OBLIQUE' WHERE position = 2 AND item IN "
        "(SELECT id FROM items WHERE patient_id = 'P0')",
    )
    with pytest.raises(
        BadInput, match=r'"wrong-image", but 2 cases .* such as q000\d: PA\+OBLIQUE'
    ):
        _drawn(banked, cases=24, conditions=["wrong-image"])


def test_the_lists_of_a_design_are_the_same_on_every_machine(banked: Store) -> None:
    """The lists must equal those whose hash was computed once."""
    _drawn(banked, **ARMS, **BLOCKS, sessions=2)
    _invite(banked, *((f"R{number}", "", "") for number in range(6)))
    studies.open_study(banked, study="trial", acting=ACTING)
    lists = [[row.arm, *_items(banked, row.reader_id).items()] for row in _readers(banked)]
    assert sha256_of(lists) == "a33ed53a4eff1fccc1723d8114c03d32e8949007c058f801fc86e2a92d5115bb"
