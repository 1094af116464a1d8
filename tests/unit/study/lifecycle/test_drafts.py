"""Drafts are saved at every step, protected from overwriting, and drawn completely or not."""

import re
from dataclasses import replace
from typing import Any

import pytest

from study.base.actor import COMMAND_LINE, Acting, By
from study.base.canonical import canonical_json, sha256_of, stamp
from study.base.errors import BadInput, BadProtocol, NotAllowed, NotFound, NotNow, StudyError
from study.lifecycle import drafts, studies
from study.lifecycle.studies import discard, draw_within
from study.people import signing_in
from study.people.persons import add_role
from study.people.roles import Role
from study.protocol.assignment import workloads
from study.protocol.protocol import (
    CONSENT_TO_INSERT,
    Protocol,
    as_toml,
    protocol_from,
    toml_of_study,
)
from study.protocol.sampling import draw_settings, preview_draw
from study.store import Store, events, people
from study.store.banks import bank_row
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, invite, tamper

BY = By(name="ada", role="coordinator", place="0123456789ab")
ACTING = Acting(by=BY, now=NOW)


def _person(store: Store, role: Role = Role.COORDINATOR) -> int:
    with store.change() as change:
        holder = people.holder(change, handle="ada", role=role, study=None)
        if holder:
            return holder.person
        number = people.add(change, handle="ada", made_at_utc=stamp(NOW))
        add_role(change, number, role, study="", acting=ACTING)
    return number


def _start_draft(store: Store, **values: Any) -> drafts.StudyDraft:
    maker = _person(store)
    number = drafts.begin(store, name="trial", maker=maker, bank="bank", acting=ACTING)
    draft = drafts.find(store, number)
    return _save_draft(store, draft, **values) if values else draft


def _save_draft(store: Store, draft: drafts.StudyDraft, **values: Any) -> drafts.StudyDraft:
    drafts.save(
        store,
        draft.id,
        name=draft.name,
        bank=draft.bank,
        values={**draft.values, **values},
        seen_saved_at_utc=draft.saved_at_utc,
        now=NOW,
    )
    return drafts.find(store, draft.id)


def _kinds(store: Store, study: str) -> list[str]:
    with store.look() as look:
        chain = events.study_chain(study) if study else events.DEPLOYMENT
        return [event.kind for event in events.walk(look, chain)]


def test_a_new_draft_fits_its_bank(banked: Store) -> None:
    """The draft has ten cases of twelve patients with one question each."""
    draft = _start_draft(banked)
    assert draft.values["cases"] == 10
    assert draft.values["seed"] == 20250604
    assert drafts.faults(draft) == []
    assert [entry.name for entry in drafts.list_drafts(banked)] == ["trial"]


def test_a_draft_may_have_errors_and_lists_all_of_them(banked: Store) -> None:
    """Contradictory values are saved as entered."""
    draft = _start_draft(banked, feedback="after case", back_navigation=True, hidden_repeats=99)
    text = " ".join(drafts.faults(draft))
    assert "back_navigation" in text
    assert "hidden_repeats = 99" in text
    with pytest.raises(
        BadProtocol, match=r"hidden_repeats = 99(.|\n)*back_navigation(.|\n)*feedback"
    ):
        drafts.draw(banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=1, acting=ACTING)
    assert drafts.find(banked, draft.id).values["hidden_repeats"] == 99


def test_a_study_with_the_consent_placeholder_is_not_drawn(banked: Store) -> None:
    """Other line breaks and punctuation do not matter; a real consent text is accepted."""
    line = "**Insert the consent\n  text approved by your ethics committee**"
    draft = _start_draft(banked, consent=f"# Before you take part\n\nYou read films. {line}\n")
    (fault,) = drafts.faults(draft)
    assert "consent still holds the placeholder [Insert the consent text approved" in fault
    with pytest.raises(BadProtocol, match="approved"):
        drafts.draw(
            banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=draft.id, acting=ACTING
        )
    with pytest.raises(BadProtocol, match="approved"):
        studies.draw(
            banked,
            bank="bank",
            study="by file",
            protocol=Protocol.from_json({**draft.values, "name": "by file"}),
            acting=Acting(by=COMMAND_LINE, now=NOW),
        )
    assert drafts.faults(_save_draft(banked, draft, consent="# Our committee's own words")) == []


def test_a_drawn_study_with_the_consent_placeholder_is_not_opened(banked: Store) -> None:
    """The message states what to do."""
    protocol = Protocol.from_json({"cases": 4, "one_question_per": "item"})
    example = replace(protocol, consent=CONSENT_TO_INSERT)
    with banked.change() as change:
        draw_within(change, bank="bank", study="trial", protocol=example, acting=ACTING)
    invite(banked, "R1")
    with pytest.raises(NotNow, match="Return the study to a draft, insert the text"):
        studies.open_study(banked, study="trial", acting=Acting(by=COMMAND_LINE, now=NOW))


def test_options_are_shuffled_in_a_new_draft_but_not_in_a_protocol_file(banked: Store) -> None:
    """The wizard has the safer default; the default of the file is unchanged."""
    assert _start_draft(banked).values["option_order"] == "random"
    assert Protocol().option_order == "canonical"


def test_the_step_reached_never_decreases(banked: Store) -> None:
    """The step is not one of the draft's values."""
    draft = _start_draft(banked)
    drafts.record_completed_steps(banked, draft.id, 5)
    drafts.record_completed_steps(banked, draft.id, 2)
    draft_after = drafts.find(banked, draft.id)
    assert (draft_after.reached, draft_after.saved_at_utc) == (5, draft.saved_at_utc)


def test_a_save_from_an_outdated_window_is_refused(banked: Store) -> None:
    """The values of the other window are kept."""
    first = _start_draft(banked)
    second = _save_draft(banked, first, cases=5)
    with pytest.raises(NotNow, match="another window"):
        _save_draft(banked, first, cases=8)
    assert second.saved_at_utc > first.saved_at_utc
    assert drafts.find(banked, first.id).values["cases"] == 5
    with pytest.raises(NotNow, match="another window"):
        drafts.draw(banked, first.id, seen_saved_at_utc=first.saved_at_utc, maker=1, acting=ACTING)


def test_the_draw_creates_the_study_and_its_coordinator(banked: Store) -> None:
    """The draft is deleted, and the verification finds no breach."""
    maker, draft = _person(banked), _start_draft(banked, cases=6)
    name, strata = drafts.draw(
        banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=maker, acting=ACTING
    )
    assert sum(row.n_drawn for row in strata) == 6
    with banked.look() as look:
        row = study_row(look, name)
        roles = [(row.role, row.study) for row in people.current_grants(look, maker)]
        drawn = next(events.walk(look, events.study_chain(name)))
    assert row.state == "drawn"
    assert ("coordinator", row.id) in roles
    assert (drawn.actor, drawn.detail["place"]) == ("ada", BY.place)
    with pytest.raises(NotFound, match="drawn or it was deleted"):
        drafts.find(banked, draft.id)
    assert verify(banked) == []


def test_an_administrator_gets_no_role_in_a_study_they_draw(banked: Store) -> None:
    """Administrators can manage every study anyway."""
    maker = _person(banked, Role.ADMINISTRATOR)
    number = drafts.begin(banked, name="trial", maker=maker, bank="bank", acting=ACTING)
    saved_at = drafts.find(banked, number).saved_at_utc
    drafts.draw(banked, number, seen_saved_at_utc=saved_at, maker=maker, acting=ACTING)
    with banked.look() as look:
        assert [row.study for row in people.current_grants(look, maker)] == [None]


def test_a_refused_draw_changes_nothing(banked: Store) -> None:
    """The draft asks for more cases than patients; no study and no role are created."""
    draft = _start_draft(banked, cases=13)
    with pytest.raises(BadInput, match="too few cases"):
        drafts.draw(banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=1, acting=ACTING)
    assert drafts.find(banked, draft.id) == draft
    assert _kinds(banked, "trial") == []


def test_the_forecast_equals_the_draw(banked: Store) -> None:
    """The forecast and the draw use the same computation."""
    draft = _start_draft(banked, cases=6, practice_cases=2)
    foreseen = preview_draw(banked, 1, Protocol.from_json(draft.protocol_values))
    _, strata = drafts.draw(
        banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=1, acting=ACTING
    )
    assert foreseen.strata == strata
    with banked.look() as look:
        rows = look.rows("SELECT item_id FROM cases JOIN items ON items.id = item ORDER BY number")
    assert [row["item_id"] for row in rows] == [item for item, _ in foreseen.cases]


def test_the_draft_and_its_downloaded_file_give_the_same_hash(banked: Store) -> None:
    """The downloaded file of the study is identical as well."""
    draft = _start_draft(
        banked, cases=6, instructions="Look.\nThen answer.", confidence=5, margin=0.1
    )
    file = as_toml(Protocol.from_json(draft.protocol_values))
    drafts.draw(banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=1, acting=ACTING)
    downloaded = protocol_from(file, source="file")
    studies.draw(
        banked,
        bank="bank",
        study="from the file",
        protocol=downloaded,
        acting=Acting(by=COMMAND_LINE, now=NOW),
    )
    with banked.look() as look:
        hashes = {study_row(look, name).protocol_sha256 for name in ("trial", "from the file")}
    assert len(hashes) == 1
    assert toml_of_study(banked, "trial") == file
    assert sha256_of(downloaded.as_json()) == sha256_of(
        Protocol.from_json(draft.protocol_values).as_json()
    )


def test_names_of_drafts_and_studies_are_unique(banked: Store) -> None:
    """Another name is proposed."""
    draft = _start_draft(banked, cases=6)
    with pytest.raises(NotNow, match="already exists"):
        drafts.begin(banked, name="trial", maker=1, bank="bank", acting=ACTING)
    drafts.draw(banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=1, acting=ACTING)
    with pytest.raises(NotNow, match="already exists"):
        drafts.begin(banked, name="trial", maker=1, bank="bank", acting=ACTING)
    assert drafts.unused_name(banked, "trial") == "trial (2)"
    assert drafts.unused_name(banked, "other") == "other"


def test_the_trail_records_the_start_and_deletion_of_a_draft(banked: Store) -> None:
    """The start and the deletion are events of the deployment."""
    draft = _start_draft(banked)
    drafts.remove(banked, draft.id, acting=ACTING)
    assert _kinds(banked, "")[-2:] == ["draft begun", "draft thrown away"]
    assert drafts.list_drafts(banked) == []


def test_a_discarded_study_ends_all_access(banked: Store) -> None:
    """Readers' codes stop working, and the trail records the reason."""
    draft = _start_draft(banked, cases=6)
    maker = _person(banked)
    drafts.draw(banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=maker, acting=ACTING)
    (code,) = invite(banked, "R1")
    source = entropy_from(3)
    token = signing_in.sign_in(banked, code.text, entropy=source, now=NOW).token
    with pytest.raises(BadInput, match="Give a reason"):
        discard(banked, study="trial", reason=" ", acting=ACTING)
    discard(banked, study="trial", reason="Wrong bank.", acting=ACTING)
    assert signing_in.signed_in_person(banked, token, now=NOW) is None
    with pytest.raises(NotAllowed):
        signing_in.sign_in(banked, code.text, entropy=source, now=NOW)
    with pytest.raises(NotNow, match="discarded"):
        studies.open_study(banked, study="trial", acting=Acting(by=COMMAND_LINE, now=NOW))
    with pytest.raises(NotNow, match="discarded"):
        discard(banked, study="trial", reason="Again.", acting=ACTING)
    assert verify(banked) == []
    tamper(banked, "UPDATE studies SET discarded_at_utc = NULL")
    assert "discarded_at_utc altered" in verify(banked)[0]


def test_an_opened_study_is_not_discarded(opened: Any) -> None:
    """An opened study can be closed; its readings are kept."""
    with pytest.raises(NotNow, match="already been opened"):
        discard(opened(), study="trial", reason="No.", acting=ACTING)


def test_the_workload_of_a_reader_includes_repeats_conditions_and_practice() -> None:
    """The study has two conditions of 100 cases with 10 repeats each, and 5 practice cases."""
    values = {"cases": 100, "hidden_repeats": 10, "practice_cases": 5}
    burden_by_arm = workloads(
        Protocol.from_json({**values, "conditions": ["unaided", "image-absent"]})
    )[""]
    assert (burden_by_arm.n_readings, burden_by_arm.n_practice, burden_by_arm.days) == (220, 5, 0)
    assert burden_by_arm.hours == pytest.approx(225 * 30 / 3600)
    quick = workloads(Protocol.from_json({"cases": 120, "time_limit_s": 10}))[""]
    assert quick.hours == pytest.approx(120 * 10 / 3600)


def test_the_workload_of_each_arm_depends_on_its_design() -> None:
    """The two readings of sequential reading take the time of one."""
    arms = [{"name": "a"}, {"name": "b", "conditions": ["aided"], "aid": "after"}]
    values = {"cases": 100, "cases_per_reader": 40, "anchor": 10, "aid_model": "m", "arms": arms}
    burden_by_arm = workloads(Protocol.from_json(values))
    assert [(arm.n_cases, arm.n_readings) for arm in burden_by_arm.values()] == [(40, 40), (40, 80)]
    assert burden_by_arm["a"].hours == burden_by_arm["b"].hours


def test_values_of_a_draft_are_stored_unchanged(banked: Store) -> None:
    """A reload shows each saved value."""
    values = {"cases": 7, "questionnaire": [{"id": "a", "question": "?", "kind": "text"}]}
    draft = _start_draft(banked, **values)
    assert canonical_json({key: draft.values[key] for key in values}) == canonical_json(values)


ARMS = [{"name": "a"}, {"name": "b", "conditions": ["wrong-image"]}]
WITHOUT_WRONG_IMAGES = [{"name": n, "conditions": ["unaided"]} for n in "ab"]
ONE_PATIENT = {
    **{"cases": 2, "one_question_per": "item", "stratify_by": []},
    "only_items": ["q0000", "q0001"],
}
READINESS_CASES = (
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
    {"cases": 6, "conditions": ["unaided", "wrong-image"]},
    {"cases": 12, "conditions": ["unaided", "wrong-image"]},
    {**ONE_PATIENT, "conditions": ["wrong-image"]},
    {**ONE_PATIENT, "arms": ARMS},
    {**ONE_PATIENT, "conditions": ["wrong-image"], "arms": WITHOUT_WRONG_IMAGES},
    {"cases": 6, "conditions": ["aided"], "aid_model": "m"},
    {"cases": 6, "arms": ARMS},
    {"cases": 12, "arms": ARMS, "conditions": ["unaided", "image-absent"]},
    {"cases": 6, "conditions": ["wrong-image"], "arms": WITHOUT_WRONG_IMAGES},
    {"cases": 5, "stratify_by": ["task"], "allocation": "equal"},
    {"cases": 6, "without_items": [f"q{n:04}" for n in range(9)]},
    {"cases": 6, "sex": ["other"]},
    {"cases": 6, "age": [0, 200], "unknown_age": False},
    {"cases": 6, "without_flags": ["B202"]},
    {"cases": 3, "only_items": ["q0000", "q0001", "q0002"], "practice_cases": 9},
    {"cases": 6, "stratify_by": ["bank"]},
    {"cases": 6, "primary_model": "nobody"},
)


@pytest.mark.parametrize("values", READINESS_CASES, ids=str)
@pytest.mark.parametrize("name", ["trial", "drawn before"])
def test_a_draft_is_ready_exactly_when_it_can_be_drawn(
    banked: Store, values: dict[str, Any], name: str
) -> None:
    """The pages and the draw use the same check."""
    studies.draw(
        banked,
        bank="bank",
        study="drawn before",
        protocol=Protocol.from_json({"cases": 2, "one_question_per": "item"}),
        acting=Acting(by=COMMAND_LINE, now=NOW),
    )
    draft = replace(_start_draft(banked, **values), name=name)

    def compute_draw(bank: str, asked: Any) -> object:
        with banked.look() as look:
            number = bank_row(look, bank).id
        return preview_draw(banked, number, Protocol.from_json(draw_settings(asked)))

    def draw() -> None:
        drafts.draw(banked, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=1, acting=ACTING)

    obstacles = drafts.draw_faults(banked, draft, compute_draw)
    if name != "trial":
        assert obstacles
    elif obstacles:
        with pytest.raises(StudyError, match=re.escape(obstacles[0])):
            draw()
    else:
        draw()


def _draw(store: Store, **values: Any) -> int:
    draft = _start_draft(store, cases=6, **values)
    maker = _person(store)
    drafts.draw(store, draft.id, seen_saved_at_utc=draft.saved_at_utc, maker=maker, acting=ACTING)
    return maker


def test_a_drawn_study_can_be_returned_to_a_draft(banked: Store) -> None:
    """Bank and protocol are kept, readers lose access, and both trails record the return."""
    maker = _draw(banked, margin=0.1)
    (code,) = invite(banked, "R1")
    number = drafts.return_to_draft(
        banked, study="trial", reason="Wrong margin.", maker=maker, acting=ACTING
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
    drafts.draw(banked, number, seen_saved_at_utc=draft.saved_at_utc, maker=maker, acting=ACTING)
    tamper(banked, "UPDATE studies SET discarded_at_utc = NULL")
    assert "discarded_at_utc altered" in verify(banked)[0]


def test_a_study_returned_on_the_command_line_belongs_to_its_coordinator(banked: Store) -> None:
    """On the command line no user is signed in."""
    maker = _draw(banked)
    number = drafts.return_to_draft(banked, study="trial", reason="Again.", acting=ACTING)
    with banked.look() as look:
        assert look.value("SELECT made_by FROM drafts WHERE id = :id", id=number) == maker


def test_a_return_to_a_draft_needs_an_existing_study_and_a_reason(banked: Store) -> None:
    """Nothing is changed."""
    _draw(banked)
    with pytest.raises(BadInput, match="Give a reason"):
        drafts.return_to_draft(banked, study="trial", reason=" ", acting=ACTING)
    discard(banked, study="trial", reason="Wrong bank.", acting=ACTING)
    with pytest.raises(NotNow, match="discarded"):
        drafts.return_to_draft(banked, study="trial", reason="Again.", acting=ACTING)
    assert drafts.list_drafts(banked) == []


def test_an_opened_study_is_not_returned_to_a_draft(opened: Any) -> None:
    """The protocol of an opened study can be amended, or the study closed."""
    with pytest.raises(NotNow, match="already been opened"):
        drafts.return_to_draft(opened(), study="trial", reason="No.", acting=ACTING)
