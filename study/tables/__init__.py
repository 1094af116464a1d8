"""Reads records and tables from files: JSON, JSON lines, CSV, TSV and Excel workbooks."""
