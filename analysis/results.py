"""One run of the analysis: every table, from the same readings and the same resamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from threadpoolctl import threadpool_limits

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.readings.circumstances import measured
from analysis.readings.confidence import confidence_of
from analysis.readings.matrix import reading_matrix
from analysis.readings.resamples import cluster_weights
from analysis.statistics.accuracy.accuracy import accuracy_table
from analysis.statistics.accuracy.difficulty import item_difficulty_table
from analysis.statistics.accuracy.leaderboard import leaderboard_table
from analysis.statistics.accuracy.missing import missing_table
from analysis.statistics.accuracy.sensitivity import sensitivity_table
from analysis.statistics.agreement.between.table import agreement_between_table
from analysis.statistics.agreement.groups.table import agreement_groups_table
from analysis.statistics.agreement.indices import agreement_indices_table
from analysis.statistics.agreement.pairs.table import agreement_table
from analysis.statistics.agreement.repeats import intra_reader_table
from analysis.statistics.comparison.gee import gee_table
from analysis.statistics.comparison.pairs import comparisons_table
from analysis.statistics.mrmc.adjusted import panel_adjusted_table
from analysis.statistics.mrmc.choices import sensitivity_panel_table
from analysis.statistics.mrmc.components import variance_components_table
from analysis.statistics.mrmc.conditions import (
    reader_conditions_items_table,
    reader_conditions_table,
)
from analysis.statistics.mrmc.figures_of_merit import figures_of_merit
from analysis.statistics.mrmc.panel import reader_panel_table
from analysis.statistics.times.model import time_model_table
from analysis.statistics.times.summaries import times_table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
    matrix = reading_matrix(bundle)
    weights = cluster_weights(matrix, options)
    figures = figures_of_merit(matrix, bundle.items, confidence_of(options, bundle))
    panel = reader_panel_table(matrix, options, figures, bundle.protocol)
    found = measured(bundle, matrix)
    return Results(
        bundle=bundle,
        options=options,
        tables={
            "accuracy": accuracy_table(matrix, options, weights),
            "agreement_pairs": agreement_table(matrix, options, weights),
            "agreement_groups": agreement_groups_table(matrix, options, weights),
            "comparisons": comparisons_table(matrix, options, weights),
            "reader_panel": panel,
            "reader_conditions": reader_conditions_table(matrix, options, figures),
            "times": times_table(matrix, found),
            "missing": missing_table(bundle, matrix),
            "sensitivity": sensitivity_table(bundle, matrix, options),
            "sensitivity_panel": sensitivity_panel_table(bundle, matrix, options),
            "panel_adjusted": panel_adjusted_table(panel, bundle.labels, bundle.protocol),
            "reader_conditions_items": reader_conditions_items_table(matrix, options, figures),
            "variance_components": variance_components_table(matrix, options, figures),
            "gee": gee_table(matrix, options),
            "agreement_between": agreement_between_table(matrix, options, weights),
            "agreement_indices": agreement_indices_table(matrix),
            "intra_reader": intra_reader_table(bundle, matrix, options, weights),
            "time_model": time_model_table(matrix, found, options),
            "item_difficulty": item_difficulty_table(bundle, matrix),
            "leaderboard": leaderboard_table(matrix, options, weights),
        },
        n_clusters=matrix.n_clusters,
        clustered=matrix.clustered,
    )
