"""The shape of the store, as numbered migrations.

Rules live here where SQLite can hold them: STRICT tables, foreign keys, CHECK and UNIQUE (one
reading per reader, case, condition and repeat), and triggers that refuse to alter or delete what
has been written once. Nothing after the first release edits a migration: a change is a new one.
"""

from collections.abc import Iterable

from sqlite_utils import Database, Migrations

from study.store import schema_desk, schema_models, schema_preparation

APPLICATION_ID = 0x52526F6D
"""Marks a SQLite file as a Reading Room store ("RRom")."""

MIGRATIONS = Migrations("reading-room")

_BANKS = """
CREATE TABLE deployment (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE banks (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    format TEXT NOT NULL,
    source_name TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    images_root TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    imported_at_utc TEXT NOT NULL
) STRICT;

CREATE TABLE films (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    bits INTEGER NOT NULL CHECK (bits IN (8, 16)),
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    n_bytes INTEGER NOT NULL,
    UNIQUE (bank, path)
) STRICT;

CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    item_id TEXT NOT NULL CHECK (item_id <> ''),
    question TEXT NOT NULL CHECK (question <> ''),
    options TEXT NOT NULL CHECK (json_array_length(options) BETWEEN 2 AND 8),
    task TEXT NOT NULL,
    category TEXT NOT NULL,
    subcategory TEXT NOT NULL,
    examination_id TEXT NOT NULL,
    patient_id TEXT NOT NULL,
    age TEXT NOT NULL,
    sex TEXT NOT NULL,
    UNIQUE (bank, item_id)
) STRICT;

CREATE TABLE item_views (
    item INTEGER NOT NULL REFERENCES items (id),
    position INTEGER NOT NULL CHECK (position > 0),
    film INTEGER NOT NULL REFERENCES films (id),
    label TEXT NOT NULL,
    PRIMARY KEY (item, position)
) STRICT;

CREATE TABLE reference_standard (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    truth TEXT NOT NULL CHECK (truth BETWEEN 'A' AND 'H' AND length(truth) = 1)
) STRICT;

CREATE TABLE report_texts (
    item INTEGER NOT NULL REFERENCES items (id),
    section TEXT NOT NULL,
    words TEXT NOT NULL,
    PRIMARY KEY (item, section)
) STRICT;

CREATE TABLE explanations (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    words TEXT NOT NULL
) STRICT;
"""

_STUDIES = """
CREATE TABLE studies (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    bank INTEGER NOT NULL REFERENCES banks (id),
    state TEXT NOT NULL CHECK (state IN ('drawn', 'open', 'closed')),
    protocol TEXT NOT NULL CHECK (json_valid(protocol)),
    protocol_sha256 TEXT NOT NULL,
    drawn_at_utc TEXT NOT NULL,
    opened_at_utc TEXT
) STRICT;

CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL CHECK (number > 0),
    stratum TEXT NOT NULL,
    UNIQUE (study, item),
    UNIQUE (study, number)
) STRICT;
CREATE INDEX cases_of_item ON cases (item);

CREATE TABLE readers (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    reader_id TEXT NOT NULL CHECK (reader_id <> ''),
    level TEXT NOT NULL,
    years TEXT NOT NULL,
    site TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    invited_at_utc TEXT NOT NULL,
    UNIQUE (study, reader_id)
) STRICT;

CREATE TABLE access (
    id INTEGER PRIMARY KEY,
    lookup TEXT NOT NULL UNIQUE,
    salt TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('reader', 'coordinator')),
    study INTEGER NOT NULL REFERENCES studies (id),
    reader INTEGER REFERENCES readers (id),
    name TEXT NOT NULL,
    issued_at_utc TEXT NOT NULL,
    CHECK ((role = 'reader') = (reader IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_access_a_reader ON access (reader) WHERE reader IS NOT NULL;
CREATE UNIQUE INDEX one_access_a_coordinator ON access (study, name) WHERE role = 'coordinator';

CREATE TABLE sign_ins (
    id TEXT PRIMARY KEY,
    access INTEGER NOT NULL REFERENCES access (id) ON DELETE CASCADE,
    at_utc TEXT NOT NULL
) STRICT;
CREATE INDEX sign_ins_of_access ON sign_ins (access);

CREATE TABLE assignments (
    id TEXT PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    condition TEXT NOT NULL,
    session INTEGER NOT NULL CHECK (session > 0),
    repeat INTEGER NOT NULL CHECK (repeat > 0),
    position INTEGER NOT NULL CHECK (position > 0),
    shown_order TEXT NOT NULL,
    UNIQUE (reader, case_id, condition, repeat),
    UNIQUE (reader, position)
) STRICT;

CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    model_id TEXT NOT NULL CHECK (model_id <> ''),
    model_version TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    source_name TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    added_at_utc TEXT NOT NULL,
    UNIQUE (study, model_id)
) STRICT;

CREATE TABLE predictions (
    model INTEGER NOT NULL REFERENCES models (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'unparsed', 'refused')),
    raw_answer TEXT NOT NULL,
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    PRIMARY KEY (model, case_id)
) STRICT;
"""

_READINGS = """
CREATE TABLE presentations (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL UNIQUE REFERENCES assignments (id),
    shown_at_utc TEXT NOT NULL,
    received_at_utc TEXT NOT NULL,
    circumstances TEXT NOT NULL CHECK (json_valid(circumstances))
) STRICT;

CREATE TABLE readings (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL REFERENCES presentations (assignment),
    supersedes TEXT UNIQUE REFERENCES readings (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'timed_out')),
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
    timing_source TEXT NOT NULL CHECK (timing_source IN ('browser', 'simulated')),
    CHECK ((status = 'answered') = (answer IS NOT NULL))
) STRICT;
CREATE INDEX readings_of_assignment ON readings (assignment);
CREATE UNIQUE INDEX one_first_reading ON readings (assignment) WHERE supersedes IS NULL;

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    chain TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    at_utc TEXT NOT NULL,
    actor TEXT NOT NULL,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL CHECK (json_valid(detail)),
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (chain, number)
) STRICT;

CREATE TABLE chain_heads (
    chain TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
"""

_WRITTEN_ONCE = (
    "films",
    "items",
    "item_views",
    "reference_standard",
    "report_texts",
    "explanations",
    "cases",
    "assignments",
    "models",
    "predictions",
    "presentations",
    "readings",
    "events",
)


@MIGRATIONS()
def m001_first_release(database: Database) -> None:
    """Create every table of the first release, and seal what is written once."""
    for script in (_BANKS, _STUDIES, _READINGS):
        database.executescript(script)
    _seal(database, _WRITTEN_ONCE)
    database.execute(
        "CREATE TRIGGER protocol_is_locked BEFORE UPDATE OF protocol, protocol_sha256, bank "
        "ON studies WHEN old.state <> 'drawn' "
        "BEGIN SELECT RAISE(ABORT, 'the protocol of an opened study is locked'); END"
    )


@MIGRATIONS()
def m002_preparation(database: Database) -> None:
    """Add preparation, practice and reasons; no table of the first release is touched."""
    for statement in schema_preparation.TABLES:
        database.execute(statement)
    _seal(database, schema_preparation.WRITTEN_ONCE)


@MIGRATIONS()
def m003_pixel_spacing(database: Database) -> None:
    """Give films the size of their pixels at the detector; NULL where it is not known."""
    database.execute(
        "ALTER TABLE films ADD COLUMN spacing_mm REAL CHECK (spacing_mm BETWEEN 0.01 AND 5)"
    )


@MIGRATIONS()
def m004_desk(database: Database) -> None:
    """Add people, roles, drafts, amendments and stepping in; access codes move to people."""
    steps = (
        schema_desk.TABLES,
        schema_desk.STUDY_COLUMNS,
        schema_desk.CHAIN_COLUMNS,
        schema_desk.MOVED,
        schema_desk.TRIGGERS,
    )
    for statements in steps:
        for statement in statements:
            database.execute(statement)
    _seal(database, schema_desk.WRITTEN_ONCE)


@MIGRATIONS()
def m005_withdrawn_models(database: Database) -> None:
    """Let a model be withdrawn and its name be given again; what was predicted stays."""
    for statement in schema_models.STATEMENTS:
        database.execute(statement)
    _seal(database, schema_models.WRITTEN_ONCE)


@MIGRATIONS()
def m006_view_names(database: Database) -> None:
    """Keep what a bank's file called a view beside the label that a reader sees."""
    database.execute("ALTER TABLE item_views ADD COLUMN said TEXT NOT NULL DEFAULT ''")


@MIGRATIONS()
def m007_draft_reached(database: Database) -> None:
    """Let a draft know how many of its steps were left behind."""
    database.execute("ALTER TABLE drafts ADD COLUMN reached INTEGER NOT NULL DEFAULT 0")


@MIGRATIONS()
def m008_idle_sign_ins(database: Database) -> None:
    """Keep when somebody was last at the computer of a sign-in; wrong tries lock no code any more.

    Sign-ins from before have no such time and end.
    """
    database.execute("ALTER TABLE sign_ins ADD COLUMN active_at_utc TEXT NOT NULL DEFAULT ''")
    database.execute("ALTER TABLE codes DROP COLUMN locked_at_utc")


def _seal(database: Database, tables: Iterable[str]) -> None:
    for table in tables:
        for verb in ("UPDATE", "DELETE"):
            database.execute(
                f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} are written once'); END"
            )
