"""A study watched while it runs: progress, quality, stepping in, exclusions, reminders."""
