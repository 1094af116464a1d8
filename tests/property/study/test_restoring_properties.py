"""Exporting a restored study gives the same bytes, for random studies."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from study.exchange.bundle import bundle_files
from study.exchange.restoring import IDENTICAL_FILES, restore
from study.trail.verification import verify
from tests.conftest import ACTING, number_of_examples
from tests.sites import close_trial, create_empty, create_site, export_bundle

_protocols = st.fixed_dictionaries(
    {
        "cases": st.integers(4, 8),
        "seed": st.integers(0, 2**40),
        "stratify_by": st.sampled_from([[], ["task"], ["sex"]]),
        "case_order": st.sampled_from(["random", "fixed"]),
        "option_order": st.sampled_from(["random", "canonical"]),
        "conditions": st.sampled_from([["unaided"], ["image-absent", "unaided"]]),
        "hidden_repeats": st.integers(0, 2),
        "back_navigation": st.booleans(),
        "practice_cases": st.integers(0, 2),
        "consent": st.sampled_from(["", "Do you agree?"]),
        "instructions": st.just(""),
    }
)


@settings(max_examples=number_of_examples(3), suppress_health_check=[HealthCheck.too_slow])
@given(_protocols, st.integers(1, 10**6), st.booleans())
def test_a_restored_study_equals_the_original(
    protocol: dict[str, Any], seed: int, closed: bool
) -> None:
    """Five files are byte-identical, the chain has the same start, and `verify` holds."""
    with tempfile.TemporaryDirectory() as folder:
        store = create_site(Path(folder) / "a", seed, **protocol)
        if closed:
            close_trial(store)
        target = create_empty(Path(folder) / "b", seed + 1)
        restore(target, export_bundle(store), acting=ACTING)
        first, again = bundle_files(store, "trial"), bundle_files(target, "trial")
        assert {name: again[name] for name in IDENTICAL_FILES} == {
            name: first[name] for name in IDENTICAL_FILES
        }
        assert again["audit.jsonl"].startswith(first["audit.jsonl"])
        assert verify(target) == []
