"""Films of earlier examinations: what a bank may say of them, and what becomes of it."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from study.bank.content import look_over
from study.bank.dicom_bank import import_dicom
from study.bank.importing import FaultyBank, import_bank
from study.bank.managing import check_bank, compared, join_banks, remove_bank
from study.bank.uploads import Arrived, import_arrived
from study.base.bank_model import Prior, Rule
from study.lifecycle import deployments
from study.store import Store, bank_contents, banks
from tests.conftest import NOW, entropy_from, write_bank, write_bank_with_priors
from tests.unit.study.bank.conftest import BankFile, write_film
from tests.unit.study.bank.test_dicom_bank import RAMP, SECRETS, stored
from tests.unit.study.films.test_dicom import film

Read = Callable[..., BankFile]
ItemDict = dict[str, Any]
BEFORE = "deid_png/P2/A2/pa.png"


def _priors(found: BankFile) -> tuple[Prior, ...]:
    assert found.faults == ()
    return found.items[0].priors


@pytest.mark.parametrize(
    ("told", "days"),
    [
        ({"prior_days": 91}, 91),
        ({"PriorDays": "91"}, 91),
        ({"prior_interval_days": [91.0]}, 91),
        ({"prior_days": 0}, 0),
        ({"PriorStudyDate": "20191002", "StudyDate": "20200101"}, 91),
        ({"prior_date": "2019-10-02T10:00", "StudyDate": "2020-01-01"}, 91),
        ({}, None),
    ],
)
def test_an_item_names_prior_images_and_how_long_before(
    bank: Read, item: ItemDict, told: ItemDict, days: int | None
) -> None:
    """In days, or by a date that is not kept; views beside them, in our spelling and theirs."""
    named = {"PriorImagePath": [f"../{BEFORE}"], "PriorImageViewPosition": ["POSTERO_ANTERIOR"]}
    found = bank({"q1": {**item, **named, **told}})
    prior = Prior(path=BEFORE, label="PA", said="POSTERO_ANTERIOR", days=days)
    assert _priors(found) == (prior,)
    assert found.notes == ()
    assert len(found.items[0].views) == 2
    assert BEFORE in found.films
    assert "prior" not in json.dumps(dict(found.items[0].attributes)).lower()


@pytest.mark.parametrize(
    "told",
    [
        {"prior_days": "three months"},
        {"prior_days": 12.5},
        {"prior_days": 99_999},
        {"prior_date": "20191002"},
        {"prior_date": "October"},
        {"prior_days": [1, 2]},
    ],
)
def test_an_interval_that_is_not_understood_is_left_unknown(
    bank: Read, item: ItemDict, told: ItemDict
) -> None:
    """It is noted, and the image is kept: one can be compared without it."""
    if "prior_date" in told:
        item.pop("StudyDate", None)
    found = bank({"q1": {**item, "prior_images": BEFORE, **told}})
    (prior,) = _priors(found)
    assert prior.days is None
    assert any("interval" in note for note in found.notes)


def test_a_prior_view_without_an_image_is_noted(bank: Read, item: ItemDict) -> None:
    """A column left over is no prior image."""
    found = bank({"q1": {**item, "prior_views": ["PA"], "prior_days": 3}})
    assert _priors(found) == ()
    assert any("without a prior image" in note for note in found.notes)


def test_what_is_no_prior_image_is_a_fault(bank: Read, item: ItemDict, root: Path) -> None:
    """The current film by name or by its bytes, and one made afterwards."""
    same = root / "deid_png" / "copy.png"
    same.write_bytes((root / "deid_png/P1/A1/pa.png").read_bytes())
    for told, says in (
        ({"prior_images": "deid_png/P1/A1/pa.png"}, "both a current and a prior one"),
        ({"prior_images": "deid_png/copy.png"}, "same file as a current one"),
        ({"prior_images": BEFORE, "prior_days": -1}, "after the current ones"),
        ({"prior_images": BEFORE, "prior_date": "20210101", "StudyDate": "20200101"}, "after"),
        ({"prior_images": "../../x.png"}, "leads out"),
    ):
        found = bank({"q1": {**item, **told}})
        assert says in found.faults[0].what
        if says != "leads out":
            assert found.faults[0].rule == Rule.NO_PRIOR


def test_csv_names_them_by_columns(bank: Read, item: ItemDict, root: Path) -> None:
    """Divided by a bar, as the images are; several examinations each with its own interval."""
    write_film(root / "deid_png" / "older.png", level=9)
    row = {
        "item_id": "q1",
        "question": "Has the effusion grown?",
        "options": '["Yes", "No"]',
        "truth": "A",
        "images": "deid_png/P1/A1/pa.png",
        "prior_images": f"{BEFORE}|deid_png/older.png",
        "prior_views": "PA|AP",
        "prior_days": "30|",
        "prior_pixel_spacing": "0.2",
    }
    text = StringIO()
    writer = csv.DictWriter(text, row)
    writer.writeheader()
    writer.writerow(row)
    found = bank(text.getvalue(), name="bank.csv")
    assert [(one.label, one.days) for one in _priors(found)] == [("PA", 30), ("AP", None)]
    assert found.films[BEFORE].spacing_mm == pytest.approx(0.2)


@pytest.mark.parametrize("missing_images", ["refuse", "drop", "frontal"])
def test_a_prior_image_that_is_not_there_leaves_its_item_in_the_bank(
    store: Store, tmp_path: Path, missing_images: Any
) -> None:
    """Unless nothing may be missing: to leave the item out would choose by what was archived."""
    path = write_bank_with_priors(tmp_path / "bank", n_patients=3)
    (path.parent / "films/0_before.png").unlink()

    def brought() -> Any:
        return import_bank(
            store, path, name="b", images=path.parent, missing_images=missing_images, now=NOW
        )

    if missing_images == "refuse":
        with pytest.raises(FaultyBank, match="not found") as refused:
            brought()
        assert (refused.value.missing.n_films, refused.value.missing.n_items) == (1, 2)
        return
    done = brought()
    assert (done.n_items, done.n_left_out, done.missing.n_shortened) == (6, 0, 2)
    assert any("taken without it (2 items" in note for note in done.notes)
    with store.look() as look:
        assert banks.n_with_prior(look, 1) == 2
        assert {row["n"] for row in look.rows("SELECT count(*) AS n FROM item_views GROUP BY item")}


def test_of_two_prior_images_the_one_that_is_there_stays(
    bank: Read, item: ItemDict, store: Store, root: Path
) -> None:
    """What stays is numbered anew, each with its own interval."""
    record = {**item, "prior_images": ["deid_png/gone.png", BEFORE], "prior_days": [30, 60]}
    path = root / "metadata" / "bank.json"
    path.write_text(json.dumps({"q1": record}))
    import_bank(store, path, name="b", images=root, missing_images="drop", now=NOW)
    with store.look() as look:
        (found,) = banks.whole_items(look, 1)
        rows = look.rows("SELECT position, days FROM item_priors")
    assert rows == [{"position": 1, "days": 60}]
    assert [(one.path, one.days) for one in found.priors] == [(BEFORE, 60)]


def test_a_question_of_an_earlier_examination_is_sound_with_a_prior_image(
    store: Store, tmp_path: Path
) -> None:
    """B207 is broken by those items alone that have none."""
    path = write_bank_with_priors(tmp_path / "bank", n_patients=3)
    records = json.loads(path.read_text())
    for record in records.values():
        record["question"] = f"Interval change since the prior film? {record['study_id']}"
    path.write_text(json.dumps(records))
    import_bank(store, path, name="b", images=path.parent, now=NOW)
    with store.look() as look:
        told = {one.rule: one.n for one in look_over(bank_contents.questions(look, 1))}
    assert told[Rule.NOT_SHOWN] == 2
    report = check_bank(path, images=path.parent)
    assert [one.n for one in report.findings if one.rule == Rule.NOT_SHOWN] == [2]


def test_banks_are_copied_compared_and_removed_with_their_prior_images(
    store: Store, tmp_path: Path
) -> None:
    """Joined banks have them; the hash tells a bank with from one without; nothing stays behind."""
    one, other = tmp_path / "one", tmp_path / "other"
    for name, folder, write in (
        ("plain", one, write_bank),
        ("with", other, write_bank_with_priors),
    ):
        path = write(folder, 4)
        records = json.loads(path.read_text())
        path.write_text(json.dumps({f"{name}-{key}": value for key, value in records.items()}))
        import_bank(store, path, name=name, images=folder, now=NOW)
    same = write_bank(tmp_path / "same", 4)
    renamed = {f"with-{key}": value for key, value in json.loads(same.read_text()).items()}
    same.write_text(json.dumps(renamed))
    import_bank(store, same, name="bare", images=same.parent, now=NOW)
    joined = join_banks(store, ["plain", "with"], name="both", now=NOW)
    assert joined.n_items == 16
    with store.look() as look:
        row, bare = banks.bank_row(look, "with"), banks.bank_row(look, "bare")
        both = banks.bank_row(look, "both")
        assert row.content_sha256 != bare.content_sha256
        assert [banks.n_with_prior(look, one.id) for one in (row, both, bare)] == [6, 6, 0]
        whole = {one.item_id: one.priors for one in banks.whole_items(look, both.id)}
        assert whole["with-q0000"][0].path == "with/films/0_before.png"
        assert whole["plain-q0000"] == ()
        _, ways = compared(look, "with", "bare")
        assert {one.what: one.n for one in ways} == {"different prior films": 6}
    for name in ("both", "with", "bare", "plain"):
        remove_bank(store, name, now=NOW)
    with store.look() as look:
        assert look.value("SELECT count(*) FROM item_priors") == 0


HEADER = "item_id,question,option_a,option_b,truth,images,prior_images,prior_date\n"


def _delivery(tmp_path: Path, row: str, **before: Any) -> Path:
    place = tmp_path / "delivery"
    place.mkdir()
    tags = {**SECRETS, "Modality": "DX", "PatientSex": "F", "ViewPosition": "PA"}
    (place / "now.dcm").write_bytes(film(RAMP, **tags))
    earlier = {"StudyDate": "20181214", "StudyInstanceUID": "1.2.826.0.1.99", "ViewPosition": "AP"}
    (place / "then.dcm").write_bytes(film(RAMP[::-1].copy(), **{**tags, **earlier, **before}))
    (place / "questions.csv").write_text(HEADER + row, encoding="utf-8")
    return place


@pytest.fixture
def own(tmp_path: Path) -> Store:
    """Return an empty store in a folder of its own."""
    (tmp_path / "home").mkdir()
    return deployments.init(tmp_path / "home" / "s.db", entropy=entropy_from(1), now=NOW)


def test_of_dicom_films_only_the_days_between_them_stay(tmp_path: Path, own: Store) -> None:
    """The files' own dates, or the spreadsheet's, count the days; no date is kept anywhere."""
    rows = (
        "q1,Has it grown?,Yes,No,A,now.dcm,then.dcm,\n"
        "q2,Is it larger?,Yes,No,A,now.dcm,then.dcm,2019-02-12\n"
        "q3,Is it new?,Yes,No,A,now.dcm,,2019-02-12\n"
    )
    done = import_dicom(own, _delivery(tmp_path, rows), name="own", now=NOW)
    assert (done.n_items, done.n_films) == (3, 2)
    with own.look() as look:
        found = [one.priors for one in banks.whole_items(look, 1)]
    assert [[(one.label, one.days) for one in some] for some in found] == [
        [("AP", 90)],
        [("AP", 30)],
        [],
    ]
    kept = stored(tmp_path)
    leaks = ("20181214", "20190314", "2019-02-12", "2018-12", "then.dcm", "MRN-4711", "1.2.826")
    assert not [leak for leak in leaks if leak.encode() in kept]


@pytest.mark.parametrize(
    ("before", "says"),
    [
        ({"StudyDate": "20200101"}, "made after the current ones"),
        ({"StudyInstanceUID": SECRETS["StudyInstanceUID"]}, "of the current examination"),
        ({"PatientID": "another"}, "different patients"),
    ],
)
def test_a_dicom_film_that_is_no_prior_one_is_refused(
    tmp_path: Path, own: Store, before: dict[str, str], says: str
) -> None:
    """Another patient's, the same examination's, or a later one."""
    place = _delivery(tmp_path, "q1,Has it grown?,Yes,No,A,now.dcm,then.dcm,\n", **before)
    with pytest.raises(FaultyBank, match=says):
        import_dicom(own, place, name="own", now=NOW)


@pytest.mark.parametrize("way", [{"skip_faulty": True}, {"missing_images": "frontal"}])
def test_a_row_whose_prior_dicom_film_is_missing_is_taken_without_it(
    tmp_path: Path, own: Store, way: Any
) -> None:
    """Where faulty rows may be left out, or images be missing; else the folder is refused."""
    place = _delivery(tmp_path, "q1,Has it grown?,Yes,No,A,now.dcm,gone.dcm,\n")
    with pytest.raises(FaultyBank, match="not found"):
        import_dicom(own, place, name="own", now=NOW)
    done = import_arrived(own, Arrived(place=place, is_ours=False), name="own", now=NOW, **way)
    assert (done.n_items, done.n_left_out) == (1, 0)
    assert any("taken without it" in note for note in done.notes)
