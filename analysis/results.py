"""The results of a run: its tables, input and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.options import Options


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Results:
    """The tables of a run with its input and options.

    Parameters
    ----------
    bundle : Bundle
        The input.
    options : Options
        The options.
    tables : mapping of str to pandas.DataFrame
        The tables by name, without `.csv`.
    n_clusters : int
        Number of clusters of items: patients, or examinations where no patient is stated.
    clustered : bool
        Whether some cluster has more than one item, so that there are cluster intervals.
    """

    bundle: Bundle
    options: Options
    tables: Mapping[str, pd.DataFrame]
    n_clusters: int
    clustered: bool

    def has(self, table: str) -> bool:
        """Return whether a table has rows."""
        return len(self.tables.get(table, ())) > 0
