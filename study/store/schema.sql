-- The tables, indexes, views and rules of a store. Triggers that make tables append-only are added by schema.py.


-- The deployment and its backups.

CREATE TABLE deployment (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

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
) STRICT;


-- Question banks. `films.place` is the folder of an image in a joined bank, `items.origin` the bank it came from.

CREATE TABLE banks (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    format TEXT NOT NULL,
    source_name TEXT NOT NULL,
    source_sha256 TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    images_root TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    imported_at_utc TEXT NOT NULL,
    version TEXT NOT NULL DEFAULT '',
    licence TEXT NOT NULL DEFAULT '',
    source_url TEXT NOT NULL DEFAULT '',
    citation TEXT NOT NULL DEFAULT ''
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
    place TEXT NOT NULL DEFAULT '',
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
    origin TEXT NOT NULL DEFAULT '',
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
CREATE INDEX views_of_film ON item_views (film);

CREATE TABLE item_priors (
    item INTEGER NOT NULL REFERENCES items (id),
    position INTEGER NOT NULL CHECK (position > 0),
    film INTEGER REFERENCES films (id),
    label TEXT NOT NULL,
    said TEXT NOT NULL DEFAULT '',
    days INTEGER CHECK (days >= 0),
    PRIMARY KEY (item, position)
) STRICT;
CREATE INDEX priors_of_film ON item_priors (film);

CREATE TABLE item_attributes (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    attributes TEXT NOT NULL CHECK (json_valid(attributes))
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

CREATE TABLE struck_items (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    struck INTEGER NOT NULL CHECK (struck IN (0, 1)),
    reason TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
CREATE INDEX struck_items_of_item ON struck_items (item);

-- All images of an item in one order, the current images first.
CREATE VIEW item_films AS
SELECT item, position, film, label, 0 AS prior, NULL AS days FROM item_views
UNION ALL SELECT
    item,
    position + (SELECT count(*) FROM item_views WHERE item_views.item = item_priors.item),
    film, label, 1, days
FROM item_priors;

-- The sections a protocol may show, unless their text continues with sealed sections.
CREATE VIEW shown_context AS
SELECT item, section, words FROM report_texts
WHERE section IN ('indication', 'comparison') AND NOT (
    words LIKE '%findings:%'
    OR words LIKE '%findings :%'
    OR words LIKE '%impression:%'
    OR words LIKE '%impression :%'
    OR words LIKE '%conclusion:%'
    OR words LIKE '%conclusion :%'
    OR words LIKE '%explanation:%'
    OR words LIKE '%explanation :%'
);


-- Numbers that identify the same patients, examinations, questions and films in other banks.
CREATE TABLE exposure_marks (
    mark INTEGER NOT NULL,
    bank INTEGER NOT NULL REFERENCES banks (id),
    PRIMARY KEY (mark, bank)
) STRICT, WITHOUT ROWID;

-- Studies. `items_salt` is part of the hash of the reference standard; empty until the study is opened.

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
    restored_from TEXT NOT NULL DEFAULT '',
    items_salt TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TRIGGER protocol_is_locked BEFORE UPDATE OF protocol, protocol_sha256, bank ON studies
WHEN old.state <> 'drawn'
BEGIN SELECT RAISE(ABORT, 'the protocol of an opened study is locked'); END;

-- Only a closed or discarded study can be removed.
CREATE TRIGGER unfinished_studies_stay BEFORE DELETE ON studies
WHEN old.state <> 'closed' AND old.discarded_at_utc IS NULL
BEGIN SELECT RAISE(ABORT, 'only a closed study can be removed'); END;

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
    arm TEXT NOT NULL DEFAULT '',
    list INTEGER CHECK (list > 0),
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
    block INTEGER CHECK (block >= 0),
    stage INTEGER NOT NULL DEFAULT 0 CHECK (stage IN (0, 1, 2)),
    aid TEXT NOT NULL DEFAULT '' CHECK (aid IN ('', 'first', 'on demand', 'after')),
    CHECK ((stage = 0) = (aid <> 'after')),
    UNIQUE (reader, case_id, condition, repeat),
    UNIQUE (reader, position, stage)
) STRICT;

-- Designs (docs/designs.md). For each case: the case whose images replace its own, and the model's answer as it is
-- shown. Both are sealed; a reader's desk reaches them through the views after the readings.

CREATE TABLE wrong_images (
    case_id INTEGER PRIMARY KEY REFERENCES cases (id),
    shown_case INTEGER NOT NULL REFERENCES cases (id) CHECK (shown_case <> case_id)
) STRICT;

CREATE TABLE aids (
    case_id INTEGER PRIMARY KEY REFERENCES cases (id),
    answer TEXT CHECK (answer BETWEEN 'A' AND 'H' AND length(answer) = 1),
    confidence REAL CHECK (confidence BETWEEN 0 AND 1),
    explanation TEXT NOT NULL,
    boxes TEXT NOT NULL CHECK (json_valid(boxes)),
    map TEXT NOT NULL CHECK (json_valid(map)),
    planted INTEGER NOT NULL CHECK (planted IN (0, 1)),
    CHECK (planted = 0 OR answer IS NOT NULL)
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


-- People. Names are stored separately and no table refers to them: a name can be erased while every reading stays.
-- Anyone with another role in a study has seen content that is hidden from readers and can never become its reader.

CREATE TABLE people (
    id INTEGER PRIMARY KEY,
    handle TEXT NOT NULL,
    made_at_utc TEXT NOT NULL,
    seen_at_utc TEXT
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

CREATE TABLE names (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    CHECK (name <> '' OR email <> '')
) STRICT;

CREATE TABLE grants (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (
        role IN ('administrator', 'coordinator', 'reader', 'reviewer', 'statistician')
    ),
    study INTEGER REFERENCES studies (id),
    reader INTEGER REFERENCES readers (id),
    given_at_utc TEXT NOT NULL,
    revoked_at_utc TEXT,
    CHECK ((role = 'reader') = (reader IS NOT NULL)),
    CHECK (study IS NOT NULL OR role IN ('administrator', 'coordinator', 'reviewer'))
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

-- Roles that follow from a group of a single sign-on provider.
CREATE TABLE group_grants (
    grant_id INTEGER PRIMARY KEY REFERENCES grants (id),
    issuer TEXT NOT NULL CHECK (issuer <> '')
) STRICT;

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
    grant_id INTEGER REFERENCES grants (id),
    study INTEGER REFERENCES studies (id),
    at_utc TEXT NOT NULL,
    active_at_utc TEXT NOT NULL DEFAULT '',
    method TEXT NOT NULL DEFAULT 'code'
        CHECK (method IN ('code', 'second factor', 'single sign-on'))
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

CREATE TABLE second_factors (
    person INTEGER PRIMARY KEY REFERENCES people (id),
    secret TEXT NOT NULL,
    added_at_utc TEXT NOT NULL,
    last_step INTEGER NOT NULL,
    failures INTEGER NOT NULL CHECK (failures >= 0),
    failed_at_utc TEXT NOT NULL
) STRICT;

CREATE TABLE recovery_codes (
    person INTEGER NOT NULL REFERENCES people (id),
    code_hash TEXT NOT NULL,
    PRIMARY KEY (person, code_hash)
) STRICT;

CREATE TABLE places (
    mark TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    first_seen_at_utc TEXT NOT NULL
) STRICT;


-- Steps before the first case, and practice.

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
CREATE INDEX practice_cases_of_item ON practice_cases (item);

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
) STRICT;


-- Readings.

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
    aid_shown_ms REAL CHECK (aid_shown_ms >= 0),
    CHECK ((status = 'answered') = (answer IS NOT NULL))
) STRICT;
CREATE INDEX readings_of_assignment ON readings (assignment);
CREATE UNIQUE INDEX one_first_reading ON readings (assignment) WHERE supersedes IS NULL;

CREATE TABLE reasons (
    reading TEXT PRIMARY KEY REFERENCES readings (id),
    words TEXT NOT NULL CHECK (words <> '')
) STRICT;

-- A reader's request for the aid of a case.
CREATE TABLE aid_requests (
    id TEXT PRIMARY KEY,
    assignment TEXT NOT NULL UNIQUE REFERENCES presentations (assignment),
    requested_at_utc TEXT,
    received_at_utc TEXT NOT NULL
) STRICT;

-- The aid of an assignment once it may be shown: after all earlier cases; on request; after the first answer.
CREATE VIEW due_aids AS
SELECT
    assignments.id AS assignment,
    aids.case_id IS NULL AS missing,
    aids.answer, aids.confidence, aids.explanation, aids.boxes, aids.map
FROM assignments LEFT JOIN aids ON aids.case_id = assignments.case_id
WHERE assignments.condition = 'aided' AND (
    (assignments.aid = 'first' AND NOT EXISTS (
        SELECT 1 FROM assignments AS earlier
        WHERE earlier.reader = assignments.reader AND earlier.position < assignments.position
        AND NOT EXISTS (SELECT 1 FROM readings WHERE readings.assignment = earlier.id)
    ))
    OR (assignments.aid = 'on demand' AND EXISTS (
        SELECT 1 FROM aid_requests WHERE aid_requests.assignment = assignments.id
    ))
    OR (assignments.aid = 'after' AND EXISTS (
        SELECT 1 FROM assignments AS stage_1
        JOIN readings ON readings.assignment = stage_1.id
        WHERE stage_1.reader = assignments.reader
        AND stage_1.position = assignments.position AND stage_1.stage = 1
    ))
);

-- The item whose images an assignment shows; none if it shows no images.
CREATE VIEW items_with_images AS
SELECT assignments.id AS assignment, coalesce(shown.item, cases.item) AS item
FROM assignments
JOIN cases ON cases.id = assignments.case_id
LEFT JOIN wrong_images
    ON wrong_images.case_id = cases.id AND assignments.condition = 'wrong-image'
LEFT JOIN cases AS shown ON shown.id = wrong_images.shown_case
WHERE assignments.condition <> 'image-absent';

CREATE TABLE exclusions (
    id TEXT PRIMARY KEY,
    reading TEXT NOT NULL REFERENCES readings (id),
    excluded INTEGER NOT NULL CHECK (excluded IN (0, 1)),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;


-- Models. A name can be reused: `edition` numbers the models of a study with the same name, and all but the last are
-- withdrawn.

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
    synthetic INTEGER NOT NULL DEFAULT 0 CHECK (synthetic IN (0, 1)),
    UNIQUE (study, model_id, edition)
) STRICT;

CREATE TABLE predictions (
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
) STRICT;

CREATE TABLE withdrawn_models (
    model INTEGER PRIMARY KEY REFERENCES models (id),
    reason TEXT NOT NULL CHECK (reason <> ''),
    actor TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;

CREATE TABLE column_names (
    columns TEXT PRIMARY KEY CHECK (json_valid(columns)),
    meant TEXT NOT NULL CHECK (json_valid(meant)),
    at_utc TEXT NOT NULL
) STRICT;


-- Expert reviews of a bank's items.

CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    name TEXT NOT NULL,
    opened_at_utc TEXT NOT NULL,
    UNIQUE (bank, name)
) STRICT;

CREATE TABLE review_items (
    review INTEGER NOT NULL REFERENCES reviews (id),
    position INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (review, position),
    UNIQUE (review, item)
) STRICT;

CREATE TABLE reviewers (
    review INTEGER NOT NULL REFERENCES reviews (id),
    position INTEGER NOT NULL,
    person INTEGER NOT NULL REFERENCES people (id),
    PRIMARY KEY (review, position),
    UNIQUE (review, person)
) STRICT;

CREATE TABLE review_verdicts (
    id INTEGER PRIMARY KEY,
    review INTEGER NOT NULL REFERENCES reviews (id),
    item INTEGER NOT NULL REFERENCES items (id),
    person INTEGER NOT NULL REFERENCES people (id),
    verdict TEXT NOT NULL,
    comment TEXT NOT NULL,
    at_utc TEXT NOT NULL
) STRICT;
CREATE INDEX review_verdicts_of_item ON review_verdicts (review, item);

CREATE TABLE review_ends (
    review INTEGER PRIMARY KEY REFERENCES reviews (id),
    at_utc TEXT NOT NULL
) STRICT;


-- Scoring of open-ended answers. A scorer restored from a bundle has no person, only a position.

CREATE TABLE scorings (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    kind TEXT NOT NULL CHECK (kind IN ('answer', 'explanation')),
    seed INTEGER NOT NULL,
    opened_at_utc TEXT NOT NULL,
    UNIQUE (study, kind)
) STRICT;

CREATE TABLE scoring_cases (
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    case_id INTEGER NOT NULL REFERENCES cases (id),
    PRIMARY KEY (scoring, case_id)
) STRICT;

CREATE TABLE scoring_answers (
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    answer_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (scoring, answer_id)
) STRICT;

CREATE TABLE scorers (
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    position INTEGER NOT NULL,
    person INTEGER REFERENCES people (id),
    PRIMARY KEY (scoring, position),
    UNIQUE (scoring, person)
) STRICT;

CREATE TABLE scores (
    id INTEGER PRIMARY KEY,
    scoring INTEGER NOT NULL REFERENCES scorings (id),
    position INTEGER NOT NULL,
    scorer INTEGER NOT NULL,
    turn INTEGER NOT NULL CHECK (turn IN (1, 2, 3)),
    score TEXT NOT NULL CHECK (score IN ('correct', 'partly correct', 'incorrect')),
    comment TEXT NOT NULL,
    at_utc TEXT NOT NULL,
    FOREIGN KEY (scoring, scorer) REFERENCES scorers (scoring, position)
) STRICT;
CREATE INDEX scores_of_answer ON scores (scoring, position);

CREATE TABLE scoring_ends (
    scoring INTEGER PRIMARY KEY REFERENCES scorings (id),
    at_utc TEXT NOT NULL
) STRICT;


-- Teaching.

CREATE TABLE teaching_marks (
    id INTEGER PRIMARY KEY,
    bank INTEGER NOT NULL REFERENCES banks (id),
    taught INTEGER NOT NULL CHECK (taught IN (0, 1)),
    at_utc TEXT NOT NULL
) STRICT;

CREATE TABLE teaching_answers (
    id TEXT PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people (id),
    bank INTEGER NOT NULL REFERENCES banks (id),
    number INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES items (id),
    answer TEXT,
    matches INTEGER NOT NULL CHECK (matches IN (0, 1)),
    at_utc TEXT NOT NULL,
    UNIQUE (person, bank, number)
) STRICT;
CREATE INDEX teaching_answers_of_item ON teaching_answers (item);


-- The event chains. `told_as` is the name that the hashes of a chain were computed with, if it is stored under another.

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
