"""What a bank's questions say of themselves, held as columns: a filter answers at once.

A bank never changes, so what was read of it once is good for as long as it is there.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
import pandas as pd

from study.bank.managing import age_band
from study.store import Store, bank_contents

FACETS = bank_contents.FACETS
_CHUNK = 100_000
_KEPT = 3


@lru_cache(maxsize=_KEPT)
def facets(store: Store, bank: int, content: str) -> pd.DataFrame:
    """Return a bank's questions by number, a column of categories for each of `FACETS`.

    Parameters
    ----------
    content
        The hash of the bank's content: a bank of that number may be another one by now.
    """
    with store.look() as look:
        rows = bank_contents.facets(look, bank)
        parts = []
        while part := list(islice(rows, _CHUNK)):
            parts.append(_columns(part))
    frames = parts or [_columns([])]
    found = {
        name: pd.api.types.union_categoricals([frame[name] for frame in frames]) for name in FACETS
    }
    return pd.DataFrame(found, index=np.concatenate([frame.index for frame in frames]))


def _columns(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["id", *FACETS]).set_index("id")
    bands = {age: age_band(str(age)) for age in frame["age"].unique()}
    frame["age"] = frame["age"].map(bands)
    return frame.astype("category")


def chosen(frame: pd.DataFrame, wanted: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the questions that have one of the values wanted, in every column wanted."""
    for name, values in wanted.items():
        if values:
            frame = frame[frame[name].isin(values)]
    return frame


def counted(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return how many questions have each value of a column, the most frequent first."""
    found = frame[name].value_counts()
    return found[found > 0]
