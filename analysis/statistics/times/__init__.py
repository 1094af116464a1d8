"""Response times of each rater, and what they depend on."""
