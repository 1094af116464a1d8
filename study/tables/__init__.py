"""Tables from files: CSV, TSV and Excel workbooks, read by one set of rules."""
