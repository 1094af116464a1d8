"""The tables of what stands before the cases: preparation, practice, and reasons for no answer."""

TABLES = (
    """
CREATE TABLE preparations (
    id TEXT PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (id),
    step TEXT NOT NULL CHECK (step IN ('consent', 'instructions', 'questionnaire', 'display')),
    sign_in TEXT NOT NULL,
    detail TEXT NOT NULL CHECK (json_valid(detail)),
    done_at_utc TEXT,
    received_at_utc TEXT NOT NULL,
    salt TEXT NOT NULL,
    CHECK (step = 'display' OR sign_in = ''),
    UNIQUE (reader, step, sign_in)
) STRICT
""",
    """
CREATE TABLE practice_cases (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL CHECK (number > 0),
    UNIQUE (study, item),
    UNIQUE (study, number)
) STRICT
""",
    """
CREATE TABLE practice_assignments (
    id TEXT PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (id),
    practice_case INTEGER NOT NULL REFERENCES practice_cases (id),
    condition TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    shown_order TEXT NOT NULL,
    UNIQUE (reader, practice_case),
    UNIQUE (reader, position)
) STRICT
""",
    """
CREATE TABLE practice_readings (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL UNIQUE REFERENCES practice_assignments (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'timed_out')),
    reason TEXT NOT NULL,
    confidence INTEGER CHECK (confidence > 0),
    comment TEXT NOT NULL,
    response_ms REAL CHECK (response_ms >= 0),
    elapsed_ms REAL CHECK (elapsed_ms >= 0),
    hidden_ms REAL CHECK (hidden_ms >= 0),
    paused_ms REAL CHECK (paused_ms >= 0),
    first_selection_ms REAL CHECK (first_selection_ms >= 0),
    selections TEXT NOT NULL CHECK (json_valid(selections)),
    behaviour TEXT NOT NULL CHECK (json_valid(behaviour)),
    flags TEXT NOT NULL CHECK (json_valid(flags)),
    committed_at_utc TEXT NOT NULL,
    received_at_utc TEXT NOT NULL,
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    CHECK ((status = 'skipped') = (reason <> ''))
) STRICT
""",
    """
CREATE TABLE reasons (
    reading TEXT PRIMARY KEY REFERENCES readings (id),
    words TEXT NOT NULL CHECK (words <> '')
) STRICT
""",
)

WRITTEN_ONCE = (
    "preparations",
    "practice_cases",
    "practice_assignments",
    "practice_readings",
    "reasons",
)
