"""The second and the fifth step: the study's design, and its endpoint.

The design consists of conditions, sessions and wash-out; the endpoint is declared before reading.
"""

import streamlit as st

from study.base.translation import t, tn
from ui.wizard import groups
from ui.wizard.draft import WorkingDraft
from ui.wizard.protocol_view import metadata_fields, positive_field
from ui.wizard.sample_size import sample_size


def design_step(working: WorkingDraft) -> None:
    """Show the step."""
    left, right = st.columns(2, gap="large")
    with left:
        _condition_fields(working)
        working.number_field(
            "hidden_repeats",
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
        _session_fields(working)
    groups.arm_fields(working)
    if any("aided" in chosen for chosen in _all_conditions(working)):
        groups.aid_fields(working)
    groups.case_share_fields(working)
    groups.show_design(working)


def _all_conditions(working: WorkingDraft) -> list[list[str]]:
    arms = [arm.get("conditions", []) for arm in working.values["arms"]]
    return [working.values["conditions"], *arms]


def _condition_fields(working: WorkingDraft) -> None:
    st.markdown(f"**{t('Conditions')}**")
    base = working.base["conditions"]
    unaided = st.checkbox(
        t("Unaided: the images and the question"),
        value="unaided" in base,
        key=working.key("unaided"),
    )
    image_absent = st.checkbox(
        t("Image-absent: the question without the images"),
        value="image-absent" in base,
        key=working.key("image-absent"),
    )
    open_ended = st.checkbox(
        t("Open-ended: answered in own words"),
        value="open-ended" in base,
        key=working.key("open-ended"),
    )
    aided = st.checkbox(
        t("Aided: with a model's answer"), value="aided" in base, key=working.key("aided")
    )
    wrong_image = st.checkbox(
        t("Wrong image: the question with another patient's images"),
        value="wrong-image" in base,
        key=working.key("wrong-image"),
    )
    offered = (
        ("unaided", unaided),
        ("aided", aided),
        ("image-absent", image_absent),
        ("wrong-image", wrong_image),
        ("open-ended", open_ended),
    )
    chosen = [name for name, is_chosen in offered if is_chosen]
    working.values["conditions"] = list(base) if set(chosen) == set(base) else chosen
    if open_ended and len(chosen) > 1:
        meaning = t(
            "Every case is read under each condition. Open-ended cases come first for every "
            "reader, because the options would give the answers away."
        )
    elif open_ended:
        meaning = t(
            "Readers write their answers in their own words, which people judge afterwards. No "
            "answer is compared with the options."
        )
    elif len(chosen) > 1:
        meaning = t(
            "Every case is read under each condition. Which condition comes first alternates "
            "between readers."
        )
    elif aided:
        meaning = t("Each case is read with the model's answer.")
    elif wrong_image:
        meaning = t("Each case is read with another patient's images; readers do not know this.")
    elif image_absent:
        meaning = t("Without images, only what the question itself gives away is measured.")
    elif unaided:
        meaning = t("Each case is read once, as in routine practice.")
    else:
        meaning = t("Choose at least one condition.")
    st.caption(meaning)


def _session_fields(working: WorkingDraft) -> None:
    working.number_field(
        "sessions",
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
    working.number_field(
        "washout_days",
        lambda n: (
            _washout_text(n, working.values["sessions"])
            if several
            else t("Applies only with 2 or more sessions.")
        ),
        low=0,
        high=3650,
    )
    _session_days_field(working)
    if several:
        working.switch(
            "session_feedback",
            t(
                "Before the next session a reader learns roughly what share of their answers was "
                "correct and, with an aid, what share of the model's answers. Shares are rounded, "
                "so that they reveal no answer."
            ),
            t("Readers learn nothing about their answers between sessions."),
        )
    else:
        working.values["session_feedback"] = False


def _washout_text(days: int, sessions: int) -> str:
    total = days * (sessions - 1)
    if not total:
        return t("Sessions may follow one another immediately, so readers will remember cases.")
    return tn(
        "Each session opens only after the wash-out period: a reader needs at least {n} day.",
        "Each session opens only after the wash-out period: a reader needs at least {n} days.",
        total,
    )


def _session_days_field(working: WorkingDraft) -> None:
    working.number_field(
        "session_days",
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


def endpoint_step(working: WorkingDraft) -> None:
    """Show the step."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        _endpoint_fields(working)
        _claim_field(working)
        _excluded_readings_field(working)
        _interim_results_field(working)
    with right:
        if working.values["hypothesis"] == "non-inferiority":
            _margin_field(working)
        if working.values["hypothesis"]:
            _primary_model_field(working)
        else:
            st.caption(
                t("Choose a hypothesis to set a margin or to name the model that it is about.")
            )
        _positive_and_subgroup_fields(working)
    sample_size(working)
    with st.expander(t("About the study")):
        st.caption(
            t(
                "What reviewers ask for. No reader sees it; it is stored with the protocol and "
                "fills rows of the report's checklists. It can be amended later."
            )
        )
        base = working.base["metadata"]
        texts = base if isinstance(base, dict) else {}
        working.values["metadata"] = metadata_fields(texts, working.key("metadata"))


def _endpoint_fields(working: WorkingDraft) -> None:
    working.choose(
        "endpoint",
        {
            "": t("None declared"),
            "accuracy": t("Accuracy"),
            "AUC": t("AUC"),
            "pair-weighted accuracy": t("Pair-weighted accuracy"),
            "pair-weighted AUC": t("Pair-weighted AUC"),
        },
        {
            "": t("All results are reported as exploratory."),
            "accuracy": t(
                "The proportion of cases answered in agreement with the reference standard."
            ),
            "AUC": t("The area under the ROC curve; needs a confidence rating."),
            "pair-weighted accuracy": t(
                "For designs in which readers read different cases: every reading counts equally,"
                " not every reader."
            ),
            "pair-weighted AUC": t(
                "For designs in which readers read different cases: every pair of cases that a"
                " reader read counts equally."
            ),
        },
    )
    working.choose(
        "hypothesis",
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


def _claim_field(working: WorkingDraft) -> None:
    working.choose(
        "claim_about",
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


def _excluded_readings_field(working: WorkingDraft) -> None:
    working.choose(
        "exclusions",
        {"sensitivity": t("Sensitivity analysis"), "primary": t("Primary analysis")},
        {
            "sensitivity": t(
                "Included in the primary analysis; left out of a sensitivity analysis."
            ),
            "primary": t("Left out of the primary analysis; included in a sensitivity analysis."),
        },
    )


def _primary_model_field(working: WorkingDraft) -> None:
    entered = st.text_input(
        t("Primary model"),
        value=working.base["primary_model"],
        max_chars=100,
        help=t("Leave empty if the hypothesis applies to each model."),
        key=working.key("primary_model"),
    )
    working.values["primary_model"] = entered.strip()


def _positive_and_subgroup_fields(working: WorkingDraft) -> None:
    working.values["positive"] = positive_field(working.base["positive"], working.key("positive"))
    working.choose_several(
        "subgroups",
        {
            "category": t("Category"),
            "subcategory": t("Subcategory"),
            "bank": t("Question bank"),
            "sex": t("Sex"),
        },
        t(
            "Comparisons of readers are repeated in these groups of cases, as by task, with "
            "p values adjusted for the number of groups."
        ),
    )
    working.switch(
        "ordered_options",
        t("Agreement is also weighted by the distance of the options, as for a grade."),
        t("Options have no order: only equal answers agree."),
    )
    working.number_field(
        "years_limit",
        lambda n: (
            tn(
                "Readers with less than {n} year of experience are compared with the others.",
                "Readers with less than {n} years of experience are compared with the others.",
                n,
            )
            if n
            else t("Readers are not divided by experience.")
        ),
        low=0,
        high=80,
    )


def _interim_results_field(working: WorkingDraft) -> None:
    working.switch(
        "interim_results",
        t("The study team sees accuracy early: explain why in your paper."),
        t("Nobody, including you, sees accuracy before the study is closed."),
    )


def _margin_field(working: WorkingDraft) -> None:
    base = float(working.base["margin"])
    n = st.number_input(
        t("Margin (percentage points)"),
        min_value=0.0,
        max_value=100.0,
        value=100 * base,
        step=0.5,
        format="%.1f",
        key=working.key("margin"),
    )
    points = float(n)
    # The field rounds its value, but a margin from a file keeps its precision.
    working.values["margin"] = base if abs(points - 100 * base) < 1e-9 else round(points / 100, 6)
    st.caption(
        t(
            "A model up to {points} points worse than the readers would still count as "
            "non-inferior.",
            points=f"{points:g}",
        )
    )
