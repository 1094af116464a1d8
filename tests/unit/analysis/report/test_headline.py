"""Every report begins with the verdict, raters, agreement and a figure, in this order."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis import Options, analyse
from analysis.figures.drawing.chart import Points
from analysis.report.content import report_content
from analysis.report.figures import overview_figure
from analysis.report.formats.page import report_page
from analysis.report.formats.pdf import prepare_template
from analysis.report.headline import agreement_lines, headline
from analysis.results import Results
from tests.unit.analysis.report.full_run import study

DECLARED_PROTOCOL = {
    "endpoint": "accuracy",
    "hypothesis": "non-inferiority",
    "margin": 0.05,
    "claim_about": "readers like these",
    "primary_model": "M2",
}


@pytest.fixture(scope="module")
def run() -> Results:
    """Return a run of three readers and four models, with a margin and without declaration."""
    results = analyse(replace(study(), protocol=DECLARED_PROTOCOL), Options(bootstrap=20))
    return replace(results, bundle=replace(results.bundle, protocol={}))


def _with_declared(run: Results, **protocol: object) -> Results:
    return replace(run, bundle=replace(run.bundle, protocol={**DECLARED_PROTOCOL, **protocol}))


def test_the_headline_has_the_values_of_the_tables(run: Results) -> None:
    """The table has accuracy, interval, difference, median time and missing answers, best first."""
    shown = headline(run).raters
    cells = {names[0].rater_id: row for names, row in shown.rows}
    accuracy = run.tables["accuracy"].query("by == 'overall' and group == 'micro'")
    assert set(accuracy["rater_id"]) == cells.keys() - {""}
    missing_table = run.tables["missing"].set_index("rater_id")
    times = run.tables["times"].query("by == 'overall'").set_index("rater_id")
    panel = run.tables["reader_panel"].query("metric == 'accuracy' and claim == 'these readers'")
    panel = panel.set_index("model_id")
    for row in accuracy.to_dict("records"):
        n, percent, difference, time, missing = cells[row["rater_id"]]
        assert n == str(row["n"])
        ends = [100 * row[c] for c in ("accuracy", "cluster_ci_low", "cluster_ci_high")]
        assert _numbers_in(percent) == pytest.approx(ends, abs=0.051)
        own_rows = missing_table.loc[row["rater_id"]]
        assert int(missing) == own_rows["n_assigned"] - own_rows["n_answered"]
        if row["rater_kind"] == "model":
            result = panel.loc[row["rater_id"]]
            ends = [100 * result[c] for c in ("difference", "ci_low", "ci_high")]
            assert _numbers_in(difference) == pytest.approx(ends, abs=0.051)
        else:
            assert difference == "–"
            assert float(time) == pytest.approx(times.loc[row["rater_id"], "median_ms"] / 1000)
    assert _numbers_in(cells[""][1]) == pytest.approx(
        [100 * panel["reader_mean"].iloc[0]], abs=0.051
    )
    order = [_numbers_in(row[1])[0] for names, row in shown.rows if names[0].rater_id[:1] == "M"]
    assert order == sorted(order, reverse=True)


def test_cases_assigned_to_other_readers_are_not_missing(run: Results) -> None:
    """If cases are divided among readers, only cases that were shown can be missing."""
    missing = run.tables["missing"].assign(n_absent=20, n_answered=39, n_skipped=1)
    missing_table = replace(run, tables={**run.tables, "missing": missing})
    shared = _with_declared(missing_table, reads_per_case=2)
    for results, of_readers in ((missing_table, "21"), (shared, "1")):
        table = headline(results).raters
        cells = {names[0].rater_id: row[-1] for names, row in table.rows if names[0].rater_id}
        assert {cells[f"R{n}"] for n in (1, 2, 3)} == {of_readers}
        assert cells["M1"] == "21", "a model answers every case"
    assert "of the cases that were shown" in headline(shared).raters.note


def test_a_model_without_conditions_is_compared_with_readers_under_each_condition() -> None:
    """For every condition the model has a row with a difference."""
    bundle = study(2, 2, 20, conditions=("aided", "unaided"))
    readings = bundle.readings
    models = readings["rater_id"].str.startswith("M")
    readings = readings.assign(condition=readings["condition"].where(~models, ""))
    results = analyse(replace(bundle, readings=readings), Options(bootstrap=5))
    panel = results.tables["reader_panel"].query("claim == 'these readers' and model_id == 'M1'")
    (row,) = (cells for names, cells in headline(results).raters.rows if names[0].rater_id == "M1")
    assert re.findall(r"(\w+): ", row[3]) == ["aided", "unaided"]
    words = [_numbers_in(part)[0] for part in row[3].split("; ")]
    assert words == pytest.approx(list(100 * panel["difference"]), abs=0.051)


def _numbers_in(cell: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+", cell.replace("\u2212", "-"))]


def test_agreement_is_the_mean_over_pairs(run: Results) -> None:
    """For groups, two coefficients with intervals follow."""
    (complete,) = agreement_lines(run)
    line, groups = complete.split(" Brennan-Prediger over all raters of a group: ")
    of_readers = run.tables["agreement_groups"].query("raters == 'readers' and scope == 'all'")
    for measure in ("brennan_prediger", "conger_kappa_letters"):
        row = of_readers.query(f"measure == '{measure}'")
        low, high = (f"{row[name].iloc[0]:.2f}" for name in ("ci_low", "ci_high"))
        estimate, n = f"{row['estimate'].iloc[0]:.2f}", row["n_items"].iloc[0]
        assert f"all readers {estimate}, 95 % CI {low} to {high}, n = {n}" in groups
    assert "Cohen's kappa for groups (Conger): all readers" in groups
    mixed = run.tables["agreement_between"].query("scope == 'all'").set_index("measure")
    for measure in ("brennan_prediger", "kappa_letters"):
        row = mixed.loc[[measure]]
        estimate, low, high = (
            f"{row[f'readers_models{end}'].iloc[0]:.2f}" for end in ("", "_low", "_high")
        )
        n = row["n_items"].iloc[0]
        assert f"a reader and a model {estimate}, 95 % CI {low} to {high}, n = {n}" in groups
    kappas, corrected = re.findall(r"(\d\.\d\d) \(", line), re.findall(r"\((\d\.\d\d)\)", line)
    pairs = run.tables["agreement_pairs"].query("scope == 'all' and measure == 'kappa_letters'")
    means = pairs.groupby("pair_kind")["estimate"].mean()
    expected = [means[kind] for kind in ("reader-reader", "model-model", "reader-model")]
    assert [float(kappa) for kappa in kappas] == pytest.approx(expected, abs=0.0051)
    between = run.tables["agreement_between"].query("scope == 'all'").set_index("measure")
    columns = ["among_readers", "among_models", "readers_models"]
    expected = between.loc["brennan_prediger", columns].tolist()
    assert [float(entry) for entry in corrected] == pytest.approx(expected, abs=0.0051)
    assert re.sub(r"[\d.() ]+", " ", line.split(": ")[1]).strip() == (
        "within readers, within models, between readers and models"
    )


def test_the_headline_includes_the_agreement_of_models_without_a_condition() -> None:
    """A bundle exported by the app has conditions for readers only."""
    bundle = study(2, 3, 20, conditions=("unaided",))
    readings = bundle.readings
    models = readings["rater_id"].str.startswith("M")
    readings = readings.assign(condition=readings["condition"].where(~models, ""))
    results = analyse(replace(bundle, readings=readings), Options(bootstrap=20))
    (line,) = agreement_lines(results)
    table = results.tables["agreement_groups"].query("raters == 'models' and scope == 'all'")
    for measure in ("brennan_prediger", "conger_kappa_letters"):
        (estimate,) = table.query(f"measure == '{measure}'")["estimate"]
        assert f"all models {estimate:.2f}, 95 % CI ".replace("-", "\u2212") in line


def test_without_a_declared_endpoint_there_is_no_verdict(run: Results) -> None:
    """A line states that no endpoint was declared, or which part of the declaration is missing."""
    (line,) = headline(run).verdicts
    assert (line.word, line.shown) == ("", False)
    assert line.text == "No endpoint was declared; all results are exploratory."
    for protocol, lacks in (
        ({"hypothesis": ""}, "as the endpoint, without a hypothesis"),
        ({"endpoint": ""}, "without an endpoint"),
    ):
        (line,) = headline(_with_declared(run, **protocol)).verdicts
        assert lacks in line.text
        assert not line.word


def test_a_declared_endpoint_is_stated_on_a_separate_line(run: Results) -> None:
    """The line has the declared claim, model and margin."""
    results = _with_declared(run)
    row = results.tables["reader_panel"].query(
        "metric == 'accuracy' and model_id == 'M2' and claim == 'readers like these'"
    )
    (line,) = headline(results).verdicts
    assert line.shown == bool(row["ci_low"].iloc[0] > -0.05)
    assert line.word.startswith("Non-inferior" if line.shown else "Non-inferiority not shown")
    assert "Model-2_x" in line.text
    assert "margin 5.0 points" in line.text
    assert _numbers_in(line.text)[2] == pytest.approx(100 * row["difference"].iloc[0], abs=0.051)
    (line,) = headline(_with_declared(run, primary_model="nobody")).verdicts
    assert line.word == "Not decided"
    assert "No model of that name" in line.text
    assert len(headline(_with_declared(run, primary_model="")).verdicts) == 4


def test_the_figure_has_the_same_raters_in_the_same_order_as_the_table(run: Results) -> None:
    """The figure shows their accuracies and the mean of the readers."""
    (figure,) = overview_figure(run)
    (panel,) = figure.chart.panels
    rows = [(names, cells) for names, cells in headline(run).raters.rows if names[0].rater_id]
    assert [tick.label.text for tick in panel.y.ticks] == [names[0].full for names, _ in rows]
    marks = {
        y: x
        for layer in panel.layers
        if isinstance(layer, Points)
        for x, y in zip(layer.x, layer.y, strict=True)
    }
    shown = [marks[float(i)] for i in range(len(rows))]
    assert shown == pytest.approx([_numbers_in(cells[1])[0] for _, cells in rows], abs=0.051)


def test_page_and_pdf_have_the_same_beginning(run: Results, tmp_path: Path) -> None:
    """The verdict, raters, agreement and figure precede the findings."""
    results = _with_declared(run)
    content = report_content(results, overview_figure(results))
    page = report_page(content)
    page = page[page.index('<div class="paper">') :]
    parts = ('class="verdict', "<table>", 'class="agreement"', "figure-overview", 'id="findings"')
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    template = prepare_template(content, tmp_path).read_text("utf-8")
    first = template[template.index("#let first-page") : template.index("#let findings-page")]
    places = [
        first.index(f"data.{part}") for part in ("verdicts", "raters", "agreement", "overview.file")
    ]
    assert places == sorted(places)
    assert np.all(np.diff(places) > 0)


def test_copied_sentences_have_no_invisible_characters(run: Results) -> None:
    """Names are in separate elements, so no invisible isolates are needed."""
    page = report_page(report_content(_with_declared(run), []))
    assert "\u2068" not in page[page.index('id="headline"') : page.index('id="tables"')]
