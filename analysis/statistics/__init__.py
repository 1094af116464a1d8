"""The statistics: one table each, from the readings as arrays."""
