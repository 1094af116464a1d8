"""The baseline: a plain implementation of a reader study in Streamlit.

It uses ``st.image`` for images and ``st.radio`` and ``st.button`` for answers, and stores answers
in a CSV file, or in SQLite if the file's name ends with ``.db``. It is not slowed down
artificially: images are read once per process.
"""

import csv
import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

BANK = Path(os.environ["BENCHMARK_BANK"])
ANSWERS = Path(os.environ["BENCHMARK_ANSWERS"])


@st.cache_data
def load_cases() -> list[dict[str, Any]]:
    """Return the cases in the bank."""
    return list(json.loads(BANK.read_text(encoding="utf-8")).values())


def load_film(path: Path) -> Image.Image | str:
    """Return the argument for ``st.image``: the file, or the upper 8 bits of a 16-bit film."""
    with Image.open(path) as film:
        if film.mode == "L":
            return str(path)
        return Image.fromarray((np.asarray(film) >> 8).astype(np.uint8))


def save(number: int, answer: str, started_s: float) -> None:
    """Append an answer to the file."""
    if ANSWERS.suffix == ".db":
        with closing(sqlite3.connect(ANSWERS)) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS answers (number, answer, seconds)")
            row = (number, answer, time.time() - started_s)
            connection.execute("INSERT INTO answers VALUES (?, ?, ?)", row)
        return
    with ANSWERS.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow([number, answer, time.time() - started_s])


def answered(number: int) -> None:
    """Store the answer and continue with the next case."""
    save(number, st.session_state[f"answer-{number}"], st.session_state.started_s)
    st.session_state.number = number + 1
    st.session_state.started_s = time.time()


st.set_page_config(layout="wide")
cases = load_cases()
number = st.session_state.setdefault("number", 0)
st.session_state.setdefault("started_s", time.time())
if number >= len(cases):
    st.success("Thank you. All cases have been read.")
    st.stop()
case = cases[number]
films, panel = st.columns([3, 1])
with films:
    for column, film in zip(st.columns(len(case["ImagePath"])), case["ImagePath"], strict=True):
        column.image(load_film(BANK.parent / film))
with panel:
    st.write(f"Case {number + 1} of {len(cases)}")
    answer = st.radio(case["question"], case["options"], index=None, key=f"answer-{number}")
    st.button("Next", disabled=answer is None, on_click=answered, args=(number,))
