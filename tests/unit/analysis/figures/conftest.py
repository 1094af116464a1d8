"""Results with the tables that figures use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis import Options, Results
from tests.unit.analysis.figures import tables

MakeResults = Callable[..., Results]

TABLES = (
    "accuracy",
    "agreement_between",
    "agreement_groups",
    "agreement_pairs",
    "agreement_with_truth",
    "comparisons",
    "item_difficulty",
    "leaderboard",
    "missing",
    "model_disagreements",
    "reader_panel",
    "times",
)


@pytest.fixture(scope="session")
def make_results() -> MakeResults:
    """Return a function that makes the results of a study with these readers and models."""

    def make(
        readers: tuple[str, ...] = tables.READERS,
        models: tuple[str, ...] = tables.MODELS,
        n: int = 60,
    ) -> Results:
        bundle = tables.study(readers=readers, models=models, n=n)
        return tables.results(bundle, Options(bootstrap=10, margin=0.05), TABLES)

    return make


@pytest.fixture(scope="session")
def results(make_results: MakeResults) -> Results:
    """Return results of three readers and eight models."""
    return make_results()
