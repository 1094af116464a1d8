"""The declared endpoint is the first finding and has the only verdict."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from analysis.options import Options
from analysis.report.checklists import checklists
from analysis.report.content import report_content
from analysis.report.figures import report_figures
from analysis.report.findings import findings
from analysis.report.findings.endpoint import endpoint_findings, verdict_lines
from analysis.report.findings.finding import Theme
from analysis.report.findings.sample_size import sample_size_findings
from analysis.report.methods import methods
from analysis.report.methods.sources import provenance
from analysis.report.tables import report_tables
from analysis.results import Results
from tests.unit.analysis.report.full_run import ANALYSIS_CHOICES, CLAIMS, full_run, panel_row, study

DECLARED_PROTOCOL: dict[str, Any] = {
    "endpoint": "accuracy",
    "hypothesis": "non-inferiority",
    "margin": 0.05,
    "claim_about": CLAIMS[0],
    "primary_model": "",
}


@pytest.fixture(scope="module")
def run() -> Results:
    """Return a run with every table, without a margin from an option."""
    return full_run(study(), Options(bootstrap=20))


def _with_rows(
    run: Results,
    protocol: dict[str, Any],
    *rows: dict[str, Any],
    p: float = 0.001,
    others: list[dict[str, Any]] | None = None,
    margin: float | None = None,
    score_p: float | None = None,
    p_superior: float = 0.001,
) -> Results:
    panel = [panel_row(**row) for row in rows]
    adjusted = [{**row, "p_adjusted": p, "p_noninferior_adjusted": p} for row in panel]
    choices = [{**panel[0], "analysis": ANALYSIS_CHOICES[0], **other} for other in others or []]
    tables = {
        "reader_panel": pd.DataFrame(panel),
        "panel_adjusted": pd.DataFrame(adjusted),
        "sensitivity_panel": pd.DataFrame(choices),
        "noninferiority": pd.DataFrame(
            []
            if score_p is None
            else [
                {**row, "p": score_p, "p_adjusted": score_p, "p_superior": p_superior}
                for row in panel
            ]
        ),
    }
    return replace(
        run,
        bundle=replace(run.bundle, protocol=protocol),
        options=replace(run.options, margin=margin),
        tables={**run.tables, **tables},
    )


def _finding_text(results: Results, theme: Theme = Theme.ENDPOINT) -> str:
    if theme is Theme.ENDPOINT:  # the other findings would take most of the time
        written = [*endpoint_findings(results), *sample_size_findings(results)]
    else:
        written = findings(results)
    texts = [finding.text for finding in written if finding.theme is theme]
    return " ".join(texts).replace("\u2068", "").replace("\u2069", "")


INTERVAL_ABOVE_MARGIN = {"ci_low": -0.04, "ci_high": 0.1, "difference": 0.03}
INTERVAL_ACROSS_MARGIN = {"ci_low": -0.06, "ci_high": 0.1, "difference": 0.02}


def test_the_declared_endpoint_is_the_first_finding(run: Results) -> None:
    """The first sentence names endpoint, model, margin and claim, and the verdict follows."""
    results = _with_rows(
        run, {**DECLARED_PROTOCOL, "primary_model": "Model-1_x"}, INTERVAL_ABOVE_MARGIN
    )
    assert findings(results)[0].theme is Theme.ENDPOINT
    assert _finding_text(results).startswith(
        "Declared before reading: non-inferiority of Model-1_x, the primary model, to these"
        " readers in accuracy, with a margin of 5.0 points."
    )
    assert "Non-inferior: Model-1_x (83.8 %: +3.0 points, 95 % CI −4.0 to 10.0)." in _finding_text(
        results
    )
    assert "Non-inferiority not shown: Model-1_x" in _finding_text(
        _with_rows(run, {**DECLARED_PROTOCOL, "primary_model": "Model-1_x"}, INTERVAL_ACROSS_MARGIN)
    )


def test_only_the_declared_claim_and_the_primary_model_have_a_verdict(run: Results) -> None:
    """Results for other models and the other claim are exploratory for any interval."""
    rows = [
        {**INTERVAL_ABOVE_MARGIN, "model_id": model, "claim": claim}
        for model in ("M1", "M2")
        for claim in CLAIMS
    ]
    results = _with_rows(run, {**DECLARED_PROTOCOL, "primary_model": "M2"}, *rows)
    assert _finding_text(results).count("points, 95 % CI") == 1
    assert "Non-inferior: Model-2_x (" in _finding_text(results)
    rest = " ".join(
        str(finding) for finding in findings(results) if finding.theme is not Theme.ENDPOINT
    )
    assert "inferior" not in rest.lower()
    assert "what follows is exploratory" in rest


def test_non_inferiority_needs_the_score_test_and_the_interval(run: Results) -> None:
    """If accuracies are near 100 %, the t interval alone clears the margin too often."""
    protocol = {**DECLARED_PROTOCOL, "primary_model": "M1"}
    shown, missed = (
        _finding_text(_with_rows(run, protocol, INTERVAL_ABOVE_MARGIN, score_p=p))
        for p in (0.024, 0.026)
    )
    assert "Non-inferior: Model-1_x (83.8 %: +3.0 points, 95 % CI −4.0 to 10.0, score te" in shown
    assert "score test p 0.024)" in shown
    assert "Non-inferiority not shown by the score test: Model-1_x" in missed
    assert "Non-inferiority not shown: Model-1_x" in _finding_text(
        _with_rows(run, protocol, INTERVAL_ACROSS_MARGIN, score_p=0.001)
    )


INTERVAL_ABOVE_ZERO = {"ci_low": 0.01, "ci_high": 0.1, "difference": 0.05}


def test_superiority_is_concluded_only_after_non_inferiority(run: Results) -> None:
    """In this fixed order, an interval above 0 counts only if both tests clear the margin."""
    protocol = {**DECLARED_PROTOCOL, "primary_model": "M1"}
    assert "Non-inferior, and superior: Model-1_x" in _finding_text(
        _with_rows(run, protocol, INTERVAL_ABOVE_ZERO)
    )
    both = _finding_text(_with_rows(run, protocol, INTERVAL_ABOVE_ZERO, score_p=0.03))
    assert "superior:" not in both
    assert "not shown by the score test: Model-1_x" in both


@pytest.mark.parametrize(
    ("hypothesis", "score_p", "p_superior", "verdict"),
    [
        ("non-inferiority", 0.011, 0.024, "Non-inferior, and superior: Model-1_x"),
        ("non-inferiority", 0.024, 0.026, "Non-inferior: Model-1_x"),
        ("non-inferiority", 0.026, 0.061, "Non-inferiority not shown{by}: Model-1_x"),
        ("superiority", 0.011, 0.024, "Superior: Model-1_x"),
        ("superiority", 0.024, 0.026, "Superiority not shown{by}: Model-1_x"),
    ],
)
@pytest.mark.parametrize(
    ("metric", "by", "name"),
    [
        ("accuracy", " by the score test", "score test"),
        ("auc", " on the logit scale", "on the log"),
    ],
)
def test_a_verdict_near_the_ceiling_needs_the_score_test_and_the_interval(
    run: Results,
    hypothesis: str,
    score_p: float,
    p_superior: float,
    verdict: str,
    metric: str,
    by: str,
    name: str,
) -> None:
    """In every row the t interval is above 0, so the verdict depends on the tests."""
    protocol = {
        **DECLARED_PROTOCOL,
        "endpoint": {"accuracy": "accuracy", "auc": "AUC"}[metric],
        "hypothesis": hypothesis,
        "primary_model": "M1",
    }
    row = {**INTERVAL_ABOVE_ZERO, "metric": metric}
    text = _finding_text(_with_rows(run, protocol, row, score_p=score_p, p_superior=p_superior))
    assert verdict.format(by=by) in text
    decides = p_superior if hypothesis == "superiority" else score_p
    assert name in text
    assert f"p {decides})" in text


def test_superiority_of_several_models_in_the_auc_is_adjusted_by_both_tests(
    run: Results,
) -> None:
    """The one-sided test is compared with half the level of the two-sided test."""
    protocol = {**DECLARED_PROTOCOL, "endpoint": "AUC", "hypothesis": "superiority"}
    rows = [{**INTERVAL_ABOVE_ZERO, "metric": "auc", "model_id": model} for model in ("M1", "M2")]
    for p, adjusted, is_shown in ((0.04, 0.024, True), (0.06, 0.024, False), (0.04, 0.026, False)):
        results = _with_rows(run, protocol, *rows, p=p, score_p=0.01)
        results.tables["noninferiority"]["p_adjusted"] = adjusted
        results.tables["noninferiority"]["margin"] = 0.0
        text = _finding_text(results)
        assert ("Superior: " in text) == is_shown
        assert ("Superiority not shown after adjustment" in text) != is_shown


@pytest.mark.parametrize(
    ("p", "verdict"), [(0.01, "Non-inferior, and superior"), (0.04, "Non-inferiority not shown")]
)
def test_superiority_of_several_models_after_non_inferiority_is_adjusted(
    run: Results, p: float, verdict: str
) -> None:
    """Claims about two models depend on the adjusted p-value."""
    rows = [{**INTERVAL_ABOVE_ZERO, "model_id": model} for model in ("M1", "M2")]
    assert f"{verdict}" in _finding_text(_with_rows(run, DECLARED_PROTOCOL, *rows, p=p))


def test_with_fewer_than_25_patients_there_is_no_verdict(run: Results) -> None:
    """The rule applies to large differences too."""
    worse = {"ci_low": -0.3, "ci_high": -0.2, "difference": -0.25}
    for row in (INTERVAL_ABOVE_MARGIN, INTERVAL_ABOVE_ZERO, worse):
        few = _with_rows(
            run, {**DECLARED_PROTOCOL, "primary_model": "M1"}, {**row, "n_items": 24, "df": 23.0}
        )
        assert "Not decided: Model-1_x" in _finding_text(few)
        assert "fewer than 25" in _finding_text(few)
    sufficient = {**worse, "n_items": 25, "df": 24.0}
    inferior = _finding_text(
        _with_rows(run, {**DECLARED_PROTOCOL, "primary_model": "M1"}, sufficient)
    )
    assert "Inferior: Model-1_x" in inferior


def test_several_models_are_adjusted_unless_a_model_is_primary(run: Results) -> None:
    """With eight models, an interval that clears the margin does not suffice for a verdict."""
    rows = [{**INTERVAL_ABOVE_MARGIN, "model_id": model} for model in ("M1", "M2")]
    shown, hidden = (
        _finding_text(_with_rows(run, DECLARED_PROTOCOL, *rows, p=p)) for p in (0.01, 0.03)
    )
    assert "No model was named primary: verdicts are adjusted for 2 models (Holm)." in shown
    assert "Non-inferior: Model-1_x" in shown
    assert "Non-inferiority not shown after adjustment: Model-1_x" in hidden
    names = _with_rows(run, {**DECLARED_PROTOCOL, "primary_model": "M1"}, *rows, p=0.03)
    assert "Non-inferior: Model-1_x (" in _finding_text(names)
    assert "adjusted" not in _finding_text(names)


def test_the_reason_of_undefined_comparisons_is_stated_once(run: Results) -> None:
    """One sentence names all eight models that share the reason."""
    row = {**dict.fromkeys(("ci_low", "ci_high"), float("nan")), "undefined_because": "one item"}
    text = _finding_text(
        _with_rows(run, DECLARED_PROTOCOL, *({**row, "model_id": entry} for entry in ("M1", "M2")))
    )
    assert "Not decided: Model-1_x and Model-2_x, because one item." in text


def test_superiority_needs_an_interval_above_0(run: Results) -> None:
    """An interval that clears the margin does not suffice."""
    protocol = {**DECLARED_PROTOCOL, "hypothesis": "superiority"}
    assert "Superiority not shown: Model-1_x" in _finding_text(
        _with_rows(run, protocol, INTERVAL_ABOVE_MARGIN)
    )
    above = {"ci_low": 0.01, "ci_high": 0.1}
    assert "Superior: Model-1_x" in _finding_text(_with_rows(run, protocol, above))


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ({}, "The data came without a protocol"),
        (
            {**DECLARED_PROTOCOL, "hypothesis": ""},
            "No hypothesis was declared; all results are reported as exploratory",
        ),
        (
            {**DECLARED_PROTOCOL, "endpoint": ""},
            "without an endpoint that decides it; all results are repo",
        ),
        (
            {**DECLARED_PROTOCOL, "primary_model": "nobody"},
            "No model of that name is in these data",
        ),
        ({**DECLARED_PROTOCOL, "endpoint": "AUC"}, "These data do not contain a comparison"),
    ],
)
def test_non_inferiority_must_be_declared(
    run: Results, protocol: dict[str, Any], words: str
) -> None:
    """The default margin in a protocol does not declare a hypothesis."""
    results = _with_rows(run, protocol, INTERVAL_ABOVE_MARGIN)
    assert words in _finding_text(results)
    page = " ".join(map(str, findings(results)))
    assert "Non-inferior:" not in page
    drawn = {figure.name: figure for figure in report_figures(results)}
    shown = protocol.get("primary_model") == "nobody"  # the declared model has no answers
    assert ("margin" in drawn["panel-accuracy"].caption) is shown
    assert any("NI p" in table.header for table in report_tables(results)) is shown


def test_a_margin_chosen_at_analysis_is_reported_without_verdict(
    run: Results,
) -> None:
    """Findings, methods, figure, table, checklists and provenance state when it was chosen."""
    row = {**INTERVAL_ABOVE_MARGIN, "ci_low": -0.1, "margin": 0.12}
    results = _with_rows(run, DECLARED_PROTOCOL, row, margin=0.12)
    words = "chosen at analysis; the protocol's is 5.0 points"
    assert f"The margin of 12.0 points was {words}." in _finding_text(results)
    assert "Non-inferior:" not in _finding_text(results)
    assert f"Margin of 12.0 points ({words}): cleared for these readers" in _finding_text(
        results, Theme.AGAINST
    )
    assert words in " ".join(part.text for part in methods(results))
    assert words in next(t.note for t in report_tables(results) if t.name == "reader-panel")
    assert words in next(f.caption for f in report_figures(results) if f.name == "panel-accuracy")
    for checklist in checklists(results)[1:3]:  # STARD-AI and CLAIM
        (margin_item,) = [item for item in checklist.items if item.number == "4"]
        assert words in margin_item.answer
    assert words in dict(report_content(results, []).provenance)["Non-inferiority margin"]
    assert provenance(results)["options"]["margin_is"] == words
    without_protocol = _with_rows(run, {}, row, margin=0.12)
    assert "The margin of 12.0 points was given at analysis." in _finding_text(without_protocol)


def test_a_verdict_states_whether_another_analysis_choice_changes_it(run: Results) -> None:
    """Alternative analyses with too few items do not count."""
    reversed_row = {"difference": -0.02, "ci_low": -0.08, "ci_high": 0.04}
    protocol = {**DECLARED_PROTOCOL, "primary_model": "M1"}
    text = _finding_text(_with_rows(run, protocol, INTERVAL_ABOVE_MARGIN, others=[reversed_row]))
    assert (
        "Non-inferior: Model-1_x (83.8 %: +3.0 points, 95 % CI −4.0 to 10.0; but “non-inferiority"
        " not shown” with missing answers dropped (−2.0 points, 95 % CI −8.0 to 4.0))."
    ) in text
    few = _with_rows(run, protocol, INTERVAL_ABOVE_MARGIN, others=[{**reversed_row, "n_items": 2}])
    assert "but" not in _finding_text(few)
    assert (
        "With missing answers dropped no conclusion is possible (too few: 2 cases)."
        in _finding_text(few, Theme.CHOICES)
    )


@pytest.mark.parametrize(
    ("own", "other", "change"),
    [
        (0.001, 0.03, "but “non-inferiority not shown by the score test” with missing answers"),
        (0.03, 0.001, "but “non-inferior” with missing answers"),
        (0.001, 0.002, ""),
        (0.03, 0.04, ""),
    ],
)
def test_the_verdict_under_another_choice_depends_on_its_own_score_test(
    run: Results, own: float, other: float, change: str
) -> None:
    """The intervals clear the margin under both choices."""
    protocol = {**DECLARED_PROTOCOL, "primary_model": "M1"}
    other_choice = {"p_margin": other, "p_superior": 0.5, "difference": 0.02}
    text = _finding_text(
        _with_rows(run, protocol, INTERVAL_ABOVE_MARGIN, score_p=own, others=[other_choice])
    )
    assert change in text
    assert bool(change) == ("but “" in text)


def test_an_exploratory_difference_states_whether_another_choice_changes_it(run: Results) -> None:
    """If missing answers are left out, the difference is −2.0 points."""
    reversed_row = {"difference": -0.02, "ci_low": -0.08, "ci_high": 0.04}
    text = _finding_text(_with_rows(run, {}, {}, others=[reversed_row]), Theme.AGAINST)
    assert (
        "95 % CI of the difference 1.2 to 12.0); but “no difference shown” with missing answers"
        " dropped (−2.0 points, 95 % CI −8.0 to 4.0)."
    ) in text


def test_raters_with_over_5_percent_missing_are_named_first(run: Results) -> None:
    """The sentence precedes the endpoint; items never presented to a reader count as missing."""
    missing = run.tables["missing"].assign(n_absent=0)
    missing.loc[missing["rater_id"] == "R3", "n_absent"] = 40
    missing.loc[missing["rater_id"] == "R2", "n_absent"] = 3
    missing.loc[missing["rater_id"] == "M1", "n_absent"] = 6
    results = replace(run, tables={**run.tables, "missing": missing})
    result = findings(results)
    assert [entry.theme for entry in result[:3]] == [Theme.UNREAD, Theme.UNREAD, Theme.ENDPOINT]
    text = _finding_text(results, Theme.UNREAD)
    assert "Resident 3 was not given 40 of 60 cases (66.7 %)." in text
    assert "Model-1_x has no prediction for 6 of 60 cases (10.0 %)." in text
    assert "Resident 2" not in text
    assert "The design" not in text
    bundle = replace(run.bundle, protocol={**run.bundle.protocol, "cases_per_reader": 20})
    assert (
        "40 of 60 cases (66.7 %). The design gives each reader only some of the items; the others "
        "do not count."
    ) in _finding_text(replace(results, bundle=bundle), Theme.UNREAD)


def test_the_number_of_omitted_names_is_stated(run: Results) -> None:
    """Thirty readers have not started, and only some are named."""
    more = pd.DataFrame(
        {
            "rater_id": [f"S{i:02d}" for i in range(30)],
            "rater_kind": "reader",
            "label": [f"Silent {i:02d}" for i in range(30)],
            "simulated": False,
        }
    )
    columns = list(run.bundle.raters.columns)
    raters = pd.concat([run.bundle.raters, more.reindex(columns=columns, fill_value="")])
    results = replace(run, bundle=replace(run.bundle, raters=raters))
    text = _finding_text(results, Theme.STUDIED)
    assert "Silent 18, Silent 19 and 10 more." in text


def test_an_interval_of_maximum_width_is_reported_as_uninformative(run: Results) -> None:
    """The limits of such an interval are not printed."""
    row = {"difference": -0.5, "ci_low": -1.0, "ci_high": 0.129}
    for claim in CLAIMS:
        text = _finding_text(_with_rows(run, {}, {**row, "claim": claim}), Theme.AGAINST)
        assert "uninformative: it extends to the largest possible difference" in text
        assert "100.0" not in text


def test_a_note_is_shown_if_the_areas_of_all_readers_are_below_one_half(run: Results) -> None:
    """The scale of the ratings may be reversed."""
    row = {"metric": "auc", "note": "x; the AUC of every reader is below 0.5", "reader_mean": 0.2}
    assert "are reversed" in _finding_text(_with_rows(run, {}, row), Theme.AGAINST)
    assert "are reversed" not in _finding_text(
        _with_rows(run, {}, {**row, "note": ""}), Theme.AGAINST
    )


def test_the_reason_of_an_undefined_comparison_with_the_panel_is_stated(run: Results) -> None:
    """No value is stated for any model."""
    nothing = dict.fromkeys(("model_value", "difference", "ci_low", "ci_high"), float("nan"))
    row = {**nothing, "undefined_because": "40 of 198 items were given to all readers"}
    text = _finding_text(_with_rows(run, {}, row), Theme.AGAINST)
    assert "not compared with the mean of the readers: 40 of 198 items were given to all" in text


def test_the_number_of_common_items_is_stated_once(run: Results) -> None:
    """The number is not repeated for each model."""
    note = "over the 180 of 198 items that all readers were given"
    rows = [{"model_id": model, "note": f"{note}; x"} for model in ("M1", "M2")]
    text = _finding_text(_with_rows(run, {}, *rows), Theme.AGAINST)
    assert text.count(note) == 1


def test_an_analysis_choice_without_cases_is_not_listed(run: Results) -> None:
    """The choice could be mistaken for a confirmation of the result."""
    primary = run.tables["sensitivity"].query("analysis == 'missing as wrong'")
    same = pd.concat(
        [primary.assign(analysis=entry) for entry in ("missing as wrong", "flagged times dropped")]
    )
    results = replace(run, tables={**run.tables, "sensitivity": same})
    text = _finding_text(results, Theme.CHOICES)
    assert "readings with doubtful times dropped" not in text


def test_with_many_models_the_table_of_raters_stays_on_the_first_screen(run: Results) -> None:
    """The page has three verdicts and a count; models with the same reason share a line."""
    run = replace(run, bundle=study(conditions=("c0", "c1", "c2", "c3")))
    several = [
        {**INTERVAL_ABOVE_MARGIN, "model_id": f"M{i % 2 + 1}", "condition": f"c{i // 2}"}
        for i in range(8)
    ]
    lines = verdict_lines(_with_rows(run, DECLARED_PROTOCOL, *several, p=0.01))
    assert [line.word for line in lines] == ["Non-inferior"] * 3 + [""]
    assert lines[-1].text.endswith("panel_adjusted.csv: Non-inferior (5).")
    undefined = {
        **dict.fromkeys(("ci_low", "ci_high"), float("nan")),
        "undefined_because": "one item",
    }
    lines = verdict_lines(
        _with_rows(run, DECLARED_PROTOCOL, *({**row, **undefined} for row in several))
    )
    assert [line.word for line in lines] == ["Not decided"]
    assert "because one item" in lines[0].text


PLANNED_SIZE: dict[str, Any] = {
    "comparison": "panel",
    "claim": CLAIMS[1],
    "metric": "accuracy",
    "readers": 8,
    "cases": 300,
    "effect": 0.0,
    "margin": 0.05,
    "power": 0.81,
    "power_low": 0.4,
    "power_high": 0.95,
    "half_width": 0.04,
}


def test_the_planned_sample_size_is_shown_next_to_the_result(run: Results) -> None:
    """Planned power and size are shown with the size and half-width that were achieved."""
    row = {**INTERVAL_ABOVE_MARGIN, "claim": CLAIMS[1]}
    results = _with_rows(run, {**DECLARED_PROTOCOL, "sample_size": PLANNED_SIZE}, row)
    text = _finding_text(results)
    assert (
        "Sample size planned before reading: 8 readers and 300 cases, with a power of 81 % (40 to"
        " 95) to show non-inferiority with a margin of 5.0 points to readers like these if the"
        " true difference is 0.0 points."
    ) in text
    reached = panel_row(**row)
    assert (
        f"The result is based on {reached['n_readers']} readers and {reached['n_items']} cases;"
        " half the width of the interval for readers like these is 7.0 points, and 4.0 points was"
        " expected."
    ) in text
    two_sided = {**PLANNED_SIZE, "margin": 0.0, "effect": 0.06}
    assert "to detect a true difference of +6.0 points, for readers like these." in _finding_text(
        _with_rows(run, {**DECLARED_PROTOCOL, "sample_size": two_sided}, row)
    )


@pytest.mark.parametrize("size", [{}, {**PLANNED_SIZE, "power": "high"}, {"readers": 5}, "300"])
def test_a_plan_without_numbers_is_not_shown(run: Results, size: object) -> None:
    """No sentence is shown without a plan either."""
    assert "Sample size" not in _finding_text(
        _with_rows(run, {**DECLARED_PROTOCOL, "sample_size": size}, INTERVAL_ABOVE_MARGIN)
    )


def test_a_plan_for_another_comparison_is_stated_as_such(run: Results) -> None:
    """A comparison of two conditions was planned, but the data have only one."""
    size = {**PLANNED_SIZE, "comparison": "conditions"}
    results = _with_rows(run, {**DECLARED_PROTOCOL, "sample_size": size}, INTERVAL_ABOVE_MARGIN)
    tables = {name: table for name, table in results.tables.items() if name != "reader_conditions"}
    assert "These data do not contain the planned comparison." in _finding_text(
        replace(results, tables=tables)
    )


UNCROSSED_ROW: dict[str, Any] = {
    "model_id": "M1",
    "condition_a": "",
    "condition_b": "",
    "metric": "accuracy",
    "method": "U-statistic (BDG)",
    "n_readers": 6,
    "n_items": 120,
    "ci_low": -0.03,
    "ci_high": 0.05,
}
ARMS_ROW: dict[str, Any] = {
    "factor": "arm",
    "condition": "aided - unaided",
    "by": "overall",
    "metric": "accuracy",
    "n_readers_a": 4,
    "n_readers_b": 3,
    "n_items": 80,
    "ci_low": -0.01,
    "ci_high": 0.11,
}


def test_the_achieved_size_of_a_study_in_blocks_counts_all_readings(run: Results) -> None:
    """The comparison over the cases that all readers read is undefined."""
    nothing = dict.fromkeys(("difference", "ci_low", "ci_high"), float("nan"))
    row = {**nothing, "claim": CLAIMS[1], "n_items": 16, "undefined_because": "too few"}
    results = _with_rows(
        run, {**DECLARED_PROTOCOL, "primary_model": "M1", "sample_size": PLANNED_SIZE}, row
    )
    other = {**UNCROSSED_ROW, "method": "Obuchowski-Rockette", "n_items": 16}
    tables = {**results.tables, "uncrossed": pd.DataFrame([UNCROSSED_ROW, other])}
    assert (
        "The result is based on 6 readers and 120 cases; half the width of the interval for readers"
        " like these is 4.0 points, and 4.0 points was expected."
    ) in _finding_text(replace(results, tables=tables))


def test_the_achieved_size_of_parallel_arms_is_that_of_their_comparison(run: Results) -> None:
    """The readers of both arms count; groups under a common condition do not."""
    plan = {**PLANNED_SIZE, "comparison": "conditions"}
    results = _with_rows(run, {**DECLARED_PROTOCOL, "sample_size": plan}, INTERVAL_ABOVE_MARGIN)
    within = {**ARMS_ROW, "condition": "aided", "n_items": 7}
    tables = {
        **{name: table for name, table in results.tables.items() if name != "reader_conditions"},
        "reader_groups": pd.DataFrame([within, ARMS_ROW]),
        "uncrossed": pd.DataFrame([UNCROSSED_ROW]),
    }
    assert (
        "The result is based on 7 readers and 80 cases; half the width of the interval for readers"
        " like these is 6.0 points, and 4.0 points was expected."
    ) in _finding_text(replace(results, tables=tables))


def test_a_pair_weighted_endpoint_is_decided_by_the_u_statistic(run: Results) -> None:
    """Readers read different cases, so the comparison of their mean is undefined."""
    nothing = dict.fromkeys(("difference", "ci_low", "ci_high"), float("nan"))
    panel = {**nothing, "claim": CLAIMS[1], "undefined_because": "not everybody read everything"}
    weighted = {
        "model_id": "M1",
        "condition_a": panel_row(**panel)["condition"],
        "metric": "accuracy",
        "method": "U-statistic (BDG)",
        "n_readers": 3,
        "n_items": 60,
        "value_a": 0.84,
        "value_b": 0.81,
        "difference": 0.03,
        "se": 0.02,
        "df": 20.0,
        "ci_low": -0.01,
        "ci_high": 0.07,
        "p": 0.15,
        "note": "",
        "undefined_because": "",
    }
    declared = {**DECLARED_PROTOCOL, "claim_about": "", "primary_model": "M1"}
    results = _with_rows(
        run, {**declared, "endpoint": "pair-weighted accuracy"}, panel, score_p=0.5
    )
    results = replace(results, tables={**results.tables, "uncrossed": pd.DataFrame([weighted])})
    text = _finding_text(results)
    assert "in accuracy (pair-weighted: every reading counts equally)" in text
    assert "Non-inferior: Model-1_x" in text
    assert "score test" not in text
    usual = replace(results, bundle=replace(results.bundle, protocol=declared))
    assert "Not decided: Model-1_x" in _finding_text(usual)
    many = _with_rows(run, results.bundle.protocol, *[panel] * 40, score_p=0.5)
    assert "more comparisons in tables/uncrossed.csv" in _finding_text(
        replace(many, tables={**many.tables, "uncrossed": results.tables["uncrossed"]})
    )
