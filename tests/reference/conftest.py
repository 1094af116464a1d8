"""Published reference values, and bundles made of their data.

`data/` has the expected numbers (`acceptance_values.csv`) and small published tables. The readings
of two ROC studies, Van Dyke's and that of a CAD system, come with packages under the GPL and are
not part of the project: `data/merits.json` has the readers' figures of merit with their covariances
instead. Where `../shared/reference` has the readings, `test_raw_readings.py` computes these again.
"""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, bundle_from_tables
from analysis.statistics.mrmc import Merits

LETTERS = "ABCDEFGHIJ"
DATA = Path(__file__).parent / "data"
RAW_READINGS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "mrmc"
HAS_RAW_READINGS = (RAW_READINGS / "vandyke.csv").is_file()
collect_ignore = [] if HAS_RAW_READINGS else ["test_raw_readings.py"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The folder of reference data and its expected values."""

    folder: Path

    def expected(self, case: str) -> dict[str, tuple[float, float]]:
        """Return the expected value and tolerance of each statistic of a case."""
        with (self.folder / "acceptance_values.csv").open(encoding="utf-8", newline="") as file:
            return {
                row["statistic"]: (float(row["expected"]), float(row["abs_tol"]))
                for row in csv.DictReader(file)
                if row["case"] == case
            }

    def tables(self, name: str) -> Any:
        """Return small published tables: `two raters`, `fce1969` or `paired`."""
        return json.loads((self.folder / "tables.json").read_text("utf-8"))[name]

    def merits(self, name: str) -> Merits:
        """Return the figures of merit of a study's raters, with their covariances."""
        stored = json.loads((self.folder / "merits.json").read_text("utf-8"))[name]
        rows = stored["covariance"]
        lower = np.array([[*row, *[0.0] * (len(rows) - len(row))] for row in rows])
        covariance = lower + np.tril(lower, -1).T
        return Merits(values=np.array(stored["values"]), covariance=covariance)


@pytest.fixture(scope="session")
def reference() -> Reference:
    """Return the reference data."""
    return Reference(folder=DATA)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report that readings from outside the project are missing."""
    if not HAS_RAW_READINGS:
        terminalreporter.write_line(
            "tests/reference/test_raw_readings.py was not collected: the readings of two published"
            " studies (../shared/reference/mrmc) are missing; their stored figures were used"
        )


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
