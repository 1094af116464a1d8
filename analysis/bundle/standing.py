"""Which of a model's readings stand for it, and which are set aside for tables of their own."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pandas as pd

from analysis.bundle.model import RaterKind

AS_READERS = ("", "image")
"""Conditions under which a model is shown what the readers are, whatever theirs is called."""


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return a key to sort names of runs by: numbers by value and before words.

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
    """Return the `repeat` of readings as text; where there is none, the place of the `run`."""
    keys = list(zip(readings["rater_id"], readings["run"], strict=True))
    place: dict[tuple[str, str], str] = {}
    met: Counter[str] = Counter()
    named = sorted({key for key in keys if key[1]})
    for rater, run in sorted(named, key=lambda key: natural(key[1])):
        met[rater] += 1
        place[rater, run] = str(met[rater])
    given = [cell.strip() for cell in readings["repeat"]]
    numbered = [one or place.get(key, "") for one, key in zip(given, keys, strict=True)]
    return pd.Series(numbered, index=readings.index, name="repeat", dtype=object)


def set_aside(readings: pd.DataFrame, raters: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Part the readings that stand for their rater from a model's other ones.

    Parameters
    ----------
    readings, raters : pandas.DataFrame
        The checked tables.

    Returns
    -------
    standing, aside : pandas.DataFrame
        Aside are a model's runs after its first; and, of a model that was also shown what the
        readers are, its answers under conditions that no reader had. Where the readers had one
        condition more than such a model, its standing answers are under that.
    """
    models = set(raters.loc[raters["rater_kind"] == RaterKind.MODEL.value, "rater_id"])
    is_model = readings["rater_id"].isin(models)
    in_runs = is_model & readings["rater_id"].isin(
        set(readings.loc[readings["run"] != "", "rater_id"])
    )
    later = in_runs
    if in_runs.any():
        later &= readings["repeat"] > readings.groupby("rater_id")["repeat"].transform("min")
    conditions = sorted(set(readings.loc[~is_model, "condition"]))
    if not conditions:
        return readings.loc[~later], readings.loc[later]
    only = conditions if len(conditions) == 1 else []  # with several, a model meets the same names
    own = readings["condition"].copy()
    away = pd.Series(False, index=readings.index)
    conditions_of: dict[str, set[str]] = defaultdict(set)
    of_models = readings.loc[is_model]
    for model, condition in zip(of_models["rater_id"], of_models["condition"], strict=True):
        conditions_of[model].add(condition)
    for model, found in conditions_of.items():
        standing = next((one for one in (*AS_READERS, *only) if one in found), None)
        if len(found) == 1 or standing is None:
            continue
        away |= (readings["rater_id"] == model) & ~own.isin([*conditions, standing])
        without = [one for one in conditions if one not in found]
        if standing not in conditions and 1 == len(without) < len(conditions):
            own = own.mask((readings["rater_id"] == model) & (own == standing), without[0])
    plain = set(readings.loc[is_model & (own == ""), "rater_id"])
    if plain and AS_READERS[1] not in conditions:  # models are compared under one name
        own = own.mask(is_model & (own == AS_READERS[1]) & ~readings["rater_id"].isin(plain), "")
    readings = readings.assign(condition=own)
    return readings.loc[~(later | away)], readings.loc[later | away]
