"""Results: the analysis made from the bundle alone, and its cases."""
