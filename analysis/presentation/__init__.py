"""Functions that write numbers as text and tables of the report, for every statistic."""
