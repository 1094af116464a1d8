"""Shared by all folders: canonical forms, translation, texts, errors, actors, the bank model."""
