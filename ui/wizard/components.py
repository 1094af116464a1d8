"""The variance components for a sample size: a published set, a pilot study, or typed values."""

import tomllib
from collections.abc import Mapping
from typing import Any

import streamlit as st
import tomli_w
from streamlit.runtime.uploaded_file_manager import UploadedFile

from study.base.errors import StudyError
from study.base.translation import t
from ui.parts import actions
from ui.parts.forms import upload
from ui.parts.text import plain
from ui.server.file_jobs import begin_job, save_upload
from ui.server.job_view import outcome_of
from ui.server.pilots import Estimates, pilot_components_of
from ui.wizard.draft import WorkingDraft

PILOT, VALUES = "pilot", "values"


def chosen_components(
    working: WorkingDraft, base: Mapping[str, Any], comparison: str, *, arms: bool
) -> tuple[str, str, str]:
    """Show the fields for the variance components.

    Parameters
    ----------
    base
        The stored plan; empty if there is none.
    comparison
        ``panel`` or ``conditions``.
    arms
        Whether readers are divided among arms, which requires the variance between readers.

    Returns
    -------
    tuple of three str
        The name of a published set, or else the lines of a components file and their source. All
        are empty until a pilot is uploaded.
    """
    from analysis.planning import PUBLISHED

    labels = {
        "van-dyke": t("Published, Van Dyke 1993: MRI, AUC, 5 readers, 114 cases"),
        "zanca": t("Published, Zanca 2009: mammography, AUC, 4 readers, 200 cases"),
        PILOT: t("A pilot study (its exported bundle)"),
        VALUES: t("Values that I enter"),
    }
    names = [*PUBLISHED, PILOT, VALUES]
    published = [name for name in PUBLISHED if PUBLISHED[name].source in base.get("source", "")]
    first = published[0] if published else VALUES if base else names[0]
    chosen = str(
        st.selectbox(
            t("How much readers and cases vary"),
            names,
            index=names.index(first),
            format_func=lambda name: labels.get(name, name),
            help=t("Sample sizes rest on the variance components of an earlier, similar study."),
            key=working.key("components"),
        )
    )
    if chosen == PILOT:
        return ("", *_pilot_field(working, comparison))
    if chosen == VALUES:
        lines = _value_fields(working, base, comparison, arms=arms)
        return "", lines, str(base.get("source") or t("Components"))
    return chosen, "", ""


def _pilot_field(working: WorkingDraft, comparison: str) -> tuple[str, str]:
    """Return the components of an uploaded pilot, and their source; both empty without one."""
    file = upload(t("Bundle of the pilot"), types=["zip"], key=working.key("pilot"))
    if file is None:
        page = t("Close and export")
        st.caption(t("A bundle is exported on the page *{page}* of a closed study.", page=page))
        actions.show_last_report(_action_key(working))
        return "", ""
    estimates, refusal = _estimates_of(working, file, comparison)
    if refusal:
        st.error(plain(refusal))
        return "", ""
    metrics = [metric for metric, _, _ in estimates]
    labels = {"accuracy": t("accuracy"), "auc": t("AUC")}
    metric = st.segmented_control(
        t("Metric"),
        metrics,
        default=metrics[0],
        format_func=labels.__getitem__,
        key=working.key("pilot-metric"),
    )
    _, lines, source = next(
        (estimate for estimate in estimates if estimate[0] == metric), estimates[0]
    )
    values = tomllib.loads(lines)
    st.caption(
        t(
            "{readers} readers and {cases} cases of the pilot. They are stored in the protocol.",
            readers=values["readers"],
            cases=values["cases"],
        )
    )
    return lines, f"{source} ({file.name})"


def _estimates_of(
    working: WorkingDraft, file: UploadedFile, comparison: str
) -> tuple[Estimates, str]:
    """Read a pilot once for each comparison; return its components, or the reason for refusal."""
    read = working.key("pilot-read")
    request = file.file_id, comparison
    if st.session_state.get(read, (None,))[0] != request:
        estimates: Estimates = ()
        refusal = ""
        try:
            estimates = outcome_of(
                _action_key(working),
                lambda: begin_job(pilot_components_of, save_upload(file.name, file), comparison),
                t("Reading {file}", file=file.name),
                on_cancel=working.renew,
            )
        except StudyError as error:
            refusal = str(error)
        st.session_state[read] = request, estimates, refusal
    _, known, reason = st.session_state[read]
    return known, reason


def _action_key(working: WorkingDraft) -> str:
    return f"pilot-{working.id}"


def _value_fields(
    working: WorkingDraft, base: Mapping[str, Any], comparison: str, *, arms: bool
) -> str:
    """Show fields for the components, and return them as the lines of a components file."""
    stored = dict(base.get("components", {}))
    if stored and base["comparison"] != comparison:
        stored = {}
    metrics = {"accuracy": t("accuracy"), "auc": t("AUC")}
    metric = st.selectbox(
        t("Metric"),
        list(metrics),
        index=list(metrics).index(base.get("metric", "accuracy")),
        format_func=metrics.__getitem__,
        key=working.key("own-metric"),
    )
    values: dict[str, Any] = {"metric": metric, "cov1": 0.0, "cov3": 0.0}
    for key, label in _count_labels().items():
        n = int(stored.get(key, {"readers": 5, "cases": 100}[key]))
        values[key] = int(st.number_input(label, 2, 100_000, n, key=working.key(f"own-{key}")))
    for key, (label, default) in _variance_labels(comparison, arms=arms).items():
        known = stored.get(key, default)
        value = st.number_input(
            label,
            value=None if known is None else float(known),
            step=0.0001,
            format="%.6f",
            key=working.key(f"own-{comparison}-{key}"),
        )
        if value is not None:
            values[key] = float(value)
    keys = [key for key in ("own_df", "joint_df", "var_r") if key in stored and key not in values]
    values |= {key: stored[key] for key in keys}
    return tomli_w.dumps(values)


def _count_labels() -> dict[str, str]:
    return {
        "readers": t("Readers of that study"),
        "cases": t("Cases of that study"),
    }


def _variance_labels(comparison: str, *, arms: bool) -> dict[str, tuple[str, float | None]]:
    """Return the label and initial value of each variance; None for one that may be empty."""
    if comparison == "panel":
        return {
            "var_error": (t("Error variance of the difference, model minus one reader"), 0.0024),
            "cov2": (t("Error covariance of these differences, two readers"), 0.0012),
            "var_tr": (t("Variance of the readers' true differences from the model"), 0.001),
        }
    between = {"var_r": (t("Variance between readers (VarR)"), None)} if arms else {}
    return {
        "var_error": (t("Error variance of one reader's result (Var)"), 0.0012),
        "cov1": (t("Covariance: same reader, two conditions (Cov1)"), 0.0006),
        "cov2": (t("Covariance: two readers, same condition (Cov2)"), 0.0006),
        "cov3": (t("Covariance: two readers, two conditions (Cov3)"), 0.0005),
        "var_tr": (t("Variance of the readers' true gains (VarTR)"), 0.0002),
        **between,
    }
