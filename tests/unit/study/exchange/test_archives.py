"""The files of an archive can be read by other programs and have no confidential data."""

import csv
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow
import pytest
from pyarrow import parquet

import analysis
from study.base.canonical import moment
from study.base.errors import BadFile
from study.exchange import archives
from study.exchange.bundle import bundle_files, tables_of, zip_files
from study.exchange.closing_report import report_files
from study.exchange.formats.imrmc import N_ARTIFICIAL_CASES, imrmc_files
from study.exchange.formats.tables import workbook
from study.lifecycle import studies
from study.lifecycle.deployments import coordinator_code
from study.models.models import add_model
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, dialect, events, extract
from study.store.studies import study_row
from study.trail.verification import is_extract, verify
from tests.conftest import (
    ACTING,
    NOW,
    draw_trial,
    entropy_from,
    invite,
    person,
    presentation,
    reading,
    tamper,
)

Opened = Callable[..., Store]
SHEETS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def open_study(opened: Opened, tmp_path: Path) -> Store:
    """Return an open study with a finished and an idle reader, repeats, confidence and a model."""
    store = opened(hidden_repeats=2, confidence=5, option_order="random")
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    file = tmp_path / "model.json"
    file.write_text(
        json.dumps({f"q{i:04d}": {"model_prediction": "ABCD"[i % 4]} for i in range(24)})
    )
    add_model(store, file, study="trial", model_id="M1", model_version="=1+1", acting=ACTING)
    return store


@pytest.fixture
def closed_study(open_study: Store) -> Store:
    """Return the same study, closed."""
    studies.close(open_study, study="trial", reason="Time is up.", acting=ACTING)
    return open_study


def _rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def _tables(store: Store) -> dict[str, list[dict[str, Any]]]:
    with store.look() as look:
        return tables_of(look, study_row(look, "trial"))


def cells(content: bytes, sheet: int) -> list[dict[str, tuple[str, str]]]:
    """Return the rows of a sheet from the XML: type and text by column."""
    rows = []
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        root = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{sheet}.xml"))
    for row in root.iter(f"{SHEETS}row"):
        values = {}
        for cell in row.iter(f"{SHEETS}c"):
            kind, place = cell.get("t", "n"), re.sub(r"\d", "", cell.get("r", ""))
            texts = cell.iter(f"{SHEETS}t") if kind == "inlineStr" else cell.iter(f"{SHEETS}v")
            assert cell.find(f"{SHEETS}f") is None
            values[place] = (kind, unescaped("".join(part.text or "" for part in texts)))
        rows.append(values)
    return rows


def unescaped(text: str) -> str:
    """Return the text that Excel displays for a cell as stored in the file."""
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text)


def test_the_hashes_of_all_files_are_listed_and_recorded(
    closed_study: Store, tmp_path: Path
) -> None:
    """SHA256SUMS has the format of sha256sum; the event has the same hashes."""
    archived = archives.archive(closed_study, tmp_path / "out", study="trial", acting=ACTING)
    assert tuple(archived.sha256) == archives.FILES
    assert not archived.left_out
    sums = (tmp_path / "out" / archives.SUMS).read_text().splitlines()
    for line in sums:
        digest, name = line.split("  ")
        content = (tmp_path / "out" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest == archived.sha256[name]
        assert len(content) == archived.n_bytes[name]
    with closed_study.look() as look:
        last = list(events.walk(look, events.DEPLOYMENT))[-1]
    assert (last.kind, last.detail["files"]) == ("downloaded", dict(archived.sha256))
    assert verify(closed_study) == []
    with pytest.raises(BadFile, match="already exists"):
        archives.archive(closed_study, tmp_path / "out", study="trial", acting=ACTING)


def test_the_files_of_an_open_study_are_blinded(open_study: Store, tmp_path: Path) -> None:
    """Files that need the reference standard are omitted and listed with the reason."""
    archived = archives.archive(open_study, tmp_path / "out", study="trial", acting=ACTING)
    assert set(archived.left_out) == {archives.IMRMC, archives.COPY}
    assert archived.blinded
    with zipfile.ZipFile(tmp_path / "out" / archives.PARQUET) as archive:
        items = parquet.read_table(io.BytesIO(archive.read("items.parquet")))
    assert items["truth"].null_count == len(items) == 8
    sheet = cells((tmp_path / "out" / archives.EXCEL).read_bytes(), 2)
    assert sheet[0]["B"][1] == "truth"
    assert all("B" not in row for row in sheet[1:])
    complete = archives.archive(
        open_study, tmp_path / "complete", study="trial", with_truth=True, acting=ACTING
    )
    assert tuple(complete.sha256) == archives.FILES


def test_a_blinded_bundle_does_not_depend_on_the_reference_standard(
    opened: Opened, tmp_path: Path
) -> None:
    """Two stores that differ only in the reference standard give the same bundle."""
    store = opened()
    for case in desk.desk(store, person(store), now=NOW).cases[:1]:
        records = [presentation(case.case), reading(case.case)]
        desk.take_records(store, person(store), records, now=NOW)
    store.copy_to(tmp_path / "other.db")
    other = Store(tmp_path / "other.db")
    tamper(
        other,
        "UPDATE reference_standard SET truth = CASE truth WHEN 'A' THEN 'B' ELSE 'A' END",
        "UPDATE explanations SET words = 'another'",
    )
    actual, expected = (bundle_files(source, "trial", blinded=True) for source in (store, other))
    assert actual == expected
    assert bundle_files(store, "trial") != bundle_files(other, "trial")
    assert json.loads(actual["datapackage.json"])["reading_room"]["blinded"] is True
    assert not any(row["truth"] for row in _rows(actual["items.csv"]))
    assert b"EXPLANATION" not in b"".join(actual.values())


def test_the_analysis_of_a_blinded_bundle_has_no_accuracy(
    open_study: Store, tmp_path: Path
) -> None:
    """Agreement and times are computed; every accuracy is undefined."""
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_files(bundle_files(open_study, "trial", blinded=True)))
    results = analysis.analyse(analysis.read_bundle(path))
    assert results.tables["accuracy"]["accuracy"].isna().all()
    assert results.tables["agreement_pairs"]["estimate"].notna().any()
    assert len(results.tables["times"])


def test_parquet_has_the_types_of_the_data_dictionary(closed_study: Store, tmp_path: Path) -> None:
    """Integers, milliseconds, times in UTC, and null for missing values."""
    archives.archive(closed_study, tmp_path / "out", study="trial", acting=ACTING)
    with zipfile.ZipFile(tmp_path / "out" / archives.PARQUET) as archive:
        tables = {
            name: parquet.read_table(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".parquet")
        }
    readings = tables["readings.parquet"]
    assert readings.schema.field("position").type == pyarrow.int64()
    assert readings.schema.field("response_ms").type == pyarrow.float64()
    assert readings.schema.field("presented_at_utc").type == pyarrow.timestamp("ms", tz="UTC")
    assert not readings.schema.field("item_id").nullable
    stored = _rows(bundle_files(closed_study, "trial")["readings.csv"])
    assert len(readings) == len(stored)
    for actual, expected in zip(readings.to_pylist(), stored, strict=True):
        assert (actual["answer"] or "", actual["raw_answer"] or "") == (
            expected["answer"],
            expected["raw_answer"],
        )
        shown = expected["presented_at_utc"]
        assert actual["presented_at_utc"] == (moment(shown) if shown else None)
    metadata = tables["items.parquet"].schema.metadata
    assert metadata[b"reading_room.blinded"] == b"no"


def test_excel_cells_of_text_are_text(closed_study: Store, tmp_path: Path) -> None:
    """A version that looks like a formula is text; numbers are numbers."""
    archives.archive(closed_study, tmp_path / "out", study="trial", acting=ACTING)
    content = (tmp_path / "out" / archives.EXCEL).read_bytes()
    model = next(row for row in cells(content, 3) if row["A"][1] == "M1")
    assert model["G"] == ("inlineStr", "=1+1")
    first = cells(content, 4)[1]
    assert (first["A"], first["E"]) == (("inlineStr", "R1"), ("n", "1"))


def test_long_tables_continue_on_further_sheets_and_long_text_is_refused() -> None:
    """The sheets are numbered; text too long for a cell is refused with its place."""
    items: list[dict[str, Any]] = [{"item_id": f"q{number}"} for number in range(5)]
    content = workbook({"items.csv": items}, {}, most_rows=2)
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        names = re.findall(r'<sheet name="([^"]+)"', book.read("xl/workbook.xml").decode())
    assert names == ["about", "items", "items 2", "items 3"]
    assert [row["A"][1] for row in cells(content, 4)] == ["item_id", "q4"]
    with pytest.raises(BadFile, match="items: question, row 2"):
        workbook({"items.csv": [{"item_id": "q", "question": "x" * 32_768}]}, {})


def _imrmc(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[list[str]]]:
    files = imrmc_files("Study: N0: 1", tables, ["unaided"])
    rows_of = {}
    for name, content in files.items():
        if name.endswith(".imrmc"):
            head, _, data = content.decode().partition("BEGIN DATA:\n")
            sizes = dict(line.split(": ") for line in head.splitlines() if ": " in line)
            rows = [line.split(",") for line in data.splitlines()]
            readers = {row[0] for row in rows} - {"-1"}
            truths = {row[1]: row[3] for row in rows if row[0] == "-1"}
            assert int(sizes["NR"]) == len(readers)
            assert int(sizes["NM"]) == len({row[2] for row in rows if row[0] != "-1"})
            assert int(sizes["N0"]) == list(truths.values()).count("0")
            assert int(sizes["N1"]) == list(truths.values()).count("1")
            assert all(row[1] in truths for row in rows)
            rows_of[name] = rows
    return rows_of


def _area(rows: list[list[str]], reader: str) -> float:
    """Return the area under a reader's ROC curve by pairs, ties counting half, as in iMRMC."""
    truths = {row[1]: row[3] for row in rows if row[0] == "-1"}
    own = {row[1]: float(row[3]) for row in rows if row[0] == reader}
    pairs = [
        (own[case], own[without])
        for case in own
        for without in own
        if truths[case] == "1" and truths[without] == "0"
    ]
    return sum((high > low) + (high == low) / 2 for high, low in pairs) / len(pairs)


def test_the_area_of_imrmc_equals_the_share_of_correct_answers(closed_study: Store) -> None:
    """The file has the first reading of each case; the idle reader is not in it."""
    rows_of = _imrmc(_tables(closed_study))
    assert set(rows_of) == {"percent-correct.imrmc", "percent-correct-kept.imrmc"}
    tables = _tables(closed_study)
    truths = {row["item_id"]: row["truth"] for row in tables["items.csv"]}
    own_rows = [
        row for row in tables["readings.csv"] if row["rater_id"] == "R1" and row["repeat"] == 1
    ]
    share = sum(row["answer"] == truths[row["item_id"]] for row in own_rows) / len(own_rows)
    for rows in rows_of.values():
        assert {row[0] for row in rows} == {"-1", "1"}
        assert _area(rows, "1") == pytest.approx(share)
        assert len({row[1] for row in rows}) == 8 + N_ARTIFICIAL_CASES


def test_missing_and_excluded_readings_are_wrong_in_one_imrmc_file_only(opened: Opened) -> None:
    """The other file does not have these readings."""
    store = opened(readers=("R1",))
    case = desk.desk(store, person(store), now=NOW).cases[0]
    desk.take_records(store, person(store), [presentation(case.case), reading(case.case)], now=NOW)
    tables = _tables(store)
    rows_of = _imrmc(tables)
    assert sum(row[0] == "1" for row in rows_of["percent-correct.imrmc"]) == 8 + N_ARTIFICIAL_CASES
    assert (
        sum(row[0] == "1" for row in rows_of["percent-correct-kept.imrmc"])
        == 1 + N_ARTIFICIAL_CASES
    )
    tables["readings.csv"][0]["excluded"] = "the phone rang"
    rows_of = _imrmc(tables)
    assert sum(row[0] == "1" for row in rows_of["percent-correct-kept.imrmc"]) == 0


def test_confidence_is_a_rating_if_all_cases_have_the_same_two_options() -> None:
    """Certain of B is the highest rating, certain of A the lowest; no answer is the worst."""
    items = [
        {"item_id": f"q{number}", "truth": "AB"[number % 2], "n_options": 2, "options": '["n","y"]'}
        for number in range(4)
    ]
    common = {"rater_id": "R1", "condition": "unaided", "repeat": 1}
    answers = [("A", 5), ("B", 4), ("B", 1)]
    readings = [
        {**common, "item_id": f"q{number}", "answer": answer, "confidence": confidence}
        for number, (answer, confidence) in enumerate(answers)
    ]
    tables: dict[str, list[dict[str, Any]]] = {
        "items.csv": items,
        "raters.csv": [{"rater_id": "R1"}],
        "readings.csv": readings,
    }
    files = imrmc_files("s", tables, ["unaided"])
    rows = files["auc.imrmc"].decode().partition("BEGIN DATA:\n")[2].splitlines()
    assert rows[4:] == ["1,1,unaided,-5", "1,2,unaided,4", "1,3,unaided,1", "1,4,unaided,-6"]
    rating_table = files["auc-kept.imrmc"].decode().partition("BEGIN DATA:\n")[2].splitlines()
    assert len(rating_table) == 4 + 3


def test_the_imrmc_file_needs_every_reference_answer(opened: Opened) -> None:
    """The message has the number of cases without one; a study without readings is refused too."""
    tables = _tables(opened())
    with pytest.raises(BadFile, match="Nobody has read"):
        imrmc_files("s", tables, ["unaided"])
    tables["items.csv"][2]["truth"] = None
    with pytest.raises(BadFile, match="1 of 8 cases have no reference standard"):
        imrmc_files("s", tables, ["unaided"])


@pytest.fixture
def study_copy(closed_study: Store, tmp_path: Path) -> Store:
    """Return the copy of a study from a store that has a second study."""
    protocol = Protocol.from_json({"cases": 4, "one_question_per": "item", "seed": 7})
    studies.draw(closed_study, bank="bank", study="SECRET-STUDY", protocol=protocol, acting=ACTING)
    coordinator_code(
        closed_study, study="SECRET-STUDY", name="SECRET-NAME", entropy=entropy_from(9), now=NOW
    )
    tamper(
        closed_study,
        "INSERT INTO names (person, name, email) SELECT min(id), 'SECRET-PERSON', 'SECRET-MAIL' "
        "FROM people",
        "INSERT INTO places (mark, address, agent, first_seen_at_utc) "
        "VALUES ('m', 'SECRET-ADDRESS', 'SECRET-AGENT', 'x')",
    )
    archives.archive(closed_study, tmp_path / "out", study="trial", acting=ACTING)
    return Store(tmp_path / "out" / archives.COPY)


def test_the_copy_of_a_study_contains_only_that_study(
    study_copy: Store, closed_study: Store
) -> None:
    """Other studies, people, addresses and items that were not drawn are missing."""
    assert is_extract(study_copy)
    assert not is_extract(closed_study)
    assert verify(study_copy) == []
    content = study_copy.path.read_bytes()
    assert b"SECRET" not in content
    with closed_study.look() as look:
        secret = look.value("SELECT value FROM deployment WHERE name = 'secret'")
        hidden = look.rows("SELECT salt, code_hash FROM codes")
        left = look.rows("SELECT item_id FROM items WHERE id NOT IN (SELECT item FROM cases)")
        folder = look.value("SELECT images_root FROM banks")
        reading_rows = look.rows("SELECT * FROM readings ORDER BY rowid")
    for text in (secret, folder, *(text for row in hidden for text in row.values())):
        assert text.encode() not in content
    assert b"FINDINGS-NOBODY" not in content
    with study_copy.look() as look:
        assert not look.rows("SELECT * FROM people")
        items = {row["item_id"] for row in look.rows("SELECT item_id FROM items")}
        assert look.rows("SELECT * FROM readings ORDER BY rowid") == reading_rows
    assert len(items) == 8
    assert left
    assert items.isdisjoint(row["item_id"] for row in left)
    rows = _rows(bundle_files(study_copy, "trial")["readings.csv"])
    assert rows == _rows(bundle_files(closed_study, "trial")["readings.csv"])


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE reference_standard SET truth = 'A'", "reference standard were altered"),
        ("UPDATE items SET question = 'x' WHERE id = (SELECT min(id) FROM items)", "were altered"),
        ("UPDATE films SET sha256 = 'x'", "were altered"),
        ("UPDATE explanations SET words = 'x'", "were altered"),
        ("UPDATE readings SET answer = 'D', status = 'answered'", "was altered"),
        ("UPDATE predictions SET raw_answer = 'x'", "predictions of M1"),
        ("DELETE FROM readings WHERE rowid = 3", "is missing"),
        ("UPDATE events SET actor = 'x' WHERE kind = 'study copied'", "was altered"),
    ],
)
def test_verification_reports_an_altered_copy(
    study_copy: Store, statement: str, message: str
) -> None:
    """The audit trail has a hash of the items of the copy."""
    tamper(study_copy, statement)
    assert any(message in breach for breach in verify(study_copy)), verify(study_copy)


def test_verification_reports_a_store_marked_as_a_copy(open_study: Store) -> None:
    """The mark alone does not skip the check of the banks."""
    tamper(open_study, "INSERT INTO deployment (name, value) VALUES ('extract_of', 'x')")
    assert verify(open_study) == [
        "study trial: the store is marked as a copy, but no event records that."
    ]


def test_each_table_of_the_store_is_listed_as_copied_or_omitted() -> None:
    """For each new table it must be decided whether it is copied."""
    assert dialect.tables().keys() == set(extract.EXTRACTED_ROWS) | extract.OMITTED_TABLES
    assert not set(extract.EXTRACTED_ROWS) & extract.OMITTED_TABLES


def test_the_closing_report_has_readers_counts_and_missing_cases(closed_study: Store) -> None:
    """The report is self-contained, reproducible and escaped, and contains no accuracy."""
    files = report_files(closed_study, "trial")
    assert files == report_files(closed_study, "trial")
    page = files["closing-report.html"].decode()
    for words in ("Closing report: trial", "Time is up.", "1 finished", "10 of 20 assigned"):
        assert words in page
    with closed_study.look() as look:
        head = events.head(look, "study:trial")
    assert head.hash in page
    assert not re.search(r"https?://|<script|src=|accuracy", page.replace("interim", ""))
    missing = _rows(files["missing.csv"])
    assert len(missing) == 10
    assert {(row["reader_id"], row["why"]) for row in missing} == {("R2", "not shown")}


def _flow(page: str) -> list[list[str]]:
    """Return the cells of the table with the flow of readers, including the header."""
    table = page.split("<caption>Flow of readers</caption>")[1].split("</table>")[0]
    return [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in table.split("<tr>")[1:]]


@pytest.mark.parametrize(("exclusions", "analysed"), [("primary", "0"), ("sensitivity", "1")])
def test_the_closing_report_counts_the_flow_of_readers(
    opened: Opened, exclusions: str, analysed: str
) -> None:
    """A reader whose readings are all excluded is analysed unless the protocol removes them."""
    store = opened(exclusions=exclusions)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    tamper(
        store,
        "INSERT INTO exclusions (id, reading, excluded, reason, actor, at_utc) "
        "SELECT 'x' || id, id, 1, 'phone rang', 'ann', '2025-01-03' FROM readings",
        "INSERT INTO interventions (study, reader, kind, session, days, reason, actor, at_utc) "
        "VALUES (1, 2, 'withdraw', NULL, NULL, 'moved away', 'ann', '2025-01-02')",
    )
    heads, row = _flow(report_files(store, "trial")["closing-report.html"].decode())
    assert dict(zip(heads, row, strict=True)) == {
        "group": "all readers",
        "invited": "2",
        "started": "1",
        "completed": "1",
        "withdrawn": "1",
        "analysed": analysed,
    }


def test_the_closing_report_lists_every_decision(closed_study: Store) -> None:
    """Amendments, interventions and exclusions are listed with person, time and reason."""
    tamper(
        closed_study,
        "INSERT INTO amendments (study, number, changes, reason, actor, at_utc) VALUES "
        """(1, 1, '{"margin": {"old": 0.05, "new": 0.1}}', 'because <b>', 'ann', '2025-01-01')""",
        "INSERT INTO interventions (study, reader, kind, session, days, reason, actor, at_utc) "
        "VALUES (1, 2, 'withdraw', NULL, NULL, 'moved away', 'ann', '2025-01-02')",
        "INSERT INTO exclusions (id, reading, excluded, reason, actor, at_utc) "
        "SELECT 'x', id, 1, 'phone rang', 'ann', '2025-01-03' FROM readings LIMIT 1",
    )
    files = report_files(closed_study, "trial")
    page = files["closing-report.html"].decode()
    for words in ("margin: 0.05 → 0.1", "because &lt;b&gt;", "moved away", "phone rang"):
        assert words in page
    assert "1 withdrawn" in page
    assert [row["why"] for row in _rows(files["missing.csv"]) if row["reader_id"] == "R1"] == [
        "excluded"
    ]


def test_a_drawn_study_can_be_archived(banked: Store, tmp_path: Path) -> None:
    """The study has no readings, so the iMRMC file is omitted."""
    draw_trial(banked, {"cases": 8, "one_question_per": "item"})
    invite(banked, "R1")
    archived = archives.archive(
        banked, tmp_path / "out", study="trial", with_truth=True, acting=ACTING
    )
    assert set(archived.left_out) == {archives.IMRMC}
    assert verify(Store(tmp_path / "out" / archives.COPY)) == []
