"""uncrossed.csv compares readers who read different cases."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.bundle import Bundle, bundle_from_tables
from analysis.options import Options
from analysis.registry import analyse
from analysis.report.tables import report_tables
from analysis.statistics.mrmc import incomplete
from analysis.statistics.mrmc.incomplete import incomplete_comparisons
from analysis.statistics.mrmc.moments import uncrossed_components
from analysis.statistics.mrmc.second_moments import Observations, moments_of
from analysis.statistics.mrmc.u_statistics import u_statistic
from analysis.statistics.mrmc.uncrossed import BCK, BDG, CROSSED, METHOD_NAMES, UNCROSSED, uncrossed
from analysis.statistics.study import Study

N_ITEMS = 24
READERS = ["R1", "R2", "R3", "R4"]


def study(
    conditions: tuple[str, ...] = ("",),
    *,
    share: float = 0.8,
    per_patient: int = 1,
    confidence: bool = False,
    seed: int = 3,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return items, readings and raters; each reader reads a random share of the items."""
    generator = np.random.default_rng(seed)
    ids = [f"q{i:02}" for i in range(N_ITEMS)]
    items = pd.DataFrame(
        {
            "item_id": ids,
            "truth": generator.choice(list("AB"), N_ITEMS),
            "n_options": 2,
            "option_set": "s",
            "patient_id": [f"p{i // per_patient:02}" for i in range(N_ITEMS)],
        }
    )
    units = [("M", ""), *((reader, name) for reader in READERS for name in conditions)]
    readings = [
        {
            "rater_id": rater,
            "item_id": item,
            "condition": condition,
            "answer": generator.choice(list("ABB") if truth == "B" else list("AAB")),
            "confidence": str(generator.integers(1, 6)) if confidence else "",
        }
        for rater, condition in units
        for item, truth in zip(ids, items["truth"], strict=True)
        if rater == "M" or generator.random() < share
    ]
    raters = pd.DataFrame(
        {"rater_id": ["M", *READERS], "rater_kind": ["model"] + ["reader"] * len(READERS)}
    )
    return items, pd.DataFrame(readings), raters


def bundle(**design: object) -> Bundle:
    """Return the bundle of a study."""
    return bundle_from_tables(*study(**design))


def plain_variance(kernel: np.ndarray, other: np.ndarray, clusters: np.ndarray) -> float:
    """Return the product of two means minus the mean product over other readers and patients."""
    a, b = (np.argwhere(np.isfinite(each)) for each in (kernel, other))
    independent = [
        kernel[i, j] * other[k, m]
        for i, j in a
        for k, m in b
        if i != k and clusters[j] != clusters[m]
    ]
    return float(np.nanmean(kernel) * np.nanmean(other) - np.mean(independent))


def matrix_of(items: pd.DataFrame, readings: pd.DataFrame, condition: str) -> np.ndarray:
    """Return correctness by reader and item, nan without a reading."""
    rows = readings[readings["condition"] == condition].merge(items, on="item_id")
    rows["right"] = (rows["answer"] == rows["truth"]).astype(float)
    wide = rows.pivot(index="rater_id", columns="item_id", values="right")
    return wide.reindex(index=READERS, columns=items["item_id"]).to_numpy()


@pytest.mark.parametrize("per_patient", [1, 3])
def test_models_are_compared_with_the_mean_over_readings(per_patient: int) -> None:
    """All readings have the same weight; readings of a patient are not independent."""
    items, readings, raters = study(per_patient=per_patient)
    rows = uncrossed(bundle_from_tables(items, readings, raters)).set_index("method")
    model = readings[readings["rater_id"] == "M"].merge(items, on="item_id")
    right = (model["answer"] == model["truth"]).to_numpy(dtype=float)
    differences = right - matrix_of(items, readings, "")
    clusters = items["patient_id"].to_numpy()
    assert rows.loc[BDG, "difference"] == pytest.approx(np.nanmean(differences))
    assert rows.loc[BDG, "se"] ** 2 == pytest.approx(
        plain_variance(differences, differences, clusters)
    )
    assert rows.loc[BDG, "n_readings"] == np.isfinite(differences).sum()
    assert rows.loc[BCK, "se"] == rows.loc[BDG, "se"]
    crossed = np.isfinite(differences).all(axis=0)
    assert rows.loc[CROSSED, "n_items"] == crossed.sum()
    assert rows.loc[CROSSED, "difference"] == pytest.approx(differences[:, crossed].mean())


def test_the_difference_of_conditions_includes_their_covariance() -> None:
    """The conditions have the same readers and cases, with different missing readings."""
    items, readings, raters = study(("aided", "unaided"))
    rows = uncrossed(bundle_from_tables(items, readings, raters))
    rows = rows[rows["model_id"] == ""].set_index("method")
    a, b = (matrix_of(items, readings, name) for name in ("aided", "unaided"))
    clusters = np.arange(N_ITEMS)
    variance = sum(
        weight * plain_variance(*pair, clusters)
        for weight, pair in ((1, (a, a)), (1, (b, b)), (-2, (a, b)))
    )
    assert rows.loc[BDG, "difference"] == pytest.approx(np.nanmean(a) - np.nanmean(b))
    assert rows.loc[BDG, "se"] ** 2 == pytest.approx(variance)


def test_arms_are_compared_although_no_reader_has_both_conditions() -> None:
    """The arms share cases but not readers, so the Obuchowski-Rockette model is undefined."""
    items, readings, raters = study(("aided", "unaided"), share=1.0)
    arm_readers = readings["condition"].map(
        {"aided": ("R1", "R2"), "unaided": ("R3", "R4"), "": ("M",)}
    )
    is_kept = [
        rater in names for rater, names in zip(readings["rater_id"], arm_readers, strict=True)
    ]
    rows = uncrossed(bundle_from_tables(items, readings[is_kept], raters)).set_index("method")
    assert set(rows["condition_b"]) == {"unaided"}  # within an arm, all readers read all cases
    assert rows.loc[BDG, "n_readers"] == 4
    assert np.isfinite(rows.loc[BDG, "ci_low"])
    assert rows.loc[CROSSED, "undefined_because"] == "no reader read under both conditions"


def test_areas_weight_all_pairs_of_cases_of_a_reader_equally() -> None:
    """AUC has separate rows, with the variance of independent pairs of cases."""
    items, readings, raters = study(confidence=True)
    bundled = bundle_from_tables(items, readings, raters)
    rows = uncrossed(bundled)
    area = rows[rows["metric"] == "auc"].set_index("method")
    assert list(area.index) == list(METHOD_NAMES)
    ratings = Study(bundled).figures_of_merit.ratings
    assert ratings is not None
    matrix = Study(bundled).matrix
    wins: list[float] = []
    model_wins: list[float] = []
    for reader in range(len(READERS)):
        read = matrix.is_counted[:, reader]
        for high in np.flatnonzero(read & ratings.positive):
            for low in np.flatnonzero(read & ~ratings.positive):
                for column, sums in ((reader, wins), (len(READERS), model_wins)):
                    differences = ratings.ratings[high, column] - ratings.ratings[low, column]
                    sums.append((np.sign(differences) + 1) / 2)
    assert area.loc[BDG, "value_b"] == pytest.approx(np.mean(wins))
    assert area.loc[BDG, "value_a"] == pytest.approx(np.mean(model_wins))


@pytest.mark.parametrize("both_classes", [False, True])
def test_patients_are_the_independent_units_of_an_area(both_classes: bool) -> None:
    """Readings that share a reader, or a patient on either side of a pair, are not independent."""
    items, readings, raters = study(confidence=True, per_patient=2)
    if not both_classes:
        items["truth"] = items["truth"].where(np.arange(N_ITEMS) % 2 == 0, items["truth"].shift())
    bundled = bundle_from_tables(items, readings, raters)
    rows = uncrossed(bundled)
    area = rows[(rows["metric"] == "auc") & (rows["method"] == BDG)].iloc[0]
    ratings, matrix = Study(bundled).figures_of_merit.ratings, Study(bundled).matrix
    assert ratings is not None
    scores = [
        (
            reader,
            matrix.clusters[high],
            matrix.clusters[low],
            np.sign(ratings.ratings[high, -1] - ratings.ratings[low, -1]) / 2
            - np.sign(ratings.ratings[high, reader] - ratings.ratings[low, reader]) / 2,
        )
        for reader in range(len(READERS))
        for high in np.flatnonzero(matrix.is_counted[:, reader] & ratings.positive)
        for low in np.flatnonzero(matrix.is_counted[:, reader] & ~ratings.positive)
    ]
    reader, high, low, score = (np.array(each) for each in zip(*scores, strict=True))
    assert np.isin(high, low).any() == both_classes
    apart = reader[:, None] != reader
    for first, second in itertools.product((high, low), repeat=2):
        apart &= first[:, None] != second
    products = np.outer(score, score)
    assert area["difference"] == pytest.approx(score.mean())
    expected = score.mean() ** 2 - products[apart].mean()
    assert area["se"] ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("per_patient", [1, 3])
@pytest.mark.parametrize("conditions", [("",), ("aided", "unaided")])
def test_moments_and_components_give_the_variance(
    conditions: tuple[str, ...], per_patient: int
) -> None:
    """The scalar product of either list is the variance of a lead or a difference of conditions."""
    bundled = bundle(conditions=conditions, confidence=True, seed=5, per_patient=per_patient)
    rows = uncrossed(bundled)
    parts = uncrossed_components(bundled)
    keys = ["model_id", "condition_a", "condition_b", "metric"]
    signs = parts["part"].map({"difference": 1, "first": 1, "second": 1, "both": -2})
    for name in ("bdg_moment * bdg_coefficient", "bck_component * bck_coefficient"):
        variances = (parts.eval(name) * signs).groupby([parts[key] for key in keys]).sum()
        table = rows[rows["method"] == BDG].set_index(keys)
        defined = table["se"].notna()
        assert defined.any()
        expected = table.loc[defined, "se"] ** 2
        assert variances[expected.index].tolist() == pytest.approx(expected.tolist())
        assert (variances[table.index[~defined]] < 0).all()
    shared = "reader, case" if per_patient > 1 else "reader, negative case"
    assert set(parts.loc[parts["metric"] == "auc", "shared"]) >= {"none", shared}


def test_the_report_lists_every_component() -> None:
    """Each row of the file has a row with the comparison and the shared factor."""
    results = analyse(bundle(conditions=("",)), Options(bootstrap=5))
    (table,) = (table for table in report_tables(results) if table.name == "uncrossed-components")
    rows = results.tables["uncrossed_components"]
    assert len(table.rows) == table.total == len(rows)
    shared = rows["shared"].replace("none", "nothing").tolist()
    assert [cells[-5] for _, cells in table.rows] == shared
    moments = [float(cells[-4]) for _, cells in table.rows]
    assert moments == pytest.approx(rows["bdg_moment"].tolist(), rel=5e-3)


def test_a_moment_is_the_mean_product_over_pairs_that_share_its_factors() -> None:
    """The moment of pairs with the same reader and another case is checked."""
    items, readings, raters = study()
    parts = uncrossed_components(bundle_from_tables(items, readings, raters)).set_index("shared")
    model = readings[readings["rater_id"] == "M"].merge(items, on="item_id")
    differences = (model["answer"] == model["truth"]).to_numpy(float) - matrix_of(
        items, readings, ""
    )
    cells = np.argwhere(np.isfinite(differences))
    pairs = [(a, b) for a in cells for b in cells]
    for name, reader, case in (("reader", True, False), ("case", False, True)):
        chosen = [
            differences[tuple(a)] * differences[tuple(b)]
            for a, b in pairs
            if (bool(a[0] == b[0]), bool(a[1] == b[1])) == (reader, case)
        ]
        assert parts.loc[name, "bdg_moment"] == pytest.approx(np.mean(chosen))
        assert parts.loc[name, "bdg_coefficient"] == pytest.approx(len(chosen) / len(pairs))
        at_least = [
            differences[tuple(a)] * differences[tuple(b)]
            for a, b in pairs
            if (a[0] == b[0] or not reader) and (a[1] == b[1] or not case)
        ]
        assert parts.loc[name, "bdg_biased_moment"] == pytest.approx(np.mean(at_least))


def test_a_negative_variance_leaves_no_interval() -> None:
    """An unbiased variance below 0 has no square root, and the reason states it."""
    negative = 0
    for seed in range(12):
        for _, row in uncrossed(bundle(conditions=("aided", "unaided"), seed=seed)).iterrows():
            if "negative" not in row["undefined_because"]:
                continue
            negative += 1
            assert row[["se", "df", "ci_low", "ci_high", "p"]].isna().all()
            assert np.isfinite(row["difference"])
    assert negative


def test_a_fully_crossed_study_has_no_table_of_uncrossed_comparisons() -> None:
    """A study in which all readers read the same part of the items is crossed too."""
    items, readings, raters = study(share=1.0)
    complete = bundle_from_tables(items, readings, raters)
    assert UNCROSSED.name not in analyse(complete).tables
    part = readings[(readings["rater_id"] == "M") | (readings["item_id"] < "q20")]
    assert not list(incomplete_comparisons(Study(bundle_from_tables(items, part, raters)).matrix))


def test_designs_without_shared_cases_have_u_statistics_only() -> None:
    """Each reader reads a different half, so no two readers have a common case."""
    items, readings, raters = study(share=1.0)
    half = {"R1": "q12", "R2": "q12", "R3": "q99", "R4": "q99"}
    own = [
        rater == "M" or (item < "q12") == (half[rater] == "q12")
        for rater, item in zip(readings["rater_id"], readings["item_id"], strict=True)
    ]
    rows = uncrossed(bundle_from_tables(items, readings[own], raters)).set_index("method")
    assert rows.loc[CROSSED, "undefined_because"] == "no item was given to all readers"
    assert np.isfinite(rows.loc[BDG, "difference"])
    assert rows.loc[BDG, "n_items"] == N_ITEMS


def test_patients_with_both_classes_have_an_effective_number() -> None:
    """The number is (2N)^2 over the sum of squared counts by patient.

    Each of the N pairs has two sides.
    """
    random = np.random.default_rng(2)
    design = random.integers(0, 3, (3, 5, 5)).astype(float)
    sides = [
        (reader, patient)
        for reader, high, low in np.ndindex(*design.shape)
        for patient in (high, low)
        for _ in range(int(design[reader, high, low]))
    ]
    of_patients = Counter(patient for _, patient in sides)
    of_both = Counter(sides)
    pairs = Observations(kernel=design, design=design, same_patients=True)
    assert moments_of(pairs, pairs).patients == pytest.approx(
        [len(sides) ** 2 / sum(n**2 for n in each.values()) for each in (of_patients, of_both)]
    )


def test_degrees_of_freedom_of_components_are_those_of_the_row() -> None:
    """Satterthwaite's rule is applied to the components; each has 1 / coefficient - 1 degrees."""
    bundled = bundle()
    rows = uncrossed(bundled).set_index("method")
    parts = uncrossed_components(bundled).query("shared != 'none'")
    shares = parts["bck_component"] * parts["bck_coefficient"]
    levels = 1 / parts["bck_coefficient"] - 1
    df = rows.loc[BCK, "se"] ** 4 / (shares**2 / levels).sum()
    assert rows.loc[BCK, "df"] == pytest.approx(max(df, levels.min(), 2))
    assert rows.loc[BDG, "df"] != pytest.approx(rows.loc[BCK, "df"])


def test_a_reading_counts_only_if_the_answer_of_the_model_counts() -> None:
    """If a model's answer is excluded, the readings of its case are excluded too."""
    items, readings, raters = study()
    excluded = (readings["rater_id"] == "M") & (readings["item_id"] == "q00")
    marked = readings.assign(excluded=excluded.map({True: "wrong image", False: ""}))
    bundled = bundle_from_tables(items, marked, raters)
    rows = uncrossed(replace(bundled, protocol={"exclusions": "primary"}))
    of_readers = readings[(readings["rater_id"] != "M") & (readings["item_id"] != "q00")]
    assert set(rows.loc[rows["method"] == BDG, "n_readings"]) == {len(of_readers)}


def test_a_moment_without_pairs_has_no_component() -> None:
    """Every case has one reader, so no two readings share only a case."""
    kernel = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.5]])
    design = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    moments = moments_of(*[Observations(kernel=kernel * design, design=design)] * 2)
    of_others = np.mean([0.5 * each for each in (1.0, 0.0, 1.0)])
    assert moments.unbiased[0] == pytest.approx(of_others)
    assert moments.unbiased[2] == pytest.approx(of_others)
    assert moments.components[2] == pytest.approx(0)


def test_degrees_of_freedom_are_not_below_those_of_the_smallest_factor() -> None:
    """For complete readings the limit is the smaller number of readers or cases, minus 1."""
    generator = np.random.default_rng(4)
    smallest = []
    for _ in range(200):
        kernel = generator.integers(0, 2, (6, 6)).astype(float)
        result = u_statistic(Observations(kernel=kernel, design=np.ones((6, 6))))
        smallest.append(min(result.df_bdg, result.df_bck))
    assert min(smallest) == pytest.approx(5)


@pytest.mark.parametrize(("per_patient", "cells"), [(1, "pairs"), (2, "patients")])
def test_the_stated_size_of_an_area_is_that_of_its_arrays(
    monkeypatch: pytest.MonkeyPatch, per_patient: int, cells: str
) -> None:
    """If patients have cases of both classes, the array has a row and a column per patient."""
    design = bundle(confidence=True, per_patient=per_patient)
    n = (design.items["truth"] == "B").sum()
    size = n * (N_ITEMS - n) if cells == "pairs" else (N_ITEMS // per_patient) ** 2
    assert n * (N_ITEMS - n) <= size
    size *= len(READERS)
    for limit, defined in ((size, True), (size - 1, False)):
        monkeypatch.setattr(incomplete, "LARGEST_KERNEL", limit)
        table = uncrossed(design, Options(confidence="answer"))
        row = table[(table["metric"] == "auc") & (table["method"] == BDG)].iloc[0]
        assert (row["undefined_because"] != incomplete.TOO_LARGE) == defined
