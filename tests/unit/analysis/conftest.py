"""Small bundles that the tests of the analysis share."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from analysis import Bundle, bundle_from_tables

MakeBundle = Callable[..., Bundle]


@pytest.fixture
def make_bundle() -> MakeBundle:
    """Give a maker of bundles from a key and one string of answers a rater; a dot is no answer."""

    def make(
        truth: str,
        answers: dict[str, str],
        *,
        models: tuple[str, ...] = (),
        **columns: object,
    ) -> Bundle:
        ids = [f"q{i:03d}" for i in range(len(truth))]
        items = pd.DataFrame({"item_id": ids, "truth": [c.strip(".") for c in truth]})
        items = items.assign(**{"n_options": 4, **columns})
        readings = pd.DataFrame(
            [
                {"rater_id": rater, "item_id": item, "answer": answer.strip(".")}
                for rater, given in answers.items()
                for item, answer in zip(ids, given, strict=True)
            ]
        )
        raters = pd.DataFrame(
            {
                "rater_id": list(answers),
                "rater_kind": ["model" if rater in models else "reader" for rater in answers],
            }
        )
        return bundle_from_tables(items, readings, raters)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with two readers and three items."""
    place = tmp_path / "bundle"
    place.mkdir()
    (place / "items.csv").write_text(
        "item_id,truth,n_options,task\nq1,A,4,x\nq2,B,4,x\nq3,C,4,y\n", encoding="utf-8"
    )
    (place / "readings.csv").write_text(
        "rater_id,item_id,answer\nR1,q1,A\nR1,q2,B\nR1,q3,A\nR2,q1,A\nR2,q2,D\nR2,q3,C\n",
        encoding="utf-8",
    )
    return place
