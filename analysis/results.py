"""The results of a run: every table, with what it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.bundle.model import Bundle
from analysis.options import Options


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

    def has(self, table: str) -> bool:
        """Tell whether a table has rows."""
        return len(self.tables.get(table, ())) > 0
