"""Studies of every design, read by simulated readers: export, restoring and verification."""

import csv
import io
import json
import re
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis import read_bundle
from study.bank.importing import import_bank
from study.base.actor import COMMAND_LINE, Acting, By
from study.base.errors import BadFile
from study.exchange.bundle import bundle_files, tables_of, zip_files
from study.exchange.closing_report import report_files
from study.exchange.formats.imrmc import imrmc_files
from study.exchange.restoring import IDENTICAL_FILES, merge, restore
from study.lifecycle import studies
from study.models.synthetic import add_synthetic
from study.monitoring.progress import completeness_in, status
from study.monitoring.quality import current_readings, find_reading
from study.protocol.protocol import Protocol
from study.reading.desk import receipt_of
from study.reading.score_card import score_card
from study.reading.simulation import simulate
from study.store import Store
from study.store.studies import study_row
from study.trail.heads import check_receipts
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, invite, person, write_bank
from tests.sites import close_trial, create_empty, export_bundle

BY = By(name="c", role="administrator", place="abc")
LATER = NOW + timedelta(days=90)
AIDED = {
    "conditions": ["unaided", "aided"],
    "aid_model": "m",
    "aid_shows": ["answer", "confidence"],
}
ARMS = [{"name": "ai", "conditions": ["aided"]}, {"name": "control", "conditions": ["unaided"]}]
DESIGNS: dict[str, dict[str, Any]] = {
    "crossover": {**AIDED, "sessions": 2, "hidden_repeats": 1},
    "sequential": {**AIDED, "aid": "after", "aid_errors": 3, "confidence": 5},
    "on demand": {**AIDED, "aid": "on demand"},
    "arms": {**AIDED, "arms": ARMS},
    "blocks": {"reads_per_case": 2, "anchor": 2},
    "wrong images": {"conditions": ["unaided", "wrong-image"], "sessions": 2},
}
READERS = ("R1", "R2", "R3", "R4")

Row = dict[str, str]


def _read(
    store: Store,
    design: str,
    *readers: str,
    follow: float = 1.0,
    seed: int = 3,
    **values: Any,
) -> None:
    """Draw, open and read a study of a design."""
    protocol = Protocol.from_json(
        {"cases": 8, "one_question_per": "item", **DESIGNS[design], **values}
    )
    studies.draw(store, bank="bank", study="trial", protocol=protocol, acting=ACTING)
    invite(store, *(readers or READERS))
    if protocol.is_aided:
        add_synthetic(store, study="trial", model_id="m", accuracy=0.75, seed=seed, acting=ACTING)
    studies.open_study(store, study="trial", acting=ACTING)
    for number, reader in enumerate(readers or READERS):
        simulate(
            store,
            study="trial",
            reader_id=reader,
            seed=number,
            accuracy=0.6,
            follow=follow,
            now=NOW,
        )


def _table(files: dict[str, bytes], name: str) -> list[Row]:
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def _rows_of_readers(files: dict[str, bytes]) -> list[Row]:
    return [row for row in _table(files, "readings.csv") if row["rater_id"] in READERS]


@pytest.mark.parametrize("design", DESIGNS)
def test_a_study_of_any_design_is_restored_identically(
    banked: Store, tmp_path: Path, design: str
) -> None:
    """Both verifications find no breach, and the bundle of the open study is blinded."""
    _read(banked, design)
    assert verify(banked) == []
    blinded = bundle_files(banked, "trial", blinded=True)
    studies.close(
        banked,
        study="trial",
        reason="All cases are read.",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    files = bundle_files(banked, "trial")
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    target = create_empty(tmp_path / "target", 2)
    restore(target, tmp_path / "bundle.zip", acting=Acting(by=BY, now=LATER))
    restored = bundle_files(target, "trial")
    assert {name: restored[name] for name in IDENTICAL_FILES} == {
        name: files[name] for name in IDENTICAL_FILES
    }
    assert verify(target) == []
    study = read_bundle(tmp_path / "bundle.zip")
    assert set(study.readings["rater_id"]) >= set(READERS)
    kinds = {json.loads(line)["row"] for line in blinded["records.jsonl"].decode().splitlines()}
    assert not kinds & {"aid", "wrong_image"}
    assert not any(row.get("aid_answer") for row in _rows_of_readers(blinded))


@pytest.mark.parametrize("design", DESIGNS)
def test_every_view_of_a_study_counts_its_readings(banked: Store, design: str) -> None:
    """Progress, data quality, the closing of the study and the bundle have the same numbers."""
    _read(banked, design)
    rows = _rows_of_readers(bundle_files(banked, "trial"))
    progress = status(banked, "trial")
    assert sum(reader["n_read"] for reader in progress["readers"]) == len(rows)
    assert all(reader["n_read"] == reader["n_assigned"] for reader in progress["readers"])
    assert set(progress["conditions"]) == {row["condition"] for row in rows}
    with banked.look() as look:
        assert completeness_in(look, study_row(look, "trial")).counts.n_unread == 0
    assert len(current_readings(banked, "trial")) == len(rows)


def test_in_each_session_of_a_crossover_each_condition_has_half_of_the_cases(
    banked: Store,
) -> None:
    """The column `block` has the block of the case; the aid was shown in the aided condition."""
    _read(banked, "crossover")
    rows = _rows_of_readers(bundle_files(banked, "trial"))
    assert Counter((row["session"], row["condition"]) for row in rows if row["repeat"] == "1") == {
        (session, condition): 16 for session in "12" for condition in ("unaided", "aided")
    }
    block_of: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        block_of[row["item_id"]].add(row["block"])
        aided = row["condition"] == "aided"
        assert bool(row["aid_shown_ms"]) == bool(row["aid_answer"]) == aided
        assert row["aid_model"] == ("m" if aided else "")
        assert "stage" not in row
    assert {len(blocks) for blocks in block_of.values()} == {1}
    assert {row["answer"] == row["aid_answer"] for row in rows if row["aid_answer"]} == {True}


def test_sequential_reading_has_two_readings_per_presentation(banked: Store) -> None:
    """The second reading differs if the reader followed the model; planted errors are marked."""
    _read(banked, "sequential", follow=0.5)
    files = bundle_files(banked, "trial")
    model = {row["item_id"]: row["answer"] for row in _table(files, "readings.csv")
             if row["rater_id"] == "m"}  # fmt: skip
    pairs: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in _rows_of_readers(files):
        pairs[row["rater_id"], row["position"]].append(row)
    assert len(pairs) == 32
    outcomes = set()
    for first, second in pairs.values():
        assert (first["stage"], first["condition"]) == ("1", "unaided")
        assert (second["stage"], second["condition"]) == ("2", "aided")
        assert first["item_id"] == second["item_id"]
        assert first["aid_shown_ms"] == first["aid_answer"] == ""
        assert float(second["aid_shown_ms"]) > float(first["elapsed_ms"])
        assert second["answer"] in (first["answer"], second["aid_answer"])
        planted = second["aid_planted"] == "1"
        assert planted == (second["aid_answer"] != model[second["item_id"]])
        if first["answer"] != second["aid_answer"]:
            outcomes.add(second["answer"] == second["aid_answer"])
    assert outcomes == {True, False}
    planted_items = {row["item_id"] for row in _rows_of_readers(files) if row["aid_planted"] == "1"}
    assert len(planted_items) == 3


def test_each_arm_has_its_conditions_in_raters_and_readings(banked: Store) -> None:
    """Two of the four readers are in each arm."""
    _read(banked, "arms")
    files = bundle_files(banked, "trial")
    arm_of = {row["rater_id"]: row["arm"] for row in _table(files, "raters.csv")}
    assert Counter(arm_of.values()) == {"ai": 2, "control": 2, "": 1}
    for row in _rows_of_readers(files):
        assert row["arm"] == arm_of[row["rater_id"]]
        assert row["condition"] == {"ai": "aided", "control": "unaided"}[row["arm"]]


def test_a_receipt_counts_both_readings_of_a_sequential_case(banked: Store) -> None:
    """The number in the receipt is that in the audit trail."""
    _read(banked, "sequential")
    receipt = receipt_of(banked, person(banked, "R1"))
    assert receipt.startswith("R1 · 16 of 16 · ")
    (finding,) = check_receipts(banked, receipt)
    assert finding.matches, finding.sentence


def test_the_closing_report_counts_the_readers_of_each_arm(banked: Store) -> None:
    _read(banked, "arms")
    page = report_files(banked, "trial")["closing-report.html"].decode()
    flow = page.split("<caption>Flow of readers</caption>")[1].split("</table>")[0]
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in flow.split("<tr>")[2:]]
    assert rows == [
        ["all readers", "4", "4", "4", "4", "0", "4"],
        ["arm ai", "", "2", "2", "2", "0", "2"],
        ["arm control", "", "2", "2", "2", "0", "2"],
    ]
    diagram = re.findall(r"<text[^>]*>([^<]*)<", page.split('<svg class="flow"')[1])
    arm = ["Allocated: 2", "Started: 2", "Did not start: 0", "Completed: 2", "Withdrawn: 0"]
    arm += ["Not completed: 0", "Analysed: 2", "Not analysed: 0"]
    assert diagram == ["Invited: 4", "Randomised: 4", "ai", *arm, "control", *arm]


def test_the_column_block_names_the_list_or_the_anchor_of_a_case(banked: Store) -> None:
    """All readers read the cases of the anchor; each other case has two readers."""
    _read(banked, "blocks")
    rows = _rows_of_readers(bundle_files(banked, "trial"))
    reads = Counter(row["item_id"] for row in rows)
    anchor = {row["item_id"] for row in rows if row["block"] == "0"}
    assert {item: reads[item] for item in anchor} == dict.fromkeys(anchor, 4)
    assert {reads[item] for item in reads if item not in anchor} == {2}
    assert {row["block"] for row in rows} == {"0", "1", "2", "3", "4"}


@pytest.mark.thorough
def test_sites_with_different_aids_are_not_merged(tmp_path: Path) -> None:
    """Sites with the same model are merged, including the requests for its answers."""
    for number, (seed, conflict) in enumerate(((3, False), (4, True))):
        own, other = (
            create_empty(tmp_path / f"{name}{number}", place) for place, name in enumerate("ab")
        )
        for store, reader, with_seed in ((own, "R1", 3), (other, "R2", seed)):
            _import(store, tmp_path)
            _read(store, "on demand", reader, seed=with_seed)
            close_trial(store)
        bundle = export_bundle(other)
        if conflict:
            with pytest.raises(BadFile, match="were shown different answers of the model"):
                merge(own, bundle, study="trial", acting=Acting(by=BY, now=LATER))
            continue
        merge(own, bundle, study="trial", acting=Acting(by=BY, now=LATER))
        rows = _rows_of_readers(bundle_files(own, "trial"))
        assert Counter(row["rater_id"] for row in rows if row["aid_answer"]) == {"R1": 8, "R2": 8}
        assert verify(own) == []


def _import(store: Store, folder: Path) -> None:
    path = write_bank(folder / "bank")
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)


def test_the_imrmc_file_omits_cases_that_a_reader_was_not_assigned(
    banked: Store,
) -> None:
    """If such cases counted as wrong, every reader in a block design would seem less accurate."""
    _read(banked, "blocks")
    with banked.look() as look:
        tables = tables_of(look, study_row(look, "trial"))
    files = imrmc_files("trial", tables, ["unaided"], incomplete=True)
    lines = files["percent-correct.imrmc"].decode().partition("BEGIN DATA")[2].splitlines()
    read = Counter(line.split(",")[0] for line in lines if re.match(r"[1-4],[1-8],", line))
    assert sum(read.values()) == len(tables["readings.csv"]) == 20


def test_either_of_the_two_sequential_readings_can_be_excluded(banked: Store) -> None:
    """The condition selects the reading; the default is the second."""
    _read(banked, "sequential")
    facts = current_readings(banked, "trial")
    both = [find_reading(facts, "R1", 1, name) for name in ("unaided", "aided", "")]
    assert [fact and fact.condition for fact in both] == ["unaided", "aided", "aided"]


def test_a_score_card_has_the_final_answers_of_sequential_reading(banked: Store) -> None:
    """The card has one answer per case."""
    _read(banked, "sequential", feedback="after study")
    studies.close(
        banked,
        study="trial",
        reason="All cases are read.",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    card = score_card(banked, person(banked))
    assert card.n_assigned == len(card.cases) == 8
    assert {case.condition for case in card.cases} == {"aided"}


def test_a_synthetic_model_is_labelled_in_every_export(banked: Store) -> None:
    """The synthetic model has the requested accuracy."""
    _read(banked, "crossover")
    files = bundle_files(banked, "trial")
    (rater,) = [row for row in _table(files, "raters.csv") if row["rater_kind"] == "model"]
    assert (rater["label"], rater["model_version"]) == (
        *("m (synthetic)",),
        "synthetic, accuracy 0.75, seed 3",
    )
    truth = {row["item_id"]: row["truth"] for row in _table(files, "items.csv")}
    answers = [row for row in _table(files, "readings.csv") if row["rater_id"] == "m"]
    assert sum(row["answer"] == truth[row["item_id"]] for row in answers) == 6
    assert {row["timing_source"] for row in answers} == {"simulated"}
