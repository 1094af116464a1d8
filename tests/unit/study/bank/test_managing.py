"""Banks are described, compared, joined and removed, and their items can be struck off."""

import csv
import hashlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from study.bank.importing import import_bank
from study.bank.managing import (
    Joined,
    check_bank,
    compare_banks,
    describe_in_full,
    join_banks,
    remove_bank,
    strike,
)
from study.bank.reading import ImportOptions
from study.base.bank_model import TITLES, Rule
from study.base.errors import BadInput, NotFound, NotNow
from study.base.provenance import Provenance
from study.cli import main
from study.exchange.bundle import bundle_files, zip_files
from study.exchange.exam_papers import PaperForm, export_paper
from study.exchange.restoring import merge, restore
from study.films import shelf
from study.lifecycle import drafts, exposure, studies
from study.lifecycle.deployments import init
from study.lifecycle.exposure import studies_reading
from study.models.model_protocol import ModelProtocol
from study.models.paper import paper_of_study
from study.protocol.protocol import Protocol
from study.protocol.sampling import preview_draw
from study.reading.simulation import simulate
from study.store import Store, bank_contents, banks, draws, events
from study.store import studies as stored
from study.store import studies as stored_studies
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, ROOT, bank_records, entropy_from, invite, write_bank


def _import_changed_bank(store: Store, **changes: Any) -> None:
    """Import the fixture's bank as `second` with changes by item; None removes an item."""
    path = store.path.parent / "bank" / "bank.json"
    items = json.loads(path.read_text())
    for item_id, change in changes.items():
        items[item_id] = change and {**items.get(item_id, {}), **change}
    changed = path.with_name("second.json")
    changed.write_text(json.dumps({key: item for key, item in items.items() if item}))
    import_bank(store, changed, name="second", images=path.parent, acting=ACTING)


def test_the_description_of_a_bank_has_its_counts(banked: Store) -> None:
    with banked.look() as look:
        counts = describe_in_full(look, "bank")
    assert (counts["items"], counts["films"], counts["examinations"]) == (24, 24, 12)
    assert counts["by"]["sex"] == {"female": 12, "male": 12}
    assert counts["by"]["view"] == {"PA+LATERAL": 24}
    assert counts["by"]["age"] == {"40 to 49 years": 20, "50 to 59 years": 4}
    assert sum(counts["by"]["task"].values()) == 24
    _import_changed_bank(
        banked, q0001={"split": "test"}, q0002={"split": "test"}, q0003={"split": "train"}
    )
    with banked.look() as look:
        assert describe_in_full(look, "second")["by"]["split"] == {"": 21, "test": 2, "train": 1}


def test_banks_are_compared_by_content(banked: Store) -> None:
    """Different questions, correct answers and films are listed, and equal films with other IDs."""
    path = banked.path.parent / "bank" / "bank.json"
    moved = json.loads(path.read_text())["q0006"]
    _import_changed_bank(
        banked,
        q0001={"question": "Else?", "split": "test"},
        q0002={"correct_answer": "A", "ImagePath": ["films/1_pa.png"], "ImageViewPosition": ["PA"]},
        q0006=None,
        q0007=None,
        x=moved,
    )
    with banked.look() as look:
        n_alike, differences = compare_banks(look, "bank", "second")
    assert n_alike == 20
    assert {difference.what: (difference.n, difference.examples) for difference in differences} == {
        "only in bank": (2, ["q0006", "q0007"]),
        "only in second": (1, ["x"]),
        "different question": (1, ["q0001"]),
        "different reference standard": (1, ["q0002"]),
        "different films": (1, ["q0002"]),
        "different attributes": (1, ["q0001"]),
        "the same film under other ids": (2, ["q0006 / x", "q0006 / x"]),
    }


def test_an_unused_bank_can_be_removed(banked: Store) -> None:
    """The name becomes available again; other banks and their prepared films are kept."""
    with banked.look() as look:
        row = banks.bank_row(look, "bank")
        shared = banks.films_of_no_other_bank(look, row.id)
    path = write_bank(banked.path.parent / "more", n_patients=13)
    import_bank(banked, path, name="more", images=path.parent, acting=ACTING)
    with banked.look() as look:
        own = banks.films_of_no_other_bank(look, banks.bank_row(look, "more").id)
    assert len(own) == 2
    film_shelf = shelf.Shelf(banked.companion_path("films"))
    for sha256 in (own[0], shared[0]):
        film_shelf.put(sha256, b"film")
    assert remove_bank(banked, "more", acting=ACTING).n_items == 26
    assert (film_shelf.has(own[0]), film_shelf.has(shared[0])) == (False, True)
    assert verify(banked) == []
    with banked.look() as look:
        assert banks.names(look) == ["bank"]
        assert draws.n_drawable(look, row.id, "item", draws.Conditions())[0] == 24
        for table in ("item_views", "reference_standard", "report_texts", "explanations"):
            unused_items = f"SELECT count(*) FROM {table} WHERE item NOT IN (SELECT id FROM items)"
            assert look.value(unused_items) == 0
        trail = list(events.walk(look, events.DEPLOYMENT))
    assert (trail[-1].kind, trail[-1].detail["n_items"]) == ("bank removed", 26)
    import_bank(banked, path, name="more", images=path.parent, acting=ACTING)
    assert verify(banked) == []


def test_a_bank_in_use_cannot_be_removed(banked: Store, opened: Any) -> None:
    """The message names the study or the draft."""
    _import_changed_bank(banked)
    with banked.change() as change:
        person = change.value("SELECT id FROM people") or change.insert(
            "people", handle="x", made_at_utc="2026"
        )
    drafts.begin(banked, name="plan", maker=person, bank="second", acting=ACTING)
    with pytest.raises(NotNow, match=r"“second” is chosen in plan\."):
        remove_bank(banked, "second", acting=ACTING)
    opened()
    with pytest.raises(NotNow, match=r"“bank” is used by trial"):
        remove_bank(banked, "bank", acting=ACTING)
    with pytest.raises(NotFound, match="There is no bank named “none”"):
        remove_bank(banked, "none", acting=ACTING)
    assert verify(banked) == []


def test_a_check_reports_findings_by_rule(tmp_path: Path) -> None:
    path = write_bank(tmp_path)
    sound = check_bank(path, images=None)
    assert (sound.is_sound, sound.letters.n, sound.letters.p) == (True, (6, 6, 6, 6), 1)
    items = json.loads(path.read_text())
    for item in items.values():
        item["correct_answer"] = "Z"
    items["q0003"]["ImagePath"] = "none.png"
    path.write_text(json.dumps(items))
    report = check_bank(tmp_path, images=None)
    assert (report.n_found, report.n_sound, report.is_sound) == (24, 0, False)
    findings = [(finding.rule, finding.n, len(finding.examples)) for finding in report.findings]
    assert findings == [(Rule.TRUTH, 24, 20), (Rule.IMAGE_MISSING, 1, 1)]
    assert report.findings[1].examples[0][0] == "q0003"
    path.write_text("{")
    assert [finding.rule for finding in check_bank(path, images=None).findings] == [Rule.FILE]


def test_every_rule_is_documented_with_its_code() -> None:
    text = (ROOT / "docs" / "bank-rules.md").read_text()
    documented = [line.split(" | ")[:2] for line in text.splitlines() if line.startswith("| B")]
    assert [(code.strip("| "), title) for code, title in documented] == [
        (rule.value, TITLES[rule]) for rule in Rule
    ]


OWN_TERMS = Provenance(version="3", licence="For research only", citation="Our hospital, 2026")
PUBLIC_TERMS = Provenance(licence="CC BY 4.0", source_url="https://example.org/bank")


def _import(store: Store, folder: Path, name: str, prefix: str, terms: Provenance) -> None:
    """Import a bank with its own films, whose IDs start with a letter."""
    records = {
        f"{prefix}{key}": {**record, "PatientID": f"{prefix}{record['PatientID']}"}
        for key, record in bank_records(12).items()
    }
    (folder / "films").mkdir(parents=True)
    for record in records.values():
        record["study_id"] = f"{prefix}{record['study_id']}"
        for path in record["ImagePath"]:
            number = ord(prefix) * 100 + int(Path(path).name.partition("_")[0])
            samples = np.arange(600, dtype=np.uint16).reshape(20, 30) * np.uint16(1 + len(path))
            Image.fromarray(samples + np.uint16(number)).save(folder / path)
    file = folder / "bank.json"
    file.write_text(json.dumps(records))
    import_bank(
        store,
        file,
        name=name,
        images=folder,
        options=ImportOptions(provenance=terms),
        acting=ACTING,
    )


def _create_deployment(folder: Path, seed: int) -> Store:
    folder.mkdir()
    store = init(folder / "store.db", entropy=entropy_from(seed), now=NOW)
    _import(store, folder / "public", "public", "p", PUBLIC_TERMS)
    _import(store, folder / "ours", "ours", "o", OWN_TERMS)
    return store


def _join(store: Store, name: str = "both") -> Joined:
    return join_banks(store, ["public", "ours"], name=name, acting=ACTING)


def _draw(store: Store, bank: str = "both", **values: Any) -> None:
    asked = {"cases": 8, "stratify_by": ["bank"], "allocation": "equal"} | values
    protocol = Protocol.from_json(asked)
    studies.draw(store, bank=bank, study="trial", protocol=protocol, acting=ACTING)


def _read(store: Store, *readers: str) -> Store:
    _join(store)
    _draw(store)
    invite(store, *readers)
    studies.open_study(store, study="trial", acting=ACTING)
    for reader in readers:
        simulate(store, study="trial", reader_id=reader, seed=1, accuracy=0.7, now=NOW)
    return store


def _cases(store: Store) -> list[tuple[str, str]]:
    with store.look() as look:
        row = stored_studies.study_row(look, "trial")
        return [(case.item_id, case.stratum) for case in stored_studies.cases(look, row.id)]


def _banks_of(files: dict[str, bytes]) -> Counter[str]:
    rows = csv.DictReader(io.StringIO(files["items.csv"].decode()))
    return Counter(row["bank"] for row in rows)


@pytest.fixture
def two_banks(tmp_path: Path) -> Store:
    """Return a store with two banks."""
    return _create_deployment(tmp_path / "here", 1)


def test_a_joined_bank_has_the_items_and_films_of_both_banks(two_banks: Store) -> None:
    """The films are read from the folders of the banks, and the hashes are valid."""
    joined = _join(two_banks)
    with two_banks.look() as look:
        parts = [banks.bank_row(look, name) for name in ("ours", "public")]
        row = banks.bank_row(look, "both")
        assert joined.n_items == row.n_items == sum(part.n_items for part in parts)
        assert row.n_films == sum(part.n_films for part in parts)
        films = list(banks.complete_films(look, row.id))
        entries = Counter(item[-1] for item in bank_contents.facets(look, row.id))
    assert entries == {"ours": 24, "public": 24}
    _draw(two_banks)
    with two_banks.look() as look:
        study = stored_studies.study_row(look, "trial")
        shown = stored_studies.case_films(look, study.id)
    assert {film.path.partition("/")[0] for film in shown} == {"ours", "public"}
    assert {film.sha256 for film in shown} <= {film.sha256 for film in films}
    for film in shown:
        assert film.file.is_file()
        assert hashlib.sha256(film.file.read_bytes()).hexdigest() == film.sha256
    assert verify(two_banks) == []


def test_a_draw_from_joined_banks_is_reproducible(two_banks: Store, tmp_path: Path) -> None:
    """The order of the banks does not matter, and the allocation to banks is kept."""
    _join(two_banks)
    there = _create_deployment(tmp_path / "there", 2)
    join_banks(there, ["ours", "public"], name="both", acting=ACTING)
    _draw(two_banks)
    _draw(there)
    assert _cases(two_banks) == _cases(there)
    assert Counter(stratum for _, stratum in _cases(two_banks)) == {"ours": 4, "public": 4}
    assert {item[0] for item, stratum in _cases(two_banks) if stratum == "ours"} == {"o"}
    with two_banks.look() as look, there.look() as other:
        assert (
            stored_studies.study_row(look, "trial").protocol_sha256
            == stored_studies.study_row(other, "trial").protocol_sha256
        )


def test_a_single_bank_cannot_be_stratified_by_bank(two_banks: Store) -> None:
    with pytest.raises(BadInput, match="stratify_by names bank, which no question in the bank has"):
        _draw(two_banks, bank="ours")


def test_banks_with_equal_ids_are_not_joined(two_banks: Store, tmp_path: Path) -> None:
    """The message lists the IDs, and nothing is stored."""
    _import(two_banks, tmp_path / "again", "again", "p", PUBLIC_TERMS)
    with pytest.raises(BadInput, match=r"24 item IDs .*such as pq.*prefix"):
        join_banks(two_banks, ["public", "again"], name="both", acting=ACTING)
    with two_banks.look() as look:
        assert banks.find(look, "both") is None
    assert verify(two_banks) == []


def test_an_invalid_join_is_refused(two_banks: Store) -> None:
    for sources, error in ((["ours"], BadInput), (["ours", "none"], NotFound)):
        with pytest.raises(error):
            join_banks(two_banks, sources, name="both", acting=ACTING)
    with pytest.raises(NotNow, match="already exists"):
        join_banks(two_banks, ["ours", "public"], name="ours", acting=ACTING)


def test_a_joined_bank_omits_items_that_were_struck_off(two_banks: Store) -> None:
    with two_banks.look() as look:
        struck_id = next(iter(banks.complete_items(look, banks.bank_row(look, "ours").id))).item_id
    strike(two_banks, "ours", struck_id, reason="Ambiguous.", acting=ACTING)
    joined = _join(two_banks)
    with two_banks.look() as look:
        row = banks.bank_row(look, "both")
        assert struck_id not in {item.item_id for item in banks.complete_items(look, row.id)}
    assert joined.n_items == 47


def test_cases_being_read_are_recognised_in_every_bank(two_banks: Store) -> None:
    """Joining banks does not reveal the reference standard."""
    _read(two_banks, "R1")
    with two_banks.look() as look:
        for name in ("ours", "public", "both"):
            assert studies_reading(look, banks.bank_row(look, name).id) == ["trial"]


def test_a_bank_can_be_removed_after_it_was_joined(two_banks: Store) -> None:
    """The joined bank has separate rows, and the files of the films are kept."""
    _read(two_banks, "R1")
    remove_bank(two_banks, "ours", acting=ACTING)
    assert verify(two_banks) == []
    with two_banks.look() as look:
        study = stored_studies.study_row(look, "trial")
        assert all(film.file.is_file() for film in stored_studies.case_films(look, study.id))
    with pytest.raises(NotNow, match="is used by trial"):
        remove_bank(two_banks, "both", acting=ACTING)


def test_a_bundle_of_joined_banks_is_restored_identically(two_banks: Store, tmp_path: Path) -> None:
    """The bundle has the bank of each item and the terms of each bank."""
    files = bundle_files(_read(two_banks, "R1"), "trial")
    assert _banks_of(files) == {"ours": 4, "public": 4}
    package = json.loads(files["datapackage.json"])
    assert package["reading_room"]["bank"] == {
        "name": "both",
        "version": "ours: 3",
        "licence": "ours: For research only; public: CC BY 4.0",
        "source_url": "",
        "citation": "ours: Our hospital, 2026; public: https://example.org/bank",
    }
    assert "non-commercial use" in package["licenses"][0]["title"]
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_files(files))
    target = init(tmp_path / "target.db", entropy=entropy_from(9), now=NOW)
    restore(target, path, acting=ACTING)
    restored = bundle_files(target, "trial")
    assert restored["items.csv"] == files["items.csv"]
    assert restored["records.jsonl"] == files["records.jsonl"]
    assert verify(target) == []


def test_two_sites_that_joined_the_same_banks_are_merged(two_banks: Store, tmp_path: Path) -> None:
    _read(two_banks, "R1")
    there = _read(_create_deployment(tmp_path / "there", 2), "R2")
    for store in (two_banks, there):
        studies.close(store, study="trial", reason="Done.", acting=ACTING)
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_files(bundle_files(there, "trial")))
    merge(two_banks, path, study="trial", site="There", acting=ACTING)
    assert _banks_of(bundle_files(two_banks, "trial")) == {"ours": 4, "public": 4}
    assert verify(two_banks) == []


def test_a_bundle_of_a_single_bank_has_no_column_of_banks(opened: Any) -> None:
    files = bundle_files(opened(), "trial")
    assert "bank" not in files["items.csv"].decode().splitlines()[0].split(",")
    assert b'"origin"' not in files["records.jsonl"]


def test_an_exam_paper_of_joined_banks_covers_both_banks(two_banks: Store, tmp_path: Path) -> None:
    """The paper has the films and the terms of both banks."""
    _join(two_banks)
    _draw(two_banks)
    paper = paper_of_study(two_banks, "trial", ModelProtocol())
    out = tmp_path / "paper"
    export_paper(
        two_banks, paper, out, form=PaperForm(formats=("jsonl",), bank_ids=True), acting=ACTING
    )
    lines = (out / "jsonl" / "items.jsonl").read_text().splitlines()
    assert {json.loads(line)["item_id"][0] for line in lines} == {"o", "p"}
    words = (out / "jsonl" / "README.md").read_text()
    assert "For research only" in words
    assert "CC BY 4.0" in words


def test_patients_in_both_banks_are_reported(two_banks: Store, tmp_path: Path) -> None:
    """A patient in both banks counts once, so at most one of the two questions is drawn."""
    records = {f"z{key}": record for key, record in bank_records(3).items()}
    file = tmp_path / "here" / "ours" / "more.json"
    for number, record in enumerate(records.values()):
        record["PatientID"] = f"p{record['PatientID']}"
        record["study_id"] = f"z{number}"
    file.write_text(json.dumps(records))
    import_bank(two_banks, file, name="more", images=file.parent, acting=ACTING)
    joined = join_banks(two_banks, ["public", "more"], name="both", acting=ACTING)
    assert len(joined.shared_patients) == 3
    assert joined.note.startswith("3 patients are in more than one bank by id, such as p")


def test_banks_can_be_joined_by_command(
    two_banks: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--bank", "public", "--bank", "ours", "--db", str(two_banks.path)]
    assert main(["bank", "join", "both", *arguments]) == 0
    assert capsys.readouterr().out == "Joined: bank “both”, 48 items and 48 films.\n"


ALL_ITEMS = Protocol.from_json({"cases": 24, "one_question_per": "item"})


def _drawn_items(store: Store, n: int) -> set[str]:
    values = {"cases": n, "one_question_per": "item"}
    return {item for item, _ in preview_draw(store, 1, Protocol.from_json(values)).cases}


def test_an_item_that_was_struck_off_is_not_drawn_until_reinstated(banked: Store) -> None:
    struck_id = min(_drawn_items(banked, 24))
    strike(banked, "bank", struck_id, reason="The film is another patient's.", acting=ACTING)
    with pytest.raises(BadInput):
        preview_draw(banked, 1, ALL_ITEMS)
    assert struck_id not in _drawn_items(banked, 23)
    strike(banked, "bank", struck_id, reason="It is not.", reinstate=True, acting=ACTING)
    assert struck_id in _drawn_items(banked, 24)
    assert verify(banked) == []
    with banked.look() as look:
        kinds = [row["kind"] for row in look.rows("SELECT kind FROM events ORDER BY id")]
    assert kinds[-2:] == ["item struck off", "item taken back"]


def test_a_drawn_study_keeps_items_that_are_struck_off_later(banked: Store) -> None:
    studies.draw(banked, bank="bank", study="trial", protocol=ALL_ITEMS, acting=ACTING)
    struck_id = min(_drawn_items(banked, 24))
    strike(banked, "bank", struck_id, reason="Ambiguous.", acting=ACTING)
    with banked.look() as look:
        study = stored.find(look, "trial")
        assert study is not None
        assert len(stored.cases(look, study.id)) == 24
    caution = exposure.opening_warnings(banked, "trial")[0]
    assert struck_id in caution
    assert caution.startswith("1 case was struck off")


def test_items_that_were_struck_off_are_not_used_for_practice(banked: Store) -> None:
    values = {"cases": 4, "one_question_per": "item", "practice_cases": 2}
    protocol = Protocol.from_json(values)
    for item in preview_draw(banked, 1, protocol).practice:
        strike(banked, "bank", item, reason="Poor film.", acting=ACTING)
    with banked.look() as look:
        numbers = bank_contents.struck_items(look, 1)
        struck = {row.item_id for row in bank_contents.listed(look, numbers)}
    assert len(struck) == 2
    assert not struck & set(preview_draw(banked, 1, protocol).practice)


@pytest.mark.parametrize(
    ("bank", "item", "is_reinstated", "reason", "error"),
    [
        ("none", "q", False, "Why.", NotFound),
        ("bank", "none", False, "Why.", NotFound),
        ("bank", "", True, "Why.", NotNow),
        ("bank", "", False, " ", BadInput),
    ],
)
def test_striking_off_an_item_is_refused_if_it_is_invalid(
    banked: Store, bank: str, item: str, is_reinstated: bool, reason: str, error: type[Exception]
) -> None:
    known = item or min(_drawn_items(banked, 24))
    with pytest.raises(error):
        strike(banked, bank, known, reason=reason, reinstate=is_reinstated, acting=ACTING)
    with banked.look() as look:
        assert not bank_contents.struck_items(look, 1)


def test_a_search_matches_characters_literally(
    banked: Store,
) -> None:
    with banked.look(sealed=True) as look:
        assert len(bank_contents.search_items(look, 1, "")) == 24
        assert bank_contents.search_items(look, 1, "%") == set()
        (row,) = bank_contents.listed(look, [1])
        assert 1 in bank_contents.search_items(look, 1, row.question.upper())
        assert bank_contents.search_items(look, 1, row.item_id) == {1}
    strike(banked, "bank", row.item_id, reason="Gone.", acting=ACTING)
    remove_bank(banked, "bank", acting=ACTING)
    with banked.look() as look:
        assert not banks.names(look)
        assert not look.value("SELECT count(*) FROM struck_items")
