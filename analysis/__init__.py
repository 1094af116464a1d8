"""The analysis of a reader study: accuracy and agreement of readers and models.

Statistics are pure functions of tables. The input is a bundle (an exported folder or .zip), or any
folder with `items.csv` and `readings.csv`, whichever program wrote it.

>>> import analysis, pandas
>>> bundle = analysis.bundle_from_tables(
...     pandas.DataFrame({"item_id": ["q1", "q2"], "truth": ["A", "B"]}),
...     pandas.DataFrame({"rater_id": ["R1"] * 2, "item_id": ["q1", "q2"], "answer": ["A", "A"]}),
... )
>>> analysis.accuracy(bundle)["accuracy"].tolist()[0]
0.5
"""

from analysis import loading as loading
from analysis.bundle import Bundle, bundle_from_tables, read_bundle
from analysis.errors import AnalysisError, BundleError, Fault, OptionsError, OutputError
from analysis.options import Options
from analysis.registry import analyse
from analysis.report.formats.output import write_report, write_results, write_tables
from analysis.results import Results
from analysis.statistics.accuracy.accuracy import accuracy
from analysis.statistics.accuracy.items import item_difficulty, model_disagreements
from analysis.statistics.accuracy.leaderboard import leaderboard
from analysis.statistics.accuracy.missing import missing
from analysis.statistics.accuracy.model_conditions import model_conditions
from analysis.statistics.accuracy.model_runs import model_runs
from analysis.statistics.accuracy.option_positions import option_positions
from analysis.statistics.accuracy.sensitivity import sensitivity
from analysis.statistics.agreement.between import agreement_between
from analysis.statistics.agreement.groups.table import agreement_groups
from analysis.statistics.agreement.intra_reader import intra_reader
from analysis.statistics.agreement.pairs.indices import agreement_indices
from analysis.statistics.agreement.pairs.table import agreement_pairs
from analysis.statistics.agreement.with_truth import agreement_with_truth
from analysis.statistics.comparison.gee import gee
from analysis.statistics.comparison.model_pairs import model_pairs
from analysis.statistics.comparison.pairs import comparisons
from analysis.statistics.mrmc.components import variance_components
from analysis.statistics.mrmc.conditions import reader_conditions, reader_conditions_items
from analysis.statistics.mrmc.panel import panel_adjusted, reader_panel
from analysis.statistics.mrmc.sensitivity import sensitivity_panel
from analysis.statistics.study import Study
from analysis.statistics.time_model import time_model
from analysis.statistics.times import times

__all__ = [
    "AnalysisError",
    "Bundle",
    "BundleError",
    "Fault",
    "Options",
    "OptionsError",
    "OutputError",
    "Results",
    "Study",
    "accuracy",
    "agreement_between",
    "agreement_groups",
    "agreement_indices",
    "agreement_pairs",
    "agreement_with_truth",
    "analyse",
    "bundle_from_tables",
    "comparisons",
    "gee",
    "intra_reader",
    "item_difficulty",
    "leaderboard",
    "missing",
    "model_conditions",
    "model_disagreements",
    "model_pairs",
    "model_runs",
    "option_positions",
    "panel_adjusted",
    "read_bundle",
    "reader_conditions",
    "reader_conditions_items",
    "reader_panel",
    "sensitivity",
    "sensitivity_panel",
    "time_model",
    "times",
    "variance_components",
    "write_report",
    "write_results",
    "write_tables",
]
