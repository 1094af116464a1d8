"""The forms a study is handed on in beside its bundle: Parquet, Excel, the input of iMRMC.

Each is made from the rows of the bundle's tables, so that none can say what the bundle does not.
"""
