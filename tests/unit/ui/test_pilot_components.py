"""The components of a pilot that is uploaded in the wizard."""

import tomllib
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from analysis.bundle import bundle_from_tables
from analysis.planning import Comparison, pilot_components
from study.base.errors import BadFile
from ui.server import file_jobs
from ui.server.pilots import Estimates, pilot_components_of
from ui.wizard.components import _variance_labels


def _tables() -> dict[str, pd.DataFrame]:
    generator = np.random.default_rng(4)
    names, ids = ["M", "R1", "R2", "R3"], [f"q{i:02d}" for i in range(40)]
    answers = np.where(generator.random((4, 40)) < 0.7, "A", "B")
    return {
        "items.csv": pd.DataFrame({"item_id": ids, "truth": "A", "n_options": 4}),
        "readings.csv": pd.DataFrame(
            {"rater_id": np.repeat(names, 40), "item_id": ids * 4, "answer": answers.ravel()}
        ),
        "raters.csv": pd.DataFrame(
            {"rater_id": names, "rater_kind": ["model", "reader", "reader", "reader"]}
        ),
    }


def _zipped(tables: dict[str, pd.DataFrame], folder: str) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, table in tables.items():
            archive.writestr(folder + name, table.to_csv(index=False))
    return content.getvalue()


def _estimated(content: bytes, comparison: str) -> Estimates:
    """Return the components of an uploaded file, as the worker reads it."""
    kept = file_jobs.save_upload("pilot.zip", BytesIO(content))
    return file_jobs.begin_job(pilot_components_of, kept, comparison).outcome()


@pytest.mark.parametrize("folder", ["", "pilot/"])
def test_an_uploaded_bundle_has_the_components_of_the_analysis(folder: str) -> None:
    """The files may be in a folder of the archive."""
    tables = _tables()
    ((metric, lines, source),) = _estimated(_zipped(tables, folder), "panel")
    bundle = bundle_from_tables(
        *(tables[name] for name in ("items.csv", "readings.csv", "raters.csv"))
    )
    (expected,) = pilot_components(bundle, Comparison.PANEL)
    values = tomllib.loads(lines)
    assert (metric, source) == ("accuracy", "M against readers")
    for key in ("var_error", "cov2", "var_tr", "own_df", "joint_df"):
        assert values[key] == pytest.approx(getattr(expected, key))


def test_a_bundle_that_is_not_a_pilot_is_refused_with_a_message() -> None:
    """The comparison differs, or the file is not an archive or exceeds the budget."""
    deep = BytesIO()
    with zipfile.ZipFile(deep, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("items.csv", "item_id\n")
        archive.writestr("protocol.json", "[" * 10_000_000)
    for content, comparison, reason in (
        (_zipped(_tables(), ""), "conditions", "two conditions"),
        (b"no archive", "panel", "not a valid ZIP archive"),
        (deep.getvalue(), "panel", r"^(?!.*/tmp).+"),
    ):
        with pytest.raises(BadFile, match=reason):
            _estimated(content, comparison)


def test_only_designs_with_arms_ask_for_the_variance_between_readers() -> None:
    """Other designs of two conditions do not use it."""
    others = set(_variance_labels("conditions", arms=False))
    assert set(_variance_labels("conditions", arms=True)) - others == {"var_r"}
