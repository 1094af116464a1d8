"""Draws and assignments of designs without an aid equal those of earlier versions.

The hashes were computed with the version before designs with an aid, arms and blocks.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from study.base.canonical import sha256_of
from study.store import Store, events
from study.store.events import EventKind
from tests.conftest import invite, open_trial

PROTOCOLS_AND_HASHES: list[tuple[Mapping[str, Any], str]] = [
    ({}, "361978c19cd7691aa99bb6e7c27b12fd1fa854d4079134184117750ba4edc013"),
    (
        {"conditions": ["unaided", "image-absent"]},
        "4b4e76a2f953825e7ee1b3cfe7defd790146bb7a78a27072adf1a42c3d6587c4",
    ),
    (
        {"conditions": ["image-absent", "unaided"], "sessions": 4, "hidden_repeats": 2},
        "13c1bb1075745de8ddd379d8d7c07e357aac58181623ef427379c5b23ea1faf5",
    ),
    (
        {
            "conditions": ["unaided", "open-ended", "image-absent"],
            "sessions": 3,
            "option_order": "random",
            "practice_cases": 2,
        },
        "3c238b55e3da39a7c3e3d9a60651439eddbb27bbca58cacf07ced7397b0824fe",
    ),
    (
        {"case_order": "fixed", "option_order": "random", "seed": -5, "allocation": "equal"},
        "ff636b04666c066da3ba8e43b6981631517dbda319fe4c672d45dd3397f8ab84",
    ),
    (
        {"sessions": 2, "hidden_repeats": 3, "stratify_by": ["sex", "view"], "confidence": 5},
        "15f4cad17c3a815a1cc8e63ac14153bf6c803862a764d4723794cef369253705",
    ),
]


@pytest.mark.parametrize(
    ("values", "digest"), PROTOCOLS_AND_HASHES, ids=range(len(PROTOCOLS_AND_HASHES))
)
def test_the_draw_of_an_earlier_design_is_byte_identical(
    banked: Store, values: Mapping[str, Any], digest: str
) -> None:
    """The protocol, cases, lists and practice lists are compared."""
    open_trial(banked, {"cases": 8, **values}, "R1", "R2", "R3")
    invite(banked, "late")
    with banked.look() as look:
        chain = events.study_chain("trial")
        (drawn,) = events.of_kind(look, chain, EventKind.STUDY_DRAWN)
        lists = events.of_kind(look, chain, EventKind.READER_ASSIGNED)
    hashes = [drawn["protocol_sha256"], drawn["cases_sha256"], drawn.get("practice_sha256", "")]
    for entry in lists:
        hashes += [entry["assignments_sha256"], entry.get("practice_sha256", "")]
    assert sha256_of(hashes) == digest
