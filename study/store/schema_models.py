"""Withdrawn models: a name may be given again, and who withdrew a model, when and why stands apart.

A model's row and its predictions are written once and stay. `edition` counts the models a study
has had under one name; all but the last of them are withdrawn.
"""

# SQLite cannot take a UNIQUE off a table: both are written anew, children first.
STATEMENTS = (
    "CREATE TABLE predictions_before AS SELECT * FROM predictions ORDER BY rowid",
    "DROP TABLE predictions",
    "CREATE TABLE models_before AS SELECT * FROM models",
    "DROP TABLE models",
    """
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    model_id TEXT NOT NULL CHECK (model_id <> ''),
    model_version TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    source_name TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    added_at_utc TEXT NOT NULL,
    edition INTEGER NOT NULL DEFAULT 1 CHECK (edition > 0),
    UNIQUE (study, model_id, edition)
) STRICT
""",
    """
CREATE TABLE predictions (
    model INTEGER NOT NULL REFERENCES models (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'unparsed', 'refused')),
    raw_answer TEXT NOT NULL,
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    PRIMARY KEY (model, case_id)
) STRICT
""",
    "INSERT INTO models SELECT *, 1 FROM models_before",
    "INSERT INTO predictions SELECT * FROM predictions_before ORDER BY rowid",
    "DROP TABLE predictions_before",
    "DROP TABLE models_before",
    """
CREATE TABLE withdrawn_models (
    model INTEGER PRIMARY KEY REFERENCES models (id),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT
""",
)

WRITTEN_ONCE = ("models", "predictions", "withdrawn_models")
