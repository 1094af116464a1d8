"""Accuracy, rank and difficulty: what is right, what is missing, and other ways of counting it."""
