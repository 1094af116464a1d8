"""The draft in this window, the fields that edit it, and the list of drafts."""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from study.base.canonical import canonical_json
from study.base.errors import BadInput, NotNow, StudyError
from study.base.translation import language, t
from study.lifecycle import drafts
from study.lifecycle.drafts import SavedElsewhere, StudyDraft
from study.people.signing_in import Person
from study.protocol.protocol import Protocol, faults_of
from study.protocol.sampling import DrawResult, draw_settings, preview_draw
from study.store import banks, draws
from ui.parts import actions
from ui.parts.protocol_words import in_page_words, setting_labels
from ui.parts.text import minute, plain
from ui.server.access import acting
from ui.server.deployment import store

_DELETED = "deleted-draft"
Labels = Mapping[Any, str]
"""Labels by value, in the order of the choices."""


@dataclass
class WorkingDraft:
    """The current state of a draft in this window.

    `values` are the current values of the fields; `base` are the values when the step was entered.
    They remain the initial values of the fields, because Streamlit would otherwise create new
    fields at every key press. `round` is part of every field's key: increasing it creates new
    fields. `reached` is the number of completed steps.
    """

    id: int
    name: str
    bank: str
    values: dict[str, Any]
    seen_saved_at_utc: str
    saved: dict[str, Any] = field(default_factory=dict)
    saved_name: str = ""
    saved_bank: str = ""
    base: dict[str, Any] = field(default_factory=dict)
    step: str = ""
    round: int = 0
    was_saved_elsewhere: bool = False
    save_error: str = ""
    reached: int = 0

    def key(self, name: str) -> str:
        """Return the key of a field."""
        return f"draft-{self.id}-{self.round}-{self.step}-{name}"

    def enter(self, step: str) -> None:
        """Go to a step; its fields start with the current values."""
        if self.step != step:
            self.step = step
            self.base = deepcopy(self.values)

    def renew(self) -> None:
        """Create the fields of the step again, with the current values."""
        self.round += 1
        self.base = deepcopy(self.values)

    def draft(self) -> StudyDraft:
        """Return the state of this window as a draft."""
        return StudyDraft(
            id=self.id,
            name=self.name,
            bank=self.bank,
            values=self.values,
            made_by="",
            saved_at_utc=self.seen_saved_at_utc,
        )

    def obstacles(self) -> list[str]:
        """Return the faults for which the draw would be refused, in the words of the pages."""
        return [
            in_page_words(obstacle)
            for obstacle in drafts.draw_faults(store(), self.draft(), rehearse_draw)
        ]

    def protocol(self) -> Protocol | None:
        """Return the draft's protocol, or None while it has faults."""
        values = self.draft().protocol_values
        return None if faults_of(values) else Protocol.from_json(values)

    def choose(self, key: str, words: Labels, meaning: Labels) -> None:
        """Show a choice among a few values, with the meaning of the selected value below it."""
        base = self.base[key]
        chosen = st.segmented_control(
            setting_labels()[key],
            list(words),
            default=base if base in words else None,
            format_func=lambda entry: words[entry],
            required=True,
            key=self.key(key),
        )
        if chosen is not None:
            self.values[key] = chosen
        st.caption(meaning.get(self.values[key], ""))

    def switch(self, key: str, on_label: str, off_label: str) -> None:
        """Show a switch, with a caption for its state."""
        is_on = st.toggle(setting_labels()[key], value=bool(self.base[key]), key=self.key(key))
        self.values[key] = bool(is_on)
        st.caption(on_label if is_on else off_label)

    def number_field(
        self,
        key: str,
        meaning: Callable[[int], str],
        *,
        low: int,
        high: int,
        step: int = 1,
    ) -> None:
        """Show a field for an integer, with a caption that explains its value."""
        base = self.base[key]
        is_valid = isinstance(base, int | float) and not isinstance(base, bool)
        shown = min(max(int(base), low), high) if is_valid else low
        n = st.number_input(
            setting_labels()[key],
            min_value=low,
            max_value=high,
            value=shown,
            step=step,
            key=self.key(key),
        )
        # A value from a file that is fractional or out of range is kept until it is changed here.
        self.values[key] = base if is_valid and n == shown else int(n)
        st.caption(meaning(int(n)))

    def choose_several(self, key: str, words: Labels, meaning: str) -> None:
        """Show a multiple choice; the values are kept in the order of the choices."""
        base: Sequence[Any] = self.base[key] if isinstance(self.base[key], list) else []
        picked = st.pills(
            setting_labels()[key],
            list(words),
            default=[entry for entry in base if entry in words],
            format_func=lambda entry: words[entry],
            selection_mode="multi",
            key=self.key(key),
        )
        chosen = [word for word in words if word in picked]
        if set(chosen) != set(base):
            self.values[key] = chosen
        else:
            self.values[key] = list(base)
        st.caption(meaning)


def rehearse_draw(bank: str, values: Mapping[str, Any]) -> DrawResult:
    """Return the draw that a draft would produce; results are cached.

    Raises
    ------
    StudyError
        The draft has faults, or the bank cannot provide the cases.
    """
    with store().look() as look:
        row, struck = banks.find(look, bank), draws.last_strike_number(look)
    number, content = (row.id, row.content_sha256) if row else (0, "")
    result = _rehearsed(number, content, struck, canonical_json(draw_settings(values)), language())
    if isinstance(result, StudyError):
        raise result
    return result


@lru_cache(maxsize=64)
def _rehearsed(
    bank: int, content_sha256: str, struck: int, request: str, language: str
) -> DrawResult | StudyError:
    try:
        return preview_draw(store(), bank, Protocol.from_json(json.loads(request)))
    except StudyError as error:
        return error


def working_draft(number: int) -> WorkingDraft:
    """Return this window's state of a draft, which is loaded from the store the first time.

    Raises
    ------
    NotFound
        The draft was drawn or deleted.
    """
    key = f"working-{number}"
    result = st.session_state.get(key)
    if not isinstance(result, WorkingDraft):
        result = _load(number)
        st.session_state[key] = result
    return result


def reload(working: WorkingDraft) -> None:
    """Replace the state of this window by the last saved state."""
    fresh = _load(working.id)
    fresh.round = working.round + 1
    st.session_state[f"working-{working.id}"] = fresh


def overwrite_saved(working: WorkingDraft) -> None:
    """Overwrite a state that was saved elsewhere with the state of this window."""
    working.seen_saved_at_utc = drafts.find(store(), working.id).saved_at_utc
    working.was_saved_elsewhere = False
    save(working)


def forget(number: int) -> None:
    """Remove a draft that no longer exists from this window."""
    st.session_state.pop(f"working-{number}", None)


def record_progress(working: WorkingDraft, steps: int) -> None:
    """Save the number of completed steps."""
    if steps > working.reached:
        working.reached = steps
        drafts.record_completed_steps(store(), working.id, steps)


def save(working: WorkingDraft) -> None:
    """Save the changes, but not a name that is already in use."""
    now_written = (working.name, working.bank, working.values)
    if now_written == (working.saved_name, working.saved_bank, working.saved):
        working.save_error = ""
        return
    try:
        try:
            _save(working, working.name)
            working.save_error = ""
        except SavedElsewhere:
            raise
        except (BadInput, NotNow) as error:
            working.save_error = str(error)
            _save(working, working.saved_name)
    except SavedElsewhere:
        working.was_saved_elsewhere = True


def _save(working: WorkingDraft, name: str) -> None:
    working.seen_saved_at_utc = drafts.save(
        store(),
        working.id,
        name=name,
        bank=working.bank,
        values=working.values,
        seen_saved_at_utc=working.seen_saved_at_utc,
        now=datetime.now(UTC),
    )
    working.saved_name, working.saved_bank = name, working.bank
    working.saved = deepcopy(working.values)


def _load(number: int) -> WorkingDraft:
    draft = drafts.find(store(), number)
    values = {**Protocol().in_full(), **draft.values}
    return WorkingDraft(
        id=number,
        name=draft.name,
        bank=draft.bank,
        values=deepcopy(values),
        seen_saved_at_utc=draft.saved_at_utc,
        saved=deepcopy(values),
        saved_name=draft.name,
        saved_bank=draft.bank,
        base=deepcopy(values),
        reached=draft.reached,
    )


def draft_list(
    person: Person, saved_drafts: Sequence[StudyDraft], open_draft: Callable[[int], None]
) -> None:
    """Show the drafts, with buttons that open and delete them."""
    for draft in saved_drafts:
        with st.container(border=True):
            words, go, remove_column = st.columns([6, 1.2, 1.6], vertical_alignment="center")
            words.markdown(f"**{plain(draft.name)}**")
            words.caption(
                plain(
                    t(
                        "Bank: {bank}; started by {who}; saved {when}",
                        bank=draft.bank or t("none yet"),
                        who=draft.made_by,
                        when=minute(draft.saved_at_utc),
                    )
                )
            )
            actions.view_button(
                t("Continue"),
                partial(open_draft, draft.id),
                key=f"open-{draft.id}",
                place=go,
                width="stretch",
                type="primary",
            )
            with remove_column.popover(t("Delete"), width="stretch"):
                st.write(t("Everything entered in this draft will be lost."))
                actions.button(
                    t("Delete this draft"),
                    partial(_delete, person, draft),
                    key=f"away-{draft.id}",
                )
    actions.show_last_report(f"away-{st.session_state.get(_DELETED)}")


def _delete(person: Person, draft: StudyDraft) -> str:
    drafts.remove(store(), draft.id, acting=acting(person))
    forget(draft.id)
    st.session_state[_DELETED] = draft.id
    return t("The draft {name} was deleted.", name=draft.name)
