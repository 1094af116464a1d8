"""Results with every table that figures are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from analysis import Options, Results, analyse
from tests.unit.analysis.figures import tables

MakeResults = Callable[..., Results]


@pytest.fixture(scope="session")
def make_results() -> MakeResults:
    """Give a maker of results for some readers and models."""

    def make(
        readers: tuple[str, ...] = tables.READERS,
        models: tuple[str, ...] = tables.MODELS,
        n: int = 60,
    ) -> Results:
        bundle = tables.study(readers=readers, models=models, n=n)
        found = analyse(bundle, Options(bootstrap=10))
        more = {
            "reader_panel": tables.reader_panel(models),
            "comparisons": tables.comparisons(readers, models),
            "agreement_groups": tables.agreement_groups(),
            "agreement_between": tables.agreement_between(),
            "times": tables.times(readers),
            "item_difficulty": tables.item_difficulty(len(readers), len(models)),
            "leaderboard": tables.leaderboard(readers, models),
        }
        return replace(found, tables={**found.tables, **more})

    return make


@pytest.fixture(scope="session")
def results(make_results: MakeResults) -> Results:
    """Give the results of three readers and eight models."""
    return make_results()
