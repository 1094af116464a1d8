"""The drafts there are: what each is, to go on with it or to throw it away."""

from collections.abc import Callable, Sequence

import streamlit as st

from study.base.translation import t
from study.lifecycle import drafts
from study.lifecycle.drafts import StudyDraft
from study.people.signing_in import Person
from ui.parts.text import minute, plain
from ui.server.access import acting
from ui.server.deployment import store
from ui.wizard.working import forget


def draft_list(person: Person, found: Sequence[StudyDraft], go_on: Callable[[int], None]) -> None:
    """Show drafts, and call `go_on` with the number of the one to go on with."""
    for draft in found:
        with st.container(border=True):
            words, go, away = st.columns([6, 1.2, 1.6], vertical_alignment="center")
            words.markdown(f"**{plain(draft.name)}**")
            words.caption(
                plain(
                    t(
                        "Bank: {bank}; started by {who}; saved {when} UTC",
                        bank=draft.bank or t("none yet"),
                        who=draft.made_by,
                        when=minute(draft.saved_at_utc),
                    )
                )
            )
            if go.button(t("Continue"), key=f"open-{draft.id}", width="stretch", type="primary"):
                go_on(draft.id)
            with away.popover(t("Delete"), width="stretch"):
                st.write(t("Everything entered in this draft will be lost."))
                if st.button(t("Delete this draft"), key=f"away-{draft.id}"):
                    drafts.remove(store(), draft.id, **acting(person))
                    forget(draft.id)
                    st.rerun()
