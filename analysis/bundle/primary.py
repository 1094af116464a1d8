"""Select each model's readings for the primary analysis, and set the others aside."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pandas as pd

from analysis.bundle.model import RaterKind

CONDITIONS_AS_READERS = ("", "image")
"""Conditions in which a model sees the same as readers, regardless of the readers' condition."""


def natural_sort_key(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return a key that sorts names of runs, with numbers by value and before words.

    Examples
    --------
    >>> sorted(["run 10", "run 9", "2"], key=natural_sort_key)
    ['2', 'run 9', 'run 10']
    """
    parts = re.findall(r"\d+|\D+", name)
    return tuple(
        (False, len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (True, 0, part)
        for part in parts
    )


def numbered_runs(readings: pd.DataFrame) -> pd.Series[str]:
    """Return the `repeat` of readings as text, or the rank of their `run` if it is empty."""
    keys = list(zip(readings["rater_id"], readings["run"], strict=True))
    rank: dict[tuple[str, str], str] = {}
    n_runs: Counter[str] = Counter()
    named_runs = sorted({key for key in keys if key[1]})
    for rater, run in sorted(named_runs, key=lambda key: natural_sort_key(key[1])):
        n_runs[rater] += 1
        rank[rater, run] = str(n_runs[rater])
    repeats = [cell.strip() for cell in readings["repeat"]]
    numbered = [repeat or rank.get(key, "") for repeat, key in zip(repeats, keys, strict=True)]
    return pd.Series(numbered, index=readings.index, name="repeat", dtype=object)


def split_primary(
    readings: pd.DataFrame, raters: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Separate the readings of the primary analysis from a model's other readings.

    Parameters
    ----------
    readings, raters : pandas.DataFrame
        The checked tables.

    Returns
    -------
    primary, aside : pandas.DataFrame
        `aside` has a model's runs after its first and, if the model also saw the same as the
        readers, its answers in conditions that no reader had. If the readers had exactly one
        condition that such a model did not have, its primary answers get that condition.
    """
    models = set(raters.loc[raters["rater_kind"] == RaterKind.MODEL.value, "rater_id"])
    is_model = readings["rater_id"].isin(models)
    if not is_model.any():
        return readings, readings.iloc[:0]
    in_runs = is_model & readings["rater_id"].isin(
        set(readings.loc[readings["run"] != "", "rater_id"])
    )
    is_later_run = in_runs
    if in_runs.any():
        is_later_run &= readings["repeat"] > readings.groupby("rater_id")["repeat"].transform("min")
    conditions = sorted(set(readings.loc[~is_model, "condition"]))
    if not conditions:
        return readings.loc[~is_later_run], readings.loc[is_later_run]
    # Bundles of several conditions repeat the names of models.
    single_condition = conditions if len(conditions) == 1 else []
    new_condition = readings["condition"].copy()
    is_secondary = pd.Series(False, index=readings.index)
    conditions_of: dict[str, set[str]] = defaultdict(set)
    cells = (readings.loc[is_model, name].to_numpy(object) for name in ("rater_id", "condition"))
    for model, condition in dict.fromkeys(zip(*cells, strict=True)):
        conditions_of[model].add(condition)
    for model, present in conditions_of.items():
        candidates = (*CONDITIONS_AS_READERS, *single_condition)
        primary = next((name for name in candidates if name in present), None)
        if len(present) == 1 or primary is None:
            continue
        is_own = readings["rater_id"] == model
        is_secondary |= is_own & ~new_condition.isin([*conditions, primary])
        missing_conditions = [name for name in conditions if name not in present]
        if primary not in conditions and 1 == len(missing_conditions) < len(conditions):
            new_condition = new_condition.mask(
                is_own & (new_condition == primary), missing_conditions[0]
            )
    unconditioned = set(readings.loc[is_model & (new_condition == ""), "rater_id"])
    if (
        unconditioned and CONDITIONS_AS_READERS[1] not in conditions
    ):  # models are compared in one condition
        has_image = is_model & (new_condition == CONDITIONS_AS_READERS[1])
        new_condition = new_condition.mask(
            has_image & ~readings["rater_id"].isin(unconditioned), ""
        )
    readings = readings.assign(condition=new_condition)
    is_secondary = is_later_run | is_secondary
    if not is_secondary.any():
        return readings, readings.iloc[:0]
    return readings.loc[~is_secondary], readings.loc[is_secondary]
