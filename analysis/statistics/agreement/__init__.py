"""Agreement of pairs, of groups, of readers with models, and of raters with themselves."""
