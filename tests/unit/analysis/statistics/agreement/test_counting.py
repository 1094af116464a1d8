"""Two ways of counting the answers of pairs give the same result."""

import numpy as np
import pytest

from analysis.readings.matrix import reading_matrix
from analysis.statistics.agreement.pairs import counts as module
from analysis.statistics.agreement.pairs.counts import NO_TRUTH, count_pairs, pairs_of
from tests.unit.analysis.conftest import MakeBundle


def test_counting_by_sets_of_items_equals_counting_by_pairs(
    make_bundle: MakeBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items without reference standard, missing answers and different numbers of options occur."""
    rng = np.random.default_rng(4)
    answers = {rater: "".join(rng.choice(list("ABCD."), 150)) for rater in ("R1", "R2", "M1")}
    bundle = make_bundle(
        "".join(rng.choice(list("ABCD."), 150)),
        answers,
        models=("M1",),
        n_options=[4 + i % 2 for i in range(150)],
    )
    matrix = reading_matrix(bundle)
    pairs, items = pairs_of(matrix.columns), np.arange(150)
    result = []
    for limit in (1, 10**9):
        monkeypatch.setattr(module, "FEWEST_ITEMS_FOR_SETS", limit)
        result.append(count_pairs(matrix, pairs, items, 2 * (items % 2), 3))
    for name in ("letters", "outcomes", "options"):
        by_sets, by_pairs = (getattr(each, name) for each in result)
        assert (by_sets == by_pairs).all()
        assert (by_sets[:, 1] == 0).all()
    assert result[0].outcomes[..., NO_TRUTH].any()
