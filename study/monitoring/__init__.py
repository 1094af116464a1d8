"""Monitors an open study: progress, quality, interventions, exclusions, reminders."""
