"""Write the power of a planned study as a table and a figure."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path

import pandas as pd

from analysis.figures.drawing.to_plotly import plotly_figure
from analysis.figures.power import power_chart
from analysis.translation import ENGLISH, use_language
from analysis.writing import staging_folder


def write_power(table: pd.DataFrame, out: str | PathLike[str]) -> None:
    """Write `tables/power.csv` and a figure for each metric to `figures`.

    Parameters
    ----------
    table : pandas.DataFrame
        The table from `analysis.planning.power_table`.
    out : str or path
        Folder to write to; created if needed. Other files in it are not changed.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    with staging_folder(Path(out)) as place:
        for name in ("tables", "figures"):
            (place / name).mkdir()
        table.to_csv(
            place / "tables" / "power.csv", index=False, lineterminator="\n", encoding="utf-8"
        )
        for metric, rows in table.groupby("metric", sort=False):
            name = "power" if table["metric"].nunique() == 1 else f"power-{metric}"
            with use_language(ENGLISH):
                _write_figure(rows, place / "figures" / name)


def _write_figure(rows: pd.DataFrame, path: Path) -> None:
    # Imported only when a picture is written, because matplotlib loads slowly.
    from analysis.figures.drawing.to_print import svg

    chart = power_chart(rows)
    path.with_suffix(".svg").write_bytes(svg(chart))
    path.with_suffix(".plotly.json").write_text(
        json.dumps(json.loads(plotly_figure(chart).to_json()), sort_keys=True) + "\n", "utf-8"
    )
