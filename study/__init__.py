"""The domain of a reader study: from question bank to exported bundle.

The folders, in the order in which data passes through them: `bank` reads question banks, `protocol`
defines the decisions made before reading and the order in which each reader reads, `people` manages
access, `reading` delivers cases and stores readings, `monitoring` reports progress and quality,
`models` adds predictions, `lifecycle` draws, opens and closes studies, `trail` verifies the record
of actions, `exchange` exports. Only `store` accesses the database; its chain of events makes the
record of actions tamper-evident.

The package does not import Streamlit, pandas or the analysis. Time, seeds and random generators are
arguments.
"""
