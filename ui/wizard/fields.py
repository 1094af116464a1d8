"""Fields of the steps: each shows one key of the protocol, and one sentence of what it means."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ui.wizard.draft import Working

Words = Mapping[Any, str]
"""What a value is called, by value, in the order they are offered."""


def choose(working: Working, key: str, label: str, words: Words, meaning: Words) -> None:
    """Let one of a few values be chosen; what the chosen one means stands beneath."""
    base = working.base[key]
    found = st.segmented_control(
        label,
        list(words),
        default=base if base in words else None,
        format_func=lambda one: words[one],
        required=True,
        key=working.key(key),
    )
    if found is not None:
        working.values[key] = found
    st.caption(meaning.get(working.values[key], ""))


def switch(working: Working, key: str, label: str, on: str, off: str) -> None:
    """Let something be turned on or off."""
    found = st.toggle(label, value=bool(working.base[key]), key=working.key(key))
    working.values[key] = bool(found)
    st.caption(on if found else off)


def count(
    working: Working,
    key: str,
    label: str,
    meaning: Callable[[int], str],
    *,
    low: int,
    high: int,
    step: int = 1,
) -> None:
    """Let a whole number be given; its meaning is told by its value."""
    base = working.base[key]
    sound = isinstance(base, int | float) and not isinstance(base, bool)
    shown = min(max(int(base), low), high) if sound else low
    found = st.number_input(
        label,
        min_value=low,
        max_value=high,
        value=shown,
        step=step,
        key=working.key(key),
    )
    # What came with a file, a fraction or beyond the field's range, stays until it is changed here.
    working.values[key] = base if sound and found == shown else int(found)
    st.caption(meaning(int(found)))


def several(working: Working, key: str, label: str, words: Words, meaning: str) -> None:
    """Let any of a few values be chosen, in the order they are offered."""
    base: Sequence[Any] = working.base[key] if isinstance(working.base[key], list) else []
    found = st.pills(
        label,
        list(words),
        default=[one for one in base if one in words],
        format_func=lambda one: words[one],
        selection_mode="multi",
        key=working.key(key),
    )
    chosen = [one for one in words if one in found]
    if set(chosen) != set(base):
        working.values[key] = chosen
    else:
        working.values[key] = list(base)
    st.caption(meaning)
