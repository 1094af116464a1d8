"""Accuracy, ranks, difficulty and missing answers, and sensitivity analyses."""
