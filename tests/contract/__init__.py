"""Tests that hold on both database engines."""
