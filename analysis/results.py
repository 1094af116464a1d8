"""One run of the analysis: every table, from the same readings and the same resamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from threadpoolctl import threadpool_limits

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.statistics.accuracy.accuracy import accuracy
from analysis.statistics.accuracy.items import item_difficulty, missing
from analysis.statistics.accuracy.leaderboard import leaderboard
from analysis.statistics.accuracy.sensitivity import sensitivity
from analysis.statistics.agreement.between import agreement_between
from analysis.statistics.agreement.groups.table import agreement_groups
from analysis.statistics.agreement.indices import agreement_indices
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.agreement.repeats import intra_reader
from analysis.statistics.comparison.gee import gee
from analysis.statistics.comparison.pairs import comparisons
from analysis.statistics.mrmc.adjusted import adjusted
from analysis.statistics.mrmc.choices import sensitivity_panel
from analysis.statistics.mrmc.components import variance_components
from analysis.statistics.mrmc.conditions import reader_conditions, reader_conditions_items
from analysis.statistics.mrmc.panel import reader_panel
from analysis.statistics.study import Study
from analysis.statistics.times.model import time_model
from analysis.statistics.times.summaries import times


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Results:
    """The tables of a run, with what they were made from.

    Parameters
    ----------
    bundle : Bundle
        The input.
    options : Options
        The choices.
    tables : mapping of str to pandas.DataFrame
        By name, without `.csv`.
    n_clusters : int
        Clusters of items: patients, examinations where no patient is given.
    clustered : bool
        Whether some cluster has more than one item, so that cluster intervals are given.
    """

    bundle: Bundle
    options: Options
    tables: Mapping[str, pd.DataFrame]
    n_clusters: int
    clustered: bool


def analyse(bundle: Bundle, options: Options | None = None) -> Results:
    """Compute every table of a bundle.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples, alpha and margin.

    Returns
    -------
    Results
        Every table, by its name.

    Examples
    --------
    >>> from analysis.bundle import bundle_from_tables
    >>> results = analyse(bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1"], "truth": ["A"]}),
    ...     pd.DataFrame({"rater_id": ["R1"], "item_id": ["q1"], "answer": ["A"]}),
    ... ))
    >>> results.tables["missing"]["n_answered"].tolist()
    [1]
    """
    options = options or Options()
    # The products are small: threads that wait for one another on a machine in use cost four times
    # the processor time, and longer.
    with threadpool_limits(limits=1, user_api="blas"):
        return _analyse(bundle, options)


def _analyse(bundle: Bundle, options: Options) -> Results:
    study = Study(bundle, options)
    panel = reader_panel(study)
    return Results(
        bundle=bundle,
        options=options,
        tables={
            "accuracy": accuracy(study),
            "agreement_pairs": agreement_pairs(study),
            "agreement_groups": agreement_groups(study),
            "comparisons": comparisons(study),
            "reader_panel": panel,
            "reader_conditions": reader_conditions(study),
            "times": times(study),
            "missing": missing(study),
            "sensitivity": sensitivity(study),
            "sensitivity_panel": sensitivity_panel(study),
            "panel_adjusted": adjusted(panel, bundle.labels, bundle.protocol),
            "reader_conditions_items": reader_conditions_items(study),
            "variance_components": variance_components(study),
            "gee": gee(study),
            "agreement_between": agreement_between(study),
            "agreement_indices": agreement_indices(study),
            "intra_reader": intra_reader(study),
            "time_model": time_model(study),
            "item_difficulty": item_difficulty(study),
            "leaderboard": leaderboard(study),
        },
        n_clusters=study.matrix.n_clusters,
        clustered=study.matrix.clustered,
    )
