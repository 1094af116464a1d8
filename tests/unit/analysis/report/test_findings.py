"""The sentences of the findings, for intervals on either side of 0."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.report.content import report_content
from analysis.report.findings import findings
from analysis.report.findings.finding import Theme
from analysis.results import Results
from tests.unit.analysis.report.full_run import CLAIMS, full_run, panel_row, study


@pytest.fixture(scope="module")
def run() -> Results:
    """Return a run with every table."""
    return full_run(study())


def _with_tables(run: Results, **tables: Sequence[Mapping[Any, Any]]) -> Results:
    plain = {name: run.tables[name] for name in ("accuracy", "agreement_pairs", "missing")}
    frames = {name: pd.DataFrame(rows) for name, rows in tables.items()}
    return replace(run, tables={**plain, **frames})


def _finding_texts(results: Results, theme: Theme) -> str:
    """Return the findings of a theme without the invisible isolates around names."""
    texts = [finding.text for finding in findings(results) if finding.theme is theme]
    return " ".join(texts).replace("\u2068", "").replace("\u2069", "")


def _with_panel_rows(run: Results, *rows: dict[str, Any]) -> str:
    return _finding_texts(
        _with_tables(run, reader_panel=[panel_row(**row) for row in rows]), Theme.AGAINST
    )


def test_a_model_can_be_better_than_these_readers_only(run: Results) -> None:
    """The finding has the intervals of both claims, and states what three readers cannot show."""
    panel = _with_panel_rows(
        run,
        {"claim": CLAIMS[0], "ci_low": 0.012, "ci_high": 0.12},
        {"claim": CLAIMS[1], "ci_low": -0.031, "ci_high": 0.163},
    )
    assert (
        "Model-1_x had an accuracy of 83.8 %, 6.6 points higher than the mean of these 3 readers"
        " (77.2 %; 95 % CI of the difference 1.2 to 12.0)."
    ) in panel
    assert (
        "For readers like these the interval extends from −3.1 to 16.3 points (19.4 points wide),"
        " so with 3 readers a difference in either direction cannot be excluded."
    ) in panel
    cleared = "Margin of 5.0 points (given at analysis): cleared for these readers and readers"
    assert cleared in panel


def test_an_interval_that_contains_0_shows_no_difference(run: Results) -> None:
    """An interval that contains the margin does not clear it."""
    panel = _with_panel_rows(run, {"ci_low": -0.06, "ci_high": 0.12})
    assert "no difference shown (+6.6 points, 95 % CI of the difference −6.0 to 12.0)" in panel
    assert "Margin of 5.0 points (given at analysis): not cleared for these readers." in panel
    assert "higher" not in panel


def test_a_lower_accuracy_can_clear_the_margin(run: Results) -> None:
    """The finding states that accuracy is lower and that the margin is cleared."""
    panel = _with_panel_rows(run, {"difference": -0.02, "ci_low": -0.04, "ci_high": -0.001})
    assert "2.0 points lower than the mean" in panel
    assert ": cleared for these readers." in panel


def test_rounding_moves_no_limit_onto_a_boundary(run: Results) -> None:
    """A limit of 0.02 points is not printed as 0.0, and one at the margin is not beyond it."""
    assert "0.02 to 12.00" in _with_panel_rows(run, {"ci_low": 0.0002, "ci_high": 0.12})
    assert "−4.99 to 12.00" in _with_panel_rows(run, {"ci_low": -0.0499, "ci_high": 0.12})


def test_with_one_reader_the_missing_claim_about_random_readers_is_explained(run: Results) -> None:
    """No undefined value is printed as a number."""
    nothing = dict.fromkeys(("ci_low", "ci_high", "se", "p"), np.nan)
    panel = _with_panel_rows(
        run,
        {"n_readers": 1},
        {
            "n_readers": 1,
            "claim": CLAIMS[1],
            **nothing,
            "undefined_because": "one reader: readers cannot be random.",
        },
    )
    assert "higher than the one reader (" in panel
    assert "no conclusion is possible: one reader: readers cannot be random." in panel
    assert "nan" not in panel


def test_without_a_margin_no_model_is_non_inferior(run: Results) -> None:
    """A margin must be declared in advance."""
    assert "margin" not in _with_panel_rows(run, {"margin": np.nan})


def test_an_interval_for_random_readers_that_is_narrower_gives_no_claim(run: Results) -> None:
    """Such an interval results if readers differ less than chance would make them."""
    panel = _with_panel_rows(
        run,
        {"claim": CLAIMS[0], "ci_low": -0.01, "ci_high": 0.12},
        {"claim": CLAIMS[1], "ci_low": 0.01, "ci_high": 0.11},
    )
    assert "no difference is claimed" in panel
    assert "as well" not in panel


def test_models_beyond_those_named_are_counted(run: Results) -> None:
    """The findings fit on a page, and the table has all models."""
    rows = [
        {"model_id": f"M{i}", "model_value": 0.8 - i / 100, "claim": claim}
        for i in range(20)
        for claim in CLAIMS
    ]
    panel = _with_panel_rows(run, *rows)
    assert panel.count("had an accuracy") == 3
    assert "The other 17 models, against these readers and against readers like these: hig" in panel


def test_differences_from_single_readers_need_the_adjusted_test(run: Results) -> None:
    """For many pairs, an interval that excludes 0 does not suffice."""
    row = {
        **run.tables["comparisons"].query("pair_kind == 'reader-model'").iloc[0].to_dict(),
        "difference": -0.1,
        "cluster_ci_low": -0.18,
        "cluster_ci_high": -0.02,
    }
    shown = _finding_texts(
        _with_tables(run, comparisons=[{**row, "p_adjusted": 0.01}]), Theme.AGAINST
    )
    hidden = _finding_texts(
        _with_tables(run, comparisons=[{**row, "p_adjusted": 0.2}]), Theme.AGAINST
    )
    assert "the model was more accurate in 1" in shown
    assert "10.0 points higher (95 % CI 2.0 to 18.0)" in shown
    assert "no difference shown in 1" in hidden
    assert "no difference shown after adjustment (+10.0 points, unadjusted 95 % CI 2.0" in hidden
    assert "higher" not in hidden
    assert "more accurate" not in hidden


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((0.01, 0.2), "models agree with these readers more than"),
        ((-0.2, -0.01), "models agree with these readers less than"),
        ((-0.2, 0.01), "no difference shown"),
        ((0.1, 0.1), "no informative interval"),
    ],
)
def test_agreement_with_models_is_compared_with_agreement_among_readers(
    run: Results, limits: tuple[float, float], words: str
) -> None:
    """Each of four intervals has a different sentence."""
    row = run.tables["agreement_between"].query("measure == 'brennan_prediger'").iloc[0].to_dict()
    row |= {"ci_low": limits[0], "ci_high": limits[1]}
    assert words in _finding_texts(_with_tables(run, agreement_between=[row]), Theme.AGREEMENT)


def test_a_time_ratio_must_exclude_1(run: Results) -> None:
    """If the interval contains 1, neither faster nor slower is stated."""
    row = run.tables["time_model"].iloc[0].to_dict()
    wrong = row | {"term": "wrong answers", "ratio": 1.31, "ci_low": 1.21, "ci_high": 1.41}
    further = row | {"term": "each further 10 items", "ratio": 0.97, "ci_low": 0.9, "ci_high": 1.1}
    text = _finding_texts(_with_tables(run, time_model=[wrong, further]), Theme.TIME)
    assert "wrong answers: slower (factor 1.31" in text
    assert "no difference shown for each further 10 items." in text


def test_the_first_rank_is_certain_if_all_paired_intervals_exclude_0(
    run: Results,
) -> None:
    """A rank interval of 1 to 1 does not suffice; in a tie both models are named."""
    board = run.tables["leaderboard"]
    board_with_limits = board.assign(rank_low=board["rank"], rank_high=board["rank"])
    micro = board_with_limits.loc[
        (board_with_limits["by"] == "overall") & (board_with_limits["group"] == "micro")
    ]
    first = micro.sort_values("rank")["rater_id"].iloc[0]
    others = [rater for rater in micro["rater_id"] if rater != first]
    template = run.tables["comparisons"].iloc[0].to_dict()

    def translated(limits: dict[str, tuple[float, float]], pairs: list[str]) -> str:
        rows = [
            template
            | {"rater_a": first, "rater_b": other}
            | dict(
                zip(
                    ("cluster_ci_low", "cluster_ci_high"),
                    limits.get(other, (0.01, 0.2)),
                    strict=True,
                )
            )
            for other in pairs
        ]
        return _finding_texts(
            _with_tables(run, leaderboard=board_with_limits.to_dict("records"), comparisons=rows),
            Theme.RANKING,
        )

    assert "every paired interval against another rater excludes 0" in translated({}, others)
    assert "no difference is shown from" in translated({others[2]: (0.0, 0.2)}, others)
    assert "no difference is shown from" in translated({}, others[:-1])
    assert "so first place is not certain" in _finding_texts(run, Theme.RANKING)
    tied = board.assign(rank=1).to_dict("records")
    assert "others) with the same accuracy" in _finding_texts(
        _with_tables(run, leaderboard=tied), Theme.RANKING
    )


def test_a_choice_that_changes_a_conclusion_is_listed(run: Results) -> None:
    """If no choice changes a conclusion, the finding states this."""
    panel = [panel_row()]
    other = {**panel_row(), "analysis": "missing dropped"}
    same = _with_tables(run, reader_panel=panel, sensitivity_panel=[other])
    changed = _with_tables(run, reader_panel=panel, sensitivity_panel=[{**other, "ci_low": -0.01}])
    assert "No comparison of a model with the readers changes" in _finding_texts(
        same, Theme.CHOICES
    )
    text = _finding_texts(changed, Theme.CHOICES)
    assert "1 of 1 comparisons" in text
    assert "“no difference shown” with missing answers dropped (+6.6 points" in text


def test_the_largest_change_of_an_accuracy_is_named(run: Results) -> None:
    """A reader who read half of the cases changes from 47.5 % to 21.1 %."""
    rows = [
        {
            "analysis": analysis,
            "rater_id": rater,
            "condition": "",
            "n": n,
            "accuracy": accuracy,
            "ci_low": 0.0,
            "ci_high": 1.0,
        }
        for analysis, rater, n, accuracy in (
            ("missing as wrong", "R1", 40, 0.475),
            ("missing dropped", "R1", 40, 0.475),
            ("absent as wrong", "R1", 90, 19 / 90),
            ("missing as wrong", "R2", 90, 0.5),
            ("missing dropped", "R2", 88, 45 / 88),
            ("absent as wrong", "R2", 90, 0.5),
            ("flagged times dropped", "R2", 0, np.nan),
        )
    ]
    text = _finding_texts(_with_tables(run, sensitivity=rows), Theme.CHOICES)
    assert (
        "The largest change in any accuracy is 26.4 points: Resident 1, from 47.5 % of 40 cases to"
        " 21.1 % of 90 cases, with cases never presented counted as incorrect."
    ) in text
    assert "With readings with doubtful times dropped no case is left for Resident 2." in text
    assert "No accuracy changes" not in text


def test_names_of_tasks_are_not_truncated(run: Results) -> None:
    """Long names of tasks are shown completely."""
    name = "task Localisation and Geometric Description Assessment against Differential Diagnosis"
    row = run.tables["time_model"].iloc[0].to_dict()
    longer = row | {"term": name, "ratio": 1.31, "ci_low": 1.21, "ci_high": 1.41}
    assert name in _finding_texts(_with_tables(run, time_model=[longer]), Theme.TIME)


def test_missing_tables_have_no_sentences(run: Results) -> None:
    """The page can be created from three tables."""
    themes = {finding.theme for finding in findings(_with_tables(run))}
    assert Theme.AGAINST not in themes
    assert {Theme.STUDIED, Theme.ACCURACY, Theme.AGREEMENT, Theme.READING} <= themes


def test_the_level_of_intervals_is_stated(run: Results) -> None:
    """The level is 90 % for an alpha of 0.1."""
    options = replace(run.options, alpha=0.1)
    text = " ".join(map(str, findings(replace(run, options=options))))
    assert "90 % CI" in text
    assert "95 % CI" not in text


@pytest.mark.parametrize("conditions", [("unaided",), ("aided", "unaided")])
def test_conditions_are_named_if_there_are_several(conditions: tuple[str, ...]) -> None:
    """A single condition is named once, and no table has a column for conditions."""
    results = full_run(study(conditions=conditions))
    content = report_content(results, [])
    message = " ".join(text for _, texts in content.findings for text in texts)
    heads = {head for table in content.tables for head in table.header}
    several = len(conditions) > 1
    assert (message.count("unaided") > 1) is several
    assert ("Condition" in heads) is several


def test_the_width_of_an_interval_is_that_of_the_printed_limits(run: Results) -> None:
    """Limits of 13.84 and 26.16 are printed as 13.8 and 26.2, with a width of 12.4 points."""
    row = {"difference": 0.2, "ci_low": 0.1384, "ci_high": 0.2616, "claim": CLAIMS[1]}
    panel = _with_panel_rows(run, {"difference": 0.2, "ci_low": 0.145, "ci_high": 0.255}, row)
    assert "higher as well (95 % CI 13.8 to 26.2; 12.4 points wide, from 3 readers)" in panel


def test_printed_agreements_differ_by_the_printed_difference(run: Results) -> None:
    """Values of 0.365 and 0.413 differ by 0.048; printed as 0.37 and 0.41 they would not."""
    row = run.tables["agreement_between"].query("measure == 'brennan_prediger'").iloc[0].to_dict()
    row |= {"among_readers": 0.3654, "readers_models": 0.4132, "difference": 0.0478}
    text = _finding_texts(_with_tables(run, agreement_between=[row]), Theme.AGREEMENT)
    assert "0.365 among readers, 0.413 between" in text
    assert "+0.048" in text


def test_with_one_wrong_option_equal_errors_are_not_reported(run: Results) -> None:
    """With four options the finding states the share expected by chance."""
    assert "choosing any of the 3 incorrect options at random would give 33 %" in _finding_texts(
        run, Theme.ERRORS
    )
    bundle = replace(run.bundle, items=run.bundle.items.assign(n_options=2.0))
    assert "the same option was" not in _finding_texts(replace(run, bundle=bundle), Theme.ERRORS)


def test_the_page_begins_with_the_declared_endpoint_and_its_comparison(run: Results) -> None:
    """The comparison of models with readers is the first finding."""
    themes = list(dict.fromkeys(finding.theme for finding in findings(run)))
    assert themes[:3] == [Theme.ENDPOINT, Theme.STUDIED, Theme.AGAINST]
    assert themes == sorted(themes, key=list(Theme).index)


def test_a_reason_is_not_repeated_for_every_model(run: Results) -> None:
    """The finding names one model and counts the others."""
    nothing = dict.fromkeys(("ci_low", "ci_high", "se", "p"), np.nan)
    rows = [
        {"model_id": f"M{i}", "claim": claim, **nothing, "undefined_because": "a single item"}
        for i in range(4)
        for claim in CLAIMS
    ]
    panel = _with_panel_rows(run, *rows)
    assert panel.count("a single item") == 1
    assert "The same holds for readers like these." in panel
    assert "The other 3 models" in panel


def test_a_withdrawn_model_is_named_with_its_reason(run: Results) -> None:
    """The report states whether its results were known."""
    withdrawn = [
        {"model_id": "M8", "reason": "The wrong file", "after_closing": False},
        {"model_id": "M9", "reason": "It was bad", "after_closing": True},
    ]
    bundle = replace(run.bundle, about={"withdrawn_models": withdrawn})
    text = _finding_texts(replace(run, bundle=bundle), Theme.STUDIED)
    assert "2 models were withdrawn and appear in no table" in text
    assert "M8 (The wrong file), M9 after closing (It was bad)" in text
    assert "withdrawn" not in _finding_texts(run, Theme.STUDIED)


def test_items_not_read_by_all_readers_are_counted(run: Results) -> None:
    """Their share refers to the readers who did read them."""
    table = run.tables["item_difficulty"].copy()
    table.loc[table.index[:2], "n_readers"] = 1
    text = _finding_texts(
        replace(run, tables={**run.tables, "item_difficulty": table}), Theme.ERRORS
    )
    assert "2 were read by fewer than 3 readers, and count for those alone." in text
    assert "fewer than" not in _finding_texts(run, Theme.ERRORS)
