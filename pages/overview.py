"""The coordinator's overview: how far each reader is, and the export."""

import pandas as pd
import streamlit as st

from study.errors import StudyError
from study.progress import status
from study.roles import Act
from ui.access import guard
from ui.deployment import store
from ui.forms import bundle_link
from ui.masthead import masthead
from ui.text import plain

person = guard(Act.WATCH)


def _readers(found: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Reader": [row["reader_id"] for row in found],
            "Simulated": ["simulated" if row["simulated"] else "" for row in found],
            "Progress": [_share(row) for row in found],
            "Read": [f"{row['n_read']} of {row['n_assigned']}" for row in found],
            "Answered": [row["n_answered"] for row in found],
            "Given up": [row["n_skipped"] for row in found],
            "Timed out": [row["n_timed_out"] for row in found],
            "Last reading (UTC)": [_last(row) for row in found],
        }
    )


def _share(row: dict[str, object]) -> float:
    assigned = int(str(row["n_assigned"]))
    return 100 * int(str(row["n_read"])) / assigned if assigned else 0.0


def _last(row: dict[str, object]) -> str:
    """Return when a reader last read; a simulated reader's clock says nothing."""
    stamp = row["last_reading_at_utc"]
    return str(stamp)[:16].replace("T", " ") if stamp and not row["simulated"] else ""


def _models(found: list[dict[str, object]], n_cases: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Model": [row["model_id"] for row in found],
            "Simulated": ["simulated" if row["simulated"] else "" for row in found],
            "Version": [row["model_version"] for row in found],
            "Predicted": [f"{row['n_predicted']} of {n_cases}" for row in found],
            "Unparsed": [row["n_unparsed"] for row in found],
            "Absent": [row["n_absent"] for row in found],
        }
    )


@st.fragment(run_every=10)
def _progress() -> None:
    guard(Act.WATCH)
    try:
        found = status(store(), person.study_name)
    except StudyError as error:
        st.error(str(error))
        return
    n_done = sum(row["n_read"] for row in found["readers"])
    n_all = sum(row["n_assigned"] for row in found["readers"])
    for column, (label, value) in zip(
        st.columns(4),
        (
            ("State", found["state"]),
            ("Cases", found["n_cases"]),
            ("Readers", len(found["readers"])),
            ("Readings", f"{n_done} of {n_all}"),
        ),
        strict=True,
    ):
        column.metric(label, value, border=True)
    st.subheader("Readers")
    st.dataframe(
        _readers(found["readers"]),
        hide_index=True,
        column_config={
            "Progress": st.column_config.ProgressColumn(
                min_value=0, max_value=100, format="%.0f %%"
            )
        },
    )
    if found["models"]:
        st.subheader("Models")
        st.dataframe(_models(found["models"], found["n_cases"]), hide_index=True)
    films = "simulated radiographs; " if found["simulated_films"] else ""
    st.caption(
        f"Bank {plain(found['bank'])}; {films}conditions {', '.join(found['conditions'])}; "
        f"protocol {found['protocol_sha256']}"
    )


masthead(person)
st.title(plain(person.study_name))
_progress()
st.subheader("Export")
st.write(
    "The bundle holds every item, rater and reading with its times, the protocol and the chain of "
    "events. The analysis needs nothing else."
)
bundle_link()
