"""Several models against one panel of readers, adjusted for their number: `panel_adjusted.csv`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.bundle.model import Bundle
from analysis.bundle.protocol import plan_of
from analysis.options import Options
from analysis.statistics.columns import COLUMNS
from analysis.statistics.comparison.paired import holm_within
from analysis.statistics.mrmc.panel import reader_panel
from analysis.statistics.study import Study, study_of

FAMILY = ["metric", "claim", "condition"]
HOLM, PRIMARY = "Holm over the models", "the primary model, tested alone"
OTHERS = "Holm over the models that are not the primary one"


def panel_adjusted(study: Study | Bundle, options: Options | None = None) -> pd.DataFrame:
    r"""Adjust the panel's p values for the number of models.

    Parameters
    ----------
    study : Study or Bundle
        The checked tables; its protocol may name a primary model, by id or label.
    options : Options, optional
        As for `reader_panel`.

    Returns
    -------
    pandas.DataFrame
        Columns `model_id, condition, metric, claim, p, p_adjusted, p_noninferior,
        p_noninferior_adjusted, family, method`; a row for each of `reader_panel`, in its order.

    Notes
    -----
    A family is all models under one metric, claim and condition; the tests for a difference and
    those for the margin are adjusted apart. A model that the protocol names primary is tested
    alone, at the full level; then the others are a family without it. A test without p does not
    count in a family.

    See Also
    --------
    analysis.reader_panel, analysis.statistics.comparison.paired.holm_within

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> ids, raters = list("abcdef"), ["M1", "M2", "R1", "R2"]
    >>> table = panel_adjusted(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ids, "truth": list("AAAAAA")}),
    ...     pd.DataFrame({
    ...         "rater_id": np.repeat(raters, 6), "item_id": ids * 4,
    ...         "answer": list("AAAAAB" "AAAABB" "AABABA" "ABAABB"),
    ...     }),
    ...     pd.DataFrame({"rater_id": raters, "rater_kind": ["model"] * 2 + ["reader"] * 2}),
    ... ))
    >>> table[["model_id", "p", "p_adjusted"]].round(3).values.tolist()[::2]
    [['M1', 0.296, 0.591], ['M2', 0.611, 0.611]]
    """
    study = study_of(study, options)
    return adjusted(reader_panel(study), study.bundle.labels, study.bundle.protocol)


def adjusted(
    panel: pd.DataFrame, labels: Mapping[str, str], protocol: Mapping[str, Any]
) -> pd.DataFrame:
    """Return the table of `panel_adjusted` for a panel that is there already."""
    primary = plan_of(protocol).primary_model
    named = [bool(primary) and primary in (model, labels[model]) for model in panel["model_id"]]
    families = [
        "" if alone else ", ".join(filter(None, names))
        for names, alone in zip(panel[FAMILY].itertuples(index=False), named, strict=True)
    ]
    rest = OTHERS if any(named) else HOLM
    table = panel.assign(family=families, method=[PRIMARY if one else rest for one in named])
    for column in ("p", "p_noninferior"):
        p = table[column].to_numpy(dtype=np.float64)
        table[f"{column}_adjusted"] = np.where(named, p, holm_within(p, families))
    return table[COLUMNS["panel_adjusted"]]
