"""The sentences about groups of readers and about the use of a model's answers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.report.figures import report_figures
from analysis.report.findings import findings
from analysis.report.findings.finding import Theme
from analysis.report.tables import report_tables
from analysis.results import Results

READERS = [f"r{number}" for number in range(6)]
N_ITEMS = 80


def bundle() -> Bundle:
    """Return juniors who adopt a model's answers, and seniors who rarely do."""
    random = np.random.default_rng(3)
    items = pd.DataFrame({"item_id": [f"q{n:02}" for n in range(N_ITEMS)], "truth": "A"})
    aid = np.where(random.random(N_ITEMS) < 0.7, "A", "B")
    rows = []
    for number, reader in enumerate(READERS):
        adopts = 0.9 if number < 3 else 0.2
        for place, item in enumerate(items["item_id"]):
            own_answer = "A" if random.random() < (0.5 if number < 3 else 0.85) else "B"
            after = aid[place] if random.random() < adopts else own_answer
            shown = {
                "aid_model": "M",
                "aid_answer": aid[place],
                "aid_planted": str(int(place % 10 == 0)),
            }
            first = {
                "rater_id": reader,
                "item_id": item,
                "condition": "unaided",
                "answer": own_answer,
            }
            rows += [first, {**first, "condition": "aided", "answer": after, **shown}]
    raters = pd.DataFrame({"rater_id": READERS, "rater_kind": "reader"})
    raters["level"] = ["junior"] * 3 + ["senior"] * 3
    return bundle_from_tables(items.assign(n_options=2), pd.DataFrame(rows), raters)


@pytest.fixture(scope="module")
def results() -> Results:
    """Return the results of the study."""
    return analyse(bundle(), Options(bootstrap=200))


def finding_sentences(results: Results, theme: Theme) -> list[str]:
    """Return the sentences of a theme without the isolates around names."""
    return [
        finding.text.replace("\u2068", "").replace("\u2069", "")
        for finding in findings(results)
        if finding.theme is theme
    ]


def first_row(results: Results, name: str, **filters: str) -> pd.Series:
    """Return the first row of a table with these cells."""
    table = results.tables[name]
    for column, cell in filters.items():
        table = table[table[column] == cell]
    return table.iloc[0]


def as_percentage(value: float) -> str:
    """Write a proportion as the report does."""
    return f"{100 * value:.1f}".replace("-", "\u2212")


def test_groups_of_readers_are_compared_by_condition(results: Results) -> None:
    """The sentence states the readers and the mean of each group, and agrees with the interval."""
    aided, unaided, gain = finding_sentences(results, Theme.GROUPS)
    cells = first_row(results, "reader_groups", condition="unaided", by="overall")
    assert f"junior (3 readers, {as_percentage(cells['value_a'])} %)" in unaided
    assert f"senior (3 readers, {as_percentage(cells['value_b'])} %)" in unaided
    assert f"{as_percentage(-cells['difference'])} points lower" in unaided
    assert cells["ci_high"] < 0
    assert aided.startswith("Accuracy")
    change = first_row(results, "reader_groups_gain", metric="accuracy", by="overall")
    assert f"junior +{as_percentage(change['value_a'])} points" in gain
    assert (change["ci_low"] > 0) == ("points higher" in gain)


def test_groups_by_experience_are_named(results: Results) -> None:
    """An interval is never shown without its estimate."""
    tables = {
        name: results.tables[name].assign(factor="years", group_a="< 5", group_b=">= 5")
        for name in ("reader_groups", "reader_groups_gain")
    }
    texts = finding_sentences(replace(results, tables={**results.tables, **tables}), Theme.GROUPS)
    for text in texts:
        assert text.count("years of experience < 5 ") == 1
        assert text.count("years of experience >= 5 ") == 1


def test_comparisons_beyond_the_first_three_are_counted(results: Results) -> None:
    """Only the first three comparisons have a sentence."""
    table = pd.concat([results.tables["reader_groups"]] * 4, ignore_index=True)
    many = replace(results, tables={**results.tables, "reader_groups": table})
    texts = finding_sentences(many, Theme.GROUPS)
    assert texts[3] == "5 more comparisons of groups of readers are in the tables."


def test_the_use_of_model_answers_is_reported_with_numbers_and_intervals(results: Results) -> None:
    """The measures are corrected, misled, gain, complementarity, and adoption of planted errors."""
    (text,) = finding_sentences(results, Theme.RELIANCE)
    for measure in ("corrected", "misled"):
        cells = first_row(results, "reliance", rater_id="readers", planted="all", measure=measure)
        assert f"{as_percentage(cells['estimate'])} % (of {cells['n']}; 95 % CI" in text
    cells = first_row(results, "reliance", rater_id="readers", planted="yes", measure="misled")
    assert f"Planted errors misled readers in {as_percentage(cells['estimate'])} % (of" in text
    gain = first_row(results, "reliance", rater_id="readers", planted="all", measure="gain")
    sign = "+" if gain["estimate"] > 0 else ""
    assert f"with minus without: {sign}{as_percentage(gain['estimate'])} points" in text


@pytest.mark.thorough
def test_the_report_has_a_table_and_a_figure_of_reliance(results: Results) -> None:
    """The table has a row for each reader and for all; the figure has a panel for each measure."""
    (table,) = [table for table in report_tables(results) if table.name == "reliance"]
    assert [names[0].label for names, _ in table.rows[:2]] == ["r0", "r0"]
    assert len(table.rows) == 2 * (len(READERS) + 1)
    (figure,) = [f for f in report_figures(results) if f.name.startswith("reliance")]
    assert [panel.title for panel in figure.chart.panels] == [
        "corrected",
        "misled",
        "gain",
        "automation bias",
    ]
    for panel in figure.chart.panels:
        assert [tick.label.text for tick in panel.y.ticks][-1] == "All readers"


def test_the_caption_explains_points_without_an_interval(results: Results) -> None:
    """The explanation is omitted if the figure has no such point."""
    table = results.tables["reliance"]
    for limit, explained in ((np.nan, True), (0.1, False)):
        limits = table["ci_low"].fillna(0.0).mask(table["measure"] == "misled", limit)
        other = replace(results, tables={**results.tables, "reliance": table.assign(ci_low=limits)})
        (figure,) = [f for f in report_figures(other) if f.name.startswith("reliance")]
        assert ("Points without an interval" in figure.caption) is explained


def test_the_change_with_experience_is_stated_with_readers_and_interval(results: Results) -> None:
    """The change is stated per 10 years, in percentage points."""
    years = pd.DataFrame(
        [
            {
                "condition": "",
                "metric": "accuracy",
                "n_readers": 6,
                "n_items": 100,
                "difference": 0.043,
                "ci_low": 0.011,
                "ci_high": 0.075,
                "claim": "readers like these",
            }
        ]
    )
    texts = finding_sentences(
        replace(results, tables={**results.tables, "reader_years": years}), Theme.GROUPS
    )
    (text,) = [text for text in texts if "experience" in text]
    assert "per 10 years of experience" in text
    assert "6 readers" in text
    assert "4.3 points" in text
    assert "95 % CI 1.1 to 7.5" in text


@pytest.mark.parametrize("p_adjusted", [0.01, 0.2])
def test_differences_by_task_are_reported_only_after_adjustment(
    results: Results, p_adjusted: float
) -> None:
    """Tasks are named with the interval, or counted if no difference was shown."""
    tasks = results.tables["reader_groups"].query("metric == 'accuracy'").head(1)
    tasks = tasks.assign(by="task", group="detection", p_adjusted=p_adjusted)
    items = results.bundle.items
    items = items.assign(task=["detection" if n % 2 else "location" for n in range(len(items))])
    results = replace(
        results,
        bundle=replace(results.bundle, items=items),
        tables={**results.tables, "reader_groups_tasks": tasks},
    )
    texts = finding_sentences(results, Theme.GROUPS)
    names = [text for text in texts if "on detection minus other tasks" in text]
    assert len(names) == (p_adjusted < results.options.alpha)
    assert any(
        "shown to depend on the task in 1 comparison," in text for text in texts
    ) is not bool(names)
