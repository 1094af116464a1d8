"""Tests of functions of the benchmarks that do not need a browser or server."""
