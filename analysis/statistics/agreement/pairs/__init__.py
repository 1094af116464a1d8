"""Agreement of every two raters, and the counts that all agreement rests on."""
