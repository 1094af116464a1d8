"""Tests of functions of the benchmarks that need no browser or server."""
