"""The resamples that all estimates of a run share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from analysis.arrays import Floats
from analysis.options import Options
from analysis.readings.clusters import resample_weights
from analysis.readings.matrix import ReadingMatrix

# Cells of a block of resamples.
BLOCK = 2**22


def cluster_weights(matrix: ReadingMatrix, options: Options) -> Floats | None:
    """Draw the bootstrap's resamples of clusters where clusters exist.

    Parameters
    ----------
    matrix : ReadingMatrix
        The readings.
    options : Options
        Its seed and number of resamples are used.

    Returns
    -------
    numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        How often each cluster stands in each resample; None where every item stands alone.

    Examples
    --------
    >>> import pandas as pd
    >>> from analysis.bundle import bundle_from_tables
    >>> from analysis.readings.matrix import reading_matrix
    >>> items = pd.DataFrame({"item_id": ["q1", "q2", "q3"], "patient_id": ["p", "p", "q"]})
    >>> readings = pd.DataFrame({"rater_id": "R1", "item_id": ["q1", "q2", "q3"], "answer": "A"})
    >>> matrix = reading_matrix(bundle_from_tables(items, readings))
    >>> cluster_weights(matrix, Options(bootstrap=4)).shape
    (4, 2)
    """
    if not matrix.clustered:
        return None
    return resample_weights(matrix.n_clusters, options.bootstrap, options.seed)


def weight_blocks(
    weights: Floats | None, n_items: int, options: Options
) -> Iterator[npt.NDArray[np.float32]]:
    """Yield the run's resamples of clusters, or of items where none cluster, some at a time.

    Parameters
    ----------
    weights : numpy.ndarray of float, shape (n_resamples, n_clusters), or None
        The run's resamples of clusters; None where every item stands alone.
    n_items : int
        Number of items drawn from, and drawn in each resample, where `weights` is None.
    options : Options
        Seed and number of resamples of items.

    Yields
    ------
    numpy.ndarray of float32, shape (n_block, n_clusters) or (n_block, n_items)
        How often each cluster or item stands in each resample. Whole numbers, and sums of them are
        exact below 2**24.

    Notes
    -----
    Two thousand resamples of forty thousand items would fill 650 MB; a block fills 16.

    Examples
    --------
    >>> blocks = list(weight_blocks(None, 5, Options(bootstrap=3)))
    >>> [block.sum(axis=1).tolist() for block in blocks]
    [[5.0, 5.0, 5.0]]
    """
    generator = np.random.default_rng(options.seed)
    n_units = n_items if weights is None else weights.shape[1]
    n_resamples = options.bootstrap if weights is None else len(weights)
    size = max(1, BLOCK // max(n_units, 1))
    for start in range(0, n_resamples, size):
        stop = min(start + size, n_resamples)
        if weights is not None:
            yield weights[start:stop].astype(np.float32)
        else:
            drawn = generator.integers(n_units, size=(stop - start, n_units))
            drawn += n_units * np.arange(stop - start)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=(stop - start) * n_units)
            yield counts.reshape(drawn.shape).astype(np.float32)
