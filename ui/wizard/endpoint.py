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
            "": t("All results are reported as exploratory."),
            "accuracy": t(
                "The proportion of cases answered in agreement with the reference standard."
            ),
            "AUC": t("The area under the ROC curve; needs a confidence rating."),
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
            "": t("Intervals are reported without drawing a conclusion."),
            "non-inferiority": t(
                "The model is worse than the readers' mean by no more than the margin."
            ),
            "superiority": t("The model is better than the readers' mean."),
        },
    )


def _claimed(working: Working) -> None:
    choose(
        working,
        "claim_about",
        t("The claim applies to"),
        {
            "": t("None declared"),
            "readers like these": t("Readers like these"),
            "these readers": t("These readers"),
        },
        {
            "": t("Both claims are reported."),
            "readers like these": t(
                "Readers are treated as a sample: the result generalises to other readers, and "
                "its interval is wide with few readers."
            ),
            "these readers": t(
                "Applies only to the readers who took part: a narrower interval that does not "
                "generalise."
            ),
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
                "Included in the primary analysis; left out of a sensitivity analysis."
            ),
            "primary": t("Left out of the primary analysis; included in a sensitivity analysis."),
        },
    )


def _primary_model(working: Working) -> None:
    found = st.text_input(
        t("Primary model"),
        value=working.base["primary_model"],
        max_chars=100,
        help=t("Leave empty if the hypothesis applies to each model."),
        key=working.key("primary_model"),
    )
    working.values["primary_model"] = found.strip()


def _early(working: Working) -> None:
    switch(
        working,
        "interim_results",
        t("Show accuracy while the study is open"),
        t("The study team sees accuracy early: explain why in your paper."),
        t("Nobody, including you, sees accuracy before the study is closed."),
    )


def _margin(working: Working) -> None:
    base = float(working.base["margin"])
    found = st.number_input(
        t("Margin (percentage points)"),
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
            "A model up to {points} points worse than the readers would still count as "
            "non-inferior.",
            points=f"{points:g}",
        )
    )
