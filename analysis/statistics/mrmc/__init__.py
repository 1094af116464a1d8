"""Multi-reader multi-case inference with random or fixed readers.

Figures of merit with their covariances (`percent_correct`, `empirical_auc`), inference from them
(`single_treatment`, for a model against readers through `differences`; `two_treatments`), and the
tables. All functions except those of the tables take arrays:

>>> import numpy as np
>>> from analysis.statistics import mrmc
>>> correct = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
>>> merits = mrmc.percent_correct(correct)
>>> model, readers = np.array([0, 0]), np.array([1, 2])
>>> panel = mrmc.single_treatment(mrmc.differences(merits, model, readers))
>>> round(panel.random_readers.estimate, 3), round(panel.random_readers.se, 3)
(0.4, 0.1)
"""

from analysis.statistics.merits import (
    AucCovariance,
    Merits,
    differences,
    empirical_auc,
    percent_correct,
)
from analysis.statistics.mrmc.components import variance_components
from analysis.statistics.mrmc.conditions import reader_conditions, reader_conditions_items
from analysis.statistics.mrmc.obuchowski_rockette import (
    Inference,
    SingleTreatment,
    TwoTreatments,
    infer,
    single_treatment,
    two_treatments,
)
from analysis.statistics.mrmc.panel import panel_adjusted, reader_panel
from analysis.statistics.mrmc.sensitivity import sensitivity_panel

__all__ = [
    "AucCovariance",
    "Inference",
    "Merits",
    "SingleTreatment",
    "TwoTreatments",
    "differences",
    "empirical_auc",
    "infer",
    "panel_adjusted",
    "percent_correct",
    "reader_conditions",
    "reader_conditions_items",
    "reader_panel",
    "sensitivity_panel",
    "single_treatment",
    "two_treatments",
    "variance_components",
]
