"""The data that all statistics of a run share: bundle, options, arrays and resamples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from analysis.arrays import Floats
from analysis.bundle.model import Bundle
from analysis.bundle.protocol import years_limit
from analysis.options import Options
from analysis.readings.circumstances import ReadingTimes, reading_times
from analysis.readings.clusters import resample_weights
from analysis.readings.confidence import confidence_of
from analysis.readings.matrix import ReadingMatrix, reading_matrix
from analysis.statistics.dichotomy import Dichotomy, dichotomy_of
from analysis.statistics.merits import FiguresOfMerit, figures_of_merit


@dataclass(frozen=True, eq=False)
class Study:
    """A bundle with the options of its analysis; every statistic is a function of a study.

    Parameters
    ----------
    bundle : Bundle
        The checked tables.
    options : Options, optional
        Seed, number of resamples, alpha and margin.
    """

    bundle: Bundle
    options: Options = field(default_factory=Options)
    _tables: dict[Callable[[Study], pd.DataFrame], pd.DataFrame] = field(
        default_factory=dict, init=False, repr=False
    )

    def table(self, compute: Callable[[Study], pd.DataFrame]) -> pd.DataFrame:
        """Return the table that a statistic computes; it is computed once."""
        if compute not in self._tables:
            self._tables[compute] = compute(self)
        return self._tables[compute]

    @cached_property
    def matrix(self) -> ReadingMatrix:
        """The readings as arrays."""
        return reading_matrix(self.bundle)

    @cached_property
    def weights(self) -> Floats | None:
        """The resamples of clusters, of shape (n_resamples, n_clusters); None without clusters."""
        if not self.matrix.clustered:
            return None
        return resample_weights(self.matrix.n_clusters, self.options.bootstrap, self.options.seed)

    @cached_property
    def circumstances(self) -> ReadingTimes:
        """The measured times of the first readings."""
        return reading_times(self.bundle, self.matrix)

    @property
    def years_limit(self) -> float:
        """Years of experience at which readers are divided into two groups; 0 for no limit."""
        return self.options.years_limit or years_limit(self.bundle.protocol)

    @cached_property
    def dichotomy(self) -> Dichotomy:
        """Which items have a positive and a negative class."""
        return dichotomy_of(self.matrix, self.bundle, self.options)

    @cached_property
    def figures_of_merit(self) -> FiguresOfMerit:
        """The metrics that the readings allow."""
        confidence = confidence_of(self.options, self.bundle)
        return figures_of_merit(self.matrix, self.bundle.items, confidence)


def study_of(study: Study | Bundle, options: Options | None) -> Study:
    """Return a study unchanged, or make a study from a bundle and `options`."""
    return study if isinstance(study, Study) else Study(study, options or Options())
