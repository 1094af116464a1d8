"""Models' cards: what the leaderboard says of them beside their numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.report.board import CARD
from study.base.errors import BadInput, NotFound
from study.models.cards import FIELDS, cards, describe_model
from study.models.models import add_model
from study.store import Store
from study.trail.verification import verify
from tests.conftest import NOW

Opened = Callable[..., Store]


@pytest.fixture
def store(opened: Opened, tmp_path: Path) -> Store:
    """Return an open study with a model."""
    store, file = opened(), tmp_path / "m.csv"
    file.write_text(
        "item_id,answer\nq0001,A\nq0002,A\n" + "".join(f"q{n:04d},B\n" for n in range(3, 24))
    )
    add_model(store, file, study="trial", model_id="M", model_version="1", now=NOW)
    return store


def test_a_card_has_what_the_leaderboard_shows() -> None:
    """Field by field."""
    assert FIELDS == CARD


def test_the_last_card_stands_and_all_are_in_the_trail(store: Store) -> None:
    """Fields left empty are not said; a card of nothing is none."""
    for card in ({"licence": "MIT", "cost": " "}, {"licence": "Apache-2.0", "date": "2026"}):
        describe_model(store, study="trial", model_id="M", card=card, now=NOW)
    assert cards(store, "trial") == {"M": {"licence": "Apache-2.0", "date": "2026"}}
    assert verify(store) == []
    describe_model(store, study="trial", model_id="M", card={"licence": ""}, now=NOW)
    assert cards(store, "trial") == {}


def test_what_no_card_can_say_is_refused(store: Store) -> None:
    """Another field, another model, a field that is too long."""
    for card, model, error, words in (
        ({"price": "1"}, "M", BadInput, "no 'price'"),
        ({"cost": "1"}, "N", NotFound, "no model 'N'"),
        ({"cost": "1" * 5000}, "M", BadInput, "at most"),
    ):
        with pytest.raises(error, match=words):
            describe_model(store, study="trial", model_id=model, card=card, now=NOW)
    assert cards(store, "trial") == {}
