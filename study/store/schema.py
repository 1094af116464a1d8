"""The schema of a store: its tables (``schema.sql``), append-only triggers and migrations.

SQLite enforces the rules where it can: STRICT tables, foreign keys, CHECK and UNIQUE constraints
(one reading per reader, case, condition and repeat), and triggers that refuse to change or delete
rows of append-only tables. The version of a store is SQLite's ``user_version``. A released
migration never changes; a change of the schema is a new migration.
"""

import sqlite3
from collections.abc import Callable
from importlib.resources import files

APPLICATION_ID = 0x52526F6D
"""Marks a SQLite file as a Reading Room store ("RRom")."""

FIRST_VERSION = 13
"""The version of the first release. Lower versions were development versions."""

MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = ()
"""Each is run once, in this order; the first makes version ``FIRST_VERSION + 1``."""

_ITEM_OF_A_BANK = (
    "SELECT 1 FROM items JOIN banks ON banks.id = items.bank WHERE items.id = old.item"
)
_ROW_OF_A_BANK = "SELECT 1 FROM banks WHERE id = old.bank"
_REVIEW_OF_A_BANK = (
    "SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review"
)

<<<<<<< HEAD
APPEND_ONLY = (
    *("cases", "assignments", "amendments", "interventions"),
    *("preparations", "practice_cases", "practice_assignments", "practice_readings"),
    *("presentations", "readings", "reasons", "exclusions"),
    *("models", "predictions", "withdrawn_models"),
    *("scorings", "scoring_cases", "scoring_answers", "scorers", "scores", "scoring_ends"),
=======
BANK_MARKS = """
SELECT DISTINCT mark FROM (
    SELECT id_mark('patient', patient_id) AS mark FROM (
        SELECT DISTINCT patient_id FROM items WHERE bank = :bank AND patient_id <> '')
    UNION ALL SELECT id_mark('examination', examination_id) FROM (
        SELECT DISTINCT examination_id FROM items WHERE bank = :bank AND examination_id <> ''
        AND NOT EXISTS (SELECT 1 FROM films WHERE films.bank = :bank
            AND path IN (examination_id, origin || '/' || examination_id)))
    UNION ALL SELECT id_mark('film', sha256) FROM (
        SELECT DISTINCT sha256 FROM films WHERE bank = :bank)
    UNION ALL SELECT mark FROM (
        SELECT question_mark(question, options) AS mark, min(examination_id) AS least,
            max(examination_id) AS most FROM items WHERE bank = :bank GROUP BY 1)
        WHERE least = most
) ORDER BY mark"""
"""What a bank is found again by: its patients, examinations, films and questions.

Not by an examination that is named after its film because the file names none, nor by a question
that is asked of several examinations.
"""

_BANKS = """
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
    spacing_mm REAL CHECK (spacing_mm BETWEEN 0.01 AND 5),
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
    said TEXT NOT NULL DEFAULT '',
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
    opened_at_utc TEXT,
    closed_at_utc TEXT,
    discarded_at_utc TEXT,
    restored_from TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TRIGGER protocol_is_locked BEFORE UPDATE OF protocol, protocol_sha256, bank ON studies
WHEN old.state <> 'drawn'
BEGIN SELECT RAISE(ABORT, 'the protocol of an opened study is locked'); END;

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

CREATE TABLE amendments (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    number INTEGER NOT NULL CHECK (number > 0),
    changes TEXT NOT NULL CHECK (json_valid(changes)),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL,
    UNIQUE (study, number)
) STRICT;

CREATE TABLE interventions (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    reader INTEGER REFERENCES readers (id),
    kind TEXT NOT NULL CHECK (kind IN ('pause', 'resume', 'extend', 'release', 'withdraw')),
    session INTEGER CHECK (session > 0),
    days REAL CHECK (days > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL,
    CHECK (reader IS NOT NULL OR kind IN ('pause', 'resume')),
    CHECK ((kind IN ('extend', 'release')) = (session IS NOT NULL)),
    CHECK ((kind = 'extend') = (days IS NOT NULL))
) STRICT;
"""

# Names stand apart, and nothing refers to them: a name can be erased and every reading stays.
# Who has had another role in a study has seen what a reader must not: it binds for good.
_PEOPLE = """
CREATE TABLE people (
    id INTEGER PRIMARY KEY,
    handle TEXT NOT NULL,
    made_at_utc TEXT NOT NULL,
    seen_at_utc TEXT
) STRICT;

CREATE TABLE names (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    CHECK (name <> '' OR email <> '')
) STRICT;

CREATE TABLE grants (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (role IN ('administrator', 'coordinator', 'reader', 'statistician')),
    study INTEGER REFERENCES studies (id),
    reader INTEGER REFERENCES readers (id),
    given_at_utc TEXT NOT NULL,
    revoked_at_utc TEXT,
    CHECK ((role = 'reader') = (reader IS NOT NULL)),
    CHECK (study IS NOT NULL OR role IN ('administrator', 'coordinator'))
) STRICT;
CREATE UNIQUE INDEX one_standing_grant ON grants (person, coalesce(study, 0), role)
WHERE revoked_at_utc IS NULL;
CREATE UNIQUE INDEX one_standing_reader ON grants (reader) WHERE revoked_at_utc IS NULL;

CREATE TRIGGER readers_have_no_other_role BEFORE INSERT ON grants
WHEN new.role = 'reader' AND EXISTS (
    SELECT 1 FROM grants WHERE person = new.person AND role <> 'reader'
    AND (study IS NULL OR study = new.study)
) BEGIN SELECT RAISE(ABORT, 'whoever runs a study cannot read in it'); END;

CREATE TRIGGER other_roles_do_not_read BEFORE INSERT ON grants
WHEN new.role <> 'reader' AND EXISTS (
    SELECT 1 FROM grants WHERE person = new.person AND role = 'reader'
    AND (new.study IS NULL OR study = new.study)
) BEGIN SELECT RAISE(ABORT, 'a reader of a study cannot run it'); END;

CREATE TRIGGER grants_are_only_revoked BEFORE UPDATE OF person, role, study, reader, given_at_utc
ON grants
BEGIN SELECT RAISE(ABORT, 'a role is given and revoked, never altered'); END;

CREATE TABLE codes (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    lookup TEXT NOT NULL UNIQUE,
    salt TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    issued_at_utc TEXT NOT NULL,
    expires_at_utc TEXT,
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0)
) STRICT;

CREATE TABLE sign_ins (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    standing INTEGER REFERENCES grants (id),
    study INTEGER REFERENCES studies (id),
    at_utc TEXT NOT NULL,
    active_at_utc TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX sign_ins_of_person ON sign_ins (person);

CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person INTEGER NOT NULL REFERENCES people (id),
    bound_at_utc TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT;

CREATE TABLE tickets (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    expires_at_utc TEXT NOT NULL
) STRICT;

CREATE TABLE places (
    mark TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    first_seen_at_utc TEXT NOT NULL
) STRICT;

CREATE TABLE drafts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    made_by INTEGER NOT NULL REFERENCES people (id),
    bank INTEGER REFERENCES banks (id),
    protocol TEXT NOT NULL CHECK (json_valid(protocol)),
    saved_at_utc TEXT NOT NULL,
    reached INTEGER NOT NULL DEFAULT 0
) STRICT;
"""

_ANSWER = """confidence INTEGER CHECK (confidence > 0),
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
    received_at_utc TEXT NOT NULL"""
"""What a reading of the study and one of practice have alike."""

_PREPARATION = f"""
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
) STRICT;

CREATE TABLE practice_cases (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL CHECK (number > 0),
    UNIQUE (study, item),
    UNIQUE (study, number)
) STRICT;

CREATE TABLE practice_assignments (
    id TEXT PRIMARY KEY,
    reader INTEGER NOT NULL REFERENCES readers (id),
    practice_case INTEGER NOT NULL REFERENCES practice_cases (id),
    condition TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    shown_order TEXT NOT NULL,
    UNIQUE (reader, practice_case),
    UNIQUE (reader, position)
) STRICT;

CREATE TABLE practice_readings (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL UNIQUE REFERENCES practice_assignments (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'timed_out')),
    reason TEXT NOT NULL,
    {_ANSWER},
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    CHECK ((status = 'skipped') = (reason <> ''))
) STRICT;
"""

_READINGS = f"""
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
    {_ANSWER},
    timing_source TEXT NOT NULL CHECK (timing_source IN ('browser', 'simulated')),
    CHECK ((status = 'answered') = (answer IS NOT NULL))
) STRICT;
CREATE INDEX readings_of_assignment ON readings (assignment);
CREATE UNIQUE INDEX one_first_reading ON readings (assignment) WHERE supersedes IS NULL;

CREATE TABLE reasons (
    reading TEXT PRIMARY KEY REFERENCES readings (id),
    words TEXT NOT NULL CHECK (words <> '')
) STRICT;

CREATE TABLE exclusions (
    id TEXT PRIMARY KEY,
    reading TEXT NOT NULL REFERENCES readings (id),
    excluded INTEGER NOT NULL CHECK (excluded IN (0, 1)),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
"""

# A name may be given again: `edition` counts a study's models under one name, all but the last of
# them withdrawn.
_MODELS = """
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

CREATE TABLE withdrawn_models (
    model INTEGER PRIMARY KEY REFERENCES models (id),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
"""

# `told_as` is the name that a chain's hashes are of, where it is kept under another.
_EVENTS = """
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
CREATE INDEX events_of_kind ON events (chain, kind, actor);

CREATE TABLE chain_heads (
    chain TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL,
    told_as TEXT NOT NULL DEFAULT ''
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
>>>>>>> 3db3bb6c (Find shared cases by patient, examination and question; hide verdicts)
    "events",
)
"""Tables whose rows are never changed or deleted."""

REMOVED_WITH_BANK = {
    **dict.fromkeys(("films", "items", "reviews"), _ROW_OF_A_BANK),
    **dict.fromkeys(("teaching_marks", "teaching_answers"), _ROW_OF_A_BANK),
    **dict.fromkeys(("item_views", "item_priors", "item_attributes"), _ITEM_OF_A_BANK),
    **dict.fromkeys(("reference_standard", "report_texts", "explanations"), _ITEM_OF_A_BANK),
    "struck_items": _ITEM_OF_A_BANK,
    **dict.fromkeys(("review_items", "reviewers", "review_verdicts"), _REVIEW_OF_A_BANK),
    "review_ends": _REVIEW_OF_A_BANK,
}
<<<<<<< HEAD
"""Tables whose rows are never changed and are deleted only after their bank's row, with the query
that finds the bank."""
=======
"""What belongs to a bank that is there, by table."""


def _remove_with_bank(connection: sqlite3.Connection, table: str, of_a_bank: str) -> None:
    connection.execute(f"DROP TRIGGER {table}_refuse_delete")
    connection.execute(
        f"CREATE TRIGGER {table}_refuse_delete BEFORE DELETE ON {table} "
        f"WHEN EXISTS ({of_a_bank}) BEGIN SELECT RAISE(ABORT, '{table} are written once'); END"
    )


def _removable(connection: sqlite3.Connection) -> None:
    """Let a bank's content go with its bank, and only then; no study may hold to it."""
    for table, of_a_bank in _OF_BANKS.items():
        _remove_with_bank(connection, table, of_a_bank)
    connection.execute("CREATE INDEX views_of_film ON item_views (film)")
    connection.execute("CREATE INDEX practice_cases_of_item ON practice_cases (item)")


def _attributes(connection: sqlite3.Connection) -> None:
    """Add what else a bank's file says of an item, as JSON by its own names."""
    connection.execute(
        "CREATE TABLE item_attributes (item INTEGER PRIMARY KEY REFERENCES items (id), "
        "attributes TEXT NOT NULL CHECK (json_valid(attributes))) STRICT"
    )
    _write_once(connection, ("item_attributes",))
    _remove_with_bank(connection, "item_attributes", _OF_AN_ITEM)


def _provenance(connection: sqlite3.Connection) -> None:
    """Add where a bank comes from, and on what terms."""
    for column in ("version", "licence", "source_url", "citation"):
        connection.execute(f"ALTER TABLE banks ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")


def _runs(connection: sqlite3.Connection) -> None:
    """Let a model answer a case in several runs and conditions, and keep what else it told."""
    connection.execute(
        """CREATE TABLE told (
    model INTEGER NOT NULL REFERENCES models (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    answer TEXT,
    status TEXT NOT NULL CHECK (status IN ('answered', 'skipped', 'unparsed', 'refused')),
    raw_answer TEXT NOT NULL,
    condition TEXT NOT NULL DEFAULT '',
    run TEXT NOT NULL DEFAULT '',
    repeat INTEGER NOT NULL DEFAULT 1 CHECK (repeat > 0),
    confidence REAL CHECK (confidence BETWEEN 0 AND 1),
    detail TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detail)),
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    PRIMARY KEY (model, case_id, condition, repeat)
) STRICT"""
    )
    columns = "model, case_id, answer, status, raw_answer"
    connection.execute(f"INSERT INTO told ({columns}) SELECT {columns} FROM predictions")
    connection.execute("DROP TABLE predictions")
    connection.execute("ALTER TABLE told RENAME TO predictions")
    _write_once(connection, ("predictions",))
    connection.execute(
        "CREATE TABLE column_names (columns TEXT PRIMARY KEY CHECK (json_valid(columns)), "
        "meant TEXT NOT NULL CHECK (json_valid(meant)), at_utc TEXT NOT NULL) STRICT"
    )


def _context(connection: sqlite3.Connection) -> None:
    """Show what a bank says of the indication and of earlier films, where that is all it says."""
    reads_on = " OR ".join(
        f"words LIKE '%{name}{space}:%'"
        for name in ("findings", "impression", "conclusion", "explanation")
        for space in ("", " ")
    )
    connection.execute(
        "CREATE VIEW shown_context AS SELECT item, section, words FROM report_texts "
        f"WHERE section IN ('indication', 'comparison') AND NOT ({reads_on})"
    )


def _teaching(connection: sqlite3.Connection) -> None:
    """Add which banks may be taught from, and what people answered there to learn."""
    connection.execute(
        "CREATE TABLE teaching_marks (id INTEGER PRIMARY KEY, "
        "bank INTEGER NOT NULL REFERENCES banks (id), "
        "taught INTEGER NOT NULL CHECK (taught IN (0, 1)), at_utc TEXT NOT NULL) STRICT"
    )
    connection.execute(
        "CREATE TABLE teaching_answers (id TEXT PRIMARY KEY, "
        "person INTEGER NOT NULL REFERENCES people (id), "
        "bank INTEGER NOT NULL REFERENCES banks (id), number INTEGER NOT NULL, "
        "item INTEGER NOT NULL REFERENCES items (id), answer TEXT, "
        "matches INTEGER NOT NULL CHECK (matches IN (0, 1)), at_utc TEXT NOT NULL, "
        "UNIQUE (person, bank, number)) STRICT"
    )
    connection.execute("CREATE INDEX teaching_answers_of_item ON teaching_answers (item)")
    tables = ("teaching_marks", "teaching_answers")
    _write_once(connection, tables)
    for table in tables:
        _remove_with_bank(connection, table, "SELECT 1 FROM banks WHERE id = old.bank")


def _struck(connection: sqlite3.Connection) -> None:
    """Add which items of a bank are struck off, and taken back, with the reasons."""
    connection.execute(
        "CREATE TABLE struck_items (id INTEGER PRIMARY KEY, "
        "item INTEGER NOT NULL REFERENCES items (id), "
        "struck INTEGER NOT NULL CHECK (struck IN (0, 1)), reason TEXT NOT NULL, "
        "at_utc TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX struck_items_of_item ON struck_items (item)")
    _write_once(connection, ("struck_items",))
    _remove_with_bank(connection, "struck_items", _OF_AN_ITEM)


def _several_banks(connection: sqlite3.Connection) -> None:
    """Add of which bank an item of a joined bank is, and where a film lies that was joined."""
    connection.execute("ALTER TABLE items ADD COLUMN origin TEXT NOT NULL DEFAULT ''")
    connection.execute("ALTER TABLE films ADD COLUMN place TEXT NOT NULL DEFAULT ''")


def _reviews(connection: sqlite3.Connection) -> None:
    """Add experts' reviews of a bank's items: which items, by whom, and what each judged."""
    connection.execute(
        "CREATE TABLE reviews (id INTEGER PRIMARY KEY, "
        "bank INTEGER NOT NULL REFERENCES banks (id), name TEXT NOT NULL, "
        "opened_at_utc TEXT NOT NULL, UNIQUE (bank, name)) STRICT"
    )
    connection.execute(
        "CREATE TABLE review_items (review INTEGER NOT NULL REFERENCES reviews (id), "
        "position INTEGER NOT NULL, item INTEGER NOT NULL REFERENCES items (id), "
        "PRIMARY KEY (review, position), UNIQUE (review, item)) STRICT"
    )
    connection.execute(
        "CREATE TABLE reviewers (review INTEGER NOT NULL REFERENCES reviews (id), "
        "position INTEGER NOT NULL, person INTEGER NOT NULL REFERENCES people (id), "
        "PRIMARY KEY (review, position), UNIQUE (review, person)) STRICT"
    )
    connection.execute(
        "CREATE TABLE review_verdicts (id INTEGER PRIMARY KEY, "
        "review INTEGER NOT NULL REFERENCES reviews (id), "
        "item INTEGER NOT NULL REFERENCES items (id), "
        "person INTEGER NOT NULL REFERENCES people (id), verdict TEXT NOT NULL, "
        "comment TEXT NOT NULL, at_utc TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX review_verdicts_of_item ON review_verdicts (review, item)")
    connection.execute(
        "CREATE TABLE review_ends (review INTEGER PRIMARY KEY REFERENCES reviews (id), "
        "at_utc TEXT NOT NULL) STRICT"
    )
    tables = ("review_ends", "review_verdicts", "reviewers", "review_items")
    _write_once(connection, ("reviews", *tables))
    _remove_with_bank(connection, "reviews", "SELECT 1 FROM banks WHERE id = old.bank")
    of_a_bank = "SELECT 1 FROM reviews JOIN banks ON banks.id = bank WHERE reviews.id = old.review"
    for table in tables:
        _remove_with_bank(connection, table, of_a_bank)
    _allow_in(
        connection,
        "grants",
        {
            "'reader', 'statistician')": "'reader', 'reviewer', 'statistician')",
            "role IN ('administrator', 'coordinator')": "role IN ('administrator', "
            "'coordinator', 'reviewer')",
        },
    )


def _scorings(connection: sqlite3.Connection) -> None:
    """Add the scoring of a study's answers in words: which, by whom, and what each judged.

    A scorer restored from a bundle is nobody: their place among the scorers is all that is told.
    """
    connection.execute(
        "CREATE TABLE scorings (id INTEGER PRIMARY KEY, "
        "study INTEGER NOT NULL REFERENCES studies (id), "
        "kind TEXT NOT NULL CHECK (kind IN ('answer', 'explanation')), "
        "seed INTEGER NOT NULL, opened_at_utc TEXT NOT NULL, UNIQUE (study, kind)) STRICT"
    )
    connection.execute(
        "CREATE TABLE scoring_cases (scoring INTEGER NOT NULL REFERENCES scorings (id), "
        "case_id INTEGER NOT NULL REFERENCES cases (id), PRIMARY KEY (scoring, case_id)) STRICT"
    )
    connection.execute(
        "CREATE TABLE scoring_answers (scoring INTEGER NOT NULL REFERENCES scorings (id), "
        "answer_id TEXT NOT NULL, position INTEGER NOT NULL, "
        "PRIMARY KEY (scoring, answer_id)) STRICT"
    )
    connection.execute(
        "CREATE TABLE scorers (scoring INTEGER NOT NULL REFERENCES scorings (id), "
        "position INTEGER NOT NULL, person INTEGER REFERENCES people (id), "
        "PRIMARY KEY (scoring, position), UNIQUE (scoring, person)) STRICT"
    )
    connection.execute(
        "CREATE TABLE scores (id INTEGER PRIMARY KEY, "
        "scoring INTEGER NOT NULL REFERENCES scorings (id), position INTEGER NOT NULL, "
        "scorer INTEGER NOT NULL, turn INTEGER NOT NULL CHECK (turn IN (1, 2, 3)), "
        "score TEXT NOT NULL CHECK (score IN ('correct', 'partly correct', 'incorrect')), "
        "comment TEXT NOT NULL, at_utc TEXT NOT NULL, "
        "FOREIGN KEY (scoring, scorer) REFERENCES scorers (scoring, position)) STRICT"
    )
    connection.execute("CREATE INDEX scores_of_answer ON scores (scoring, position)")
    connection.execute(
        "CREATE TABLE scoring_ends (scoring INTEGER PRIMARY KEY REFERENCES scorings (id), "
        "at_utc TEXT NOT NULL) STRICT"
    )
    others = ("scoring_cases", "scoring_answers", "scorers", "scores", "scoring_ends")
    _write_once(connection, ("scorings", *others))


def _allow_in(connection: sqlite3.Connection, table: str, changes: Mapping[str, str]) -> None:
    """Change the text of a table's checks in place; its rows and what refers to them stay.

    As https://www.sqlite.org/lang_altertable.html has it for what leaves the rows as they are.
    """
    connection.execute("PRAGMA writable_schema = ON")
    for old, new in changes.items():
        done = connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, :old, :new) "
            "WHERE type = 'table' AND name = :name AND instr(sql, :old)",
            {"old": old, "new": new, "name": table},
        )
        assert done.rowcount == 1, old
    version = connection.execute("PRAGMA schema_version").fetchone()[0]
    connection.execute(f"PRAGMA schema_version = {version + 1}")
    connection.execute("PRAGMA writable_schema = OFF")


def _priors(connection: sqlite3.Connection) -> None:
    """Add films of earlier examinations: apart, so that nobody is shown one who did not ask.

    `film` is null in a bank that came with a bundle, which has no films.
    """
    connection.execute(
        "CREATE TABLE item_priors (item INTEGER NOT NULL REFERENCES items (id), "
        "position INTEGER NOT NULL CHECK (position > 0), film INTEGER REFERENCES films (id), "
        "label TEXT NOT NULL, said TEXT NOT NULL DEFAULT '', days INTEGER CHECK (days >= 0), "
        "PRIMARY KEY (item, position)) STRICT"
    )
    connection.execute("CREATE INDEX priors_of_film ON item_priors (film)")
    connection.execute(ITEM_FILMS)
    _write_once(connection, ("item_priors",))
    _remove_with_bank(connection, "item_priors", _OF_AN_ITEM)


def _exposure_marks(connection: sqlite3.Connection) -> None:
    """Add what a bank's patients, examinations, questions and films are found again by."""
    connection.execute(
        "CREATE TABLE exposure_marks (mark INTEGER NOT NULL, bank INTEGER NOT NULL REFERENCES "
        "banks (id), PRIMARY KEY (mark, bank)) STRICT, WITHOUT ROWID"
    )
    for (bank,) in connection.execute("SELECT id FROM banks").fetchall():
        connection.execute(
            f"INSERT INTO exposure_marks SELECT mark, :bank FROM ({BANK_MARKS})", {"bank": bank}
        )
    _write_once(connection, ("exposure_marks",))
    _remove_with_bank(connection, "exposure_marks", "SELECT 1 FROM banks WHERE id = old.bank")


MIGRATIONS = [
    *(_first, _removable, _attributes, _provenance, _runs, _context, _teaching, _struck),
    *(_several_banks, _reviews, _priors, _scorings, _exposure_marks),
]
"""Each is run once, in this order; the first is number 1."""
>>>>>>> 3db3bb6c (Find shared cases by patient, examination and question; hide verdicts)


def version(connection: sqlite3.Connection) -> int:
    """Return the version of a store; 0 for an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def newest() -> int:
    """Return the version that this program creates and opens."""
    return FIRST_VERSION + len(MIGRATIONS)


def create(connection: sqlite3.Connection) -> None:
    """Create all tables, indexes, views and triggers in an empty file, at the newest version."""
    for statement in files(__package__).joinpath("schema.sql").read_text("utf-8").split(";\n"):
        connection.execute(statement)
    for table in APPEND_ONLY:
        _refuse(connection, "UPDATE", table)
        _refuse(connection, "DELETE", table)
    for table, bank in REMOVED_WITH_BANK.items():
        _refuse(connection, "UPDATE", table)
        _refuse(connection, "DELETE", table, when=f"WHEN EXISTS ({bank})")
    _mark(connection, FIRST_VERSION)
    migrate(connection)


def migrate(connection: sqlite3.Connection) -> None:
    """Run the migrations that a store has not had, within the caller's transaction."""
    for migration in MIGRATIONS[version(connection) - FIRST_VERSION :]:
        migration(connection)
    _mark(connection, newest())


def _mark(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(f"PRAGMA user_version = {number}")


def _refuse(connection: sqlite3.Connection, verb: str, table: str, when: str = "") -> None:
    connection.execute(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} {when} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are written once'); END"
    )
