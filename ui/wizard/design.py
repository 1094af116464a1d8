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
                    "{n} case is repeated without notice, to measure intra-reader agreement.",
                    "{n} cases are repeated without notice, to measure intra-reader agreement.",
                    n,
                )
                if n
                else t("No case is repeated: intra-reader agreement cannot be measured.")
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
        t("Unaided: the images and the question"),
        value="unaided" in base,
        key=working.key("unaided"),
    )
    absent = st.checkbox(
        t("Image-absent: the question without the images"),
        value="image-absent" in base,
        key=working.key("image-absent"),
    )
    words = st.checkbox(
        t("Open-ended: answered in own words"),
        value="open-ended" in base,
        key=working.key("open-ended"),
    )
    st.checkbox(
        t("Aided: with a model's answer (coming later)"),
        value=False,
        disabled=True,
        key=working.key("aided"),
    )
    offered = (("unaided", unaided), ("image-absent", absent), ("open-ended", words))
    chosen = [name for name, on in offered if on]
    working.values["conditions"] = list(base) if set(chosen) == set(base) else chosen
    if words and len(chosen) > 1:
        meaning = t(
            "Every case is read under each condition. Open-ended cases come first for every "
            "reader, because the options would give the answers away."
        )
    elif words:
        meaning = t(
            "Readers write their answers in their own words, which people judge afterwards. No "
            "answer is compared with the options."
        )
    elif len(chosen) > 1:
        meaning = t(
            "Every case is read under each condition. This doubles the readings and measures what "
            "the images add. Which condition comes first alternates between readers."
        )
    elif absent:
        meaning = t("Without images, only what the question itself gives away is measured.")
    elif unaided:
        meaning = t("Each case is read once, as in routine practice.")
    else:
        meaning = t("Choose at least one condition.")
    st.caption(meaning)


def _sessions(working: Working) -> None:
    count(
        working,
        "sessions",
        t("Sessions"),
        lambda n: (
            t("All cases are read in one session, with as many breaks as a reader likes.")
            if n == 1
            else tn(
                "Each reader reads in {n} session.",
                "Each reader reads in {n} separate sessions.",
                n,
            )
        ),
        low=1,
        high=20,
    )
    several = working.values["sessions"] > 1
    count(
        working,
        "washout_days",
        t("Wash-out period between sessions (days)"),
        lambda n: (
            _washout(n, working.values["sessions"])
            if several
            else t("Applies only with 2 or more sessions.")
        ),
        low=0,
        high=3650,
    )
    _days(working)


def _washout(days: int, sessions: int) -> str:
    total = days * (sessions - 1)
    if not total:
        return t("Sessions may follow one another immediately, so readers will remember cases.")
    return tn(
        "Each session opens only after the wash-out period: a reader needs at least {n} day.",
        "Each session opens only after the wash-out period: a reader needs at least {n} days.",
        total,
    )


def _days(working: Working) -> None:
    count(
        working,
        "session_days",
        t("Days to complete a session once started"),
        lambda n: (
            tn(
                "After {n} day, unread cases lapse; you can extend the deadline for a reader.",
                "After {n} days, unread cases lapse; you can extend the deadline for a reader.",
                n,
            )
            if n
            else t("No limit: readers take as long as they need.")
        ),
        low=0,
        high=3650,
    )
