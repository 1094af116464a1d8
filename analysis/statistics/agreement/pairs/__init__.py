"""Agreement of each pair of raters, and the counts from which all agreement is computed."""
