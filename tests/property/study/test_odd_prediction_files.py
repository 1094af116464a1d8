"""Files of harnesses with unexpected values are read or refused, without other errors."""

import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.base.errors import StudyError
from study.models.predictions import columns_of, read_predictions

OPTIONS = ("Pneumothorax", "Pleural effusion", "Rib fracture", "No acute finding")
ITEMS = {"q1": OPTIONS, "q2": OPTIONS}

_SAMPLE = {
    "id": "q1",
    "epoch": 1,
    "metadata": {"item_id": "q1", "condition": "image", "shown_order": "CADB"},
    "output": {
        "completion": "ANSWER: B",
        "stop_reason": "stop",
        "choices": [{"message": {"content": [{"type": "text", "text": "B"}]}}],
        "error": None,
    },
    "error": None,
}
_LM_EVAL = {"doc_id": 1, "doc": {"item_id": "q1"}, "filter": "none", "filtered_resps": ["B"]}
FILES: dict[str, Any] = {
    "inspect.json": {"version": 2, "status": "success", "samples": [_SAMPLE]},
    "inspect.eval": {"header.json": {"status": "success"}, "samples/q1_epoch_1.json": _SAMPLE},
    "openai.jsonl": [
        {
            "custom_id": "q1",
            "response": {
                "status_code": 200,
                "body": {
                    "choices": [
                        {"message": {"content": "B", "refusal": None}, "finish_reason": "s"}
                    ]
                },
            },
            "error": None,
        }
    ],
    "responses.jsonl": [
        {
            "custom_id": "q1",
            "response": {
                "status_code": 200,
                "body": {
                    "output": [
                        {"type": "message", "content": [{"type": "output_text", "text": "B"}]}
                    ]
                },
            },
        }
    ],
    "anthropic.jsonl": [
        {
            "custom_id": "q1",
            "result": {
                "type": "succeeded",
                "message": {"content": [{"type": "text", "text": "B"}], "stop_reason": "end"},
            },
        }
    ],
    "gemini.jsonl": [
        {
            "key": "q1",
            "response": {
                "candidates": [{"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}],
                "promptFeedback": {"blockReason": ""},
            },
        }
    ],
    "lm-eval.jsonl": [{**_LM_EVAL, "resps": [["B"]]}],
    "likelihoods.jsonl": [{**_LM_EVAL, "resps": [[["-3.5", "False"]], [["-0.5", "True"]]]}],
    "leaderboard.json": {"q1": {"model_prediction": "B"}, "q2": {"model_prediction": "C"}},
    "list.json": [{"item_id": "q1", "output": "B", "confidence": 0.5, "run": 1}],
    "plain.jsonl": [
        {
            "item_id": "q1",
            "answer": "B",
            "probabilities": {"A": 0.1, "B": 0.9},
            "condition": "image",
            "shown_order": "CADB",
            "prompt": "Which?",
        }
    ],
}

_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, -1, 5, 10**400, -(10**400), 1e308, float("nan"), float("inf")),
        *("", "abc", "B", "\ud800", "\x00", "9" * 400, "NaN", "1e999", "[" * 200, " "),
        *([], {}, [[]], [None], {"": None}, {"A": []}, [5], ["B", ["C"]], {"text": {"text": 1}}),
    ]
)
_VALUES = st.one_of(
    _ODD,
    st.recursive(
        _ODD,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["id", "text", "output", "A", "\ud800"]), inner)
        ),
        max_leaves=5,
    ),
)


def _places(value: object, place: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    yield place
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in inner:
            yield from _places(entry, (*place, key))


def _with(value: Any, place: tuple[Any, ...], other: object) -> Any:
    if not place:
        return other
    copied = value.copy()
    copied[place[0]] = _with(value[place[0]], place[1:], other)
    return copied


def _content(name: str, value: Any) -> bytes:
    if name.endswith(".eval") and isinstance(value, dict):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for entry, inner in value.items():
                archive.writestr(entry or "empty", json.dumps(inner))
        return buffer.getvalue()
    if name.endswith(".jsonl") and isinstance(value, list):
        return "".join(json.dumps(entry) + "\n" for entry in value).encode()
    return json.dumps(value).encode()


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
def test_unexpected_values_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Examples are a number for a list, a number of 400 digits, and a lone surrogate."""
    value = FILES[name]
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from(sorted(_places(value), key=str)))
        value = _with(value, place, data.draw(_VALUES))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(_content(name, value))
        for read in (lambda: read_predictions(path, options=ITEMS), lambda: columns_of(path)):
            with suppress(StudyError):
                read()
