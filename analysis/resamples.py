"""The resamples that all estimates of a run share."""

from __future__ import annotations

from analysis.arrays import Floats
from analysis.clusters import resample_weights
from analysis.matrix import ReadingMatrix
from analysis.options import Options


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
    """
    if not matrix.clustered:
        return None
    return resample_weights(matrix.n_clusters, options.bootstrap, options.seed)
