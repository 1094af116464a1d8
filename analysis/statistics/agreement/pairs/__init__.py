"""Agreement of every two raters, and the counts from which all agreement is computed."""
