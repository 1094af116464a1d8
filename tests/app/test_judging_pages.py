"""The pages on which reviews and scorings are started, followed and closed."""

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
from tests.conftest import ACTING, NOW, ROOT, entropy_from
from tests.page_runs import button
from tests.unit.study.lifecycle.test_reviewing import reviewers


def _administrator(store: Store) -> Person:
    code = new_code(entropy_from(70))
    newcomer = Newcomer(handle="admin", role=Role.ADMINISTRATOR)
    persons.give_role(store, newcomer, study="", code=code, acting=ACTING)
    return signing_in.sign_in(store, code.text, entropy=entropy_from(71), now=NOW).person


def _page(store: Store, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    who = _administrator(store)
    monkeypatch.setenv("READING_ROOM_DB", str(store.path))
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": who)
    ran = AppTest.from_file(str(ROOT / "pages" / "bank_review.py"), default_timeout=60)
    ran.query_params["bank"] = "1"
    return ran.run()


def test_striking_off_reports_that_a_review_found_no_fault(
    banked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed review without a verdict has no faulty question, so nothing is struck off."""
    with banked.look() as look:
        items = reviewing.sampled(look, "bank", 2, seed=1)
    review = reviewing.open_review(
        banked,
        "bank",
        name="first look",
        item_ids=items,
        reviewers=[reviewer.id for reviewer in reviewers(banked, 2)],
        acting=ACTING,
    )
    judging.close(banked, REVIEW, review, acting=ACTING)
    ran = _page(banked, monkeypatch)
    button(ran, f"strike-{review}").click().run()
    button(ran, f"strike-{review}-yes").click().run()
    assert not ran.success
    assert any("found no faulty question" in element.value for element in ran.info)


def test_a_form_without_enough_judges_names_the_place_where_they_are_added(
    banked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single person is not enough: two judge each question."""
    ran = _page(banked, monkeypatch)
    assert any("First add them on this page" in element.value for element in ran.info)
