"""The bundle: exact columns, canonical answers, valid by Frictionless, the same bytes twice."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from frictionless import validate

from analysis import (
    BundleError,
    Options,
    analyse,
    read_bundle,
    sensitivity,
    sensitivity_panel,
)
from analysis.bundle.model import RULES
from analysis.report.methods import design
from study.base.actor import COMMAND_LINE
from study.base.canonical import sha256_of
from study.base.errors import BadFile
from study.exchange.bundle import bundle_files, export, tables_of, zipped
from study.exchange.formats.tables import parquet_files, workbook
from study.exchange.restoring import restore
from study.models.models import add_model
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, studies
from study.store.events import EventRow
from study.store.studies import study_row
from study.trail.verification import check_chain
from tests.conftest import NOW, person, preparation, presentation, reading
from tests.sites import empty

Opened = Callable[..., Store]
HEADERS = {
    "items.csv": "item_id,truth,n_options,options,question,task,category,subcategory,"
    "examination_id,patient_id,option_set",
    "raters.csv": "rater_id,rater_kind,label,level,years,site,model_version",
    "readings.csv": "rater_id,item_id,answer,condition,session,repeat,position,status,confidence,"
    "response_ms,elapsed_ms,hidden_ms,paused_ms,presented_at_utc,answered_at_utc,timing_source,"
    "shown_order,raw_answer,flags,excluded",
}


KEYS_OF_BEFORE = [
    "allocation",
    "back_navigation",
    "break_every",
    "cannot_answer",
    "case_order",
    "cases",
    "claim_about",
    "comments",
    "conditions",
    "confidence",
    "consent",
    "context",
    "display_check",
    "endpoint",
    "exclusions",
    "feedback",
    "hidden_repeats",
    "hypothesis",
    "instructions",
    "interim_results",
    "margin",
    "name",
    "one_question_per",
    "option_order",
    "practice_cases",
    "primary_model",
    "questionnaire",
    "score_card",
    "seed",
    "session_days",
    "sessions",
    "smallest_window",
    "stratify_by",
    "time_limit_s",
    "washout_days",
]
"""What the first bundles that could be restored said of the protocol in force."""


@pytest.fixture
def full(opened: Opened, tmp_path: Path) -> Store:
    """Return a study with two readers, hidden repeats, shuffled options and a model."""
    store = opened(option_order="random", hidden_repeats=2, confidence=5)
    for reader in ("R1", "R2"):
        simulate(store, study="trial", reader_id=reader, seed=1, accuracy=0.7, now=NOW)
    file = tmp_path / "model.json"
    answers = {f"q{i:04d}": {"model_prediction": "ABCDX"[i % 5]} for i in range(24)}
    file.write_text(json.dumps(answers))
    add_model(store, file, study="trial", model_id="Model, one", model_version="2", now=NOW)
    return store


def _table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def test_a_protocol_without_new_keys_is_written_as_before(full: Store) -> None:
    """Else no bundle of before could be restored: exported again, it has to be the same."""
    told = json.loads(bundle_files(full, "trial")["protocol.json"])
    assert sorted(told["in_force"]) == KEYS_OF_BEFORE


def test_the_headers_are_those_of_the_contract(full: Store) -> None:
    """Column for column, in order."""
    files = bundle_files(full, "trial")
    for name, header in HEADERS.items():
        assert files[name].decode().split("\n", 1)[0] == header


def test_the_sex_of_patients_is_exported_only_for_a_declared_subgroup(opened: Opened) -> None:
    """The items of a study without it have the columns of the contract."""
    store = opened(subgroups=["sex"])
    header = HEADERS["items.csv"] + ",sex"
    assert bundle_files(store, "trial")["items.csv"].decode().split("\n", 1)[0] == header
    with store.look() as look:
        drawn = look.rows("SELECT item_id, sex FROM cases JOIN items ON items.id = cases.item")
    rows = _table(bundle_files(store, "trial"), "items.csv")
    assert {row["item_id"]: row["sex"] for row in rows} == {
        row["item_id"]: row["sex"] for row in drawn
    }


def test_frictionless_finds_the_package_valid(full: Store, tmp_path: Path) -> None:
    """Schemas, keys, hashes and row counts hold, and a changed file is noticed."""
    export(full, study="trial", out=tmp_path / "bundle")
    report = validate(str(tmp_path / "bundle" / "datapackage.json"))
    assert report.valid, report.flatten(["type", "message"])
    package = json.loads((tmp_path / "bundle" / "datapackage.json").read_text())
    rows = {one["path"]: one.get("rows") for one in package["resources"]}
    assert rows["readings.csv"] == 2 * 10 + 8
    with (tmp_path / "bundle" / "items.csv").open("a") as file:
        file.write("smuggled,A,4\n")
    assert not validate(str(tmp_path / "bundle" / "datapackage.json")).valid


def test_answers_are_canonical_and_the_pressed_letter_is_kept(full: Store) -> None:
    """`answer` is the option in canonical order, `raw_answer` the letter as pressed."""
    found = [row for row in _table(bundle_files(full, "trial"), "readings.csv") if row["position"]]
    assert len({row["shown_order"] for row in found}) > 3
    for row in found:
        assert row["answer"] == row["shown_order"]["ABCD".index(row["raw_answer"])]


def test_models_have_no_condition_and_keep_what_could_not_be_parsed(full: Store) -> None:
    """An unparsed prediction has an empty answer, its status, and its raw words."""
    found = _table(bundle_files(full, "trial"), "readings.csv")
    models = [row for row in found if row["rater_id"] == "Model, one"]
    assert {row["condition"] for row in models} == {""}
    unparsed = [row for row in models if row["status"] == "unparsed"]
    assert unparsed
    assert all(row["answer"] == "" and row["raw_answer"] == "X" for row in unparsed)


def test_simulated_readers_say_so_in_label_and_timing(full: Store) -> None:
    """A simulation is marked wherever it appears."""
    files = bundle_files(full, "trial")
    assert _table(files, "raters.csv")[0]["label"] == "R1 (simulated)"
    assert _table(files, "readings.csv")[0]["timing_source"] == "simulated"


def test_option_sets_are_named_only_where_shared(full: Store) -> None:
    """A set of options that no other item has is no set."""
    found = _table(bundle_files(full, "trial"), "items.csv")
    by_options: dict[str, list[dict[str, str]]] = {}
    for row in found:
        by_options.setdefault(row["options"], []).append(row)
    for rows in by_options.values():
        assert all(bool(row["option_set"]) == (len(rows) > 1) for row in rows)


def test_the_same_store_gives_the_same_bytes(full: Store) -> None:
    """An export can be repeated and compared."""
    first, second = bundle_files(full, "trial"), bundle_files(full, "trial")
    assert first == second
    assert zipped(first) == zipped(second)


def test_the_protocols_hash_can_be_recomputed(full: Store) -> None:
    """protocol.json holds exactly what its hash covers."""
    protocol = json.loads(bundle_files(full, "trial")["protocol.json"])
    assert sha256_of(protocol["locked"]) == protocol["sha256"]
    assert protocol["locked"]["protocol"]["hidden_repeats"] == 2


def test_the_audit_trail_is_an_unbroken_chain(full: Store) -> None:
    """audit.jsonl can be verified from itself."""
    lines = bundle_files(full, "trial")["audit.jsonl"].decode().splitlines()
    events = [EventRow(**json.loads(line)) for line in lines]
    assert check_chain(events) == ""
    assert sum(event.kind == "case read" for event in events) == 20


def test_an_export_never_overwrites(full: Store, tmp_path: Path) -> None:
    """What lies there stays, and the refusal says so; nothing half-done is left."""
    out = tmp_path / "bundle"
    export(full, study="trial", out=out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(BadFile, match="already there"):
        export(full, study="trial", out=out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.glob(".bundle*")] == []


def test_a_zip_holds_the_same_files(full: Store, tmp_path: Path) -> None:
    """A name that ends in .zip makes one file."""
    export(full, study="trial", out=tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == zipped(bundle_files(full, "trial"))


def test_an_export_into_an_empty_folder_fills_it(full: Store, tmp_path: Path) -> None:
    """An empty folder is as good as none, and so is one that a link points to."""
    (tmp_path / "empty").mkdir()
    export(full, study="trial", out=tmp_path / "empty")
    assert {path.name for path in (tmp_path / "empty").iterdir()} == {
        *HEADERS,
        "protocol.json",
        "records.jsonl",
        "audit.jsonl",
        "datapackage.json",
    }
    (tmp_path / "pointed-at").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pointed-at")
    export(full, study="trial", out=tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pointed-at" / "items.csv").is_file()


def test_a_zip_is_not_put_in_place_of_a_folder(full: Store, tmp_path: Path) -> None:
    """Even an empty one; and nothing is left beside it."""
    (tmp_path / "x.zip").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BadFile, match="already there"):
        export(full, study="trial", out=tmp_path / "x.zip")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["file/bundle", "file/bundle.zip", "x" * 300, f"{'x' * 300}.zip"])
def test_a_place_that_cannot_be_written_is_one_sentence(
    full: Store, tmp_path: Path, name: str
) -> None:
    """Whatever the system refuses becomes a refusal of ours, with nothing half-done."""
    (tmp_path / "file").write_text("in the way")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BadFile, match=r"cannot be written: .+\.$"):
        export(full, study="trial", out=tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["b", "b.zip"])
def test_an_export_that_fails_at_its_last_step_leaves_nothing(
    full: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A full disk, say: no scratch files stay behind."""

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(BadFile, match="No space left on device"):
        export(full, study="trial", out=tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_flags_are_words_that_the_analysis_reads(opened: Opened, tmp_path: Path) -> None:
    """From the page through the store and the bundle to the checked table; a blank is no end."""
    store = opened(cases=2)
    first, second = (shown.case for shown in desk.desk(store, person(store), now=NOW).cases)
    flagged = reading(first, flags=["resumed", "page zoomed"])
    records = (presentation(first), flagged, presentation(second), reading(second))
    times = [
        NOW,
        NOW + timedelta(seconds=2),
        NOW + timedelta(seconds=3),
        NOW + timedelta(seconds=5),
    ]
    for record, now in zip(records, times, strict=True):
        assert desk.take_records(store, person(store), [record], now=now).refused == ()
    export(store, study="trial", out=tmp_path / "bundle")
    package = json.loads((tmp_path / "bundle" / "datapackage.json").read_text())
    fields = next(one for one in package["resources"] if one["path"] == "readings.csv")["schema"]
    assert "flags" in [field["name"] for field in fields["fields"]]
    assert read_bundle(tmp_path / "bundle").readings["flags"].tolist() == [
        "page_zoomed resumed",
        "",
    ]


def test_a_bundle_says_what_its_confidence_means(full: Store, tmp_path: Path) -> None:
    """The page asks how sure the reader is, so no analysis has to find it out."""
    export(full, study="trial", out=tmp_path / "out")
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    assert package["reading_room"]["confidence_means"] == "answer"
    assert read_bundle(tmp_path / "out").confidence_means == "answer"


EXTRAS = {
    "questionnaire": [
        {"id": "level", "question": "Your level?", "kind": "choice", "options": ["one", "two"]},
        {"id": "words", "question": "Who are you?", "kind": "text", "required": False},
    ],
    "display_check": True,
}
SAID = {"answers": {"level": "two", "words": "=Dr Who"}}
SCREEN = {"viewport_width": 1440, "dark_step": 2, "page_zoom": "rubbish", "advice": "zoom"}


def _said(store: Store) -> Store:
    """Return the study with both readers prepared, R2 first."""
    for code in ("R2", "R1"):
        steps = [
            preparation("questionnaire", SAID, id=f"asked-{code}"),
            preparation("display", SCREEN, id=f"checked-{code}"),
        ]
        assert not desk.take_records(store, person(store, code), steps, now=NOW).refused
    return store


def test_what_readers_said_is_in_the_bundle_where_the_protocol_says_so(
    opened: Opened, tmp_path: Path
) -> None:
    """Under study codes, free text left out, valid by Frictionless, read by the analysis."""
    chosen = ["questionnaire", "display checks"]
    store = _said(opened(**EXTRAS, bundle_extras=chosen))
    case = desk.desk(store, person(store), now=NOW).cases[0].case
    for record, now in ((presentation(case), NOW), (reading(case), NOW + timedelta(seconds=2))):
        assert not desk.take_records(store, person(store), [record], now=now).refused
    export(store, study="trial", out=tmp_path / "bundle")
    assert validate(str(tmp_path / "bundle" / "datapackage.json")).valid
    files = bundle_files(store, "trial")
    answers = _table(files, "questionnaire.csv")
    assert [(row["rater_id"], row["question_id"], row["answer"]) for row in answers] == [
        ("R1", "level", "two"),
        ("R2", "level", "two"),
    ]
    check = _table(files, "display_checks.csv")[0]
    assert (check["rater_id"], check["sign_in"], check["viewport_width"]) == ("R1", "1", "1440")
    assert (check["dark_step"], check["page_zoom"], check["advice"]) == ("2", "", "zoom")
    assert b"Dr Who" not in zipped(files) + b"".join(files.values())
    assert read_bundle(tmp_path / "bundle").protocol["in_force"]["bundle_extras"] == chosen


def test_free_text_is_in_the_bundle_only_where_it_is_asked_for(opened: Opened) -> None:
    """And no cell of it is a formula."""
    store = _said(opened(**EXTRAS, bundle_extras=["questionnaire", "questionnaire texts"]))
    files = bundle_files(store, "trial")
    assert [row["answer"] for row in _table(files, "questionnaire.csv")][:2] == ["two", "'=Dr Who"]
    assert "display_checks.csv" not in files


def test_without_the_key_a_bundle_is_as_it_was(opened: Opened) -> None:
    """No file, and no word of it in the protocol."""
    files = bundle_files(_said(opened(**EXTRAS)), "trial")
    assert {"questionnaire.csv", "display_checks.csv"}.isdisjoint(files)
    assert b"bundle_extras" not in files["protocol.json"]


def test_the_archive_has_them_in_every_form_and_a_restored_study_does_not(
    opened: Opened, tmp_path: Path
) -> None:
    """What was said stays where it was said; everything else is restored to the last byte."""
    every = ["questionnaire", "questionnaire texts", "display checks"]
    store = _said(opened(**EXTRAS, bundle_extras=every))
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"), blinded=False)
    assert {"questionnaire.parquet", "display_checks.parquet"} <= set(parquet_files(tables, {}))
    assert workbook(tables, {})
    (tmp_path / "bundle.zip").write_bytes(zipped(bundle_files(store, "trial")))
    elsewhere = empty(tmp_path / "elsewhere", 2)
    restore(elsewhere, tmp_path / "bundle.zip", by=COMMAND_LINE, now=NOW)
    assert {"questionnaire.csv", "display_checks.csv"}.isdisjoint(bundle_files(elsewhere, "trial"))


def _with_words(store: Store, folder: Path, **words: str) -> Store:
    """Add a model that says `words` of cases by their place, and "B" of all others."""
    with store.look() as look:
        items = [case.item_id for case in studies.cases(look, study_row(look, "trial").id)]
    said = {item: words.get(f"case_{n}", "B") for n, item in enumerate(items)}
    file = folder / "words.json"
    file.write_text(json.dumps({item: {"model_prediction": one} for item, one in said.items()}))
    add_model(store, file, study="trial", model_id="talker", now=NOW)
    return store


@pytest.mark.slow
def test_what_other_rules_make_of_a_models_words_is_in_the_bundle_and_in_the_analysis(
    opened: Opened, tmp_path: Path
) -> None:
    """Only where they differ; restored it is the same; the analysis says what it changes."""
    store = _with_words(
        opened(), tmp_path, case_0="So the answer is B.", case_1="Look at option B now", case_2="?"
    )
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    simulate(store, study="trial", reader_id="R2", seed=2, accuracy=0.7, now=NOW)
    export(store, study="trial", out=tmp_path / "bundle")
    assert validate(str(tmp_path / "bundle" / "datapackage.json")).valid
    files = bundle_files(store, "trial")
    rows = _table(files, "answers_by_rules.csv")
    assert [tuple(row[rules] for rules in RULES) for row in rows] == [
        ("unparsed", "B", "B"),
        ("unparsed", "unparsed", "B"),
    ]
    (tmp_path / "bundle.zip").write_bytes(zipped(files))
    elsewhere = empty(tmp_path / "elsewhere", 2)
    restore(elsewhere, tmp_path / "bundle.zip", by=COMMAND_LINE, now=NOW)
    again = bundle_files(elsewhere, "trial")["answers_by_rules.csv"]
    assert again == files["answers_by_rules.csv"]

    found = read_bundle(tmp_path / "bundle")
    table = sensitivity(found).set_index(["analysis", "rater_id"])["accuracy"]
    truth = dict(zip(found.items["item_id"], found.items["truth"], strict=True))
    right = [truth[row["item_id"]] == "B" for row in rows]
    n = len(truth)
    name = "model answers read by {} rules".format
    assert table[name("strict"), "talker"] == pytest.approx(
        table["missing as wrong", "talker"] - right[0] / n
    )
    assert table[name("loose"), "talker"] == pytest.approx(
        table["missing as wrong", "talker"] + right[1] / n
    )
    assert table[name("loose"), "R1"] == table["missing as wrong", "R1"]
    assert name("standard") not in table
    panel = sensitivity_panel(found)
    assert {name("strict"), name("loose")} <= set(panel["analysis"])
    told = design(analyse(found, Options(bootstrap=20))).text
    assert (
        "the strict rules would change 1 answer and the loose rules would change 1 answer" in told
    )


def test_where_all_rules_agree_a_bundle_is_as_it_was(opened: Opened, tmp_path: Path) -> None:
    """No file, no analysis by rules."""
    store = _with_words(opened(), tmp_path, case_0="(B)", case_1="no idea")
    assert "answers_by_rules.csv" not in bundle_files(store, "trial")


def test_what_no_rules_can_have_said_is_refused(opened: Opened, tmp_path: Path) -> None:
    """By file and row."""
    store = _with_words(opened(), tmp_path, case_0="So the answer is B.")
    export(store, study="trial", out=tmp_path / "bundle")
    file = tmp_path / "bundle" / "answers_by_rules.csv"
    file.write_text(file.read_text().replace("unparsed", "perhaps"))
    with pytest.raises(BundleError, match=r"answers_by_rules\.csv, row 2: 'perhaps'"):
        read_bundle(tmp_path / "bundle")
    file.write_text(file.read_text().replace("perhaps", "A").replace("talker", "nobody"))
    with pytest.raises(BundleError, match=r"no such reading of '.*' by 'nobody'"):
        read_bundle(tmp_path / "bundle")
