"""Select each model's readings for the primary analysis, and set its others aside."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pandas as pd

from analysis.bundle.model import RaterKind

AS_READERS = ("", "image")
"""Conditions in which a model sees what the readers see, regardless of the readers' condition."""


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return a key for sorting names of runs: numbers by value and before words.

    Examples
    --------
    >>> sorted(["run 10", "run 9", "2"], key=natural)
    ['2', 'run 9', 'run 10']
    """
    parts = re.findall(r"\d+|\D+", name)
    return tuple(
        (False, len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (True, 0, part)
        for part in parts
    )


def numbered_runs(readings: pd.DataFrame) -> pd.Series[str]:
    """Return the `repeat` of readings as text; where it is empty, the rank of the `run`."""
    keys = list(zip(readings["rater_id"], readings["run"], strict=True))
    rank: dict[tuple[str, str], str] = {}
    n_runs: Counter[str] = Counter()
    named_runs = sorted({key for key in keys if key[1]})
    for rater, run in sorted(named_runs, key=lambda key: natural(key[1])):
        n_runs[rater] += 1
        rank[rater, run] = str(n_runs[rater])
    repeats = [cell.strip() for cell in readings["repeat"]]
    numbered = [repeat or rank.get(key, "") for repeat, key in zip(repeats, keys, strict=True)]
    return pd.Series(numbered, index=readings.index, name="repeat", dtype=object)


def set_aside(readings: pd.DataFrame, raters: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Separate the readings of the primary analysis from a model's other readings.

    Parameters
    ----------
    readings, raters : pandas.DataFrame
        The checked tables.

    Returns
    -------
    primary, aside : pandas.DataFrame
        Set aside are a model's runs after its first, and, where the model also saw what the readers
        saw, its answers in conditions that no reader had. If the readers had exactly one condition
        that such a model did not have, its primary answers get that condition.
    """
    models = set(raters.loc[raters["rater_kind"] == RaterKind.MODEL.value, "rater_id"])
    is_model = readings["rater_id"].isin(models)
    if not is_model.any():
        return readings, readings.iloc[:0]
    in_runs = is_model & readings["rater_id"].isin(
        set(readings.loc[readings["run"] != "", "rater_id"])
    )
    later = in_runs
    if in_runs.any():
        later &= readings["repeat"] > readings.groupby("rater_id")["repeat"].transform("min")
    conditions = sorted(set(readings.loc[~is_model, "condition"]))
    if not conditions:
        return readings.loc[~later], readings.loc[later]
    only = (
        conditions if len(conditions) == 1 else []
    )  # bundles of several conditions repeat the names of models
    own = readings["condition"].copy()
    is_secondary = pd.Series(False, index=readings.index)
    conditions_of: dict[str, set[str]] = defaultdict(set)
    cells = (readings.loc[is_model, name].to_numpy(object) for name in ("rater_id", "condition"))
    for model, condition in dict.fromkeys(zip(*cells, strict=True)):
        conditions_of[model].add(condition)
    for model, present in conditions_of.items():
        primary = next((name for name in (*AS_READERS, *only) if name in present), None)
        if len(present) == 1 or primary is None:
            continue
        is_secondary |= (readings["rater_id"] == model) & ~own.isin([*conditions, primary])
        missing_conditions = [name for name in conditions if name not in present]
        if primary not in conditions and 1 == len(missing_conditions) < len(conditions):
            own = own.mask(
                (readings["rater_id"] == model) & (own == primary), missing_conditions[0]
            )
    plain = set(readings.loc[is_model & (own == ""), "rater_id"])
    if plain and AS_READERS[1] not in conditions:  # models are compared in one condition
        own = own.mask(is_model & (own == AS_READERS[1]) & ~readings["rater_id"].isin(plain), "")
    readings = readings.assign(condition=own)
    is_secondary = later | is_secondary
    if not is_secondary.any():
        return readings, readings.iloc[:0]
    return readings.loc[~is_secondary], readings.loc[is_secondary]
