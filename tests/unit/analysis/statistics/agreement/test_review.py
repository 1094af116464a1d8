"""Statistics of an expert review, compared with statsmodels, and invalid reviews."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from analysis import BundleError, Options, analyse, bundle_from_tables
from analysis.cli import main
from analysis.statistics.agreement.judges import SOUND, VERDICTS, read_faulty, review

HEADER = "item_id,reviewer,place,verdict\n"


def _verdicts(n: int = 40, *, seed: int = 1, patients: int = 0) -> pd.DataFrame:
    """Return verdicts of three reviewers on items, most of them without errors."""
    chance = np.random.default_rng(seed)
    rows = []
    for item in range(n):
        order = chance.permutation(["ann", "bob", "cat"])
        choice = chance.choice(VERDICTS, size=3, p=[0.6, 0.1, 0.1, 0.1, 0.1])
        n_given = 2 if choice[0] == choice[1] else 3
        rows += [
            (f"q{item:02d}", f"p{item % patients}" if patients else "", f"t{item % 2}", *row)
            for row in zip(order, range(1, n_given + 1), choice, strict=False)
        ]
    return pd.DataFrame(
        rows, columns=["item_id", "patient_id", "task", "reviewer", "place", "verdict"]
    )


def test_shares_equal_those_of_statsmodels() -> None:
    """Shares are computed overall and by task, for all errors and for each kind."""
    verdicts = _verdicts()
    result = review(verdicts)
    for row in result.summary.to_dict("records"):
        low, high = proportion_confint(row["n_found"], row["n"], method="wilson")
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=1e-12)
    table = result.summary.loc[result.summary["task"] == ""].set_index("finding")["n_found"]
    assert table["faulty"] == table.drop("faulty").sum() == len(result.faulty)
    by_task = result.summary.loc[result.summary["task"] != ""]
    assert by_task.groupby("finding")["n_found"].sum().equals(table.sort_index())
    for row in result.reviewers.to_dict("records"):
        own_rows = verdicts.loc[verdicts["reviewer"] == row["reviewer"], "verdict"]
        assert (row["n"], row["n_faulty"]) == (len(own_rows), (own_rows != SOUND).sum())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kappa_is_fleiss_kappa_of_the_two_blind_verdicts(seed: int) -> None:
    """Kappa is computed for all verdicts, and for faulty against sound."""
    verdicts = _verdicts(seed=seed)
    table = review(verdicts).agreement.set_index(["categories", "measure"])
    blind = verdicts.loc[verdicts["place"] <= 2]
    pairs = blind.pivot(index="item_id", columns="place", values="verdict")
    for name, coded in {"verdicts": pairs, "faulty or sound": pairs == SOUND}.items():
        counts, _ = aggregate_raters(coded.to_numpy(dtype=str))
        row = table.loc[(name, "kappa")]
        assert row["value"] == pytest.approx(fleiss_kappa(counts), abs=1e-12)
        assert row["ci_low"] < row["value"] < row["ci_high"]
        agreed = (coded[1] == coded[2]).mean()
        assert table.loc[(name, "agreement"), "value"] == pytest.approx(agreed)
    share = (pairs[1] == pairs[2]).mean()
    assert table.loc[("verdicts", "Brennan-Prediger"), "value"] == pytest.approx(
        (share - 0.2) / 0.8
    )


def test_items_of_a_patient_are_resampled_together() -> None:
    """Ten equal items of a patient have the information of one item."""
    single = _verdicts(20, seed=4).assign(patient_id=lambda entry: entry["item_id"])
    often = pd.concat(
        [single.assign(item_id=single["item_id"] + f"-{copy}") for copy in range(10)],
        ignore_index=True,
    )
    without_patients = often.assign(patient_id="")
    widths = [
        review(entry).agreement.eval("ci_high - ci_low").iloc[0]
        for entry in (single, often, without_patients)
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert widths[2] < 0.6 * widths[0]


def test_two_different_verdicts_without_a_third_are_undecided() -> None:
    """An item with three different verdicts counts as having several errors."""
    verdicts = pd.DataFrame(
        {
            "item_id": ["a", "a", "b", "b", "b"],
            "reviewer": ["x", "y", "x", "y", "z"],
            "place": [1, 2, 1, 2, 3],
            "verdict": ["sound", "ambiguous", *VERDICTS[:3]],
        }
    )
    result = review(verdicts)
    assert result.items["finding"].tolist() == ["", "several faults"]
    assert result.summary.iloc[0][["n", "n_found"]].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{HEADER}q,a,1,good\n", "row 2: the verdict is “good”. Use one of sound, ambiguous"),
        (f"{HEADER}q,a,0,sound\n", "row 2: the place is “0”. Count from 1."),
        (f"{HEADER}q,a,1,sound\nq,a,2,sound\n", "row 3: the item_id is “q”"),
        (f"{HEADER}q,a,1,sound\nq,b,1,sound\n", "row 3: the item_id is “q”"),
        ("item_id,verdict\nq,sound\n", "reviewer"),
        (None, "cannot be read"),
    ],
)
def test_an_invalid_review_is_refused_with_its_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, why: str
) -> None:
    """The message states what to do, and nothing is written."""
    path, out = tmp_path / "verdicts.csv", tmp_path / "out"
    if text is not None:
        path.write_text(text)
    assert main(["review", str(path), "--out", str(out)]) == 1
    assert why in capsys.readouterr().err
    assert not out.exists()


def test_a_report_can_exclude_items_that_a_review_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The review produces a list, which a sensitivity analysis excludes."""
    verdicts, out = _verdicts(20), tmp_path / "out"
    verdicts.to_csv(tmp_path / "verdicts.csv", index=False)
    assert main(["review", str(tmp_path / "verdicts.csv"), "--out", str(out)]) == 0
    assert "questions settled by 3 reviewers" in capsys.readouterr().out
    faulty = read_faulty(out / "faulty.csv")
    assert set(faulty) == set(review(verdicts).faulty["item_id"])
    items = sorted(set(verdicts["item_id"]))
    bundle = bundle_from_tables(
        pd.DataFrame({"item_id": items, "truth": "A"}),
        pd.DataFrame(
            {
                "rater_id": np.repeat(["R1", "M1"], len(items)),
                "item_id": items * 2,
                "answer": ["B" if item in faulty else "A" for item in items] * 2,
                "flags": [*("question_faulty" if i == 3 else "" for i in range(len(items)))] * 2,
            }
        ),
        pd.DataFrame({"rater_id": ["R1", "M1"], "rater_kind": ["reader", "model"]}),
    )
    result = analyse(bundle, Options(faulty=(*faulty, "of another bank"), bootstrap=50))
    table = result.tables["sensitivity"].set_index(["analysis", "rater_id"])
    for rater in ("R1", "M1"):
        row = table.loc[("faulty questions dropped", rater)]
        assert (row["n"], row["accuracy"]) == (len(items) - len(faulty), 1.0)
        assert table.loc[("marked questions dropped", rater), "n"] == len(items) - 1
        assert table.loc[("flagged times dropped", rater), "n"] == len(items)
    panel = result.tables["sensitivity_panel"].set_index("analysis")["n_items"]
    assert set(panel.loc[["faulty questions dropped"]]) == {len(items) - len(faulty)}
    assert set(panel.loc[["marked questions dropped"]]) == {len(items) - 1}
    analyses = analyse(bundle, Options(bootstrap=50)).tables["sensitivity"]["analysis"]
    assert "faulty questions dropped" not in set(analyses)
    (tmp_path / "none.csv").write_text("item_id\n")
    with pytest.raises(BundleError, match="names no item"):
        read_faulty(tmp_path / "none.csv")
