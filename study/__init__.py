"""The domain of a reader study: from question bank to exported bundle.

The story of the data, in the order of the folders: `bank` reads question banks, `protocol` says
what was decided before reading and who reads what in which order, `people` lets readers in,
`reading` hands cases out and takes readings, `monitoring` watches, `models` adds predictions,
`lifecycle` draws, opens and closes, `trail` verifies, `exchange` exports. `store` is the only door
to SQLite, and its chain of events makes the record of acts tamper-evident.

It does not import Streamlit, pandas or the analysis; time, seeds and random generators are
arguments.
"""
