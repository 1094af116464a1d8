"""The fifth step: what the study is to show, said before anybody reads."""

import streamlit as st

from study.base.translation import t
from ui.wizard.fields import choose, switch
from ui.wizard.working import Working


def endpoint(working: Working) -> None:
    """Show the step."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        _promised(working)
        _claimed(working)
        _excluded(working)
        _early(working)
    with right:
        _margin(working)
        _primary_model(working)


def _promised(working: Working) -> None:
    choose(
        working,
        "endpoint",
        t("Primary endpoint"),
        {"": t("None declared"), "accuracy": t("Accuracy"), "AUC": t("AUC")},
        {
            "": t("Everything is reported, and nothing of it was promised beforehand."),
            "accuracy": t("The share of cases answered as the reference standard says."),
            "AUC": t("The area under the ROC curve; it needs a scale of how sure readers are."),
        },
    )
    choose(
        working,
        "hypothesis",
        t("Hypothesis"),
        {
            "": t("None declared"),
            "non-inferiority": t("Non-inferior"),
            "superiority": t("Superior"),
        },
        {
            "": t("Intervals are reported without a verdict on them."),
            "non-inferiority": t(
                "The model is at most the margin worse than the mean of the readers."
            ),
            "superiority": t("The model is better than the mean of the readers."),
        },
    )


def _claimed(working: Working) -> None:
    choose(
        working,
        "claim_about",
        t("The claim is about"),
        {
            "": t("None declared"),
            "readers like these": t("Readers like these"),
            "these readers": t("These readers"),
        },
        {
            "": t("Both claims are reported."),
            "readers like these": t(
                "Readers are a sample: it can be carried to others, and its interval is wide "
                "with few readers."
            ),
            "these readers": t("Only the readers who took part: narrow, and goes no further."),
        },
    )


def _excluded(working: Working) -> None:
    choose(
        working,
        "exclusions",
        t("Excluded readings"),
        {"sensitivity": t("Sensitivity analysis"), "primary": t("Primary analysis")},
        {
            "sensitivity": t(
                "They count in the primary analysis; a sensitivity analysis leaves them out."
            ),
            "primary": t(
                "They are left out of the primary analysis; a sensitivity analysis counts them."
            ),
        },
    )


def _primary_model(working: Working) -> None:
    found = st.text_input(
        t("Primary model"),
        value=working.base["primary_model"],
        max_chars=100,
        help=t("Leave empty if the hypothesis is about each model."),
        key=working.key("primary_model"),
    )
    working.values["primary_model"] = found.strip()


def _early(working: Working) -> None:
    switch(
        working,
        "interim_results",
        t("Accuracy may be seen while the study is open"),
        t("Whoever runs the study sees accuracy early: say why in your paper."),
        t("Nobody sees accuracy before the study is closed, you included."),
    )


def _margin(working: Working) -> None:
    base = float(working.base["margin"])
    found = st.number_input(
        t("Margin, in percentage points"),
        min_value=0.0,
        max_value=100.0,
        value=100 * base,
        step=0.5,
        format="%.1f",
        key=working.key("margin"),
    )
    points = float(found)
    # The field rounds; a margin from a file stays as exact as it came.
    working.values["margin"] = base if abs(points - 100 * base) < 1e-9 else round(points / 100, 6)
    st.caption(
        t(
            "A model that is {points} points worse than the readers would still be called as good.",
            points=f"{points:g}",
        )
    )
