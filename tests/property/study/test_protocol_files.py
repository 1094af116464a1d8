"""A protocol is unchanged after writing and reading its file."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.base.canonical import canonical_json
from study.base.errors import BadProtocol
from study.protocol.metadata import METADATA_KEYS
from study.protocol.protocol import Protocol, as_toml, faults_of, protocol_from, read_protocol

# A lone surrogate cannot be encoded in UTF-8.
_text = st.text(st.characters(codec="utf-8"), max_size=60)
_words = _text.filter(lambda text: bool(text.strip()))
_questions = st.lists(
    st.one_of(
        st.fixed_dictionaries({"question": _words, "kind": st.just("text")}),
        st.fixed_dictionaries({"question": _words, "kind": st.just("number")}),
        st.fixed_dictionaries(
            {
                "question": _words,
                "kind": st.just("choice"),
                "options": st.lists(_words, min_size=2, max_size=4, unique=True),
                "required": st.booleans(),
            }
        ),
    ),
    max_size=4,
).map(lambda result: [{"id": f"q{place}", **entry} for place, entry in enumerate(result)])

_arms = st.fixed_dictionaries(
    {"name": st.just("second")},
    optional={
        "conditions": st.sampled_from([["unaided"], ["aided", "unaided"]]),
        "share": st.integers(1, 3),
        "aid": st.sampled_from(["first", "after"]),
        "aid_text": _text,
        "instructions": _text,
    },
).map(lambda arm: [{"name": "first"}, arm])


@st.composite
def _values(draw: st.DrawFn) -> dict[str, Any]:
    cases = draw(st.integers(1, 400))
    values = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "name": _text,
                "seed": st.integers(-(2**63), 2**63 - 1),
                "stratify_by": st.sampled_from([["task"], ["sex", "view"]]),
                "allocation": st.sampled_from(["proportional", "equal"])
                | st.tuples(_text, _text).map(lambda two: {two[0]: cases, two[1] + "2": 0}),
                "one_question_per": st.sampled_from(["patient", "examination", "item"]),
                "option_order": st.sampled_from(["canonical", "random"]),
                "conditions": st.sampled_from([["unaided"], ["image-absent", "unaided"]]),
                "washout_days": st.integers(0, 90) | st.floats(0, 90),
                "confidence": st.sampled_from([False, 2, 5, 9]),
                "comments": st.booleans(),
                "time_limit_s": st.integers(0, 600) | st.floats(0, 600),
                "feedback": st.sampled_from(["never", "after study"]),
                "practice_cases": st.integers(0, 9),
                "hidden_repeats": st.integers(0, cases),
                "context": st.sampled_from([[], ["age"], ["sex", "age"]]),
                "age": st.sampled_from([[], [18, 90], [0, 0]]),
                "required_views": st.sampled_from([[], ["lateral", "frontal"]]),
                "without_items": st.lists(_words, max_size=3),
                "margin": st.floats(0, 1),
                "instructions": _text,
                "consent": _text,
                "questionnaire": _questions,
                "break_every": st.integers(0, 100),
                "interim_results": st.booleans(),
                "endpoint": st.sampled_from(["", "accuracy", "AUC"]),
                "claim_about": st.sampled_from(["", "these readers"]),
                "primary_model": _text,
                "positive": st.sampled_from([[], ["Yes", "E"]]),
                "subgroups": st.sampled_from([[], ["sex", "category"]]),
                "ordered_options": st.booleans(),
                "years_limit": st.integers(0, 80),
                "smallest_window": st.sampled_from([[], [1024, 700], [1, 10_000]]),
                "exclusions": st.sampled_from(["sensitivity", "primary"]),
                "score_card": st.sampled_from(["own", "peers"]),
                "aid": st.sampled_from(["first", "on demand", "after"]),
                "aid_shows": st.sampled_from([["answer"], ["map", "answer"]]),
                "aid_text": _text,
                "cases_per_reader": st.integers(0, cases),
                "anchor": st.integers(0, 3),
                "arms": st.just([]) | _arms,
                "metadata": st.dictionaries(st.sampled_from(METADATA_KEYS), _text),
            },
        )
    )
    aided = {"aid_model": "m"} if "aided" in str(values.get("arms", "")) else {}
    return {"cases": cases, **aided, **values}


@given(_values())
def test_a_protocol_is_the_same_after_writing_and_reading(values: dict[str, Any]) -> None:
    """All keys and the hash are compared."""
    if faults_of(values):
        return
    protocol = Protocol.from_json(values)
    second = protocol_from(as_toml(protocol), source="file")
    assert second == protocol
    assert canonical_json(second.as_json()) == canonical_json(protocol.as_json())
    assert Protocol.from_json(protocol.in_full()) == protocol


def test_a_protocol_file_is_the_same_after_reading(tmp_path: Path) -> None:
    """Line ends of other systems are kept."""
    protocol = Protocol(instructions="One\r\ntwo\rthree\n", consent='"""\\ end')
    path = tmp_path / "protocol.toml"
    path.write_bytes(as_toml(protocol).encode())
    assert read_protocol(path) == protocol


@given(st.dictionaries(st.sampled_from(list(Protocol().in_full())), st.text(max_size=3)))
def test_listed_errors_are_those_of_the_refusal(values: dict[str, Any]) -> None:
    """The page lists the errors for which the draw would be refused."""
    faults = faults_of(values)
    if not faults:
        assert Protocol.from_json(values)
        return
    with pytest.raises(BadProtocol) as refused:
        Protocol.from_json(values)
    assert [line.strip() for line in str(refused.value).splitlines()[1:]] == faults
