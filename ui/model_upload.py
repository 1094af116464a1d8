"""Adding a model: the form, what was kept of its file, every fault of a file that was refused."""

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from study.acts import By
from study.errors import StudyError
from study.models import Added, add_model
from study.store import Store
from study.words import t, tn
from ui.text import plain
from ui.uploads import on_disk, upload

_TOLD = "model-added"
_ENDINGS = ["json", "jsonl", "csv"]


def model_form(store: Store, study: str, by: By) -> None:
    """Show the form, and what came of what was handed in last."""
    with st.form("model", clear_on_submit=False):
        file = upload(t("Predictions"), types=_ENDINGS, key="model-file")
        left, right = st.columns(2)
        name = left.text_input(t("Model"), max_chars=100, key="model-name")
        version = right.text_input(t("Version"), max_chars=100, key="model-version")
        asked = st.form_submit_button(t("Add the model"), key="model-add")
    if not asked:
        _tell(st.session_state.get(_TOLD))
        return
    st.session_state.pop(_TOLD, None)
    if file is None:
        st.error(t("Choose a file with the model's predictions."))
        return
    try:
        with on_disk(file.name, file.getvalue()) as path:
            added = add_model(
                store,
                path,
                study=study,
                model_id=name.strip(),
                model_version=version.strip(),
                by=by,
                now=datetime.now(UTC),
            )
    except StudyError as error:
        _refused(str(error))
        return
    st.session_state[_TOLD] = added
    _tell(added)


def _refused(why: str) -> None:
    """Show a refusal; where it lists faults, every one of them in a line of its own."""
    first, *faults = why.splitlines()
    st.error(plain(first))
    if faults:
        st.caption(tn("{n} fault", "{n} faults", len(faults)))
        with st.container(height=min(420, 60 + 28 * len(faults))):
            st.code("\n".join(faults), language=None, wrap_lines=True)


def _tell(added: Added | None) -> None:
    if added is None:
        return
    counts = added.by_status
    st.success(
        plain(
            t(
                "{model} was added: of {n} cases {answered} answered, {unparsed} unparsed, "
                "{refused} refused, {skipped} left empty, {absent} absent. {other} entries are for "
                "items outside the study.",
                model=added.model_id,
                n=added.n_cases,
                answered=counts.get("answered", 0),
                unparsed=counts.get("unparsed", 0),
                refused=counts.get("refused", 0),
                skipped=counts.get("skipped", 0),
                absent=added.n_absent,
                other=added.n_not_drawn,
            )
        )
    )
    for note in added.notes:
        st.markdown(plain(t("Note: {note}", note=note)))


def model_table(found: list[dict[str, Any]], n_cases: int) -> pd.DataFrame:
    """Return a study's models with what was kept of each; nothing of right or wrong."""
    return pd.DataFrame(
        {
            t("Model"): [
                t("{model} (simulated)", model=row["model_id"])
                if row["simulated"]
                else row["model_id"]
                for row in found
            ],
            t("Version"): [row["model_version"] for row in found],
            t("Cases"): [n_cases for _ in found],
            t("Answered"): [row["n_answered"] for row in found],
            t("Unparsed"): [row["n_unparsed"] for row in found],
            t("Refused"): [row["n_refused"] for row in found],
            t("Left empty"): [row["n_skipped"] for row in found],
            t("Absent"): [row["n_absent"] for row in found],
        }
    )
