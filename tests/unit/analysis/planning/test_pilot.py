"""Variance components from a pilot, and the command that uses them for planning."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import Bundle, bundle_from_tables
from analysis.cli import main
from analysis.errors import AnalysisError
from analysis.planning import (
    Comparison,
    PlanClaim,
    PowerPlan,
    draw_spread,
    pilot_components,
    power,
)
from analysis.statistics.mrmc import variance_components

pytestmark = pytest.mark.usefixtures("without_printing")


def _pilot(*, items_per_patient: int = 1, models: int = 1) -> Bundle:
    generator = np.random.default_rng(3)
    ids = [f"q{i:03d}" for i in range(80)]
    ease = generator.normal(0.8, 0.7, 80)
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": "A",
            "n_options": 4,
            "patient_id": [f"p{i // items_per_patient}" for i in range(80)],
        }
    )
    names = [f"M{i}" for i in range(models)] + ["R1", "R2", "R3", "R4"]
    readings = [
        {
            "rater_id": name,
            "condition": condition,
            "item_id": item,
            "answer": "A" if right else "B",
        }
        for name in names
        for condition in (("",) if name.startswith("M") else ("aided", "unaided"))
        for item, right in zip(
            ids, ease + generator.normal(0, 1, 80) + 0.3 * (condition == "aided") > 0, strict=True
        )
    ]
    kinds = ["model"] * models + ["reader"] * 4
    raters = pd.DataFrame({"rater_id": names, "rater_kind": kinds})
    return bundle_from_tables(items, pd.DataFrame(readings), raters)


def _components(bundle: Bundle, table: str, condition: str) -> dict[str, float]:
    rows = variance_components(bundle)
    rows = rows.loc[(rows["table"] == table) & (rows["condition"] == condition)]
    return dict(zip(rows["component"], rows["value"], strict=True))


@pytest.mark.parametrize("comparison", list(Comparison))
def test_errors_that_vary_more_than_normal_errors_have_fewer_degrees_of_freedom(
    comparison: Comparison,
) -> None:
    """Binary answers and several items per patient are tested.

    Degrees of freedom never exceed those of normal errors.
    """
    for items_per_patient in (1, 4):
        (parts,) = pilot_components(_pilot(items_per_patient=items_per_patient), comparison)
        patients = 80 // items_per_patient
        assert parts.own_df is not None
        assert parts.joint_df is not None
        assert 20 < parts.own_df <= 3 * (patients - 1) + 1e-9
        assert 5 < parts.joint_df < patients - 1


def test_fewer_degrees_of_freedom_give_wider_limits() -> None:
    """Limits are checked for the claim about these readers, where power depends on errors only."""
    (parts,) = pilot_components(_pilot(), Comparison.PANEL)
    widths = []
    for known in (parts, replace(parts, own_df=None, joint_df=None)):
        plan = PowerPlan(components=known, comparison=Comparison.PANEL, effect=0.06)
        rows = power(plan, plan.size(6, 150), draw_spread(plan.spread, 1))
        fixed = next(row for row in rows if row.claim is PlanClaim.THESE_READERS)
        widths.append(fixed.high - fixed.low)
    assert widths[0] > widths[1]


@pytest.mark.parametrize("items_per_patient", [1, 4])
def test_a_pilot_of_conditions_has_the_components_of_the_analysis(items_per_patient: int) -> None:
    """If patients have several items, patients are resampled."""
    bundle = _pilot(items_per_patient=items_per_patient)
    (parts,) = pilot_components(bundle, Comparison.CONDITIONS)
    expected = _components(bundle, "reader_conditions", "aided - unaided")
    assert parts.var_error == expected["Var"]
    assert [parts.cov1, parts.cov2, parts.cov3] == [expected[f"Cov{i}"] for i in (1, 2, 3)]
    assert parts.var_tr == expected["var_treatment_reader"]
    assert parts.var_r == expected["var_reader"]
    assert (parts.readers, parts.cases, parts.clusters) == (4, 80, 80 // items_per_patient)


def test_a_pilot_of_a_panel_has_the_mean_over_its_models() -> None:
    """Both models are included under both conditions unless one is the primary model."""
    bundle = _pilot(models=2)
    (parts,) = pilot_components(bundle, Comparison.PANEL)
    rows = variance_components(bundle)
    rows = rows.loc[rows["table"] == "reader_panel"]
    for name, value in (
        ("Var", parts.var_error),
        ("Cov2", parts.cov2),
        ("var_reader", parts.var_tr),
    ):
        assert value == pytest.approx(rows.loc[rows["component"] == name, "value"].mean())
    assert parts.source == "pilot: mean of 4 comparisons"
    assert parts.cov1 == parts.cov3 == 0.0


def test_planning_with_the_size_of_the_pilot_gives_its_standard_error() -> None:
    """With as many readers and cases as in the pilot, the planned variance equals its estimate."""
    bundle = _pilot()
    (parts,) = pilot_components(bundle, Comparison.PANEL)
    plan = PowerPlan(components=parts, comparison=Comparison.PANEL, effect=0.05)
    fixed = list(power(plan, plan.size(parts.readers, parts.cases)))[1]
    expected = (parts.var_error + 3 * max(parts.cov2, 0.0)) / 4
    assert 0.05**2 / fixed.ncp == pytest.approx(expected)


def test_a_pilot_without_the_comparison_is_refused(make_bundle: object) -> None:
    """The message explains what is missing without a model or a second condition."""
    bundle = _pilot(models=0)
    with pytest.raises(AnalysisError, match=r"no model.*--components"):
        pilot_components(bundle, Comparison.PANEL)


def _run(out: Path, *arguments: str) -> int:
    sizes = ("--readers", "3:4", "--cases", "50:100:50")
    return main(["power", "--out", str(out), *sizes, "--effect", "0.05", *arguments])


def test_the_command_writes_a_table_and_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bytes are reproducible, and the required number of cases is printed."""
    for name in ("a", "b"):
        assert _run(tmp_path / name, "--published", "van-dyke", "--simulate", "3") == 0
    files = sorted(path.name for path in (tmp_path / "a").rglob("*.*"))
    assert files == ["power.csv", "power.plotly.json", "power.svg"]
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
    table = pd.read_csv(tmp_path / "a" / "tables" / "power.csv")
    assert len(table) == 3 * 2 * 2 * 2
    printed = capsys.readouterr().out
    assert "Three readers do not reach 80 % power at any number of cases" in printed
    assert "Van Dyke" in printed


def test_the_command_reads_a_components_file(tmp_path: Path) -> None:
    """The same components give the same power as the published set."""
    file = tmp_path / "components.toml"
    file.write_text(
        "var_tr = 0.00020040252\ncov1 = 0.00034661371\ncov2 = 0.00034407483\n"
        "cov3 = 0.00023902837\nvar_error = 0.00080228827\nreaders = 5\ncases = 114\n"
        'metric = "auc"\n',
        encoding="utf-8",
    )
    assert _run(tmp_path / "file", "--components", str(file)) == 0
    assert _run(tmp_path / "name", "--published", "van-dyke") == 0
    tables = [(tmp_path / name / "tables" / "power.csv").read_text() for name in ("file", "name")]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give one of --pilot, --components and --published"),
        (("--published", "van-dyke", "--pilot", "x"), "give one of"),
        (("--published", "van-dyke", "--reads-per-case", "4"), "reads per case is 4"),
    ],
)
def test_the_command_refuses_what_cannot_be_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    """The exit status is 2; a sentence is printed, and no files are written."""
    assert _run(tmp_path / "out", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.thorough
def test_degrees_of_freedom_of_errors_are_those_of_the_jackknife() -> None:
    """The number is 2 divided by the jackknife variance of the logarithm of an error."""
    bundle = _pilot(items_per_patient=4)
    (parts,) = pilot_components(bundle, Comparison.PANEL)
    errors = []
    for patient in bundle.items["patient_id"].unique():
        rest = bundle.items[bundle.items["patient_id"] != patient]
        readings = bundle.readings[bundle.readings["item_id"].isin(rest["item_id"])]
        (left,) = pilot_components(replace(bundle, items=rest, readings=readings), Comparison.PANEL)
        own_part, shared = left.var_error - left.cov2, left.cov2
        errors.append(np.log([own_part, own_part + left.readers * shared]))
    n, changes = len(errors), np.array(errors) - np.mean(errors, axis=0)
    variances = (n - 1) / n * (changes**2).sum(axis=0)
    normal = np.array([3.0, 1.0]) * (n - 1)
    expected = np.minimum(2 / variances, normal)
    assert [parts.own_df, parts.joint_df] == pytest.approx(expected.tolist())
    assert (expected < normal).any()
