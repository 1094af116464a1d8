"""The readings as arrays, their clusters, and resamples of clusters."""
