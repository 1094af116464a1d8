"""Models as raters: predictions, the parser of their outputs, exam papers and runs."""
