"""Results with all tables that figures use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis import Options, Results
from analysis.statistics.accuracy.accuracy import accuracy
from analysis.statistics.accuracy.items import model_disagreements
from analysis.statistics.accuracy.missing import missing
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.agreement.with_truth import agreement_with_truth
from analysis.statistics.study import Study
from tests.unit.analysis.figures import tables

MakeResults = Callable[..., Results]


@pytest.fixture(scope="session")
def make_results() -> MakeResults:
    """Return a function that makes results for some readers and models."""

    def make(
        readers: tuple[str, ...] = tables.READERS,
        models: tuple[str, ...] = tables.MODELS,
        n: int = 60,
    ) -> Results:
        bundle = tables.study(readers=readers, models=models, n=n)
        study = Study(bundle, Options(bootstrap=10))
        made = {
            "accuracy": accuracy(study),
            "agreement_pairs": agreement_pairs(study),
            "agreement_with_truth": agreement_with_truth(study),
            "missing": missing(study),
            "model_disagreements": model_disagreements(study),
            "reader_panel": tables.reader_panel(models),
            "comparisons": tables.comparisons(readers, models),
            "agreement_groups": tables.agreement_groups(),
            "agreement_between": tables.agreement_between(),
            "times": tables.times(readers),
            "item_difficulty": tables.item_difficulty(len(readers), len(models)),
            "leaderboard": tables.leaderboard(readers, models),
        }
        return Results(
            bundle=bundle,
            options=study.options,
            tables=made,
            n_clusters=study.matrix.n_clusters,
            clustered=study.matrix.clustered,
        )

    return make


@pytest.fixture(scope="session")
def results(make_results: MakeResults) -> Results:
    """Return results of three readers and eight models."""
    return make_results()
