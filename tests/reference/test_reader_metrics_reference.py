"""AUC, sensitivity, specificity, tasks and years of readers equal their formulas.

Every value is computed again from single readings, with an area that counts pairs, and with a
jackknife over items. Readers under two conditions are compared within groups of readers and one by
one.
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.metrics import roc_auc_score

from analysis import Bundle, Options, analyse, bundle_from_tables
from analysis.statistics.merits import Merits
from analysis.statistics.mrmc.by_reader import reader_conditions_readers
from analysis.statistics.mrmc.experience import reader_years, slope_over_readers
from analysis.statistics.mrmc.group_tasks import reader_groups_tasks
from analysis.statistics.mrmc.groups import (
    reader_groups,
    reader_groups_gain,
    reader_groups_metrics,
)

GROUPS = (["R1", "R2", "R3"], ["R4", "R5", "R6", "R7"])
READERS = [*GROUPS[0], *GROUPS[1]]
YEARS = [2, 4, 1, 12, 20, 8, 9]
OPTIONS = Options(confidence="answer", bootstrap=20)
N = 36


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    """Return seven readers with confidence under two conditions; each item has its own patient."""
    random = np.random.default_rng(5)
    truth = random.choice(["A", "B"], N)
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:02}" for i in range(N)],
            "truth": truth,
            "n_options": 2,
            "options": '["No", "Yes"]',
            "task": random.choice(["x", "y", "z"], N),
        }
    )
    readings = [
        {
            "rater_id": reader,
            "item_id": item,
            "condition": condition,
            "answer": str(truth[place])
            if random.random() < 0.6 + 0.04 * number + 0.1 * (condition == "aided")
            else "BA"["AB".index(truth[place])],
            "confidence": int(random.integers(1, 6)),
        }
        for number, reader in enumerate(READERS)
        for condition in ("aided", "unaided")
        for place, item in enumerate(items["item_id"])
    ]
    raters = pd.DataFrame({"rater_id": READERS, "rater_kind": "reader", "years": YEARS})
    raters["level"] = ["junior"] * 3 + ["senior"] * 4
    return bundle_from_tables(items, pd.DataFrame(readings), raters)


def area(ratings: np.ndarray, present: np.ndarray) -> float:
    """Return the share of pairs of a present and an absent case that are in order."""
    order = np.sign(ratings[present][:, None] - ratings[~present][None, :])
    return float((order.mean() + 1) / 2)


def share(correct: np.ndarray, _: np.ndarray) -> float:
    """Return the proportion of correct answers."""
    return float(correct.mean())


METRICS = {
    "accuracy": (share, "correct", "AB"),
    "auc": (area, "rating", "AB"),
    "sensitivity": (share, "correct", "B"),
    "specificity": (share, "correct", "A"),
}
Jackknife = Callable[..., np.ndarray]


@pytest.fixture(scope="module")
def data(bundle: Bundle) -> pd.DataFrame:
    """Return the readings with their items; confidence in B counts up, confidence in A down."""
    data = bundle.readings.merge(bundle.items[["item_id", "truth", "task"]], on="item_id")
    data["correct"] = data["answer"] == data["truth"]
    data["rating"] = np.where(data["answer"] == "B", 1, -1) * data["confidence"].astype(float)
    return data.sort_values("item_id")


@pytest.fixture(scope="module")
def merits(data: pd.DataFrame) -> Jackknife:
    """Return a function that gives readers by n + 1: on all items, then without each item."""
    readings_of = dict(iter(data.groupby(["rater_id", "condition"])))

    @cache
    def of_reader(metric: str, reader: str, condition: str, task: str) -> list[float]:
        function, column, classes = METRICS[metric]
        own = readings_of[reader, condition]
        own = own[own["truth"].isin(list(classes)) & own["task"].str.contains(task)]
        values, present = own[column].to_numpy(), (own["truth"] == "B").to_numpy()
        keep = ~np.eye(len(own) + 1, len(own), -1, dtype=bool)
        return [function(values[is_kept], present[is_kept]) for is_kept in keep]

    def of_readers(metric: str, readers: list[str], condition: str, task: str = "") -> np.ndarray:
        return np.array([of_reader(metric, reader, condition, task) for reader in readers])

    return of_readers


def test_the_area_used_in_these_tests_equals_that_of_scikit_learn(data: pd.DataFrame) -> None:
    """The tables are compared with this area."""
    for _, own_rows in data.groupby(["rater_id", "condition"]):
        present, ratings = (own_rows["truth"] == "B").to_numpy(), own_rows["rating"].to_numpy()
        assert area(ratings, present) == pytest.approx(roc_auc_score(present, ratings))


def covariance(values: np.ndarray) -> np.ndarray:
    """Return the jackknife's covariances of rows."""
    left = values[:, 1:]
    n = left.shape[1]
    centred = left - left.mean(axis=1, keepdims=True)
    return np.asarray(centred @ centred.T * (n - 1) / n)


def difference_of_groups(values: np.ndarray, sizes: tuple[int, int]) -> dict[str, float]:
    """Return the cells of two groups of readers, those of the first group in the first rows."""
    cov, first = covariance(values), range(sizes[0])
    second = range(sizes[0], sum(sizes))
    means = [values[list(group), 0] for group in (first, second)]
    parts = [np.var(mean, ddof=1) / len(mean) for mean in means]
    within = [np.mean([cov[pair] for pair in combinations(group, 2)]) for group in (first, second)]
    between = np.mean([cov[a, b] for a in first for b in second])
    variance = sum(parts) + max(sum(within) - 2 * between, 0)
    df = variance**2 / sum(p**2 / (len(m) - 1) for p, m in zip(parts, means, strict=True))
    difference = means[0].mean() - means[1].mean()
    return {
        "value_a": means[0].mean(),
        "value_b": means[1].mean(),
        "difference": difference,
        "se": np.sqrt(variance),
        "df": df,
        "p": 2 * stats.t.sf(abs(difference) / np.sqrt(variance), df),
    }


def cells(row: pd.Series, expected: dict[str, float]) -> dict[str, float]:
    """Return the cells of a row that an expectation names."""
    return {key: row[key] for key in expected}


@pytest.mark.thorough
def test_every_metric_of_groups_equals_the_formula(bundle: Bundle, merits: Jackknife) -> None:
    """Metrics are compared by condition, overall and by task; accuracy is in `reader_groups`."""
    table = reader_groups_metrics(bundle, OPTIONS)
    assert set(table["metric"]) == {"auc", "sensitivity", "specificity"}
    for _, row in table.iterrows():
        task = "" if row["by"] == "overall" else row["group"]
        values = merits(row["metric"], READERS, row["condition"], task)
        expected = difference_of_groups(values, (3, 4))
        assert cells(row, expected) == pytest.approx(expected, abs=1e-9)
    assert len(table) == 2 * 4 * 3


def test_every_metric_of_gains_equals_the_formula(bundle: Bundle, merits: Jackknife) -> None:
    """The gain is the readers' aided minus their unaided value."""
    table = reader_groups_gain(bundle, OPTIONS)
    rows = table[table["by"] == "overall"].set_index("metric")
    assert set(rows.index) == set(METRICS)
    for metric, row in rows.iterrows():
        aided, unaided = (merits(metric, READERS, condition) for condition in ("aided", "unaided"))
        expected = difference_of_groups(aided - unaided, (3, 4))
        assert cells(row, expected) == pytest.approx(expected, abs=1e-9)


def test_a_task_minus_the_others_equals_the_formula(bundle: Bundle, data: pd.DataFrame) -> None:
    """Covariances are those of means over different items."""
    table = reader_groups_tasks(bundle, OPTIONS)
    assert table["group"].tolist() == ["x", "y", "z"] * 2
    tasks = bundle.items.set_index("item_id")["task"]
    for _, row in table.iterrows():
        own_rows = data[data["condition"] == row["condition"]].astype({"correct": float})
        right = own_rows.pivot(index="rater_id", columns="item_id", values="correct").loc[READERS]
        of_task = tasks[right.columns].to_numpy()
        inside = of_task == row["group"]
        x = right.to_numpy()
        value = x[:, inside].mean(axis=1) - x[:, ~inside].mean(axis=1)
        weight = np.where(inside, 1 / inside.sum(), -1 / (~inside).sum())
        mean = np.where(
            inside, x[:, inside].mean(axis=1)[:, None], x[:, ~inside].mean(axis=1)[:, None]
        )
        parts = (x - mean) * weight
        cov = parts @ parts.T * N / (N - 1)
        first, second = range(3), range(3, 7)
        squares = [np.var(value[list(group)], ddof=1) / len(group) for group in (first, second)]
        within = [np.mean([cov[pair] for pair in combinations(g, 2)]) for g in (first, second)]
        between = np.mean([cov[a, b] for a in first for b in second])
        variance = sum(squares) + max(sum(within) - 2 * between, 0)
        assert row["difference"] == pytest.approx(value[:3].mean() - value[3:].mean())
        assert row["se"] == pytest.approx(np.sqrt(variance))
        assert row["n_items"] == N
    assert (table["p_adjusted"] >= table["p"]).all()
    for _, rows in table.groupby("condition"):
        assert rows["p_adjusted"].min() == pytest.approx(min(1, 3 * rows["p"].min()))


def test_the_interaction_with_a_task_is_the_difference_of_two_differences(bundle: Bundle) -> None:
    """With two tasks: the groups' difference in one task minus that in the other."""
    items = bundle.items.assign(task=bundle.items["task"].replace("z", "y"))
    two = bundle_from_tables(items, bundle.readings, bundle.raters)
    by_task = reader_groups(two).set_index(["condition", "group"])["difference"]
    for _, row in reader_groups_tasks(two).iterrows():
        other = "y" if row["group"] == "x" else "x"
        expected = by_task[row["condition"], row["group"]] - by_task[row["condition"], other]
        assert row["difference"] == pytest.approx(expected)


def test_the_change_with_years_is_a_least_squares_fit_over_readers(
    bundle: Bundle, merits: Jackknife
) -> None:
    """Slope and df equal those of statsmodels; the error also includes the covariances."""
    table = reader_years(bundle, OPTIONS)
    assert len(table) == 2 * 4
    for _, row in table.iterrows():
        values = merits(row["metric"], READERS, row["condition"])
        x = np.array(YEARS) / 10
        fit = sm.OLS(values[:, 0], sm.add_constant(x)).fit()
        w = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        hat = np.column_stack([np.ones(7), x])
        residual = np.eye(7) - hat @ np.linalg.inv(hat.T @ hat) @ hat.T
        cov = covariance(values)
        shared = w @ cov @ w - np.trace(residual @ cov) / 5 * w @ w
        variance = fit.bse[1] ** 2 + max(shared, 0)
        assert row["difference"] == pytest.approx(fit.params[1])
        assert row["se"] == pytest.approx(np.sqrt(variance))
        assert (row["df"], row["years_low"], row["years_high"]) == (5, 1, 20)


def test_equal_covariances_give_the_least_squares_regression() -> None:
    """In Obuchowski and Rockette's model, shared effects of readers cancel in a slope."""
    y, x = np.array([0.7, 0.74, 0.81, 0.78, 0.9]), np.array([1.0, 3, 5, 6, 12])
    covariances = 0.001 * np.ones((5, 5)) + 0.002 * np.eye(5)
    slope = slope_over_readers(Merits(values=y, covariance=covariances), x)
    fit = stats.linregress(x, y)
    assert slope.estimate == pytest.approx(fit.slope)
    assert (slope.se, slope.p) == pytest.approx((fit.stderr, fit.pvalue))


def test_items_never_narrow_the_interval_of_the_regression() -> None:
    """A negative contribution of the items to the variance counts as zero."""
    y, x = np.array([0.7, 0.74, 0.81, 0.78, 0.9]), np.array([1.0, 3, 5, 6, 12])
    covariances = np.diag([0.0, 0.01, 0.01, 0.01, 0.0])
    slope = slope_over_readers(Merits(values=y, covariance=covariances), x)
    assert slope.se == pytest.approx(stats.linregress(x, y).stderr)
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    assert weights @ covariances @ weights > 0


@pytest.mark.thorough
def test_groups_and_single_readers_are_compared_under_two_conditions(
    bundle: Bundle, merits: Jackknife
) -> None:
    """A group's rows are those of a study of its readers; one reader has a paired difference."""
    table = reader_conditions_readers(bundle, OPTIONS)
    assert set(table["by"]) == {"level", "reader"}
    metrics = table.groupby(["by", "group", "rater_id"])["metric"].unique()
    assert all(set(names) == set(METRICS) for names in metrics)
    subset = bundle_from_tables(
        bundle.items,
        bundle.readings[bundle.readings["rater_id"].isin(GROUPS[0])],
        bundle.raters[bundle.raters["rater_id"].isin(GROUPS[0])],
    )
    tables = analyse(subset, OPTIONS).tables
    columns = ["claim", "difference", "se", "df", "ci_low", "ci_high", "p"]
    for metric in ("accuracy", "auc"):
        own_rows = table[(table["group"] == "junior") & (table["metric"] == metric)]
        expected = pd.concat(
            [
                rows[rows["metric"] == metric]
                for rows in (tables["reader_conditions"], tables["reader_conditions_items"])
            ]
        )
        pd.testing.assert_frame_equal(
            own_rows[columns].reset_index(drop=True), expected[columns].reset_index(drop=True)
        )
    for _, row in table[table["by"] == "reader"].iterrows():
        aided, unaided = (
            merits(row["metric"], [row["rater_id"]], condition)
            for condition in ("aided", "unaided")
        )
        assert row["claim"] == "these readers"
        assert row["difference"] == pytest.approx(aided[0, 0] - unaided[0, 0])
        assert row["se"] == pytest.approx(np.sqrt(covariance(aided - unaided)[0, 0]))
