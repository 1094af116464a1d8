"""The third step: the rules cases are read by."""

from typing import Any

import streamlit as st

from study.base.translation import t, tn
from ui.wizard.fields import choose, count, several, switch
from ui.wizard.working import Working


def rules(working: Working) -> None:
    """Show the step."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(t("Order"), anchor=False)
        _order(working)
        st.subheader(t("Answering"), anchor=False)
        _answering(working)
    with right:
        st.subheader(t("Learning the answer"), anchor=False)
        _feedback(working)
        st.subheader(t("Around the reading"), anchor=False)
        _around(working)


def _order(working: Working) -> None:
    choose(
        working,
        "case_order",
        t("Cases"),
        {"random": t("Own order each"), "fixed": t("One order for all")},
        {
            "random": t("Tiredness and learning spread over all cases."),
            "fixed": t("Every reader is fresh at the same cases, and tired at the same ones."),
        },
    )
    choose(
        working,
        "option_order",
        t("Options"),
        {"canonical": t("As in the bank"), "random": t("Shuffled")},
        {
            "canonical": t("The letters are those of the bank."),
            "random": t("For each reader and case: a liking for one letter evens out."),
        },
    )


def _answering(working: Working) -> None:
    _confidence(working)
    _liberties(working)
    _time_limit(working)


def _confidence(working: Working) -> None:
    off = False
    words = {off: t("None"), 3: "1–3", 5: "1–5", 7: "1–7", 9: "1–9"}
    if working.base["confidence"] not in words:
        words[working.base["confidence"]] = f"1–{working.base['confidence']}"
    choose(
        working,
        "confidence",
        t("How sure"),
        words,
        {
            off: t("One key a case. The area under the ROC curve cannot be computed."),
            **{
                steps: t("One more key a case; allows the area under the ROC curve.")
                for steps in words
                if steps
            },
        },
    )


def _liberties(working: Working) -> None:
    switch(
        working,
        "comments",
        t("Comments"),
        t("A reader may write a note to a case; most do not, and it takes time."),
        t("No notes."),
    )
    switch(
        working,
        "back_navigation",
        t("Going back"),
        t("Earlier answers can be looked at and changed; the first one is kept too."),
        t("An answer once given stands."),
    )
    switch(
        working,
        "cannot_answer",
        t("Giving a case up"),
        t("A reader may say why a case cannot be answered; it counts as wrong."),
        t("Every case has to be answered."),
    )


def _time_limit(working: Working) -> None:
    count(
        working,
        "time_limit_s",
        t("Time limit a case, in seconds"),
        lambda n: (
            tn(
                "After {n} second the case goes, answered or not; unanswered counts as wrong.",
                "After {n} seconds the case goes, answered or not; unanswered counts as wrong.",
                n,
            )
            if n
            else t("No limit: time is measured, not cut off.")
        ),
        low=0,
        high=86_400,
        step=10,
    )


def _feedback(working: Working) -> None:
    choose(
        working,
        "feedback",
        t("Readers learn the right answer"),
        {
            "never": t("Never"),
            "after case": t("After each case"),
            "after study": t("After the study"),
        },
        {
            "never": t("Nobody can pass answers on."),
            "after case": t("For teaching: readers learn while they are measured."),
            "after study": t("Once the study is closed, readers see their own score."),
        },
    )
    count(
        working,
        "practice_cases",
        t("Practice cases"),
        lambda n: (
            tn(
                "{n} case from outside the sample comes first, with the right answer; it counts "
                "nowhere.",
                "{n} cases from outside the sample come first, with the right answers; they count "
                "nowhere.",
                n,
            )
            if n
            else t("None: the first cases of the study are practice, and count.")
        ),
        low=0,
        high=1000,
    )


def _around(working: Working) -> None:
    several(
        working,
        "context",
        t("Shown beside the question"),
        {"age": t("Age"), "sex": t("Sex")},
        t("What a reader would know of the patient. Report text is never shown."),
    )
    count(
        working,
        "break_every",
        t("Offer a break after so many cases"),
        lambda n: (
            t("A break stops the clock; readers may pause at any other time too.")
            if n
            else t("None is offered; readers may pause at any time.")
        ),
        low=0,
        high=10_000,
        step=10,
    )
    switch(
        working,
        "display_check",
        t("Check the screen"),
        t("At each sign-in the screen is checked, and what was found is recorded."),
        t("Nothing will be known of the screens that were read on."),
    )
    _smallest_window(working)


def _smallest_window(working: Working) -> None:
    base = working.base["smallest_window"]
    sizes = [[], [1024, 700], [1280, 720], [1600, 900]]
    words = {_size(one): one for one in (sizes if base in sizes else [*sizes, base])}
    found = st.segmented_control(
        t("Smallest window"),
        list(words),
        default=_size(base),
        required=True,
        key=working.key("smallest_window"),
    )
    if found is not None:
        working.values["smallest_window"] = words[found]
    st.caption(
        t(
            "In pixels, either way round. Nobody can read in a smaller window; a phone is "
            "smaller than any of these."
        )
        if working.values["smallest_window"]
        else t("Films may be read on any screen, a phone's too.")
    )


def _size(window: Any) -> str:
    """Return a window's size as it is offered; what came with a file and is none as it stands."""
    if not isinstance(window, list):
        return str(window)
    return " × ".join(map(str, window)) or t("No limit")
