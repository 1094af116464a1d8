"""Writes a protocol as the file the command line takes: read back, it is the same protocol."""

from typing import Any

import tomli_w

from study.protocol.protocol import Protocol, stored_protocol
from study.store import Store
from study.store.studies import study_row

_HEAD = "# The protocol of a reader study. What each key means: docs/protocol.md\n"


def of_study(store: Store, study: str) -> str:
    """Return the protocol in force of a study, as amended.

    Raises
    ------
    NotFound
        No such study.
    """
    with store.look() as look:
        return written(stored_protocol(study_row(look, study)))


def written(protocol: Protocol) -> str:
    """Return a protocol as TOML, every key with its value.

    >>> print(written(Protocol(cases=20)).splitlines()[2])
    cases = 20
    """
    values = protocol.in_full()
    # A carriage return within lines would be read as the end of a line, and be lost.
    return _HEAD + tomli_w.dumps(values, multiline_strings="\r" not in _texts(values))


def _texts(values: dict[str, Any]) -> str:
    return "".join(value for value in values.values() if isinstance(value, str)) + "".join(
        question["question"] + "".join(question["options"]) for question in values["questionnaire"]
    )
