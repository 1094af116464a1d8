"""The frame of the wizard: list of steps, current step, consequences. Also its last step."""

from collections.abc import Callable
from functools import lru_cache, partial

import streamlit as st

from study.bank.guessing import clue_sentences
from study.base.text import decode_utf8, refuse_empty
from study.base.translation import decimal, in_language, language, t, tn
from study.lifecycle import exposure
from study.protocol.assignment import SECONDS_A_READING, Workload, workloads
from study.protocol.protocol import Protocol, protocol_from
from study.protocol.sampling import EXPECTED_ACCURACY, wilson_half_width
from study.store import banks
from ui.parts import actions
from ui.parts.actions import Action
from ui.parts.forms import upload
from ui.parts.links import links
from ui.parts.text import minute, plain
from ui.parts.theme import arrow, page_file, style
from ui.server.deployment import store
from ui.wizard import design, reader_texts, rules, sample
from ui.wizard.draft import WorkingDraft, overwrite_saved, record_progress, reload, save
from ui.wizard.groups import preview_links
from ui.wizard.protocol_view import consent_view, protocol_view
from ui.wizard.sample_size import metric_mismatch_warnings

STYLES = style(page_file(__file__, "wizard.css"))


# A step starts at its top, regardless of the scroll position of the previous step.
_TO_TOP = page_file(__file__, "to-top.js")


def wizard(working: WorkingDraft, draw: Action) -> None:
    """Show the step named in the address, and save changes."""
    steps = _steps(draw)
    titles = {name: title for name, (title, _) in steps.items()}
    step_name = str(st.query_params.get("step", ""))
    step = step_name if step_name in steps else next(iter(steps))
    working.enter(step)
    st.html(STYLES)
    st.components.v2.component("to_top", js=_TO_TOP)(key=f"top-{working.id}-{step}")
    step_column, body, side = st.columns([1.2, 4.6, 1.4], gap="large")
    with body:
        st.header(titles[step], anchor=False)
        steps[step][1](working)
    trouble = working.save_error
    save(working)
    if working.save_error and working.save_error != trouble:
        st.rerun()  # the message is next to its field above
    if working.was_saved_elsewhere:
        with body:
            _conflict_message(working)
    with side, st.container(key="meaning"):
        show_consequences(working)
    # Runs after the step, so that text typed before the click is saved.
    with step_column, st.container(key="rail"):
        _step_list(working, titles, step)
    with body:
        _navigation_buttons(working, titles, step)
    if trouble and not working.save_error:
        st.rerun()


def _steps(draw: Action) -> dict[str, tuple[str, Callable[[WorkingDraft], None]]]:
    """Return the titles of the steps and the functions that show them, in order."""
    return {
        "sample": (t("Bank and sample"), sample.sample_step),
        "design": (t("Design"), design.design_step),
        "rules": (t("Reading rules"), rules.rules_step),
        "words": (t("Texts for readers"), reader_texts.reader_texts),
        "endpoint": (t("Endpoint"), design.endpoint_step),
        "review": (t("Review and draw"), lambda working: review_step(working, draw)),
    }


def _step_list(working: WorkingDraft, titles: dict[str, str], step: str) -> None:
    position = list(titles).index(step)
    record_progress(working, position)
    for place, (name, title) in enumerate(titles.items()):
        icon = (
            ":material/radio_button_checked:"
            if place == position
            else ":material/check_circle:"
            if place < working.reached
            else ":material/radio_button_unchecked:"
        )
        actions.view_button(
            title,
            partial(_go_to, name),
            key=f"rail-{working.id}-{name}",
            icon=icon,
            type="secondary" if place == position else "tertiary",
            width="stretch",
        )
    if not working.was_saved_elsewhere:
        st.caption(t("Saved {when}.", when=minute(working.seen_saved_at_utc)))


def _navigation_buttons(working: WorkingDraft, titles: dict[str, str], step: str) -> None:
    names = list(titles)
    position = names.index(step)
    back_column, _, onward = st.columns([1.4, 3, 2])
    if position:
        actions.view_button(
            t("Back"),
            lambda: _go_to(names[position - 1]),
            key=f"back-{working.id}-{step}",
            place=back_column,
            icon=arrow(forward=False),
        )
    if position + 1 < len(names):
        actions.view_button(
            t("Next: {step}", step=titles[names[position + 1]]),
            lambda: _go_to(names[position + 1]),
            key=f"next-{working.id}-{step}",
            place=onward,
            type="primary",
            width="stretch",
        )


def _go_to(step: str) -> None:
    st.query_params["step"] = step


def _conflict_message(working: WorkingDraft) -> None:
    st.error(
        t(
            "This draft has been saved in another window since you opened it here. What you "
            "entered in this window has not been saved."
        )
    )
    left, right = st.columns(2)

    def load() -> str:
        reload(working)
        return t("The saved version has been loaded.")

    def keep() -> str:
        overwrite_saved(working)
        return t("This version has been saved.")

    for label, do, key, place in (
        (t("Load the saved version"), load, f"again-{working.id}", left),
        (t("Keep this version"), keep, f"mine-{working.id}", right),
    ):
        actions.button(label, do, key=key, place=place, width="stretch")


def show_consequences(working: WorkingDraft) -> None:
    """Show the workload, the precision, and all faults of the draft."""
    st.markdown(f"**{t('What this means')}**")
    protocol = working.protocol()
    if protocol is not None:
        show_workload(protocol)
    obstacles = working.obstacles()
    if obstacles:
        st.markdown(f"**{t('To resolve')}**")
        for obstacle in obstacles:
            st.warning(plain(obstacle))
    else:
        st.success(t("Ready to draw: no conflicts found."))


def show_workload(protocol: Protocol) -> None:
    """Show the workload of a reader and the expected precision, in each arm."""
    for arm, burden in workloads(protocol).items():
        if arm:
            st.markdown(f"**{plain(t('Arm {arm}', arm=arm))}**")
        _show_arm_workload(protocol.of_arm(arm), burden)


def _show_arm_workload(protocol: Protocol, burden: Workload) -> None:
    half = 100 * wilson_half_width(EXPECTED_ACCURACY, burden.n_cases)
    st.metric(t("Readings per reader"), decimal(burden.n_readings))
    st.caption(_readings_text(protocol, burden))
    st.metric(t("Time per reader"), duration_text(burden.hours))
    st.caption(t("At {n} seconds per reading, excluding breaks.", n=_seconds_per_reading(protocol)))
    st.metric(t("Precision per reader"), t("± {points} points", points=decimal(half, 1)))
    st.caption(
        t("95 % confidence interval for an accuracy of 80 % on all cases.")
        if burden.n_cases == protocol.cases
        else tn(
            "95 % confidence interval for an accuracy of 80 % on {n} case.",
            "95 % confidence interval for an accuracy of 80 % on {n} cases.",
            burden.n_cases,
        )
    )
    if burden.n_sessions > 1:
        st.metric(t("Calendar"), tn("{n} day", "{n} days", round(burden.days)))
        st.caption(t("Minimum, from the first session to the last."))


def duration_text(hours: float) -> str:
    """Return hours as hours and minutes.

    >>> duration_text(1.5), duration_text(0.3)
    ('1 h 30 min', '18 min')
    """
    full_hours, minutes = divmod(max(round(hours * 60), 1), 60)
    if not full_hours:
        return t("{minutes} min", minutes=minutes)
    return t("{hours} h {minutes} min", hours=full_hours, minutes=minutes)


def _seconds_per_reading(protocol: Protocol) -> int:
    limit = protocol.time_limit_s or SECONDS_A_READING
    return round(min(limit, SECONDS_A_READING))


def _readings_text(protocol: Protocol, burden: Workload) -> str:
    parts = [tn("{n} case", "{n} cases", burden.n_cases)]
    if len(protocol.conditions) > 1:
        parts.append(tn("{n} condition", "{n} conditions", len(protocol.conditions)))
    if burden.n_sessions > 1:
        parts.append(tn("{n} session", "{n} sessions", burden.n_sessions))
    if protocol.hidden_repeats:
        parts.append(tn("{n} hidden repeat", "{n} hidden repeats", protocol.hidden_repeats))
    if burden.n_practice:
        parts.append(tn("plus {n} practice case", "plus {n} practice cases", burden.n_practice))
    if protocol.reads_per_case and not protocol.cases_per_reader:
        parts.append(t("at most, because the cases are shared among the readers"))
    return ", ".join(parts)


def review_step(working: WorkingDraft, draw: Action) -> None:
    """Show the last step; `draw` creates the study."""
    protocol = working.protocol()
    if protocol is None:
        st.error(
            t(
                "The protocol has errors, listed on the right. Fix them, then come back to this "
                "step."
            )
        )
    else:
        for sentence in _warnings_before_draw(working, protocol):
            st.warning(plain(sentence))
        protocol_view(protocol, consent=False)
        consent_view(protocol)
    left, right = st.columns(2, gap="large")
    with left:
        _protocol_file(working)
    with right:
        st.subheader(t("Try it, then draw the sample"), anchor=False)
        st.caption(t("The preview shows what a reader will see; nothing is recorded."))
        links("preview", preview_links(f"preview-draft?draft={working.id}", protocol))
        _draw_button(working, draw)


def _warnings_before_draw(working: WorkingDraft, protocol: Protocol) -> tuple[str, ...]:
    """Return warnings about the bank and its use in other studies before the draw."""
    with store().look() as look:
        bank = banks.find(look, working.bank)
        if bank is None:
            return ()
        others = exposure.other_study_warnings(look, bank.id, protocol)
    shuffled = protocol.option_order == "random"
    guesses = _guessing_warnings(bank.id, bank.content_sha256, shuffled, language())
    return (*guesses, *others, *_outdated_plan(protocol))


def _outdated_plan(protocol: Protocol) -> tuple[str, ...]:
    """Return warnings if the sample size was computed for a design other than the protocol's."""
    plan = protocol.sample_size
    if not plan.readers:
        return ()
    warnings = []
    if plan.cases != protocol.cases:
        warnings.append(
            t(
                "The power was computed for {planned} cases, but {cases} are drawn. Open the step "
                "Endpoint to compute it again.",
                planned=plan.cases,
                cases=protocol.cases,
            )
        )
    has_arms = bool(protocol.arms) and plan.comparison == "conditions"
    reads = protocol.reads_per_case or plan.readers
    if has_arms != (plan.design == "arms") or (not has_arms and reads != plan.reads_per_case):
        warnings.append(
            t(
                "The power was computed for another assignment of readers. Open the step Endpoint "
                "to compute it again."
            )
        )
    return (*warnings, *metric_mismatch_warnings(protocol.endpoint, plan.metric))


@lru_cache(maxsize=16)
def _guessing_warnings(
    bank: int, content_sha256: str, shuffled: bool, name: str
) -> tuple[str, ...]:
    """Return warnings about answers that can be guessed in the bank as a whole."""
    with in_language(name), store().look() as look:
        return clue_sentences(banks.Questions(look, bank), shuffled=shuffled)


def _protocol_file(working: WorkingDraft) -> None:
    st.subheader(t("Protocol file"), anchor=False)
    st.caption(t("The same file works on the command line; it always matches what is shown here."))
    if working.protocol() is not None:
        address = f"draft/protocol.toml?draft={working.id}"
        links("protocol", {address: t("Download the protocol")}, download=True)
    uploaded = upload(
        t("Upload a protocol file"), types=["toml"], key=working.key("file"), max_mb=1
    )
    key = f"take-{working.id}"
    if uploaded is None:
        actions.show_last_report(key)
        return

    def replace_draft() -> str:
        refuse_empty(uploaded.name, uploaded.size)
        text = decode_utf8(uploaded.getvalue(), source=uploaded.name)
        new_protocol = protocol_from(text, source=uploaded.name)
        working.values = new_protocol.in_full()
        working.name = new_protocol.name or working.name
        working.renew()
        return t("The draft now has the settings of {file}.", file=uploaded.name)

    actions.button(t("Replace the draft with this file"), replace_draft, key=key)


def _draw_button(working: WorkingDraft, draw: Action) -> None:
    obstacles = working.obstacles()
    for obstacle in obstacles:
        st.error(plain(obstacle))
    st.caption(
        t(
            "Drawing the sample fixes the cases. You can then invite readers and open the study; "
            "until it is open, you can still return it to a draft or discard it."
        )
    )
    actions.button(
        t("Draw the sample"),
        draw,
        key=working.key("draw"),
        type="primary",
        icon=":material/check:",
        disabled=bool(obstacles),
    )
