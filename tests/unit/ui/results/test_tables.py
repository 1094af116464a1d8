"""Tables of the results: titles of columns, and formats of numbers."""

import json

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import pandas as pd

    from ui.results.tables import show_table

    show_table(
        pd.DataFrame(
            {
                "rater_id": ["R1", "R2"],
                "n": [8, 8],
                "accuracy": [0.8384123, None],
                "ci_low": [0.7, None],
                "p_exact": [0.00041, 1.0],
                "median_ms": [12_345.6, 9_000.0],
                "estimate": [0.4321, 0.1],
                "rank": [None, None],
            }
        )
    )


def test_columns_have_titles_and_numbers_are_rounded() -> None:
    """Shares are percentages, small p-values are not 0, and empty columns are omitted."""
    page = AppTest.from_function(_page).run()
    assert not page.exception
    shown = json.loads(page.dataframe[0].proto.columns)
    assert {name: column.get("label") for name, column in shown.items() if "label" in column} == {
        "rater_id": "Rater",
        "n": "n",
        "accuracy": "Accuracy",
        "ci_low": "CI from",
        "p_exact": "p (exact)",
        "median_ms": "Median (ms)",
        "estimate": "Estimate",
    }
    formats = {name: column["type_config"].get("format") for name, column in shown.items()
               if column.get("type_config")}  # fmt: skip
    assert formats == {
        "accuracy": "percent",
        "ci_low": "percent",
        "p_exact": "%.2g",
        "median_ms": "%.0f",
        "estimate": "%.3f",
    }
    assert "rank" not in page.dataframe[0].value


def _empty() -> None:
    import pandas as pd

    from ui.results.tables import show_table

    show_table(pd.DataFrame({"rater_id": [], "accuracy": []}))


def test_a_table_without_rows_keeps_its_headings() -> None:
    """It states what would be shown."""
    page = AppTest.from_function(_empty).run()
    assert not page.exception
    assert list(page.dataframe[0].value.columns) == ["rater_id", "accuracy"]


def _panel() -> None:
    import pandas as pd

    from ui.results.tables import show_table

    row = {"reader_mean": 0.8123, "se": 0.02, "margin": 0.05, "p_noninferior": 0.01, "df": 6.5}
    show_table(pd.DataFrame([{"metric": "accuracy"} | row, {"metric": "auc"} | row]))


def test_the_metric_determines_whether_a_number_is_a_percentage() -> None:
    """Accuracies and areas under a curve are in separate tables."""
    page = AppTest.from_function(_panel).run()
    assert not page.exception
    accuracy, auc = (
        {
            load["label"]: load["type_config"].get("format")
            for load in json.loads(table.proto.columns).values()
            if load.get("type_config")
        }
        for table in page.dataframe
    )
    assert [accuracy[name] for name in ("Mean of readers", "SE", "Margin")] == ["percent"] * 3
    assert [auc[name] for name in ("Mean of readers", "SE", "Margin")] == ["%.3f"] * 3
    assert accuracy["Degrees of freedom"] == "%.3f"
    assert accuracy["p (non-inferiority)"] == "%.2g"
