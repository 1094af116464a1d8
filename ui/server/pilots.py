"""Estimates the variance components of a pilot study from its bundle, in a worker."""

from pathlib import Path
from typing import Any

import tomli_w

from study.base.errors import BadFile
from study.base.packed import unpack
from ui.server.worker import OnProgress

COMPONENT_KEYS = (
    *("var_error", "cov1", "cov2", "cov3", "var_tr", "var_r"),
    *("readers", "cases", "own_df", "joint_df"),
)

Estimates = tuple[tuple[str, str, str], ...]
"""For each metric of a pilot: its name, its components as TOML, and their source."""


def pilot_components_of(_: OnProgress, path: Path, comparison: str) -> Estimates:
    """Return the components estimated from a zipped bundle.

    Raises
    ------
    BadFile
        It is not a bundle, or has no such comparison.
    """
    from analysis.bundle import read_bundle  # takes a second
    from analysis.errors import AnalysisError
    from analysis.planning import Comparison, pilot_components

    folder = path.with_name(f"{path.name}.unpacked")
    with path.open("rb") as file:
        unpack(file, folder)
    top = next((table.parent for table in folder.rglob("items.csv")), folder)
    try:
        estimates = pilot_components(read_bundle(top), Comparison(comparison))
    except AnalysisError as error:
        raise BadFile(str(error).replace(f"{folder}/", "")) from error
    return tuple(
        (
            estimate.metric.value,
            tomli_w.dumps(components_table(estimate)),
            estimate.source.removeprefix("pilot: "),
        )
        for estimate in estimates
    )


def components_table(components: Any) -> dict[str, Any]:
    """Return components under the keys of a components file."""
    values = {key: getattr(components, key) for key in COMPONENT_KEYS}
    known = {key: value for key, value in values.items() if value is not None}
    return {"metric": components.metric.value, **known}
