"""Readings as arrays, clusters of items, and resamples of clusters."""
