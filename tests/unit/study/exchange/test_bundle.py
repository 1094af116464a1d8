"""The bundle has exact columns and canonical answers, is valid and is reproducible."""

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
from analysis.bundle.model import RULE_SETS
from analysis.bundle.protocol import protocol_value, years_limit
from analysis.report.methods import design_paragraph
from study.base.canonical import sha256_of
from study.base.errors import BadFile
from study.exchange.bundle import bundle_files, export, tables_of, zip_files
from study.exchange.formats.tables import parquet_files, workbook
from study.exchange.restoring import restore
from study.models.models import add_model
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, studies
from study.store.events import EventRow
from study.store.studies import study_row
from study.trail.verification import check_chain
from tests.conftest import ACTING, NOW, person, preparation, presentation, reading
from tests.sites import create_empty

Opened = Callable[..., Store]
HEADERS = {
    "items.csv": "item_id,truth,n_options,options,question,task,category,subcategory,"
    "examination_id,patient_id,option_set",
    "raters.csv": "rater_id,rater_kind,label,level,years,site,model_version",
    "readings.csv": "rater_id,item_id,answer,condition,session,repeat,position,status,confidence,"
    "response_ms,elapsed_ms,hidden_ms,paused_ms,presented_at_utc,answered_at_utc,timing_source,"
    "shown_order,raw_answer,flags,excluded",
}


EARLIER_KEYS = [
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
"""The keys of the protocol in force in the first bundles that could be restored."""


@pytest.fixture
def open_study(opened: Opened, tmp_path: Path) -> Store:
    """Return a study with two readers, hidden repeats, shuffled options and a model."""
    store = opened(option_order="random", hidden_repeats=2, confidence=5)
    for reader in ("R1", "R2"):
        simulate(store, study="trial", reader_id=reader, seed=1, accuracy=0.7, now=NOW)
    file = tmp_path / "model.json"
    answers = {f"q{i:04d}": {"model_prediction": "ABCDX"[i % 5]} for i in range(24)}
    file.write_text(json.dumps(answers))
    add_model(store, file, study="trial", model_id="Model, one", model_version="2", acting=ACTING)
    return store


def _table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def test_a_protocol_without_new_keys_is_written_as_in_earlier_versions(open_study: Store) -> None:
    """A bundle of an earlier version is restored only if a new export is identical."""
    protocol = json.loads(bundle_files(open_study, "trial")["protocol.json"])
    assert sorted(protocol["in_force"]) == EARLIER_KEYS


def test_the_headers_are_those_in_the_documentation(open_study: Store) -> None:
    """The order of the columns is fixed."""
    files = bundle_files(open_study, "trial")
    for name, header in HEADERS.items():
        assert files[name].decode().split("\n", 1)[0] == header


def test_the_sex_of_patients_is_exported_only_for_a_declared_subgroup(opened: Opened) -> None:
    """Without such a subgroup the items have no column for sex."""
    store = opened(subgroups=["sex"])
    header = HEADERS["items.csv"] + ",sex"
    assert bundle_files(store, "trial")["items.csv"].decode().split("\n", 1)[0] == header
    with store.look() as look:
        drawn = look.rows("SELECT item_id, sex FROM cases JOIN items ON items.id = cases.item")
    rows = _table(bundle_files(store, "trial"), "items.csv")
    assert {row["item_id"]: row["sex"] for row in rows} == {
        row["item_id"]: row["sex"] for row in drawn
    }


def test_declarations_for_the_analysis_are_in_the_bundle(opened: Opened) -> None:
    """The analysis reads them as it reads those in bundles from other programs."""
    store = opened(ordered_options=True, years_limit=5)
    protocol = json.loads(bundle_files(store, "trial")["protocol.json"])
    assert years_limit(protocol) == 5
    assert protocol_value(protocol, "ordered_options") is True


def test_frictionless_accepts_the_package_as_valid(open_study: Store, tmp_path: Path) -> None:
    """Frictionless checks schemas, keys, hashes and row counts, and reports a changed file."""
    export(open_study, study="trial", out=tmp_path / "bundle")
    report = validate(str(tmp_path / "bundle" / "datapackage.json"))
    assert report.valid, report.flatten(["type", "message"])
    package = json.loads((tmp_path / "bundle" / "datapackage.json").read_text())
    rows = {resource["path"]: resource.get("rows") for resource in package["resources"]}
    assert rows["readings.csv"] == 2 * 10 + 8
    with (tmp_path / "bundle" / "items.csv").open("a") as file:
        file.write("smuggled,A,4\n")
    assert not validate(str(tmp_path / "bundle" / "datapackage.json")).valid


def test_answers_are_canonical_and_the_pressed_letter_is_kept(open_study: Store) -> None:
    """`answer` is the option in canonical order, `raw_answer` the letter as pressed."""
    rows = [
        row for row in _table(bundle_files(open_study, "trial"), "readings.csv") if row["position"]
    ]
    assert len({row["shown_order"] for row in rows}) > 3
    for row in rows:
        assert row["answer"] == row["shown_order"]["ABCD".index(row["raw_answer"])]


def test_rows_of_models_have_no_condition(open_study: Store) -> None:
    """An unparsed prediction has an empty answer, its status, and its raw text."""
    rows = _table(bundle_files(open_study, "trial"), "readings.csv")
    models = [row for row in rows if row["rater_id"] == "Model, one"]
    assert {row["condition"] for row in models} == {""}
    unparsed = [row for row in models if row["status"] == "unparsed"]
    assert unparsed
    assert all(row["answer"] == "" and row["raw_answer"] == "X" for row in unparsed)


def test_simulated_readers_are_marked_in_label_and_timing(open_study: Store) -> None:
    """The tables of raters and readings have the mark."""
    files = bundle_files(open_study, "trial")
    assert _table(files, "raters.csv")[0]["label"] == "R1 (simulated)"
    assert _table(files, "readings.csv")[0]["timing_source"] == "simulated"


def test_only_shared_option_sets_are_named(open_study: Store) -> None:
    """Options that no other item has do not form a set."""
    items = _table(bundle_files(open_study, "trial"), "items.csv")
    by_options: dict[str, list[dict[str, str]]] = {}
    for row in items:
        by_options.setdefault(row["options"], []).append(row)
    for rows in by_options.values():
        assert all(bool(row["option_set"]) == (len(rows) > 1) for row in rows)


def test_exports_of_a_store_are_identical(open_study: Store) -> None:
    """Exports can be repeated and compared."""
    first, second = bundle_files(open_study, "trial"), bundle_files(open_study, "trial")
    assert first == second
    assert zip_files(first) == zip_files(second)


def test_the_hash_of_the_protocol_can_be_recomputed(open_study: Store) -> None:
    """protocol.json contains exactly the hashed content."""
    protocol = json.loads(bundle_files(open_study, "trial")["protocol.json"])
    assert sha256_of(protocol["locked"]) == protocol["sha256"]
    assert protocol["locked"]["protocol"]["hidden_repeats"] == 2


def test_the_audit_trail_is_an_unbroken_chain(open_study: Store) -> None:
    """The file audit.jsonl can be verified by itself."""
    lines = bundle_files(open_study, "trial")["audit.jsonl"].decode().splitlines()
    events = [EventRow(**json.loads(line)) for line in lines]
    assert check_chain(events) == ""
    assert sum(event.kind == "case read" for event in events) == 20


def test_an_export_overwrites_no_file(open_study: Store, tmp_path: Path) -> None:
    """Nothing is written if the export is refused."""
    out = tmp_path / "bundle"
    export(open_study, study="trial", out=out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(BadFile, match="already exists"):
        export(open_study, study="trial", out=out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.glob(".bundle*")] == []


def test_a_zip_contains_the_same_files(open_study: Store, tmp_path: Path) -> None:
    """A name that ends in .zip selects this format."""
    export(open_study, study="trial", out=tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_bytes() == zip_files(bundle_files(open_study, "trial"))


def test_an_export_into_an_empty_folder_fills_it(open_study: Store, tmp_path: Path) -> None:
    """The folder may be a link."""
    (tmp_path / "empty").mkdir()
    export(open_study, study="trial", out=tmp_path / "empty")
    assert {path.name for path in (tmp_path / "empty").iterdir()} == {
        *HEADERS,
        "protocol.json",
        "records.jsonl",
        "audit.jsonl",
        "datapackage.json",
    }
    (tmp_path / "pointed-at").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pointed-at")
    export(open_study, study="trial", out=tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pointed-at" / "items.csv").is_file()


def test_a_zip_does_not_replace_a_folder(open_study: Store, tmp_path: Path) -> None:
    """Even an empty folder is kept, and nothing else is written."""
    (tmp_path / "x.zip").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BadFile, match="already exists"):
        export(open_study, study="trial", out=tmp_path / "x.zip")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["file/bundle", "file/bundle.zip", "x" * 300, f"{'x' * 300}.zip"])
def test_a_path_that_cannot_be_written_is_reported_in_one_sentence(
    open_study: Store, tmp_path: Path, name: str
) -> None:
    """No incomplete file is left."""
    (tmp_path / "file").write_text("a file")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BadFile, match=r"cannot be written: .+\.$"):
        export(open_study, study="trial", out=tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["b", "b.zip"])
def test_an_export_that_fails_at_its_last_step_leaves_nothing(
    open_study: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The last step fails because the disk is full."""

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(BadFile, match="the disk is full"):
        export(open_study, study="trial", out=tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_flags_reach_the_analysis(opened: Opened, tmp_path: Path) -> None:
    """Flags are passed from the page to the store and the bundle; a blank does not end a flag."""
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
    fields = next(
        resource for resource in package["resources"] if resource["path"] == "readings.csv"
    )["schema"]
    assert "flags" in [field["name"] for field in fields["fields"]]
    assert read_bundle(tmp_path / "bundle").readings["flags"].tolist() == [
        "page_zoomed resumed",
        "",
    ]


def test_a_bundle_states_the_meaning_of_confidence(open_study: Store, tmp_path: Path) -> None:
    """The page asks how sure the reader is of the answer."""
    export(open_study, study="trial", out=tmp_path / "out")
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text())
    assert package["reading_room"]["confidence_means"] == "answer"
    assert read_bundle(tmp_path / "out").confidence_means == "answer"


QUESTIONNAIRE_PROTOCOL = {
    "questionnaire": [
        {"id": "level", "question": "Your level?", "kind": "choice", "options": ["one", "two"]},
        {"id": "words", "question": "Who are you?", "kind": "text", "required": False},
    ],
    "display_check": True,
}
ANSWERS = {"answers": {"level": "two", "words": "=Dr Who"}}
SCREEN = {"viewport_width": 1440, "dark_step": 2, "page_zoom": "rubbish", "advice": "zoom"}


def _prepare_readers(store: Store) -> Store:
    """Prepare both readers of the study, R2 first, and return it."""
    for code in ("R2", "R1"):
        steps = [
            preparation("questionnaire", ANSWERS, id=f"asked-{code}"),
            preparation("display", SCREEN, id=f"checked-{code}"),
        ]
        assert not desk.take_records(store, person(store, code), steps, now=NOW).refused
    return store


def test_answers_of_the_questionnaire_are_exported_if_the_protocol_says_so(
    opened: Opened, tmp_path: Path
) -> None:
    """The file has study codes and no free text; Frictionless and the analysis accept it."""
    chosen = ["questionnaire", "display checks"]
    store = _prepare_readers(opened(**QUESTIONNAIRE_PROTOCOL, bundle_extras=chosen))
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
    assert b"Dr Who" not in zip_files(files) + b"".join(files.values())
    assert read_bundle(tmp_path / "bundle").protocol["in_force"]["bundle_extras"] == chosen


def test_free_text_is_exported_only_on_request(opened: Opened) -> None:
    """Cells that look like formulas are quoted."""
    store = _prepare_readers(
        opened(**QUESTIONNAIRE_PROTOCOL, bundle_extras=["questionnaire", "questionnaire texts"])
    )
    files = bundle_files(store, "trial")
    assert [row["answer"] for row in _table(files, "questionnaire.csv")][:2] == ["two", "'=Dr Who"]
    assert "display_checks.csv" not in files


def test_without_the_key_for_the_questionnaire_the_bundle_is_unchanged(opened: Opened) -> None:
    """The bundle has no additional file, and its protocol lacks the key."""
    files = bundle_files(_prepare_readers(opened(**QUESTIONNAIRE_PROTOCOL)), "trial")
    assert {"questionnaire.csv", "display_checks.csv"}.isdisjoint(files)
    assert b"bundle_extras" not in files["protocol.json"]


def test_answers_of_the_questionnaire_are_in_every_format_but_not_restored(
    opened: Opened, tmp_path: Path
) -> None:
    """Answers are stored only in the deployment where they were given."""
    extras = ["questionnaire", "questionnaire texts", "display checks"]
    store = _prepare_readers(opened(**QUESTIONNAIRE_PROTOCOL, bundle_extras=extras))
    with store.look() as look:
        tables = tables_of(look, study_row(look, "trial"))
    assert {"questionnaire.parquet", "display_checks.parquet"} <= set(parquet_files(tables, {}))
    assert workbook(tables, {})
    (tmp_path / "bundle.zip").write_bytes(zip_files(bundle_files(store, "trial")))
    other_store = create_empty(tmp_path / "elsewhere", 2)
    restore(other_store, tmp_path / "bundle.zip", acting=ACTING)
    assert {"questionnaire.csv", "display_checks.csv"}.isdisjoint(
        bundle_files(other_store, "trial")
    )


def _add_model_with_outputs(store: Store, folder: Path, **words: str) -> Store:
    """Add a model with outputs by the number of the case; all other outputs are "B"."""
    with store.look() as look:
        items = [case.item_id for case in studies.cases(look, study_row(look, "trial").id)]
    outputs = {item: words.get(f"case_{n}", "B") for n, item in enumerate(items)}
    file = folder / "words.json"
    file.write_text(
        json.dumps({item: {"model_prediction": text} for item, text in outputs.items()})
    )
    add_model(store, file, study="trial", model_id="talker", acting=ACTING)
    return store


def test_the_bundle_and_analysis_compare_the_rules_for_reading_answers(
    opened: Opened, tmp_path: Path
) -> None:
    """The file lists only differences; a restored study has the same differences."""
    store = _add_model_with_outputs(
        opened(), tmp_path, case_0="So the answer is B.", case_1="Look at option B now", case_2="?"
    )
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    simulate(store, study="trial", reader_id="R2", seed=2, accuracy=0.7, now=NOW)
    export(store, study="trial", out=tmp_path / "bundle")
    assert validate(str(tmp_path / "bundle" / "datapackage.json")).valid
    files = bundle_files(store, "trial")
    rows = _table(files, "answers_by_rules.csv")
    assert [tuple(row[rules] for rules in RULE_SETS) for row in rows] == [
        ("unparsed", "B", "B"),
        ("unparsed", "unparsed", "B"),
    ]
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    other_store = create_empty(tmp_path / "elsewhere", 2)
    restore(other_store, tmp_path / "bundle.zip", acting=ACTING)
    restored = bundle_files(other_store, "trial")["answers_by_rules.csv"]
    assert restored == files["answers_by_rules.csv"]

    study = read_bundle(tmp_path / "bundle")
    table = sensitivity(study).set_index(["analysis", "rater_id"])["accuracy"]
    truth = dict(zip(study.items["item_id"], study.items["truth"], strict=True))
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
    panel = sensitivity_panel(study)
    assert {name("strict"), name("loose")} <= set(panel["analysis"])
    text = design_paragraph(analyse(study, Options(bootstrap=20))).text
    assert (
        "the strict rules would change 1 answer and the loose rules would change 1 answer" in text
    )


def test_without_differences_between_rules_the_bundle_is_unchanged(
    opened: Opened, tmp_path: Path
) -> None:
    """The bundle has no additional file."""
    store = _add_model_with_outputs(opened(), tmp_path, case_0="(B)", case_1="no idea")
    assert "answers_by_rules.csv" not in bundle_files(store, "trial")


def test_an_impossible_answer_in_the_file_of_rules_is_refused(
    opened: Opened, tmp_path: Path
) -> None:
    """The message names the file and the row."""
    store = _add_model_with_outputs(opened(), tmp_path, case_0="So the answer is B.")
    export(store, study="trial", out=tmp_path / "bundle")
    file = tmp_path / "bundle" / "answers_by_rules.csv"
    file.write_text(file.read_text().replace("unparsed", "perhaps"))
    with pytest.raises(BundleError, match=r"answers_by_rules\.csv, row 2: “perhaps”"):
        read_bundle(tmp_path / "bundle")
    file.write_text(file.read_text().replace("perhaps", "A").replace("talker", "nobody"))
    with pytest.raises(BundleError, match=r"no such reading of “.*” by “nobody”"):
        read_bundle(tmp_path / "bundle")
