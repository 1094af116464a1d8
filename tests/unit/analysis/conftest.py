"""Small bundles for tests of the analysis."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from analysis import Bundle, bundle_from_tables

MakeBundle = Callable[..., Bundle]


@pytest.fixture
def make_bundle() -> MakeBundle:
    """Return a function that makes a bundle from the correct answers and each rater's answers.

    A dot is a missing answer.

    Answers under a condition have the key (rater, condition).
    """

    def make(
        truth: str,
        answers: Mapping[str, str] | Mapping[tuple[str, str], str],
        *,
        models: tuple[str, ...] = (),
        **columns: object,
    ) -> Bundle:
        ids = [f"q{i:03d}" for i in range(len(truth))]
        items = pd.DataFrame({"item_id": ids, "truth": [c.strip(".") for c in truth]})
        items = items.assign(**{"n_options": 4, **columns})
        row_keys = [key if isinstance(key, tuple) else (key, "") for key in answers]
        readings = pd.DataFrame(
            [
                {
                    "rater_id": rater,
                    "condition": condition,
                    "item_id": item,
                    "answer": answer.strip("."),
                }
                for (rater, condition), values in zip(row_keys, answers.values(), strict=True)
                for item, answer in zip(ids, values, strict=True)
            ]
        )
        names = list(dict.fromkeys(rater for rater, _ in row_keys))
        kinds = ["model" if rater in models else "reader" for rater in names]
        raters = pd.DataFrame({"rater_id": names, "rater_kind": kinds})
        return bundle_from_tables(items, readings, raters)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two readers and three items."""
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
