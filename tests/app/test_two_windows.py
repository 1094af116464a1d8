"""Two windows with one sign-in: an action in one window never affects the study of the other."""

from dataclasses import replace

import pytest

from study.lifecycle import studies
from study.people.roles import Role
from study.people.signing_in import Person
from study.protocol.protocol import Protocol
from study.store import Store
from study.store.studies import study_row
from tests.conftest import ACTING, invite
from tests.page_runs import button, open_page


def test_an_action_does_not_affect_another_study(
    banked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other window switched the study before the study was discarded."""
    protocol = Protocol.from_json({"cases": 4, "one_question_per": "item"})
    for name in ("trial", "other"):
        studies.draw(banked, bank="bank", study=name, protocol=protocol, acting=ACTING)
    invite(banked, "R1")
    monkeypatch.setenv("READING_ROOM_DB", str(banked.path))
    with banked.look() as look:
        number, other = (study_row(look, name).id for name in ("trial", "other"))
    here = Person(role=Role.COORDINATOR, study=number, study_name="trial", name="c")
    there = replace(here, study=other, study_name="other")
    now_in = [here]
    monkeypatch.setattr("ui.server.access.signed_in", lambda cookies, place="": now_in[0])
    page = open_page("set_up.py")
    page.text_input(key="discard-reason").input("Drawn too small.").run()
    now_in[0] = there
    button(page, "discard").click().run()
    assert [element.value for element in page.error] == [
        "You switched to another study in another window. Reload this page."
    ]
    with banked.look() as look:
        assert not any(study_row(look, name).discarded_at_utc for name in ("trial", "other"))
    now_in[0] = here
    assert not page.run().error
