"""Agreement: pairs, groups, readers beside models, a rater with themselves; each its own table."""
