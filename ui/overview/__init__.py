"""The coordinator's overview: progress, data quality, readings, interventions, models, trail."""
