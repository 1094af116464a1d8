"""The sentences of reports about studies that are small, unbalanced or incomplete."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.report.content import ReportContent, report_content
from analysis.report.figures import report_figures
from analysis.report.findings.times import time_findings
from analysis.report.formats.page import report_page
from analysis.report.leaderboard import write_leaderboard

DECLARED_PROTOCOL = {
    "hypothesis": "superiority",
    "endpoint": "accuracy",
    "claim_about": "these readers",
    "margin": 0.05,
}
VERDICTS = re.compile(
    r"\b(superior|inferior|non-inferior|higher|lower|more accurate|less accurate|more than these"
    r"|less than these|slower|faster|cleared|clears the margin|excludes 0;|no difference"
    r"|not shown|wholly below)\b",
    re.IGNORECASE,
)
# Phrases in headings, captions and rules that state nothing about the raters.
NEUTRAL_PHRASES = re.compile(
    r"for no difference; adjusted|A difference is stated only where[^.]*\.|highest|lowest"
    r"|superiority of|non-inferiority of|\(superiority\)|\(non-inferiority\)|Lower right"
    r"|whole interval|it is cleared where the lower limit|by a lower limit from"
    r"|The declared endpoint is decided alone[^;]*;",
    re.IGNORECASE,
)
PLURALS = (
    "readers|models|cases|patients|pairs|items|raters|comparisons|options|readings|answers|rows"
    "|terms|conditions|places|banks|clusters|others|times|points|questions"
)
PLURAL_AFTER_ONE = re.compile(rf"(?<![\d.,−-])\b1 ({PLURALS})\b(?! of accuracy)")


def bundle_of(
    patients: int,
    *,
    per_patient: int = 1,
    readers: int = 2,
    models: int = 1,
    right: dict[str, int] | None = None,
    truth: bool = True,
    conditions: tuple[str, ...] = ("",),
    extra_condition: str = "",
    protocol: dict[str, Any] | None = None,
    answered: dict[str, int] | None = None,
) -> Bundle:
    """Return a study in which each rater is correct for a share of the cases.

    `right` is the number of correct answers of ten, by kind of rater (`R` or `M`);
    `extra_condition` is a further condition of the models. `answered` is the number of patients
    whose cases a kind of rater answered, if not all.
    """
    n = patients * per_patient
    right = right or {"R": 4, "M": 10}
    ids = [f"q{i:03d}" for i in range(n)]
    rows = [
        {
            "rater_id": f"{kind}{number}",
            "item_id": item,
            "answer": (
                ""
                if i // per_patient >= (answered or {}).get(kind, patients)
                else "A"
                if (7 * i + 3 * number) % 10 < right[kind] - 2 * (condition == "unaided")
                else "BCD"[i % 3]
            ),
            "condition": condition,
            "response_ms": str(9000 + 100 * i) if kind == "R" else "",
        }
        for kind, count in (("R", readers), ("M", models))
        for number in range(count)
        for condition in (
            *conditions,
            *((extra_condition,) if extra_condition and kind == "M" else ()),
        )
        for i, item in enumerate(ids)
    ]
    raters = {row["rater_id"]: row["rater_id"] for row in rows}
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": "A" if truth else "",
            "n_options": 4,
            "task": [
                "Presence Assessment" if i % 2 else "Differential Diagnosis" for i in range(n)
            ],
            "patient_id": [f"p{i // per_patient}" for i in range(n)],
        }
    )
    kinds = ["reader" if rater[0] == "R" else "model" for rater in raters]
    table = pd.DataFrame({"rater_id": list(raters), "rater_kind": kinds})
    # With four readers or more there are groups of readers.
    table["level"] = ["ab"[i % 2] if readers > 3 else "" for i in range(len(table))]
    table["years"] = [str(3 * i + 1) if readers > 3 else "" for i in range(len(table))]
    bundle = bundle_from_tables(items, pd.DataFrame(rows), table)
    object.__setattr__(bundle, "protocol", DECLARED_PROTOCOL if protocol is None else protocol)
    return bundle


UNUSUAL_BUNDLES: dict[str, Callable[[], Bundle]] = {
    "1 patient": partial(bundle_of, 1),
    "1 patient of 6 cases": partial(bundle_of, 1, per_patient=6),
    "5 patients": partial(
        bundle_of, 5, protocol={**DECLARED_PROTOCOL, "hypothesis": "non-inferiority"}
    ),
    "24 patients": partial(bundle_of, 24, models=2),
    "24 patients of 2 cases": partial(bundle_of, 24, per_patient=2, readers=3, models=5),
    "24 patients, model all wrong": partial(bundle_of, 24, right={"R": 10, "M": 0}),
    "24 patients, all right": partial(bundle_of, 24, right={"R": 10, "M": 10}),
    "24 patients, all wrong": partial(bundle_of, 24, right={"R": 0, "M": 0}),
    "24 patients, two conditions": partial(bundle_of, 24, conditions=("aided", "unaided")),
    "24 patients, one reader, image-absent": partial(
        bundle_of, 24, readers=1, extra_condition="image-absent"
    ),
    "24 patients, no truth": partial(bundle_of, 24, truth=False),
    "24 patients, nothing declared": partial(bundle_of, 24, protocol={}),
    "models only": partial(bundle_of, 24, readers=0, models=2),
    "readers only": partial(bundle_of, 24, readers=2, models=0),
    "25 patients": partial(bundle_of, 25),
    "26 patients of 2 cases": partial(
        bundle_of, 26, per_patient=2, models=5, extra_condition="wrong-image"
    ),
    "26 patients, model all wrong": partial(bundle_of, 26, right={"R": 10, "M": 1}, readers=1),
}
TWO_CONDITIONS = {
    "conditions": ("aided", "unaided"),
    "extra_condition": "image-absent",
    "readers": 4,
    "models": 2,
}
# All cases were presented to all raters; few patients have an answer on each side of the
# comparisons.
UNUSUAL_BUNDLES |= {
    "0 of 40 patients answered by readers": partial(bundle_of, 40, answered={"R": 0}),
    "0 of 40 patients answered by models": partial(bundle_of, 40, answered={"M": 0}),
    "24 of 60 patients answered by readers": partial(
        bundle_of, 60, **TWO_CONDITIONS | {"extra_condition": ""}, answered={"R": 24}
    ),
    "24 of 60 patients of 2 cases answered": partial(
        bundle_of, 60, per_patient=2, **TWO_CONDITIONS, answered={"R": 24, "M": 24}
    ),
    "25 of 60 patients answered": partial(
        bundle_of, 60, **TWO_CONDITIONS, answered={"R": 25, "M": 25}
    ),
}
pytestmark = pytest.mark.thorough  # the first test creates the report
CONTENTS: dict[str, ReportContent] = {}


def content_of(name: str) -> ReportContent:
    """Return the complete report of a bundle, which is created once."""
    if name not in CONTENTS:
        results = analyse(UNUSUAL_BUNDLES[name](), Options(bootstrap=20))
        CONTENTS[name] = report_content(results, report_figures(results))
    return CONTENTS[name]


def sentences_of(content: ReportContent) -> Iterator[str]:
    """Yield all sentences written by the program, without the invisible isolates."""
    texts = [line.word for line in content.headline.verdicts]
    texts += [line.text for line in content.headline.verdicts]
    texts += [*content.headline.agreement, content.headline.raters.remark]
    texts += [text for _, part in content.findings for text in part]
    texts += [table.remark for table in content.tables]
    texts += [part.text for part in content.methods]
    figures = [f for section in content.sections for _, part in section.conditions for f in part]
    texts += [figure.caption for figure in figures]
    texts += [" ".join(pair) for pair in content.facts]
    yield from (re.sub("[\u2068\u2069]", "", text).replace("\u00a0", " ") for text in texts)


@pytest.mark.parametrize("name", UNUSUAL_BUNDLES)
def test_no_verdict_is_given_for_fewer_than_25_patients(name: str) -> None:
    """All parts of the report show estimate, interval and the reason instead."""
    is_few = int(name.split()[0]) < 25 if name[0].isdigit() else True
    text = NEUTRAL_PHRASES.sub("", "\n".join(sentences_of(content_of(name))))
    search = VERDICTS.search(text)
    if is_few:
        assert search is None, text[max(0, search.start() - 200) : search.end() + 100]
        assert "no truth" in name or re.search(r"fewer than 25|too few", text)
    else:
        assert search, text
        assert "fewer than 25:" not in text


@pytest.mark.parametrize("name", UNUSUAL_BUNDLES)
def test_counts_of_1_use_the_singular(name: str) -> None:
    """Phrases such as "1 models" and "the other 1 model" do not occur."""
    for sentence in sentences_of(content_of(name)):
        assert not PLURAL_AFTER_ONE.search(sentence), sentence
        assert not re.search(r"\b[Tt]he (other )?1 [a-z]", sentence), sentence


def findings_of(name: str, theme: str) -> str:
    """Return the findings of a theme."""
    texts = dict(content_of(name).findings).get(theme, [])
    return re.sub("[\u2068\u2069]", "", " ".join(texts)).replace("\u00a0", " ")


def test_the_reason_is_shown_with_estimate_and_interval() -> None:
    """The reason is shown in the headline and in the findings."""
    (line,) = content_of("5 patients").headline.verdicts
    assert (line.word, line.shown) == ("Not decided", False)
    assert "+50.0 points, 95\u00a0% CI 1.9 to 98.1" in line.text
    assert "No verdict is given for 5 cases with answers, fewer than 25." in line.text
    endpoint = findings_of("5 patients", "Primary endpoint")
    assert re.search(
        r"Not decided: M0 \(100\.0 %: \+[\d.]+ points, 95 % CI .*\), because", endpoint
    )
    assert "for 24 patients with answers, fewer than 25" in findings_of(
        "24 patients of 2 cases", "Primary endpoint"
    )
    page = report_page(content_of("5 patients"))
    assert "Superior" not in page.replace("superiority", "")


@pytest.mark.parametrize("patients", [24, 25])
def test_a_difference_without_variance_is_shown_with_the_reason(patients: int) -> None:
    """If all answers are correct, the reason for the missing interval is shown."""
    bundle = bundle_of(patients, right={"R": 10, "M": 10}, protocol=DECLARED_PROTOCOL)
    (line,) = report_content(analyse(bundle), []).headline.verdicts
    text = line.text.replace("\u00a0", " ")
    assert "100.0 % against 100.0 % (2 readers): 0.0 points, without an interval because" in text
    assert ("24 cases with answers, fewer than 25" in text) == (patients == 24)


def test_the_minimum_number_of_patients_is_exact() -> None:
    """A study with 24 patients has no verdict, and one with 25 patients has one."""
    assert content_of("25 patients").headline.verdicts[0].word == "Superior"
    assert content_of("24 patients").headline.verdicts[0].word == "Not decided"


def test_a_model_with_an_interval_below_the_margin_is_inferior() -> None:
    """The verdict states inferiority, not only that superiority was not shown."""
    (line,) = content_of("26 patients, model all wrong").headline.verdicts
    assert (line.word, line.shown) == ("Inferior", False)
    assert "Inferior: M0 (" in findings_of("26 patients, model all wrong", "Primary endpoint")


def test_answers_without_the_image_are_part_of_the_findings() -> None:
    """Results under conditions that no reader had are reported with n and interval."""
    for name, condition in (
        ("24 patients, one reader, image-absent", "image-absent"),
        ("26 patients of 2 cases", "wrong-image"),
    ):
        text = findings_of(name, "Models under another condition")
        assert text.startswith(f"Under {condition}, compared with the same cases as the readers")
        assert re.search(r"M0 [\d.]+ % against [\d.]+ %.*cases", text)
    assert "1 more in tables/model_conditions.csv" in text


def test_the_share_of_identical_errors_is_stated_with_the_number_of_cases() -> None:
    """For a single pair an interval is stated, for several pairs a range."""
    first = findings_of("24 patients", "Shared errors")
    assert re.search(r"\d+ % of \d+ cases by two readers \(95 % CI [\d.]+ to [\d.]+", first), first
    assert "100 % of" not in first or re.search(r"\d+\.\d to 100\.0", first)
    several = findings_of("24 patients of 2 cases", "Shared errors")
    assert re.search(r"\(median of 3 pairs with [\d to]+ cases each, \d+ to \d+ %\)", several)


def test_a_leaderboard_states_that_it_has_few_patients(tmp_path: Any) -> None:
    """The leaderboard has ranks, and states that they are not conclusive."""
    few_patients = write_leaderboard(
        {"s": UNUSUAL_BUNDLES["24 patients"]()}, tmp_path / "few", Options(bootstrap=20)
    )
    assert "24 patients with answers, too few for a verdict on who is better" in few_patients
    sufficient = write_leaderboard(
        {"s": UNUSUAL_BUNDLES["25 patients"]()}, tmp_path / "on", Options(bootstrap=20)
    )
    assert "too few" not in sufficient


@pytest.mark.parametrize("few_patients", [24, 25])
def test_a_finding_on_time_needs_25_patients_in_both_groups(few_patients: int) -> None:
    """No direction is stated for a task or group with fewer patients."""
    bundle = bundle_of(60)
    slow = bundle.items["item_id"].str[1:].astype(int) < few_patients
    readings = bundle.readings
    place = np.arange(len(readings))
    is_slow = readings["item_id"].map(dict(zip(bundle.items["item_id"], slow, strict=True)))
    times = pd.Series(np.where(is_slow, 20000, 9000) + 100 * (place * 37 % 41), readings.index)
    is_reader = readings["rater_id"].str.startswith("R")
    bundle = replace(
        bundle,
        items=bundle.items.assign(task=np.where(slow, "slow", "fast").astype(object)),
        readings=readings.assign(response_ms=times.astype(str).where(is_reader, "")),
    )
    texts = [finding.text for finding in time_findings(analyse(bundle, Options(bootstrap=20)))]
    text = re.sub("[\u2068\u2069]", "", texts[-1])
    assert ("task slow against fast: slower" in text) == (few_patients == 25), text
    assert ("for 24 cases with answers" in text) == (few_patients == 24)


def test_intervals_of_agreement_are_within_bounds() -> None:
    """Shares are between 0 and 1, coefficients at least -1; a share of 1 has an interval."""
    for name in ("1 patient of 6 cases", "5 patients", "24 patients, all right"):
        for table in content_of(name).tables:
            if table.name.startswith(("matrix", "agreement-pairs", "truth", "intra")):
                cells = " ".join(" ".join(cells) for _, cells in table.rows)
                numbers = re.findall(r"[−-]?\d+\.\d+", cells)
                assert all(-1 <= float(number.replace("−", "-")) <= 1 for number in numbers), cells
    pairs = next(t for t in content_of("24 patients, all right").tables if t.name == "matrix-raw")
    assert "0.86 to 1.00" in pairs.rows[0][1]


def test_an_interval_shared_by_both_claims_is_always_reported() -> None:
    """The method, table, note, caption, findings and methods text state it."""
    name = "24 patients of 2 cases"
    panel = analyse(UNUSUAL_BUNDLES[name](), Options(bootstrap=20)).tables["reader_panel"]
    narrower = panel.loc[panel["note"].str.contains("narrower")]
    assert len(narrower)
    for method in narrower["method"]:
        assert "readers random; t, Hillis degrees of freedom, came out narrower" in method
        assert "shown instead: Obuchowski-Rockette, standalone model, readers fixed; t, C" in method
    others = panel.drop(narrower.index)
    assert not others["method"].str.contains("narrower").any()
    content = content_of(name)
    table = next(table for table in content.tables if table.name == "reader-panel")
    claims = [cells[table.header.index("Claim") - 1] for _, cells in table.rows]
    assert claims.count("readers like these (interval for these readers)") == len(narrower)
    words = "narrower than the one for these readers"
    assert words in table.note
    figures = [f for section in content.sections for _, part in section.conditions for f in part]
    assert words in next(f.caption for f in figures if f.name.startswith("panel-accuracy"))
    assert words in findings_of(name, "Models against readers")
    assert words in " ".join(part.text for part in content.methods)
