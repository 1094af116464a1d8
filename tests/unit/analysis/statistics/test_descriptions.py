"""The descriptions of statistics agree with their tables and with each other."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, bundle_from_tables
from analysis.registry import STATISTICS, analyse
from analysis.report.content import SECTION_TITLES
from analysis.report.methods import methods
from analysis.report.methods.sources import ALWAYS_CITED, cited_keys, method_references
from analysis.statistics.statistic import TEXT
from analysis.statistics.study import Study
from tests import table_reference
from tests.unit.analysis.report.full_run import full_run, study


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    """Return readers under two conditions and models with confidence: most tables have rows."""
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"item_id": [f"q{i}" for i in range(24)], "task": ["x", "y"] * 12})
    items = items.assign(
        truth="A", n_options=2, bank=["one", "two"] * 12, patient_id=np.arange(24) // 2
    )
    rows = [
        {"rater_id": rater, "condition": condition, "item_id": item, "position": place}
        | {"answer": str(rng.choice(["A", "B"])), "response_ms": 1000 + int(rng.integers(2000))}
        | {"confidence": 0.5 if rater.startswith("M") else ""}
        for rater in ("R1", "R2", "M1", "M2")
        for condition in (("aided", "unaided") if rater.startswith("R") else ("aided",))
        for place, item in enumerate(items["item_id"])
    ]
    kinds = {"rater_id": ["R1", "R2", "M1", "M2"], "rater_kind": ["reader"] * 2 + ["model"] * 2}
    return bundle_from_tables(items, pd.DataFrame(rows), pd.DataFrame(kinds))


def test_each_table_has_the_columns_of_its_description(bundle: Bundle) -> None:
    """Columns contain text or numbers as described."""
    tables = analyse(bundle, Options(bootstrap=20, confidence="answer")).tables
    for statistic in STATISTICS:
        table = tables.get(statistic.name)
        if table is None:
            continue
        assert list(table.columns) == statistic.header, statistic.name
        for name, _, unit in statistic.columns:
            if table[name].notna().any() and unit != "yes or no":
                is_text = not pd.api.types.is_numeric_dtype(table[name].dropna().infer_objects())
                assert is_text == (unit == TEXT), (statistic.name, name)


def test_a_table_without_rows_has_the_columns_of_its_description() -> None:
    """One answer to one question leaves most tables without rows."""
    items = pd.DataFrame({"item_id": ["q"], "truth": ["A"]})
    readings = pd.DataFrame({"rater_id": ["R"], "item_id": ["q"], "answer": ["A"]})
    smallest = Study(bundle_from_tables(items, readings), Options(bootstrap=1))
    for statistic in STATISTICS:
        assert list(smallest.table(statistic.compute).columns) == statistic.header, statistic.name


def test_descriptions_explain_rows_and_columns() -> None:
    """Each description is a sentence, which the data dictionary prints."""
    for statistic in STATISTICS:
        assert statistic.meaning.endswith("."), statistic.name
        for column in statistic.columns:
            assert column.meaning.endswith("."), (statistic.name, column.name)
            assert "|" not in column.meaning, (statistic.name, column.name)


def test_names_and_places_of_statistics_are_unique() -> None:
    """No two parts of the report have the same place."""
    assert not _repeated(statistic.name for statistic in STATISTICS)
    assert not _repeated(p for s in STATISTICS for p in s.tables)
    assert not _repeated(p for s in STATISTICS for p in s.figures)
    assert not _repeated(p for s in STATISTICS for p in s.methods)


def _repeated(values: Iterable[object]) -> list[object]:
    return [value for value, n in Counter(values).items() if n > 1]


def test_the_methods_cite_all_sources_of_statistics() -> None:
    """All keys in the text have a source."""
    cited = method_references()
    known = {reference.key for reference in cited}
    assert set(ALWAYS_CITED) <= known
    for statistic in STATISTICS:
        texts = [m.text for m in statistic.methods.values() if isinstance(m.text, str)]
        assert set(cited_keys(texts)) <= known, statistic.name
        own = {reference.key for reference in cited if reference.source in statistic.sources}
        assert not texts or own <= set(cited_keys(texts)), statistic.name
    run = full_run(study(conditions=("aided", "unaided")))
    assert set(cited_keys(part.text for part in methods(run))) <= known


def test_every_figure_belongs_to_a_section() -> None:
    """A section unknown to the report would have no heading."""
    run = full_run(study())
    figures = [
        figure
        for statistic in STATISTICS
        if run.has(statistic.name)
        for part in statistic.figures.values()
        for figure in part(run, "")
    ]
    assert figures
    assert {figure.section for figure in figures} <= set(SECTION_TITLES)


def test_the_data_dictionary_is_up_to_date() -> None:
    """docs/tables.md equals the output of `make docs-tables`."""
    text = table_reference.DOCUMENT.read_text("utf-8")
    assert text == table_reference.document(), "Run: make docs-tables"
