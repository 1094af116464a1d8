"""How numbers become text and tables of the report: used by every statistic."""
