"""Writes the bundle's tables in further formats: Parquet, Excel and the input of iMRMC."""
