"""Tables of studies with cases that were never presented, compared with plain loops."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from analysis import (
    Bundle,
    Options,
    accuracy,
    bundle_from_tables,
    comparisons,
    gee,
    missing,
    reader_conditions,
    reader_panel,
    sensitivity,
)
from tests.conftest import number_of_examples

MARGIN = 0.05
OPTIONS = Options(bootstrap=10, margin=MARGIN)
READERS, MODELS = ["R1", "R2", "R3"], ["M1", "M2"]
NUMBERS = ["difference", "se", "df", "ci_low", "ci_high", "p", "p_noninferior"]


@dataclass(frozen=True)
class Study:
    """A bundle with its answers by rater, condition and item; None for a missing answer."""

    bundle: Bundle
    truth: dict[str, str]
    patient: dict[str, str]
    read: dict[tuple[str, str, str], str | None]
    left_out: frozenset[tuple[str, str, str]]

    def items(self) -> list[str]:
        """Return the items with a reference standard."""
        return [item for item, letter in self.truth.items() if letter]

    def given(self, rater: str, condition: str) -> set[str]:
        """Return the items that were presented to a rater."""
        return {
            item
            for item in self.items()
            if ((rater, condition, item) in self.read or rater in MODELS)
            and (rater, condition, item) not in self.left_out
        }

    def right(self, rater: str, condition: str, item: str) -> float:
        """Return 1 for a correct answer, and 0 for a wrong or missing answer."""
        return float(self.read.get((rater, condition, item)) == self.truth[item])

    def units(self) -> list[tuple[str, str]]:
        """Return each rater with the conditions of their readings."""
        return sorted({(rater, condition) for rater, condition, _ in self.read})


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Return up to twelve items; readers stop early or get a part of the items."""
    n = draw(st.integers(5, 12))
    names = [f"q{i:02d}" for i in range(n)]
    truth = {name: draw(st.sampled_from(["A", "B", "B", "A", ""])) for name in names}
    several = draw(st.booleans())
    patient = {name: f"p{i // 2 if several else i:02d}" for i, name in enumerate(names)}
    tasks = draw(st.lists(st.sampled_from(["x", "y", ""]), min_size=n, max_size=n))
    conditions = draw(st.sampled_from([["aided"], ["aided", "unaided"]]))
    hardly = draw(st.sampled_from([0, 1, 4]))
    primary = draw(st.booleans())
    rows = []
    for rater in READERS + MODELS:
        for condition in conditions if rater in READERS else [""]:
            absent = draw(st.sets(st.sampled_from(names), max_size=hardly))
            for name in [name for name in names if name not in absent]:
                answer = draw(st.sampled_from(["A", "B", "A", "B", ""]))
                excluded = draw(st.sampled_from(["", "", "", "", "", "", "the telephone"]))
                rows.append((rater, condition, name, answer, excluded))
    columns = ["rater_id", "condition", "item_id", "answer", "excluded"]
    items = pd.DataFrame({"item_id": names, "truth": truth.values(), "task": tasks})
    bundle = bundle_from_tables(
        items.assign(patient_id=patient.values()),
        pd.DataFrame(rows, columns=columns),
        pd.DataFrame(
            {
                "rater_id": READERS + MODELS + ["R9"],
                "rater_kind": ["reader"] * 3 + ["model"] * 2 + ["reader"],
            }
        ),
    )
    return Study(
        bundle=replace(bundle, protocol={"exclusions": "primary"} if primary else {}),
        truth=truth,
        patient=patient,
        read={row[:3]: (None if primary and row[4] else row[3]) or None for row in rows},
        left_out=frozenset(row[:3] for row in rows if primary and row[4]),
    )


@pytest.mark.thorough
@settings(max_examples=number_of_examples(12))
@given(studies())
def test_accuracy_counts_the_presented_items(study: Study) -> None:
    """Counts, micro and macro averages and their sensitivity analysis are compared."""
    table = accuracy(study.bundle, OPTIONS).set_index(["rater_id", "condition", "group"])
    other = sensitivity(study.bundle, OPTIONS).set_index(["analysis", "rater_id", "condition"])
    task = dict(zip(study.bundle.items["item_id"], study.bundle.items["task"], strict=True))
    for rater, condition in study.units():
        items = study.given(rater, condition)
        right = sum(study.right(rater, condition, item) for item in items)
        answered = {i for i in items if study.read.get((rater, condition, i)) is not None}
        row = table.loc[(rater, condition, "micro")]
        assert (row["n"], row["n_correct"]) == (len(items), right)
        assert row["n_missing"] == len(items) - len(answered)
        assert row["accuracy"] == _close(_share(right, len(items)))
        assert not math.isnan(row["accuracy"]) or row["undefined_because"]
        shares = []
        for name in ("x", "y"):
            of_task = [item for item in items if task[item] == name]
            if of_task:
                shares.append(sum(study.right(rater, condition, i) for i in of_task) / len(of_task))
        macro = table.loc[(rater, condition, "macro"), "accuracy"]
        assert macro == _close(sum(shares) / len(shares) if shares else math.nan)
        everything = len(study.items()) - len(_left_out(study, rater, condition))
        for name, is_counted, correct in (
            ("missing as wrong", len(items), right),
            ("missing dropped", len(answered), right),
            ("missing as right", len(items), right + len(items) - len(answered)),
            ("absent as wrong", everything, right),
        ):
            result = other.loc[(name, rater, condition)]
            assert result["n"] == is_counted
            assert result["accuracy"] == _close(_share(correct, is_counted))


def _left_out(study: Study, rater: str, condition: str) -> list[str]:
    return [i for i in study.items() if (rater, condition, i) in study.left_out]


@settings(max_examples=number_of_examples(8))
@given(studies())
def test_items_that_were_never_presented_are_counted(study: Study) -> None:
    """A rater without readings also has a row."""
    table = missing(study.bundle)
    counts = table.set_index(["rater_id", "condition"])
    for rater, condition in study.units():
        read = [item for item in study.items() if (rater, condition, item) in study.read]
        assert counts.loc[(rater, condition), "n_absent"] == len(study.items()) - len(read)
    assert counts.loc[("R9", ""), "n_absent"] == len(study.items())
    assert (table["n_assigned"] == len(study.items())).all()


@pytest.mark.thorough
@settings(max_examples=number_of_examples(12))
@given(studies())
def test_pairs_are_compared_on_items_presented_to_both(study: Study) -> None:
    """A reader and a model are compared on the reader's items, two models on all items."""
    for row in comparisons(study.bundle, OPTIONS).to_dict("records"):
        a, b, condition = row["rater_a"], row["rater_b"], row["condition"]
        own_conditions = ["" if rater in MODELS else condition for rater in (a, b)]
        items = study.given(a, own_conditions[0]) & study.given(b, own_conditions[1])
        of_a, of_b = (
            {i: study.right(r, c, i) for i in items}
            for r, c in zip((a, b), own_conditions, strict=True)
        )
        assert row["n"] == len(items)
        assert row["only_a_correct"] == sum(of_a[i] > of_b[i] for i in items)
        assert row["only_b_correct"] == sum(of_a[i] < of_b[i] for i in items)
        difference = _share(sum(of_a.values()) - sum(of_b.values()), len(items))
        assert row["difference"] == _close(difference)


@pytest.mark.thorough
@settings(max_examples=number_of_examples(20))
@given(studies())
def test_the_panel_uses_items_presented_to_all_readers(study: Study) -> None:
    """All numbers of both claims are compared; below 80 % of the items they are undefined."""
    panel = reader_panel(study.bundle, OPTIONS).set_index(["model_id", "condition", "claim"])
    same = gee(study.bundle, OPTIONS).set_index(["contrast", "condition"])
    for model in MODELS:
        for condition in sorted({c for r, c in study.units() if r in READERS}):
            readers = sorted({r for r, c in study.units() if r in READERS and c == condition})
            items = sorted(
                set.intersection(
                    study.given(model, ""), *(study.given(r, condition) for r in readers)
                )
            )
            rows = [
                panel.loc[(model, condition, claim)]
                for claim in ("these readers", "readers like these")
            ]
            assert {row["n_items"] for row in rows} == {len(items)}
            if 5 * len(items) < 4 * len(study.items()):
                assert all(row[["reader_mean", *NUMBERS]].isna().all() for row in rows)
                assert all("fewer than 80 %" in row["undefined_because"] for row in rows)
                assert math.isnan(same.loc[(model, condition), "estimate"])
                continue
            psi = [
                [study.right(model, "", i) - study.right(r, condition, i) for i in items]
                for r in readers
            ]
            groups = _groups(study, items)
            for row, expected in zip(rows, _claims(psi, groups), strict=True):
                for name, number in expected.items():
                    assert row[name] == _close(number), name
            assert same.loc[(model, condition), "estimate"] == _close(rows[0]["difference"])


@settings(max_examples=number_of_examples(12))
@given(studies())
def test_conditions_are_compared_on_items_read_under_both(study: Study) -> None:
    """All readers must have read them; below 80 % of the presented items it is undefined."""
    table = reader_conditions(study.bundle, OPTIONS)
    conditions = sorted({condition for rater, condition in study.units() if rater in READERS})
    if len(conditions) < 2:
        assert not len(table)
        return
    a, b = conditions
    readers = [r for r in READERS if (r, a) in study.units() and (r, b) in study.units()]
    answers = [study.given(reader, condition) for reader in readers for condition in (a, b)]
    items = sorted(set.intersection(*answers))
    rows = [table.loc[table["claim"] == claim].iloc[0] for claim in dict.fromkeys(table["claim"])]
    if 5 * len(items) < 4 * len(set.union(*answers)):
        assert all(math.isnan(row["difference"]) for row in rows)
        assert all(row["undefined_because"] for row in rows)
        return
    psi = [[study.right(r, a, i) - study.right(r, b, i) for i in items] for r in readers]
    for row, expected in zip(rows, _claims(psi, _groups(study, items)), strict=True):
        for name in NUMBERS[:-1]:
            assert row[name] == _close(expected[name]), name


def _groups(study: Study, items: list[str]) -> list[list[int]]:
    patients = sorted({study.patient[item] for item in items})
    return [[i for i, item in enumerate(items) if study.patient[item] == p] for p in patients]


def _claims(psi: list[list[float]], groups: list[list[int]]) -> Iterator[dict[str, float]]:
    """Yield both claims about differences by reader and item, from the published formulas."""
    n_readers, n, c = len(psi), len(psi[0]) if psi[0] else 0, len(groups)
    if not n:
        yield from [dict.fromkeys(NUMBERS, math.nan)] * 2
        return
    means = [sum(entry) / n for entry in psi]
    mean = sum(means) / n_readers

    def covariance(j: int, k: int) -> float:
        if c < 2:
            return math.nan
        sums = [[sum(psi[r][i] - means[r] for i in group) for r in (j, k)] for group in groups]
        return c / (c - 1) * sum(entry * other for entry, other in sums) / n**2

    var = sum(covariance(j, j) for j in range(n_readers)) / n_readers
    pairs = [(j, k) for j in range(n_readers) for k in range(n_readers) if j != k]
    cov2 = sum(covariance(j, k) for j, k in pairs) / len(pairs) if pairs else math.nan
    cov2 = max(cov2, 0.0) if abs(cov2) > 1e-9 * var else 0.0
    fixed = _inference(mean, (var + (n_readers - 1) * cov2) / n_readers, c - 1)
    random = _inference(math.nan, math.nan, math.nan)
    if n_readers > 1 and c > 1:
        msr = sum((entry - mean) ** 2 for entry in means) / (n_readers - 1)
        bracket = msr + n_readers * cov2
        df = bracket**2 / (msr**2 / (n_readers - 1)) if msr > 1e-20 else math.inf
        random = _inference(mean, bracket / n_readers, df)
    if random["ci_high"] - random["ci_low"] < (fixed["ci_high"] - fixed["ci_low"]) * (1 - 1e-9):
        random = fixed
    for entry in (fixed, random):
        yield entry | {
            "difference": mean,
            "ci_low": max(entry["ci_low"], -1.0) if entry["ci_low"] < -1 else entry["ci_low"],
            "ci_high": min(entry["ci_high"], 1.0) if entry["ci_high"] > 1 else entry["ci_high"],
        }


def _inference(mean: float, variance: float, df: float) -> dict[str, float]:
    if not variance > 1e-15:
        return dict.fromkeys(NUMBERS, math.nan)
    se, law = math.sqrt(variance), norm() if math.isinf(df) else t(df)
    return {
        "se": se,
        "df": math.nan if math.isinf(df) else df,
        "ci_low": mean - law.isf(0.025) * se,
        "ci_high": mean + law.isf(0.025) * se,
        "p": 2 * law.sf(abs(mean) / se),
        "p_noninferior": law.sf((mean + MARGIN) / se),
    }


def _share(part: float, of: int) -> float:
    return part / of if of else math.nan


def _close(number: float) -> object:
    return pytest.approx(number, rel=1e-7, abs=1e-9, nan_ok=True)
