"""The parts of the coordinator's overview: progress, data quality, readings, stepping in."""
