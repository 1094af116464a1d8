"""The domain of a reader study: from question bank to exported bundle.

The story of the data, in the order of the modules: `bank` reads question banks, `protocol` what was
decided before reading, `sampling` draws the cases, `assignment` fixes who reads what in which
order, `desk` hands cases out and takes readings, `models` adds predictions, `bundle` exports.
`store` is the only door to SQLite; `chain` makes the record of acts tamper-evident.

No Streamlit, no pandas and no analysis in here; time, seeds and random generators are arguments.
"""
