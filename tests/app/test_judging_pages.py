"""The pages on which reviews and scorings are started, followed and closed."""

from collections.abc import Sequence

import pytest
from streamlit.testing.v1 import AppTest

from study.lifecycle import judging, reviewing
from study.people import persons, signing_in
from study.people.codes import new_code
from study.people.persons import Newcomer
from study.people.roles import Role
from study.people.signing_in import Person
from study.store import Store
from study.store.judgements import REVIEW
from tests.conftest import ACTING, NOW, entropy_from
from tests.page_runs import button, open_page
from tests.unit.study.lifecycle.test_reviewing import reviewers


def _administrator(store: Store) -> Person:
    code = new_code(entropy_from(70))
    newcomer = Newcomer(handle="admin", role=Role.ADMINISTRATOR)
    persons.grant_role(store, newcomer, study="", code=code, acting=ACTING)
    return signing_in.sign_in(store, code.text, entropy=entropy_from(71), now=NOW).person


def _page(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    name: str = "bank_review",
    person: Person | None = None,
) -> AppTest:
    someone = person or _administrator(store)
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": someone)
    return open_page(f"{name}.py", bank="1")


def _open_review(store: Store, judges: Sequence[Person]) -> int:
    with store.look() as look:
        items = reviewing.sample_items(look, "bank", 2, seed=1)
    return reviewing.open_review(
        store,
        "bank",
        name="first look",
        item_ids=items,
        reviewers=[judge.id for judge in judges],
        acting=ACTING,
    )


def _shown(page: AppTest) -> str:
    return " ".join(
        str(getattr(element, "value", "") or getattr(element.proto, "body", ""))
        for element in page
        if hasattr(element, "proto")
    )


def test_striking_off_reports_that_a_review_found_no_fault(
    banked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed review without a verdict has no faulty question, so nothing is struck off."""
    review = _open_review(banked, reviewers(banked, 2))
    judging.close(banked, REVIEW, review, acting=ACTING)
    app = _page(banked, monkeypatch)
    button(app, f"strike-{review}").click().run()
    button(app, f"strike-{review}-yes").click().run()
    assert not app.success
    assert any("found no faulty question" in element.value for element in app.info)


def test_a_form_without_enough_judges_names_the_place_where_they_are_added(
    banked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single person is not enough: two judge each question."""
    app = _page(banked, monkeypatch)
    assert any("First add them on this page" in element.value for element in app.info)


def test_no_judge_has_pending_questions_once_a_review_is_closed(
    banked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator's page and the judge's page show only what was judged."""
    judges, admin = reviewers(banked, 2), _administrator(banked)
    review = _open_review(banked, judges)
    assert "Waiting" in _shown(_page(banked, monkeypatch, person=admin))
    assert "2 are waiting for you." in _shown(_page(banked, monkeypatch, "reviews", judges[0]))
    judging.close(banked, REVIEW, review, acting=ACTING)
    closed = _shown(_page(banked, monkeypatch, person=admin))
    assert "Judged" in closed
    assert "Waiting" not in closed
    judge = _shown(_page(banked, monkeypatch, "reviews", judges[0]))
    assert "This review is closed." in judge
    assert "waiting" not in judge
    with banked.look() as look:
        row = judging.judging_row(look, REVIEW, review)
        assert not judging.assignment(look, row, judges[0].id).waiting
