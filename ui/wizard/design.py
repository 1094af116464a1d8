"""The second step: under which conditions cases are read, in how many sessions, how far apart."""

import streamlit as st

from study.base.translation import t, tn
from ui.wizard.fields import count
from ui.wizard.working import Working


def design(working: Working) -> None:
    """Show the step."""
    left, right = st.columns(2, gap="large")
    with left:
        _conditions(working)
        count(
            working,
            "hidden_repeats",
            t("Hidden repeats"),
            lambda n: (
                tn(
                    "{n} case comes back unannounced: how well readers agree with themselves.",
                    "{n} cases come back unannounced: how well readers agree with themselves.",
                    n,
                )
                if n
                else t("No case comes back: how well readers agree with themselves stays unknown.")
            ),
            low=0,
            high=100_000,
        )
    with right:
        _sessions(working)


def _conditions(working: Working) -> None:
    st.markdown(f"**{t('Conditions')}**")
    base = working.base["conditions"]
    unaided = st.checkbox(
        t("Unaided: the films and the question"),
        value="unaided" in base,
        key=working.key("unaided"),
    )
    absent = st.checkbox(
        t("Image-absent: the question without the films"),
        value="image-absent" in base,
        key=working.key("image-absent"),
    )
    st.checkbox(
        t("Aided: a model's answer beside (coming later)"),
        value=False,
        disabled=True,
        key=working.key("aided"),
    )
    chosen = [name for name, on in (("unaided", unaided), ("image-absent", absent)) if on]
    working.values["conditions"] = list(base) if set(chosen) == set(base) else chosen
    if len(chosen) > 1:
        meaning = t(
            "Every case is read under each condition: twice the readings, and what the films add "
            "is measured. Which comes first turns from reader to reader."
        )
    elif absent:
        meaning = t("Without films only what the question gives away is measured.")
    elif unaided:
        meaning = t("Each case is read once, as in daily work.")
    else:
        meaning = t("Choose at least one.")
    st.caption(meaning)


def _sessions(working: Working) -> None:
    count(
        working,
        "sessions",
        t("Sessions"),
        lambda n: (
            t("Everything is read in one go, with as many breaks as a reader likes.")
            if n == 1
            else tn(
                "Each reader reads in {n} session.", "Each reader reads in {n} sessions, apart.", n
            )
        ),
        low=1,
        high=20,
    )
    several = working.values["sessions"] > 1
    count(
        working,
        "washout_days",
        t("Wash-out between two sessions, in days"),
        lambda n: (
            _washout(n, working.values["sessions"]) if several else t("Used from 2 sessions.")
        ),
        low=0,
        high=3650,
    )
    _days(working)


def _washout(days: int, sessions: int) -> str:
    total = days * (sessions - 1)
    if not total:
        return t("Sessions may follow at once: readers will remember cases.")
    return tn(
        "A session stays shut until the wash-out is over: a reader needs at least {n} day.",
        "A session stays shut until the wash-out is over: a reader needs at least {n} days.",
        total,
    )


def _days(working: Working) -> None:
    count(
        working,
        "session_days",
        t("Days to finish a session, once begun"),
        lambda n: (
            tn(
                "After {n} day what is unread lapses; you can extend it for a reader.",
                "After {n} days what is unread lapses; you can extend it for a reader.",
                n,
            )
            if n
            else t("No limit: readers take the time they need.")
        ),
        low=0,
        high=3650,
    )
