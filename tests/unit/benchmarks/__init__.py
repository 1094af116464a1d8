"""Tests of what in the benchmarks is pure: lines, films, numbers, verdicts."""
