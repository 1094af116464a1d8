"""The third step: the reading rules."""

from typing import Any

import streamlit as st

from study.base.translation import t, tn
from study.store import banks
from ui.server.deployment import store
from ui.wizard.draft import WorkingDraft


def rules_step(working: WorkingDraft) -> None:
    """Show the step."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(t("Order"), anchor=False)
        _order_fields(working)
        st.subheader(t("Answering"), anchor=False)
        _confidence_field(working)
        _reader_option_fields(working)
        _time_limit_field(working)
    with right:
        st.subheader(t("Feedback and practice"), anchor=False)
        _feedback_fields(working)
        st.subheader(t("Reading environment"), anchor=False)
        _context_fields(working)


def _order_fields(working: WorkingDraft) -> None:
    working.choose(
        "case_order",
        {
            "random": t("A different order for each reader"),
            "fixed": t("The same order for everyone"),
        },
        {
            "random": t("Fatigue and learning effects are spread across all cases."),
            "fixed": t("All readers are fresh for the same cases and tired for the same cases."),
        },
    )
    working.choose(
        "option_order",
        {"canonical": t("As in the bank"), "random": t("Shuffled")},
        {
            "canonical": t("Letters are the same as in the bank."),
            "random": t(
                "Shuffled for each reader and case, so a preference for one letter averages out."
            ),
        },
    )


def _confidence_field(working: WorkingDraft) -> None:
    is_off = False
    words = {is_off: t("None"), 3: "1–3", 5: "1–5", 7: "1–7", 9: "1–9"}
    if working.base["confidence"] not in words:
        words[working.base["confidence"]] = f"1–{working.base['confidence']}"
    working.choose(
        "confidence",
        words,
        {
            is_off: t("One key press per case. The area under the ROC curve cannot be computed."),
            **{
                steps: t("Adds one key press per case; needed for ROC analysis.")
                for steps in words
                if steps
            },
        },
    )


def _reader_option_fields(working: WorkingDraft) -> None:
    working.switch(
        "comments",
        t("Readers can add a comment to a case; most do not, and it takes time."),
        t("No comments."),
    )
    working.switch(
        "fault_marks",
        t("Readers can mark a question as faulty; they still answer it."),
        t("Questions cannot be marked."),
    )
    working.switch(
        "back_navigation",
        t("Earlier answers can be reviewed and changed; the first answer is recorded too."),
        t("Answers cannot be changed."),
    )
    working.switch(
        "cannot_answer",
        t("Readers can say why a case cannot be answered; it counts as incorrect."),
        t("Every case must be answered."),
    )


def _time_limit_field(working: WorkingDraft) -> None:
    working.number_field(
        "time_limit_s",
        lambda n: (
            tn(
                "After {n} second the case closes, answered or not; an unanswered case counts as "
                "incorrect.",
                "After {n} seconds the case closes, answered or not; an unanswered case counts as "
                "incorrect.",
                n,
            )
            if n
            else t("No limit: reading time is recorded but not capped.")
        ),
        low=0,
        high=86_400,
        step=10,
    )


def _feedback_fields(working: WorkingDraft) -> None:
    working.choose(
        "feedback",
        {
            "never": t("Never"),
            "after case": t("After each case"),
            "after study": t("After the study"),
        },
        {
            "never": t("Answers are never shown, so they cannot be shared."),
            "after case": t("For teaching: readers learn during the study."),
            "after study": t("Once the study is closed, readers see their own score."),
        },
    )
    _score_card_field(working)
    working.number_field(
        "practice_cases",
        lambda n: (
            tn(
                "{n} case from outside the sample comes first, with the correct answer; it is not "
                "included in any results.",
                "{n} cases from outside the sample come first, with the correct answers; they are "
                "not included in any results.",
                n,
            )
            if n
            else t("None: the first study cases serve as practice, and they count.")
        ),
        low=0,
        high=1000,
    )


def _score_card_field(working: WorkingDraft) -> None:
    if working.values["feedback"] == "never":
        working.values["score_card"] = "own"
        return
    working.choose(
        "score_card",
        {"own": t("Own answers only"), "peers": t("With other readers and models")},
        {
            "own": t("Each reader sees their own answers beside the reference standard."),
            "peers": t(
                "Once the study is closed, readers who have read every case also see their place "
                "among the others, without names and only if at least three others have finished, "
                "and the accuracy of each model. The consent text should say so."
            ),
        },
    )


def _prior_images_label(working: WorkingDraft) -> dict[str, str]:
    """Return the choice to show prior images; empty if the bank has none."""
    with store().look() as look:
        bank = banks.find(look, working.bank)
        n = banks.n_with_prior(look, bank.id) if bank else 0
    if n or "prior" in (working.base["context"] or ()):
        return {"prior": tn("Prior images ({n} question)", "Prior images ({n} questions)", n)}
    return {}


def _context_fields(working: WorkingDraft) -> None:
    working.choose_several(
        "context",
        {
            "age": t("Age"),
            "sex": t("Sex"),
            "indication": t("Indication"),
            "comparison": t("Comparison"),
            **_prior_images_label(working),
        },
        t(
            "What a reader would know before reporting, where the bank gives it. Findings and "
            "impression are never shown."
        ),
    )
    working.number_field(
        "break_every",
        lambda n: (
            t("A break stops the timer; readers can also pause at any other time.")
            if n
            else t("No breaks are offered; readers can pause at any time.")
        ),
        low=0,
        high=10_000,
        step=10,
    )
    working.switch(
        "display_check",
        t("The screen is checked at each sign-in and the result is recorded."),
        t("Display quality will not be recorded."),
    )
    _smallest_window(working)
    working.choose_several(
        "bundle_extras",
        {
            "questionnaire": t("Questionnaire"),
            "questionnaire texts": t("Free-text answers"),
            "display checks": t("Display checks"),
        },
        t(
            "Under reader IDs, never names. Free text may show who wrote it: include it only if "
            "you need it, and say so in the consent text."
        ),
    )


def _smallest_window(working: WorkingDraft) -> None:
    base = working.base["smallest_window"]
    sizes = [[], [1024, 700], [1280, 720], [1600, 900]]
    words = {_size_label(size): size for size in (sizes if base in sizes else [*sizes, base])}
    chosen = st.segmented_control(
        t("Minimum window size"),
        list(words),
        default=_size_label(base),
        required=True,
        key=working.key("smallest_window"),
    )
    if chosen is not None:
        working.values["smallest_window"] = words[chosen]
    st.caption(
        t(
            "In pixels, in either orientation. Reading is not possible in a smaller window; "
            "phones are smaller than any of these."
        )
        if working.values["smallest_window"]
        else t("Images may be read on any screen, including a phone.")
    )


def _size_label(window: Any) -> str:
    """Return the label of a window size; invalid values from a file are returned unchanged."""
    if not isinstance(window, list):
        return str(window)
    return " × ".join(map(str, window)) or t("No limit")
