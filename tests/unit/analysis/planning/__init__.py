"""Tests of planning a study."""
