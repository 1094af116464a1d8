"""New access codes that a browser window still shows; they are kept in its session alone.

Nothing else ever holds a code in clear. Codes are added until the user hides them, and survive any
other action and a visit to another page.
"""

from dataclasses import dataclass, field

import streamlit as st

from ui.parts import actions

_KEPT = "new-codes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A person's new code; `expires_at_utc` is empty where it does not expire."""

    who: str
    code: str = field(repr=False)
    expires_at_utc: str = ""


@dataclass(slots=True)
class NewCodes:
    """What a window still shows, by study; the empty name stands for the whole server.

    Parameters
    ----------
    turn
        Counts the actions about people in this window.
    known
        Invited readers who keep the code they have.
    is_shown
        Whether this run of the page has shown the codes.
    """

    turn: int = 0
    cards: dict[str, tuple[Card, ...]] = field(default_factory=dict)
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    place: tuple[int, str] = (0, "")
    is_shown: bool = False

    def add(self, study: str, cards: tuple[Card, ...], known: tuple[str, ...], key: str) -> None:
        """Add codes, to be shown at the action `key`; a new code of a person replaces the old."""
        for card in cards:
            self.drop(study, card.who)
        self.cards[study] = (*self.cards.get(study, ()), *cards)
        self.known[study] = tuple(dict.fromkeys((*self.known.get(study, ()), *known)))
        self.place = (actions.visit(), key)

    def drop(self, study: str, who: str) -> None:
        """Forget a person's code, because it stopped working."""
        kept = self.cards.get(study, ())
        self.cards[study] = tuple(card for card in kept if card.who != who)

    def of(self, study: str) -> bool:
        """Return whether there is anything to show for a study."""
        return bool(self.cards.get(study) or self.known.get(study))

    @property
    def waiting(self) -> list[str]:
        """The studies with codes that nobody has hidden yet."""
        return [study for study, cards in self.cards.items() if cards]

    def hide(self, study: str) -> None:
        """Forget the codes of a study."""
        self.cards.pop(study, None)
        self.known.pop(study, None)


def new_codes() -> NewCodes:
    """Return what this window shows.

    Fetch it before an action and add the codes to it: Streamlit may interrupt a run whenever the
    session's state is touched, as it does at a second click, and a code would be lost.
    """
    codes = st.session_state.setdefault(_KEPT, NewCodes())
    assert isinstance(codes, NewCodes)
    return codes
