"""Films of earlier examinations in a bank: their notations, errors and import."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from study.bank.content import check_content
from study.bank.dicom_bank import import_dicom
from study.bank.importing import FaultyBank, import_bank
from study.bank.managing import check_bank, compare_banks, join_banks, remove_bank
from study.bank.reading import ImportOptions
from study.bank.uploads import ReceivedBank, import_received
from study.base.bank_model import Prior, Rule
from study.lifecycle import deployments
from study.store import Store, bank_contents, banks
from tests.conftest import ACTING, NOW, entropy_from, write_bank, write_bank_with_priors
from tests.unit.study.bank.conftest import BankFile, write_film
from tests.unit.study.bank.test_dicom_bank import RAMP, SECRETS, stored_bytes_and_names
from tests.unit.study.films.test_dicom import dicom_bytes

Read = Callable[..., BankFile]
ItemDict = dict[str, Any]
PRIOR_PATH = "deid_png/P2/A2/pa.png"


def _priors(file: BankFile) -> tuple[Prior, ...]:
    assert file.faults == ()
    return file.items[0].priors


@pytest.mark.parametrize(
    ("interval", "days"),
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
def test_an_item_has_prior_images_and_their_interval(
    bank: Read, item: ItemDict, interval: ItemDict, days: int | None
) -> None:
    """The interval is stated in days, or computed from a date that is not stored."""
    names = {"PriorImagePath": [f"../{PRIOR_PATH}"], "PriorImageViewPosition": ["POSTERO_ANTERIOR"]}
    file = bank({"q1": {**item, **names, **interval}})
    prior = Prior(path=PRIOR_PATH, label="PA", original="POSTERO_ANTERIOR", days=days)
    assert _priors(file) == (prior,)
    assert file.notes == ()
    assert len(file.items[0].views) == 2
    assert PRIOR_PATH in file.films
    assert "prior" not in json.dumps(dict(file.items[0].attributes)).lower()


@pytest.mark.parametrize(
    "interval",
    [
        {"prior_days": "three months"},
        {"prior_days": 12.5},
        {"prior_days": 99_999},
        {"prior_date": "20191002"},
        {"prior_date": "October"},
        {"prior_days": [1, 2]},
    ],
)
def test_an_invalid_interval_is_unknown(bank: Read, item: ItemDict, interval: ItemDict) -> None:
    """A note reports the interval, and the image is kept."""
    if "prior_date" in interval:
        item.pop("StudyDate", None)
    file = bank({"q1": {**item, "prior_images": PRIOR_PATH, **interval}})
    (prior,) = _priors(file)
    assert prior.days is None
    assert any("interval" in note for note in file.notes)


def test_a_prior_view_without_an_image_is_ignored(bank: Read, item: ItemDict) -> None:
    """A note reports the view."""
    file = bank({"q1": {**item, "prior_views": ["PA"], "prior_days": 3}})
    assert _priors(file) == ()
    assert any("without a prior image" in note for note in file.notes)


def test_an_invalid_prior_image_is_an_error(bank: Read, item: ItemDict, root: Path) -> None:
    """The image is a current one by name or content, was taken later, or is outside the folder."""
    same = root / "deid_png" / "copy.png"
    same.write_bytes((root / "deid_png/P1/A1/pa.png").read_bytes())
    for values, message in (
        ({"prior_images": "deid_png/P1/A1/pa.png"}, "both a current and a prior one"),
        ({"prior_images": "deid_png/copy.png"}, "same file as a current one"),
        ({"prior_images": PRIOR_PATH, "prior_days": -1}, "after the current ones"),
        ({"prior_images": PRIOR_PATH, "prior_date": "20210101", "StudyDate": "20200101"}, "after"),
        ({"prior_images": "../../x.png"}, "leads out"),
    ):
        file = bank({"q1": {**item, **values}})
        assert message in file.faults[0].what
        if message != "leads out":
            assert file.faults[0].rule == Rule.NO_PRIOR


def test_a_csv_file_has_columns_for_prior_images(bank: Read, item: ItemDict, root: Path) -> None:
    """Several images are separated by a bar, each with an interval."""
    write_film(root / "deid_png" / "older.png", level=9)
    row = {
        "item_id": "q1",
        "question": "Has the effusion grown?",
        "options": '["Yes", "No"]',
        "truth": "A",
        "images": "deid_png/P1/A1/pa.png",
        "prior_images": f"{PRIOR_PATH}|deid_png/older.png",
        "prior_views": "PA|AP",
        "prior_days": "30|",
        "prior_pixel_spacing": "0.2",
    }
    text = StringIO()
    writer = csv.DictWriter(text, row)
    writer.writeheader()
    writer.writerow(row)
    file = bank(text.getvalue(), name="bank.csv")
    assert [(prior.label, prior.days) for prior in _priors(file)] == [("PA", 30), ("AP", None)]
    assert file.films[PRIOR_PATH].spacing_mm == pytest.approx(0.2)


@pytest.mark.parametrize("missing_images", ["refuse", "drop", "frontal"])
def test_an_item_with_a_missing_prior_image_is_imported(
    store: Store, tmp_path: Path, missing_images: Any
) -> None:
    """The item is refused if no image may be missing; omitting it would bias the selection."""
    path = write_bank_with_priors(tmp_path / "bank", n_patients=3)
    (path.parent / "films/0_before.png").unlink()

    def arrived() -> Any:
        return import_bank(
            store,
            path,
            name="b",
            images=path.parent,
            options=ImportOptions(missing_images=missing_images),
            acting=ACTING,
        )

    if missing_images == "refuse":
        with pytest.raises(FaultyBank, match="not found") as refused:
            arrived()
        assert (refused.value.missing.n_films, refused.value.missing.n_items) == (1, 2)
        return
    result = arrived()
    assert (result.n_items, result.n_left_out, result.missing.n_shortened) == (6, 0, 2)
    assert any("imported without it (2 items" in note for note in result.notes)
    with store.look() as look:
        assert banks.n_with_prior(look, 1) == 2
        assert {row["n"] for row in look.rows("SELECT count(*) AS n FROM item_views GROUP BY item")}


def test_if_one_of_two_prior_images_is_missing_the_other_is_kept(
    bank: Read, item: ItemDict, store: Store, root: Path
) -> None:
    """The available image gets the first number and keeps its interval."""
    record = {**item, "prior_images": ["deid_png/gone.png", PRIOR_PATH], "prior_days": [30, 60]}
    path = root / "metadata" / "bank.json"
    path.write_text(json.dumps({"q1": record}))
    import_bank(
        store,
        path,
        name="b",
        images=root,
        options=ImportOptions(missing_images="drop"),
        acting=ACTING,
    )
    with store.look() as look:
        (stored_item,) = banks.complete_items(look, 1)
        rows = look.rows("SELECT position, days FROM item_priors")
    assert rows == [{"position": 1, "days": 60}]
    assert [(prior.path, prior.days) for prior in stored_item.priors] == [(PRIOR_PATH, 60)]


def test_a_question_about_an_earlier_examination_needs_a_prior_image(
    store: Store, tmp_path: Path
) -> None:
    """Rule B207 reports the items without a prior image."""
    path = write_bank_with_priors(tmp_path / "bank", n_patients=3)
    records = json.loads(path.read_text())
    for record in records.values():
        record["question"] = f"Interval change since the prior film? {record['study_id']}"
    path.write_text(json.dumps(records))
    import_bank(store, path, name="b", images=path.parent, acting=ACTING)
    with store.look() as look:
        counts = {
            finding.rule: finding.n for finding in check_content(bank_contents.questions(look, 1))
        }
    assert counts[Rule.NOT_SHOWN] == 2
    report = check_bank(path, images=path.parent)
    assert [finding.n for finding in report.findings if finding.rule == Rule.NOT_SHOWN] == [2]


def test_joining_comparing_and_removing_banks_covers_prior_images(
    store: Store, tmp_path: Path
) -> None:
    """The hash of a bank with prior images differs from that of the bank without them."""
    for name, folder, write in (
        ("plain", tmp_path / "one", write_bank),
        ("with", tmp_path / "other", write_bank_with_priors),
    ):
        path = write(folder, 4)
        records = json.loads(path.read_text())
        path.write_text(json.dumps({f"{name}-{key}": value for key, value in records.items()}))
        import_bank(store, path, name=name, images=folder, acting=ACTING)
    same = write_bank(tmp_path / "same", 4)
    renamed = {f"with-{key}": value for key, value in json.loads(same.read_text()).items()}
    same.write_text(json.dumps(renamed))
    import_bank(store, same, name="bare", images=same.parent, acting=ACTING)
    joined = join_banks(store, ["plain", "with"], name="both", acting=ACTING)
    assert joined.n_items == 16
    with store.look() as look:
        row, bare = banks.bank_row(look, "with"), banks.bank_row(look, "bare")
        both = banks.bank_row(look, "both")
        assert row.content_sha256 != bare.content_sha256
        assert [banks.n_with_prior(look, bank.id) for bank in (row, both, bare)] == [6, 6, 0]
        priors = {item.item_id: item.priors for item in banks.complete_items(look, both.id)}
        assert priors["with-q0000"][0].path == "with/films/0_before.png"
        assert priors["plain-q0000"] == ()
        _, differences = compare_banks(look, "with", "bare")
        assert {row.what: row.n for row in differences} == {"different prior films": 6}
    for name in ("both", "with", "bare", "plain"):
        remove_bank(store, name, acting=ACTING)
    with store.look() as look:
        assert look.value("SELECT count(*) FROM item_priors") == 0


HEADER = "item_id,question,option_a,option_b,truth,images,prior_images,prior_date\n"


def _delivery(tmp_path: Path, row: str, **prior_values: Any) -> Path:
    place = tmp_path / "delivery"
    place.mkdir()
    tags = {**SECRETS, "Modality": "DX", "PatientSex": "F", "ViewPosition": "PA"}
    (place / "now.dcm").write_bytes(dicom_bytes(RAMP, **tags))
    earlier = {"StudyDate": "20181214", "StudyInstanceUID": "1.2.826.0.1.99", "ViewPosition": "AP"}
    (place / "then.dcm").write_bytes(
        dicom_bytes(RAMP[::-1].copy(), **{**tags, **earlier, **prior_values})
    )
    (place / "questions.csv").write_text(HEADER + row, encoding="utf-8")
    return place


@pytest.fixture
def own_store(tmp_path: Path) -> Store:
    """Return an empty store in a separate folder."""
    (tmp_path / "home").mkdir()
    return deployments.init(tmp_path / "home" / "s.db", entropy=entropy_from(1), now=NOW)


def test_only_the_days_between_dicom_films_are_stored(tmp_path: Path, own_store: Store) -> None:
    """The days are computed from the dates of the files or spreadsheet, which are discarded."""
    rows = (
        "q1,Has it grown?,Yes,No,A,now.dcm,then.dcm,\n"
        "q2,Is it larger?,Yes,No,A,now.dcm,then.dcm,2019-02-12\n"
        "q3,Is it new?,Yes,No,A,now.dcm,,2019-02-12\n"
    )
    result = import_dicom(own_store, _delivery(tmp_path, rows), name="own", acting=ACTING)
    assert (result.n_items, result.n_films) == (3, 2)
    with own_store.look() as look:
        priors = [item.priors for item in banks.complete_items(look, 1)]
    assert [[(prior.label, prior.days) for prior in of_item] for of_item in priors] == [
        [("AP", 90)],
        [("AP", 30)],
        [],
    ]
    stored_text = stored_bytes_and_names(tmp_path)
    leaks = ("20181214", "20190314", "2019-02-12", "2018-12", "then.dcm", "MRN-4711", "1.2.826")
    assert not [leak for leak in leaks if leak.encode() in stored_text]


@pytest.mark.parametrize(
    ("prior_values", "message"),
    [
        ({"StudyDate": "20200101"}, "made after the current ones"),
        ({"StudyInstanceUID": SECRETS["StudyInstanceUID"]}, "of the current examination"),
        ({"PatientID": "another"}, "different patients"),
    ],
)
def test_an_invalid_prior_dicom_film_is_refused(
    tmp_path: Path, own_store: Store, prior_values: dict[str, str], message: str
) -> None:
    """The film is of another patient, of the same examination, or later."""
    place = _delivery(tmp_path, "q1,Has it grown?,Yes,No,A,now.dcm,then.dcm,\n", **prior_values)
    with pytest.raises(FaultyBank, match=message):
        import_dicom(own_store, place, name="own", acting=ACTING)


@pytest.mark.parametrize(
    "option",
    [
        {"skip_faulty": True},
        {"skip_faulty": True, "missing_images": "refuse"},
        {"missing_images": "frontal"},
    ],
)
def test_a_row_with_a_missing_prior_dicom_film_can_be_imported(
    tmp_path: Path, own_store: Store, option: Any
) -> None:
    """The import needs an option; by default the folder is refused."""
    place = _delivery(tmp_path, "q1,Has it grown?,Yes,No,A,now.dcm,gone.dcm,\n")
    with pytest.raises(FaultyBank, match="not found"):
        import_dicom(own_store, place, name="own", acting=ACTING)
    result = import_received(
        own_store,
        ReceivedBank(place=place, is_temporary=False),
        name="own",
        acting=ACTING,
        options=ImportOptions(**option),
    )
    assert (result.n_items, result.n_left_out) == (1, 0)
    assert any("imported without it" in note for note in result.notes)
