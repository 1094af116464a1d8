"""The tables of the coordinator's desk: people and their roles, drafts, amendments, stepping in.

Names stand in one table apart, `names`, which nothing refers to: a name can be erased and every
reading stays. What was decided about a study (amendments, interventions, exclusions) is written
once and vouched for by its chain; the rest (drafts, codes, sign-ins, places) may change.
"""

TABLES = (
    """
CREATE TABLE people (
    id INTEGER PRIMARY KEY,
    handle TEXT NOT NULL,
    made_at_utc TEXT NOT NULL,
    seen_at_utc TEXT
) STRICT
""",
    """
CREATE TABLE names (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    CHECK (name <> '' OR email <> '')
) STRICT
""",
    """
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
) STRICT
""",
    "CREATE UNIQUE INDEX one_standing_grant ON grants (person, coalesce(study, 0), role) "
    "WHERE revoked_at_utc IS NULL",
    "CREATE UNIQUE INDEX one_standing_reader ON grants (reader) WHERE revoked_at_utc IS NULL",
    """
CREATE TABLE codes (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    lookup TEXT NOT NULL UNIQUE,
    salt TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    issued_at_utc TEXT NOT NULL,
    expires_at_utc TEXT,
    failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    locked_at_utc TEXT
) STRICT
""",
    """
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person INTEGER NOT NULL REFERENCES people (id),
    bound_at_utc TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT
""",
    """
CREATE TABLE tickets (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    expires_at_utc TEXT NOT NULL
) STRICT
""",
    """
CREATE TABLE places (
    mark TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    first_seen_at_utc TEXT NOT NULL
) STRICT
""",
    """
CREATE TABLE drafts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    made_by INTEGER NOT NULL REFERENCES people (id),
    bank INTEGER REFERENCES banks (id),
    protocol TEXT NOT NULL CHECK (json_valid(protocol)),
    saved_at_utc TEXT NOT NULL
) STRICT
""",
    """
CREATE TABLE amendments (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    number INTEGER NOT NULL CHECK (number > 0),
    changes TEXT NOT NULL CHECK (json_valid(changes)),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL,
    UNIQUE (study, number)
) STRICT
""",
    """
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
) STRICT
""",
    """
CREATE TABLE exclusions (
    id TEXT PRIMARY KEY,
    reading TEXT NOT NULL REFERENCES readings (id),
    excluded INTEGER NOT NULL CHECK (excluded IN (0, 1)),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT
""",
    """
CREATE TABLE backups (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE,
    made_at_utc TEXT NOT NULL,
    trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'hand')),
    actor TEXT NOT NULL,
    n_bytes INTEGER NOT NULL CHECK (n_bytes > 0),
    sha256 TEXT NOT NULL,
    verified_at_utc TEXT,
    finding TEXT NOT NULL,
    removed_at_utc TEXT
) STRICT
""",
)

# Who has had another role in a study has seen what a reader must not: it binds for good.
TRIGGERS = (
    """
CREATE TRIGGER readers_have_no_other_role BEFORE INSERT ON grants
WHEN new.role = 'reader' AND EXISTS (
    SELECT 1 FROM grants WHERE person = new.person AND role <> 'reader'
    AND (study IS NULL OR study = new.study)
) BEGIN SELECT RAISE(ABORT, 'whoever runs a study cannot read in it'); END
""",
    """
CREATE TRIGGER other_roles_do_not_read BEFORE INSERT ON grants
WHEN new.role <> 'reader' AND EXISTS (
    SELECT 1 FROM grants WHERE person = new.person AND role = 'reader'
    AND (new.study IS NULL OR study = new.study)
) BEGIN SELECT RAISE(ABORT, 'a reader of a study cannot run it'); END
""",
    """
CREATE TRIGGER grants_are_only_revoked
BEFORE UPDATE OF person, role, study, reader, given_at_utc ON grants
BEGIN SELECT RAISE(ABORT, 'a role is given and revoked, never altered'); END
""",
)

STUDY_COLUMNS = (
    "ALTER TABLE studies ADD COLUMN closed_at_utc TEXT",
    "ALTER TABLE studies ADD COLUMN discarded_at_utc TEXT",
    "ALTER TABLE studies ADD COLUMN restored_from TEXT NOT NULL DEFAULT ''",
)

# A chain kept under another name than it was made under: the name its hashes are of.
CHAIN_COLUMNS = (
    "ALTER TABLE chain_heads ADD COLUMN told_as TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX events_of_kind ON events (chain, kind, actor)",
)

# A code of an earlier release was one role in one study; it stays good. Sign-ins end.
MOVED = (
    "INSERT INTO people (id, handle, made_at_utc) SELECT access.id, access.name, issued_at_utc "
    "FROM access",
    "INSERT INTO grants (person, role, study, reader, given_at_utc) "
    "SELECT id, role, study, reader, issued_at_utc FROM access",
    "INSERT INTO codes (person, lookup, salt, code_hash, issued_at_utc) "
    "SELECT id, lookup, salt, code_hash, issued_at_utc FROM access",
    "DROP TABLE sign_ins",
    "DROP TABLE access",
    """
CREATE TABLE sign_ins (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    standing INTEGER REFERENCES grants (id),
    study INTEGER REFERENCES studies (id),
    at_utc TEXT NOT NULL
) STRICT
""",
    "CREATE INDEX sign_ins_of_person ON sign_ins (person)",
)

WRITTEN_ONCE = ("amendments", "interventions", "exclusions")
