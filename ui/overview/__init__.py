"""The coordinator's overview: progress, data quality, readings, stepping in, models, the trail."""
