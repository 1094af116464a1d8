"""Writes the bundle's tables in other formats: Parquet, Excel and the input format of iMRMC."""
