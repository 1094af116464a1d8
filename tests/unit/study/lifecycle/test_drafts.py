"""Drafts: saved at every step, never overwritten unseen, drawn whole or not at all."""

import re
from dataclasses import replace
from typing import Any

import pytest

from study.base.actor import By
from study.base.canonical import canonical_json, sha256_of, stamp
from study.base.errors import BadInput, BadProtocol, NotAllowed, NotFound, NotNow, StudyError
from study.lifecycle import drafts, studies
from study.lifecycle.studies import discard, draw_within
from study.people import signing_in
from study.people.persons import enter_role
from study.people.roles import Role
from study.protocol.assignment import burden
from study.protocol.protocol import (
    CONSENT_TO_INSERT,
    Protocol,
    as_toml,
    protocol_from,
    toml_of_study,
)
from study.protocol.sampling import foresee
from study.store import Store, events, people
from study.store.banks import bank_row
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, invite, tamper

BY = By(name="ada", role="coordinator", place="0123456789ab")


def _person(store: Store, role: Role = Role.COORDINATOR) -> int:
    with store.change() as change:
        there = people.holder(change, handle="ada", role=role, study=None)
        if there:
            return there.person
        number = people.add(change, handle="ada", made_at_utc=stamp(NOW))
        enter_role(change, number, role, study="", number=None, by=BY, now=NOW)
    return number


def _begun(store: Store, **values: Any) -> drafts.StudyDraft:
    maker = _person(store)
    number = drafts.begin(store, name="trial", maker=maker, bank="bank", by=BY, now=NOW)
    draft = drafts.find(store, number)
    return _saved(store, draft, **values) if values else draft


def _saved(store: Store, draft: drafts.StudyDraft, **values: Any) -> drafts.StudyDraft:
    drafts.save(
        store,
        draft.id,
        name=draft.name,
        bank=draft.bank,
        values={**draft.values, **values},
        seen=draft.saved_at_utc,
        now=NOW,
    )
    return drafts.find(store, draft.id)


def _kinds(store: Store, study: str) -> list[str]:
    with store.look() as look:
        chain = events.study_chain(study) if study else events.DEPLOYMENT
        return [event.kind for event in events.walk(look, chain)]


def test_a_new_draft_asks_for_what_its_bank_can_give(banked: Store) -> None:
    """Twelve patients, one question each: ten cases are asked for, and nothing is at fault."""
    draft = _begun(banked)
    assert draft.values["cases"] == 10
    assert draft.values["seed"] == 20250604
    assert drafts.faults(draft) == []
    assert [one.name for one in drafts.listed(banked)] == ["trial"]


def test_a_draft_may_hold_faults_and_says_them_all(banked: Store) -> None:
    """What contradicts itself is kept as it was written, and listed."""
    draft = _begun(banked, feedback="after case", back_navigation=True, hidden_repeats=99)
    listed = " ".join(drafts.faults(draft))
    assert "back_navigation" in listed
    assert "hidden_repeats = 99" in listed
    with pytest.raises(
        BadProtocol, match=r"hidden_repeats = 99(.|\n)*back_navigation(.|\n)*feedback"
    ):
        drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=1, by=BY, now=NOW)
    assert drafts.find(banked, draft.id).values["hidden_repeats"] == 99


def test_the_example_of_a_consent_is_not_drawn(banked: Store) -> None:
    """Its line keeps a draft from being drawn, wrapped or marked as it may be; a text does not."""
    line = "**Insert the consent\n  text approved by your ethics committee**"
    draft = _begun(banked, consent=f"# Before you take part\n\nYou read films. {line}\n")
    (fault,) = drafts.faults(draft)
    assert "consent still holds the placeholder [Insert the consent text approved" in fault
    with pytest.raises(BadProtocol, match="approved"):
        drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=draft.id, by=BY, now=NOW)
    with pytest.raises(BadProtocol, match="approved"):
        studies.draw(
            banked,
            bank="bank",
            study="by file",
            protocol=Protocol.from_json({**draft.values, "name": "by file"}),
            now=NOW,
        )
    assert drafts.faults(_saved(banked, draft, consent="# Our committee's own words")) == []


def test_a_study_drawn_with_the_example_is_not_opened(banked: Store) -> None:
    """One that got so far by another way is refused at its opening, with what to do."""
    protocol = Protocol.from_json({"cases": 4, "one_question_per": "item"})
    example = replace(protocol, consent=CONSENT_TO_INSERT)
    with banked.change() as change:
        draw_within(change, bank="bank", study="trial", protocol=example, now=NOW, by=BY)
    invite(banked, "R1")
    with pytest.raises(NotNow, match="Return the study to a draft, insert the text"):
        studies.open_study(banked, study="trial", now=NOW)


def test_a_new_draft_shuffles_its_options_and_a_protocol_file_does_not(banked: Store) -> None:
    """The wizard's default is the safe one; the file's stays what it was."""
    assert _begun(banked).values["option_order"] == "random"
    assert Protocol().option_order == "canonical"


def test_the_steps_left_behind_are_kept_and_overwrite_nothing(banked: Store) -> None:
    """They are no change of what the draft says, and never become fewer."""
    draft = _begun(banked)
    drafts.reach(banked, draft.id, 5)
    drafts.reach(banked, draft.id, 2)
    found = drafts.find(banked, draft.id)
    assert (found.reached, found.saved_at_utc) == (5, draft.saved_at_utc)


def test_of_two_windows_the_second_is_told(banked: Store) -> None:
    """A save from what was read before another save changes nothing."""
    first = _begun(banked)
    second = _saved(banked, first, cases=5)
    with pytest.raises(NotNow, match="another window"):
        _saved(banked, first, cases=8)
    assert second.saved_at_utc > first.saved_at_utc
    assert drafts.find(banked, first.id).values["cases"] == 5
    with pytest.raises(NotNow, match="another window"):
        drafts.draw(banked, first.id, seen=first.saved_at_utc, maker=1, by=BY, now=NOW)


def test_the_draw_makes_the_study_and_its_coordinator_at_once(banked: Store) -> None:
    """The study is there with whoever made it, the draft is gone, and everything holds."""
    maker, draft = _person(banked), _begun(banked, cases=6)
    name, strata = drafts.draw(
        banked, draft.id, seen=draft.saved_at_utc, maker=maker, by=BY, now=NOW
    )
    assert sum(one.n_drawn for one in strata) == 6
    with banked.look() as look:
        row = study_row(look, name)
        roles = [(one.role, one.study) for one in people.roles_held(look, maker)]
        drawn = next(events.walk(look, events.study_chain(name)))
    assert row.state == "drawn"
    assert ("coordinator", row.id) in roles
    assert (drawn.actor, drawn.detail["place"]) == ("ada", BY.place)
    with pytest.raises(NotFound, match="drawn or it was deleted"):
        drafts.find(banked, draft.id)
    assert verify(banked) == []


def test_an_administrator_needs_no_role_in_what_they_draw(banked: Store) -> None:
    """They run every study; a role given for nothing would only stand in the list."""
    maker = _person(banked, Role.ADMINISTRATOR)
    number = drafts.begin(banked, name="trial", maker=maker, bank="bank", by=BY, now=NOW)
    seen = drafts.find(banked, number).saved_at_utc
    drafts.draw(banked, number, seen=seen, maker=maker, by=BY, now=NOW)
    with banked.look() as look:
        assert [row.study for row in people.roles_held(look, maker)] == [None]


def test_a_refused_draw_leaves_draft_and_store_as_they_were(banked: Store) -> None:
    """More cases than patients: no study, no role, the draft stays."""
    draft = _begun(banked, cases=13)
    with pytest.raises(BadInput, match="too few cases"):
        drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=1, by=BY, now=NOW)
    assert drafts.find(banked, draft.id) == draft
    assert _kinds(banked, "trial") == []


def test_what_is_foreseen_is_drawn(banked: Store) -> None:
    """The forecast and the draw are one calculation."""
    draft = _begun(banked, cases=6, practice_cases=2)
    foreseen = foresee(banked, 1, Protocol.from_json(draft.protocol_values))
    _, strata = drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=1, by=BY, now=NOW)
    assert foreseen.strata == strata
    with banked.look() as look:
        rows = look.rows("SELECT item_id FROM cases JOIN items ON items.id = item ORDER BY number")
    assert [row["item_id"] for row in rows] == [item for item, _ in foreseen.cases]


def test_page_and_file_give_one_hash(banked: Store) -> None:
    """A study drawn from the draft and one from its downloaded file agree to the last sign."""
    draft = _begun(banked, cases=6, instructions="Look.\nThen answer.", confidence=5, margin=0.1)
    file = as_toml(Protocol.from_json(draft.protocol_values))
    drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=1, by=BY, now=NOW)
    again = protocol_from(file, source="file")
    studies.draw(banked, bank="bank", study="from the file", protocol=again, now=NOW)
    with banked.look() as look:
        hashes = {study_row(look, name).protocol_sha256 for name in ("trial", "from the file")}
    assert len(hashes) == 1
    assert toml_of_study(banked, "trial") == file
    assert sha256_of(again.as_json()) == sha256_of(
        Protocol.from_json(draft.protocol_values).as_json()
    )


def test_names_are_taken_once(banked: Store) -> None:
    """No two drafts, and no draft and study, bear one name; another is proposed."""
    draft = _begun(banked, cases=6)
    with pytest.raises(NotNow, match="already exists"):
        drafts.begin(banked, name="trial", maker=1, bank="bank", by=BY, now=NOW)
    drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=1, by=BY, now=NOW)
    with pytest.raises(NotNow, match="already exists"):
        drafts.begin(banked, name="trial", maker=1, bank="bank", by=BY, now=NOW)
    assert drafts.free_name(banked, "trial") == "trial (2)"
    assert drafts.free_name(banked, "other") == "other"


def test_a_draft_thrown_away_is_in_the_trail(banked: Store) -> None:
    """Beginning and throwing away are acts on the deployment."""
    draft = _begun(banked)
    drafts.remove(banked, draft.id, by=BY, now=NOW)
    assert _kinds(banked, "")[-2:] == ["draft begun", "draft thrown away"]
    assert drafts.listed(banked) == []


def test_a_discarded_study_lets_nobody_in(banked: Store) -> None:
    """Its readers' codes stop, its coordinator stands elsewhere, and the trail says why."""
    draft = _begun(banked, cases=6)
    maker = _person(banked)
    drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=maker, by=BY, now=NOW)
    (code,) = invite(banked, "R1")
    source = entropy_from(3)
    token = signing_in.sign_in(banked, code.text, entropy=source, now=NOW).token
    with pytest.raises(BadInput, match="Give a reason"):
        discard(banked, study="trial", reason=" ", by=BY, now=NOW)
    discard(banked, study="trial", reason="Wrong bank.", by=BY, now=NOW)
    assert signing_in.signed_in(banked, token, now=NOW) is None
    with pytest.raises(NotAllowed):
        signing_in.sign_in(banked, code.text, entropy=source, now=NOW)
    with pytest.raises(NotNow, match="discarded"):
        studies.open_study(banked, study="trial", now=NOW)
    with pytest.raises(NotNow, match="discarded"):
        discard(banked, study="trial", reason="Again.", by=BY, now=NOW)
    assert verify(banked) == []
    tamper(banked, "UPDATE studies SET discarded_at_utc = NULL")
    assert "discarded_at_utc altered" in verify(banked)[0]


def test_an_opened_study_is_not_discarded(opened: Any) -> None:
    """It can be closed; what was read in it stays."""
    with pytest.raises(NotNow, match="already been opened"):
        discard(opened(), study="trial", reason="No.", by=BY, now=NOW)


def test_a_readers_burden_counts_repeats_conditions_and_practice() -> None:
    """Two conditions of 100 cases with 10 repeats each, and 5 practice cases."""
    values = {"cases": 100, "hidden_repeats": 10, "practice_cases": 5}
    asked = burden(Protocol.from_json({**values, "conditions": ["unaided", "image-absent"]}))
    assert (asked.n_readings, asked.n_practice, asked.days) == (220, 5, 0)
    assert asked.hours == pytest.approx(225 * 30 / 3600)
    quick = burden(Protocol.from_json({"cases": 120, "time_limit_s": 10}))
    assert quick.hours == pytest.approx(120 * 10 / 3600)


def test_saved_values_are_stored_as_they_were(banked: Store) -> None:
    """A reload shows what was saved, key by key."""
    values = {"cases": 7, "questionnaire": [{"id": "a", "question": "?", "kind": "text"}]}
    draft = _begun(banked, **values)
    assert canonical_json({key: draft.values[key] for key in values}) == canonical_json(values)


READY = (
    {"cases": 12},
    {"cases": 12, "practice_cases": 1},
    {"cases": 10, "practice_cases": 2},
    {"cases": 10, "practice_cases": 3},
    {"cases": 13},
    {"cases": 13, "one_question_per": "item", "stratify_by": []},
    {"cases": 6, "context": ["prior"]},
    {"cases": 6, "stratify_by": ["site"]},
    {"cases": 6, "allocation": {"nowhere": 6}},
    {"cases": 6, "only_items": ["q0000", "nope"]},
    {"cases": 6, "required_views": ["decubitus"]},
    {"cases": 6, "age": [119, 120]},
    {"cases": 6, "consent": CONSENT_TO_INSERT},
    {"cases": 6, "hidden_repeats": 7},
    {"cases": 6, "endpoint": "AUC"},
    {"cases": 6, "feedback": "after case", "practice_cases": 4},
)


@pytest.mark.parametrize("values", READY, ids=str)
@pytest.mark.parametrize("name", ["trial", "drawn before"])
def test_a_draft_is_ready_exactly_when_it_can_be_drawn(
    banked: Store, values: dict[str, Any], name: str
) -> None:
    """What the pages show as ready and what the draw does are one check."""
    studies.draw(
        banked,
        bank="bank",
        study="drawn before",
        protocol=Protocol.from_json({"cases": 2, "one_question_per": "item"}),
        now=NOW,
    )
    draft = replace(_begun(banked, **values), name=name)

    def rehearse(bank: str, asked: Any) -> object:
        with banked.look() as look:
            number = bank_row(look, bank).id
        return foresee(banked, number, Protocol.from_json(asked))

    def draw() -> None:
        drafts.draw(banked, draft.id, seen=draft.saved_at_utc, maker=1, by=BY, now=NOW)

    obstacles = drafts.obstacles(banked, draft, rehearse)
    if name != "trial":
        assert obstacles
    elif obstacles:
        with pytest.raises(StudyError, match=re.escape(obstacles[0])):
            draw()
    else:
        draw()


def _drawn(store: Store, **values: Any) -> int:
    draft = _begun(store, cases=6, **values)
    maker = _person(store)
    drafts.draw(store, draft.id, seen=draft.saved_at_utc, maker=maker, by=BY, now=NOW)
    return maker


def test_a_drawn_study_is_returned_to_a_draft(banked: Store) -> None:
    """Bank and protocol are kept, its readers lose access, and both trails say so."""
    maker = _drawn(banked, margin=0.1)
    (code,) = invite(banked, "R1")
    number = drafts.return_to_draft(
        banked, study="trial", reason="Wrong margin.", maker=maker, by=BY, now=NOW
    )
    draft = drafts.find(banked, number)
    assert (draft.name, draft.bank) == ("trial (2)", "bank")
    assert draft.values["margin"] == 0.1
    with pytest.raises(NotAllowed):
        signing_in.sign_in(banked, code.text, entropy=entropy_from(3), now=NOW)
    with banked.look() as look:
        last = list(events.walk(look, events.study_chain("trial")))[-1]
    assert last.kind == "study returned to draft"
    assert (last.detail["reason"], last.detail["draft"]) == ("Wrong margin.", "trial (2)")
    assert _kinds(banked, "")[-1] == "draft begun"
    assert verify(banked) == []
    drafts.draw(banked, number, seen=draft.saved_at_utc, maker=maker, by=BY, now=NOW)
    tamper(banked, "UPDATE studies SET discarded_at_utc = NULL")
    assert "discarded_at_utc altered" in verify(banked)[0]


def test_a_study_returned_without_a_maker_is_its_coordinators(banked: Store) -> None:
    """On the command line nobody is signed in."""
    maker = _drawn(banked)
    number = drafts.return_to_draft(banked, study="trial", reason="Again.", by=BY, now=NOW)
    with banked.look() as look:
        assert look.value("SELECT made_by FROM drafts WHERE id = :id", id=number) == maker


def test_what_was_opened_discarded_or_has_no_reason_is_not_returned(banked: Store) -> None:
    """Nothing is changed then."""
    _drawn(banked)
    with pytest.raises(BadInput, match="Give a reason"):
        drafts.return_to_draft(banked, study="trial", reason=" ", by=BY, now=NOW)
    discard(banked, study="trial", reason="Wrong bank.", by=BY, now=NOW)
    with pytest.raises(NotNow, match="discarded"):
        drafts.return_to_draft(banked, study="trial", reason="Again.", by=BY, now=NOW)
    assert drafts.listed(banked) == []


def test_an_opened_study_is_not_returned_to_a_draft(opened: Any) -> None:
    """It can be closed; its protocol is amended, not drawn again."""
    with pytest.raises(NotNow, match="already been opened"):
        drafts.return_to_draft(opened(), study="trial", reason="No.", by=BY, now=NOW)
