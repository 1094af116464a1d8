"""Published reference values from outside the checkout, and bundles made of their data."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from analysis import Bundle, bundle_from_tables

LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The folder of reference data and its expected values."""

    folder: Path

    def expected(self, case: str) -> dict[str, tuple[float, float]]:
        """Return statistic -> (expected, tolerance) of one case; `NA` is left out."""
        with (self.folder / "acceptance_values.csv").open(encoding="utf-8", newline="") as file:
            return {
                row["statistic"]: (float(row["expected"]), float(row["abs_tol"]))
                for row in csv.DictReader(file)
                if row["case"] == case and row["expected"] not in ("", "NA")
            }


@pytest.fixture(scope="session")
def reference() -> Reference:
    """Give the reference data; a checkout alone does not have them."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "reference"
    if not (folder / "acceptance_values.csv").is_file():
        pytest.skip("the reference data are missing (../shared/reference)")
    return Reference(folder=folder)


def bundle_of_table(table: Sequence[Sequence[int]]) -> Bundle:
    """Make a bundle of two raters' contingency table, one option set."""
    cells = [
        (LETTERS[i], LETTERS[j])
        for i, row in enumerate(table)
        for j, count in enumerate(row)
        for _ in range(count)
    ]
    ids = [f"q{i:05d}" for i in range(len(cells))]
    items = pd.DataFrame({"item_id": ids, "n_options": len(table), "option_set": "all"})
    readings = pd.DataFrame(
        [
            {"rater_id": rater, "item_id": item, "answer": pair[place]}
            for place, rater in enumerate(("R1", "R2"))
            for item, pair in zip(ids, cells, strict=True)
        ]
    )
    return bundle_from_tables(items, readings)
