"""New access codes that a person has created and not yet hidden.

This is the only place where codes are kept in plain text: the server keeps them in its memory
until the user hides them or signs out, even during other actions, on other pages and after reloads.
"""

from dataclasses import dataclass, field

import streamlit as st

from ui.parts import actions
from ui.server.access import token_of
from ui.server.sign_in_memory import memory_of

_KEY = "new-codes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A person's new code; `expires_at_utc` is empty if it does not expire."""

    who: str
    code: str = field(repr=False)
    expires_at_utc: str = ""


@dataclass(slots=True)
class NewCodes:
    """The codes shown in a window, by study; an empty name means the server.

    The windows of a sign-in share `cards` and `known`.

    Parameters
    ----------
    n_actions
        Number of actions on people in this window.
    known
        Invited readers who keep their existing code.
    is_shown
        Whether this run of the page has shown the codes.
    """

    n_actions: int = 0
    cards: dict[str, tuple[Card, ...]] = field(default_factory=dict)
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    shown_at: tuple[int, str] = (0, "")
    is_shown: bool = False

    def add(self, study: str, cards: tuple[Card, ...], known: tuple[str, ...], key: str) -> None:
        """Add codes, to be shown at the action `key`; a new code replaces a person's old code."""
        for card in cards:
            self.drop(study, card.who)
        self.cards[study] = (*self.cards.get(study, ()), *cards)
        self.known[study] = tuple(dict.fromkeys((*self.known.get(study, ()), *known)))
        self.shown_at = (actions.page_visits(), key)

    def drop(self, study: str, person: str) -> None:
        """Remove a person's code because it is no longer valid."""
        cards = self.cards.get(study, ())
        self.cards[study] = tuple(card for card in cards if card.who != person)

    def of(self, study: str) -> bool:
        """Return whether there is anything to show for a study."""
        return bool(self.cards.get(study) or self.known.get(study))

    @property
    def studies_with_codes(self) -> list[str]:
        """The studies with codes that are not hidden yet."""
        return [study for study, cards in self.cards.items() if cards]

    def hide(self, study: str) -> None:
        """Forget the codes of a study."""
        self.cards.pop(study, None)
        self.known.pop(study, None)


def new_codes() -> NewCodes:
    """Return the codes of this window's sign-in."""
    if _KEY not in st.session_state:
        token = token_of(st.context.cookies)
        memory = memory_of(token) if token else {}
        cards, known = memory.setdefault(_KEY, ({}, {}))
        st.session_state[_KEY] = NewCodes(cards=cards, known=known)
    codes = st.session_state[_KEY]
    assert isinstance(codes, NewCodes)
    return codes
