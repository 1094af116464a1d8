"""Shows a complete protocol in words, and serves its file as a download."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from study.base.text import quoted
from study.base.translation import decimal, later, t, tn, translated
from study.lifecycle import drafts
from study.people.roles import Act
from study.people.signing_in import Person
from study.protocol.metadata import MAX_METADATA
from study.protocol.protocol import Protocol, as_toml, toml_of_study
from ui.parts.links import attachment
from ui.parts.protocol_words import metadata_labels
from ui.parts.text import html, number
from ui.parts.theme import page_file, style
from ui.server.access import answer
from ui.server.deployment import store
from ui.wizard.sample import flags_in_words

Lines = dict[str, str]

_CSS = style(page_file(__file__, "protocol-view.css"))


def protocol_view(protocol: Protocol, *, consent: bool = True) -> None:
    """Show a protocol, with its texts as readers will see them.

    Parameters
    ----------
    consent
        Whether to include the consent text; otherwise `consent_view` shows it.
    """
    parts = {
        t("Sample"): _sample_lines(protocol),
        t("Design"): _design_lines(protocol),
        t("Reading rules"): _rule_lines(protocol),
        t("Endpoint"): _endpoint_lines(protocol),
        **_metadata_lines(protocol),
    }
    st.html(_CSS + f'<div class="rr-protocol">{"".join(map(_part_html, parts.items()))}</div>')
    for title, text in (
        (t("Consent"), protocol.consent if consent else ""),
        (t("Instructions"), protocol.instructions),
    ):
        if text:
            with st.expander(title):
                st.html(f'<div class="rr-prose">{html(text)}</div>')
    if protocol.questionnaire:
        with st.expander(t("Questionnaire")):
            st.html(_questions_html(protocol))


def consent_view(protocol: Protocol) -> None:
    """Show the consent text, which must be checked before a study is drawn and opened."""
    if not protocol.consent:
        st.warning(t("Readers are not asked for consent: the consent text is empty."))
        return
    with st.expander(t("What readers agree to"), expanded=True):
        st.html(f'<div class="rr-prose">{html(protocol.consent)}</div>')


_VALUE_LABELS = {
    "patient": later("patient"),
    "examination": later("examination"),
    "item": later("no limit"),
    "bank": later("bank"),
    "task": later("task"),
    "category": later("category"),
    "subcategory": later("subcategory"),
    "site": later("site"),
    "view": later("view"),
    "view_class": later("view type"),
    "split": later("split"),
    "class": later("class"),
    "validation_code": later("validation code"),
    "frontal": later("frontal"),
    "lateral": later("lateral"),
    "oblique": later("oblique"),
    "decubitus": later("decubitus"),
    "female": later("female"),
    "male": later("male"),
    "other": later("other"),
    "sex": later("sex"),
    "age": later("age"),
    "indication": later("indication"),
    "comparison": later("comparison"),
    "prior": later("prior images"),
    "proportional": later("proportional"),
    "equal": later("equal"),
    "never": later("never"),
    "after case": later("after each case"),
    "after study": later("after the study"),
    "unaided": later("unaided"),
    "image-absent": later("image-absent"),
    "open-ended": later("open-ended"),
    "aided": later("aided"),
    "wrong-image": later("wrong image"),
    "first": later("with the question"),
    "on demand": later("on request"),
    "after": later("after the reader's own answer"),
    "answer": later("answer"),
    "confidence": later("confidence"),
    "explanation": later("explanation"),
    "boxes": later("boxes on the image"),
    "map": later("heat map on the image"),
    "accuracy": later("accuracy"),
    "non-inferiority": later("non-inferiority"),
    "superiority": later("superiority"),
    "readers like these": later("readers like these"),
    "these readers": later("these readers"),
    "questionnaire": later("questionnaire"),
    "questionnaire texts": later("free-text answers"),
    "display checks": later("display checks"),
}
"""Labels of the fixed values of a protocol file; other values are shown unchanged."""


def _value_label(value: str) -> str:
    return translated(_VALUE_LABELS[value]) if value in _VALUE_LABELS else value


def value_in_words(key: str, value: Any) -> str:
    """Return a value of a protocol in words."""
    if isinstance(value, bool) or (key == "confidence" and not value):
        return t("Yes") if value else t("No")
    if value in ("", [], (), {}):
        return t("None")
    if key == "margin":
        return t("{points} points", points=f"{100 * float(value):g}")
    if key == "metadata":
        return "; ".join(f"{label}: {text}" for label, text in _metadata_texts(value).items())
    if isinstance(value, Mapping):
        return ", ".join(f"{_value_label(name)}: {n}" for name, n in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value_label(str(entry)) for entry in value)
    return _value_label(str(value))


def _part_html(part: tuple[str, Lines]) -> str:
    title, lines = part
    rows = "".join(
        f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in lines.items()
    )
    return f"<section><h4>{escape(title)}</h4><dl>{rows}</dl></section>"


def _sample_lines(protocol: Protocol) -> Lines:
    values = protocol.in_full()
    return {
        t("Study name"): protocol.name or t("None"),
        t("Cases"): decimal(protocol.cases),
        t("One question per"): _value_label(protocol.one_question_per),
        t("Stratified by"): value_in_words("stratify_by", values["stratify_by"]),
        t("Allocation"): value_in_words("allocation", values["allocation"]),
        **_eligibility_lines(protocol),
        t("Seed"): str(protocol.seed),
    }


def _eligibility_lines(protocol: Protocol) -> Lines:
    """Return the conditions that a case must meet, or a line stating that there are none."""
    flags = flags_in_words()
    result = {
        t("Views each case must have"): value_in_words("", protocol.required_views),
        t("Age in years"): _age_text(protocol),
        t("Sex"): value_in_words("", protocol.sex),
        t("Leave out questions with a flag"): "; ".join(
            flags[flag] for flag in protocol.without_flags
        ),
        t("Draw only these IDs"): _id_count_text(protocol.only_items),
        t("Leave out these IDs"): _id_count_text(protocol.without_items),
    }
    answers = {key: value for key, value in result.items() if value and value != t("None")}
    return answers or {t("Eligible cases"): t("the whole bank")}


def _age_text(protocol: Protocol) -> str:
    if not protocol.age:
        return ""
    low, high = protocol.age
    known = t("{low} to {high}", low=low, high=high)
    return t("{known}, or unknown", known=known) if protocol.unknown_age else known


def _id_count_text(ids: tuple[str, ...]) -> str:
    return tn("{n} ID", "{n} IDs", len(ids)) if ids else ""


def _design_lines(protocol: Protocol) -> Lines:
    days = protocol.session_days
    return {
        t("Conditions"): ", ".join(map(_value_label, protocol.all_conditions)),
        t("Sessions"): str(protocol.sessions),
        t("Wash-out"): tn("{n} day", "{n} days", round(protocol.washout_days))
        if protocol.sessions > 1
        else t("None (one session)"),
        t("Days per session"): f"{days:g}" if days else t("No limit"),
        **(
            {
                t("Feedback after each session"): value_in_words(
                    "session_feedback", protocol.session_feedback
                )
            }
            if protocol.sessions > 1
            else {}
        ),
        t("Hidden repeats"): str(protocol.hidden_repeats),
        **_aid_lines(protocol),
        **_group_lines(protocol),
    }


def _aid_lines(protocol: Protocol) -> Lines:
    """Return the settings of the aid; empty if no condition is aided."""
    if not protocol.is_aided:
        return {}
    return {
        t("Model whose answers are shown"): protocol.aid_model or t("None"),
        t("When the model's answer is shown"): _value_label(protocol.aid),
        t("Parts of the model's answer that are shown"): value_in_words("", protocol.aid_shows),
        t("Introduction to the model's answers"): protocol.aid_text or t("None"),
        t("Cases without an answer from the model"): t("the study cannot be opened")
        if protocol.aid_missing == "refuse"
        else t("readers see “No answer from the model.”"),
        t("Planted errors"): str(protocol.aid_errors),
    }


def _group_lines(protocol: Protocol) -> Lines:
    """Return the settings of arms and incomplete blocks that the protocol has."""
    lines = {
        t("Readers per case"): protocol.reads_per_case,
        t("Cases per reader"): protocol.cases_per_reader,
        t("Cases read by everyone"): protocol.anchor,
    }
    arms = {
        t("Arm {arm} (share {n})", arm=arm.name, n=arm.share): ", ".join(
            _value_label(name) for name in protocol.of_arm(arm.name).conditions
        )
        for arm in protocol.arms
    }
    return {**{label: decimal(n) for label, n in lines.items() if n}, **arms}


def _rule_lines(protocol: Protocol) -> Lines:
    limit = protocol.time_limit_s
    return {
        t("Case order"): t("different for each reader")
        if protocol.case_order == "random"
        else t("the same for everyone"),
        t("Options"): t("shuffled") if protocol.option_order == "random" else t("as in the bank"),
        t("Confidence rating"): f"1–{protocol.confidence}"
        if protocol.confidence
        else t("not asked"),
        t("Comments"): value_in_words("comments", protocol.comments),
        t("Mark faulty questions"): value_in_words("fault_marks", protocol.fault_marks),
        t("Allow going back"): value_in_words("back_navigation", protocol.back_navigation),
        t("Allow “cannot answer”"): value_in_words("cannot_answer", protocol.cannot_answer),
        t("Time limit"): tn("{n} second", "{n} seconds", round(limit)) if limit else t("None"),
        t("Correct answer shown"): _value_label(protocol.feedback),
        t("Score card"): t("with other readers and models")
        if protocol.score_card == "peers"
        else t("own answers only"),
        t("Practice cases"): str(protocol.practice_cases),
        t("Break after"): tn("{n} case", "{n} cases", protocol.break_every)
        if protocol.break_every
        else t("No breaks offered"),
        t("Minimum window size"): " × ".join(map(str, protocol.smallest_window)) or t("No limit"),
        t("Display check"): value_in_words("display_check", protocol.display_check),
        t("Also in the export"): value_in_words("bundle_extras", protocol.bundle_extras),
        t("Shown beside the question"): value_in_words("context", protocol.context),
    }


def _endpoint_lines(protocol: Protocol) -> Lines:
    return {
        t("Primary endpoint"): _value_label(protocol.endpoint) or t("None declared"),
        t("Hypothesis"): _value_label(protocol.hypothesis) or t("None declared"),
        **(
            {t("Margin"): value_in_words("margin", protocol.margin)}
            if protocol.hypothesis == "non-inferiority"
            else {}
        ),
        t("Claim applies to"): _value_label(protocol.claim_about) or t("None declared"),
        t("Primary model"): protocol.primary_model or t("None declared"),
        t("Positive options"): value_in_words("positive", protocol.positive) or t("None declared"),
        t("Subgroups"): value_in_words("subgroups", protocol.subgroups) or t("None declared"),
        t("Options are ordered"): value_in_words("ordered_options", protocol.ordered_options),
        t("Groups of readers by experience"): tn(
            "below {n} year, and from {n} year",
            "below {n} years, and from {n} years",
            protocol.years_limit,
        )
        if protocol.years_limit
        else t("None"),
        t("Excluded readings"): t("left out of the primary analysis")
        if protocol.exclusions == "primary"
        else t("left out of a sensitivity analysis"),
        t("Accuracy shown while open"): value_in_words("interim_results", protocol.interim_results),
        **_sample_size_lines(protocol),
    }


def _sample_size_lines(protocol: Protocol) -> Lines:
    """Return the planned sample size in words, if there is one."""
    plan = protocol.sample_size
    if not plan.readers:
        return {}
    return {
        t("Sample size"): t(
            "{readers} readers and {cases} cases, power {power} % ({low} to {high} %) for a "
            "difference of {effect} percentage points",
            readers=plan.readers,
            cases=plan.cases,
            power=f"{100 * plan.power:.0f}",
            low=f"{100 * plan.power_low:.0f}",
            high=f"{100 * plan.power_high:.0f}",
            effect=decimal(100 * plan.effect, 1),
        )
    }


def positive_field(now: Sequence[str], key: str) -> list[str]:
    """Show the field for the positive options, one per line, and return them."""
    entered = st.text_area(
        t("Positive options"),
        value="\n".join(now),
        height=90,
        help=t(
            "One option in a line, as its letter or its text. Sensitivity and specificity are "
            "reported for questions that offer one of them. If left empty: questions with two "
            "options, where “yes”, “present” or the second option is positive."
        ),
        key=key,
    )
    lines = (line.strip() for line in entered.splitlines())
    return list(dict.fromkeys(line for line in lines if line))


def _metadata_lines(protocol: Protocol) -> dict[str, Lines]:
    """Return the section with the metadata; empty if there are none."""
    lines = _metadata_texts(protocol.metadata.as_json())
    return {t("About the study"): lines} if lines else {}


def _metadata_texts(texts: Mapping[str, str]) -> Lines:
    return {label: texts[key] for key, label in metadata_labels().items() if key in texts}


def metadata_fields(texts: Mapping[str, str], key: str) -> dict[str, str]:
    """Show a field for each text of the metadata; return those that are not empty."""
    entered = {
        name: st.text_area(
            label,
            value=texts.get(name, ""),
            max_chars=MAX_METADATA,
            height=80,
            key=f"{key}-{name}",
        )
        for name, label in metadata_labels().items()
    }
    return {name: text for name, text in entered.items() if text.strip()}


def _questions_html(protocol: Protocol) -> str:
    places = {entry.id: n for n, entry in enumerate(protocol.questionnaire, start=1)}
    rows = ""
    for entry in protocol.questionnaire:
        notes = [", ".join(entry.options) or entry.kind]
        if condition := entry.shown_if:
            notes.append(condition_text(places[condition.question], condition.answer))
        rows += f"<li>{escape(entry.question)} <small>({escape('. '.join(notes))})</small></li>"
    return f"<ol>{rows}</ol>"


def condition_text(number: int, answer: str) -> str:
    """Return in words when a question is put to a reader."""
    return t("Only after answer {answer} to question {n}", answer=quoted(answer), n=number)


def routes() -> list[Route]:
    """Return the download routes."""
    return [
        Route("/draft/protocol.toml", _download_draft, methods=["GET"]),
        Route("/study/protocol.toml", _download_study, methods=["GET"]),
    ]


async def _download_draft(request: Request) -> Response:
    draft = number(request.query_params.get("draft", ""))
    return await _protocol_response(
        request,
        Act.MAKE_STUDY,
        lambda _: as_toml(Protocol.from_json(drafts.find(store(), draft).protocol_values)),
    )


async def _download_study(request: Request) -> Response:
    return await _protocol_response(
        request, Act.SET_UP, lambda person: toml_of_study(store(), person.study_name)
    )


async def _protocol_response(request: Request, act: Act, text: Callable[[Person], str]) -> Response:
    return await answer(
        request,
        act,
        lambda person: Response(
            text(person), media_type="application/toml", headers=attachment("protocol.toml")
        ),
        t("Sign in with an account that can set up the study."),
    )
