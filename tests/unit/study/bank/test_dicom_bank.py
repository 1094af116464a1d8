"""A folder of DICOM films and a spreadsheet becomes a bank without patient identifiers."""

import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from study.bank.dicom_bank import import_dicom
from study.bank.importing import FaultyBank
from study.bank.layout import contains_dicom
from study.bank.managing import check_bank
from study.bank.reading import ImportOptions
from study.bank.uploads import import_received, receive_archive
from study.base.bank_model import Rule
from study.base.errors import BadFile
from study.films.dicom import read
from study.lifecycle import deployments
from study.store import Store, banks
from tests.conftest import ACTING, NOW, entropy_from
from tests.test_command_line import run
from tests.unit.study.films.test_dicom import dicom_bytes

RAMP = np.arange(4096, dtype=np.uint16).reshape(64, 64)
SECRETS = {
    "PatientName": "Featherstone^Quentin",
    "PatientID": "MRN-4711-0815",
    "PatientBirthDate": "19410223",
    "StudyInstanceUID": "1.2.826.0.1.3680043.8.498.7777",
    "AccessionNumber": "ACC-99-1234",
    "InstitutionName": "Nowhere General",
    "ReferringPhysicianName": "Grimsby^Ada",
    "StudyDate": "20190314",
    "DeviceSerialNumber": "SN-5550199",
}
STUDY_UID = "1.2.826.0.1.3680043.8.498.555"
HEADER = "item_id,question,option_a,option_b,truth,images,PatientName\n"
FILE = "Featherstone_MRN-4711-0815"


def write_folder(tmp_path: Path, rows: str = "", **tags: Any) -> Path:
    """Return a folder of two films of one patient, and a spreadsheet."""
    place = tmp_path / "delivery"
    place.mkdir()
    common = {**SECRETS, "Modality": "DX", "PatientSex": "F", "ViewPosition": "PA", **tags}
    (place / FILE).write_bytes(dicom_bytes(RAMP, ImagerPixelSpacing=[0.2, 0.2], **common))
    other = dicom_bytes(RAMP[::-1].copy(), **{**common, "ViewPosition": "GRIMSBY"})
    (place / "second.dcm").write_bytes(other)
    rows = rows or (
        f"q1,Is there an effusion?,Yes,No,B,{FILE}|second.dcm,{SECRETS['PatientName']}\n"
        "q2,Is the heart large?,Yes,No,A,second.dcm,\n"
    )
    (place / "questions.csv").write_text(HEADER + rows, encoding="utf-8")
    return place


def stored_bytes_and_names(tmp_path: Path) -> bytes:
    """Return the bytes and names of all files in the store's folder."""
    files = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    return b"\n".join(bytes(path) + path.read_bytes() for path in files)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return an empty store in a separate folder."""
    (tmp_path / "home").mkdir()
    return deployments.init(tmp_path / "home" / "s.db", entropy=entropy_from(1), now=NOW)


def test_no_identifier_of_a_patient_is_stored(tmp_path: Path, store: Store) -> None:
    """Values of tags and file names are discarded; which films share a patient is kept."""
    place = write_folder(tmp_path)
    assert contains_dicom(place)
    result = import_dicom(store, place, name="own", acting=ACTING)
    assert (result.n_items, result.n_films) == (2, 2)
    with store.look() as look:
        rows = look.rows("SELECT * FROM items ORDER BY item_id")
        films = look.rows("SELECT bits, spacing_mm FROM films ORDER BY spacing_mm DESC")
        labels = look.rows("SELECT label FROM item_views ORDER BY item, position")
    assert len({row["patient_id"] for row in rows}) == 1
    assert rows[0]["patient_id"].startswith("P")
    assert (rows[0]["age"], rows[0]["sex"]) == ("78 years", "female")
    assert [row["label"] for row in labels] == ["PA", "", ""]
    assert [row["bits"] for row in films] == [16, 16]
    assert films[0]["spacing_mm"] == pytest.approx(0.2)
    stored_text = stored_bytes_and_names(tmp_path).lower()
    leaks = [*SECRETS.values(), FILE, "delivery", "Grimsby", "Featherstone", STUDY_UID]
    assert not [leak for leak in leaks if leak.lower().encode() in stored_text]
    assert not re.search(
        rb"(?<![0-9a-f])1941(?![0-9a-f])", stored_text
    )  # hashes may contain such a short value
    assert any("PatientName" in note for note in result.notes)
    assert not [leak for leak in [*leaks, "1941"] if leak in " ".join(result.notes)]
    assert any("burnt into" in note for note in result.notes)


def test_a_second_import_of_a_folder_changes_nothing(tmp_path: Path, store: Store) -> None:
    """Hashes depend only on the deployment, so the same films give the same bank."""
    place = write_folder(tmp_path)
    assert import_dicom(store, place, name="own", acting=ACTING).is_new
    before = stored_bytes_and_names(tmp_path)
    assert not import_dicom(store, place, name="own", acting=ACTING).is_new
    assert len(stored_bytes_and_names(tmp_path)) == len(before)


def test_a_check_of_a_dicom_folder_refers_to_the_import(tmp_path: Path) -> None:
    """A check would otherwise report that the films are not images."""
    with pytest.raises(BadFile, match="import it"):
        check_bank(write_folder(tmp_path), images=None)


def test_the_originals_of_an_upload_are_deleted(tmp_path: Path, store: Store) -> None:
    """Original files are deleted after the import."""
    place, out = write_folder(tmp_path), BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for path in place.iterdir():
            packed.write(path, path.name)
    upload = receive_archive(store, out, name="own")
    result = import_received(store, upload, name="own", acting=ACTING)
    assert result.n_items == 2
    assert b"Featherstone" not in stored_bytes_and_names(tmp_path)


def test_films_are_found_by_their_uid_and_can_be_scaled_down(tmp_path: Path, store: Store) -> None:
    """A film at a quarter of the size has four times the spacing and is marked."""
    place = write_folder(tmp_path)
    data = dicom_bytes(RAMP, PatientID="4711-x", ImagerPixelSpacing=[0.2, 0.2])
    (place / "third").write_bytes(data)
    uid = read(data).instance
    (place / "questions.csv").write_text(HEADER + f"q1,Why?,Yes,No,B,{uid},\n", encoding="utf-8")
    import_dicom(store, place, name="own", acting=ACTING, options=ImportOptions(scale=0.25))
    with store.look() as look:
        bank = banks.bank_row(look, "own")
        films = look.rows("SELECT width, spacing_mm FROM films WHERE bank = :id", id=bank.id)
    assert films[0]["width"] == 16
    assert films[0]["spacing_mm"] == pytest.approx(0.8)
    assert b"rendition" in stored_bytes_and_names(tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q1,Why?,Yes,No,B,../../etc/passwd,", "leads out"),
        ("q1,Why?,Yes,No,B,absent.dcm,", "not found"),
        ("q1,Why?,Yes,No,B,questions.csv,", "not a DICOM file"),
        ("MRN-4711-0815,Why?,Yes,No,B,second.dcm,", "column item_id contains an id"),
        (
            "q1,What has Featherstone Quentin?,Yes,No,B,second.dcm,",
            "column question contains the patient's name",
        ),
        (",Why?,Yes,No,B,second.dcm,", "no item id"),
    ],
)
def test_an_error_names_its_row(tmp_path: Path, store: Store, row: str, message: str) -> None:
    """Nothing is stored, including the other rows."""
    place = write_folder(tmp_path, f"q0,Why?,Yes,No,B,second.dcm,\n{row}\n")
    with pytest.raises(FaultyBank, match=rf"(?s)line 3: .*{message}"):
        import_dicom(store, place, name="own", acting=ACTING)
    assert not list((tmp_path / "home" / "banks").iterdir())
    assert (
        import_dicom(
            store, place, name="own", acting=ACTING, options=ImportOptions(skip_faulty=True)
        ).n_items
        == 1
    )


def patients(tmp_path: Path, names: dict[str, str], rows: str) -> Path:
    """Return a folder with a spreadsheet and one image per patient, named after the patient ID."""
    place = tmp_path / "patients"
    place.mkdir()
    for patient, name in names.items():
        tags = {"PatientID": patient, "PatientName": name, "Modality": "DX"}
        (place / f"{patient}.dcm").write_bytes(dicom_bytes(RAMP, **tags))
    (place / "questions.csv").write_text(HEADER + rows, encoding="utf-8")
    return place


PATIENT_NAMES = {"MRN00001": "Featherstone^Quentin", "MRN00002": "Rose^May"}
ROWS_WITH_NAMES = (
    "q1,Why?,Yes,No,B,MRN00001.dcm,\n"
    "q2,Does Quentin Featherstone cough?,Yes,No,B,MRN00002.dcm,\n"
    "q3,Which colour?,rose,white,B,MRN00002.dcm,\n"
    "q4,Which colour?,rose,white,B,MRN00001.dcm,\n"
)


def test_all_rows_with_identifiers_are_listed(tmp_path: Path, store: Store) -> None:
    """The error has row and column, and states which of them the coordinator may allow."""
    place = patients(tmp_path, PATIENT_NAMES, ROWS_WITH_NAMES)
    with pytest.raises(FaultyBank) as excinfo:
        import_dicom(store, place, name="own", acting=ACTING)
    assert [(fault.key, fault.what) for fault in excinfo.value.faults] == [
        ("line 3", "column question contains another patient's name"),
        ("line 4", "column option_a contains what may be the patient's name"),
        ("line 5", "column option_a contains what may be another patient's name"),
    ]
    assert {fault.rule for fault in excinfo.value.faults} == {Rule.IDENTIFIES}
    assert "Featherstone" not in str(excinfo.value)
    assert "allow possible identifiers" in excinfo.value.faults[1].remedy


def test_possible_identifiers_can_be_allowed(tmp_path: Path, store: Store) -> None:
    """A note names each row; a full name is never allowed."""
    place = patients(tmp_path, PATIENT_NAMES, ROWS_WITH_NAMES)
    with pytest.raises(FaultyBank, match="errors: 1, rows with errors: 1"):
        import_dicom(
            store,
            place,
            name="own",
            acting=ACTING,
            options=ImportOptions(allow_possible_identifiers=True),
        )
    lines = ROWS_WITH_NAMES.splitlines(keepends=True)
    (place / "questions.csv").write_text(HEADER + lines[0] + "".join(lines[2:]), encoding="utf-8")
    result = import_dicom(
        store,
        place,
        name="own",
        acting=ACTING,
        options=ImportOptions(allow_possible_identifiers=True),
    )
    assert result.n_items == 3
    assert [note for note in result.notes if "allowed" in note] == [
        "line 3: column option_a contains what may be the patient's name; allowed",
        "line 4: column option_a contains what may be another patient's name; allowed",
    ]


def test_dicom_files_without_preamble_are_refused(tmp_path: Path, store: Store) -> None:
    """The message states that the preamble is missing."""
    place = write_folder(tmp_path, "q1,Why?,Yes,No,B,second.dcm,\n")
    for path in (place / FILE, place / "second.dcm"):
        path.write_bytes(path.read_bytes()[132:])
    assert contains_dicom(place)
    with pytest.raises(FaultyBank, match="a DICOM file without preamble"):
        import_dicom(store, place, name="own", acting=ACTING)


def test_two_different_images_with_the_same_uid_are_refused(tmp_path: Path, store: Store) -> None:
    """Identical files with the same UID are accepted."""
    place = write_folder(tmp_path)
    data = dicom_bytes(RAMP, PatientID="4711-x")
    uid = read(data).instance
    (place / "third").write_bytes(data)
    (place / "copy").write_bytes(data)
    (place / "questions.csv").write_text(HEADER + f"q1,Why?,Yes,No,B,{uid},\n", encoding="utf-8")
    assert import_dicom(store, place, name="own", acting=ACTING).n_items == 1
    (place / "copy").write_bytes(data[:-2] + b"\1\1")
    with pytest.raises(FaultyBank, match="several different files have this SOPInstanceUID"):
        import_dicom(store, place, name="other", acting=ACTING)


def test_possible_identifiers_can_be_allowed_on_the_page_and_by_command(
    tmp_path: Path, store: Store
) -> None:
    """The option of the command applies to folders of DICOM images only."""
    rows = "q3,Which colour?,rose,white,B,MRN00002.dcm,\n"
    place = patients(tmp_path, PATIENT_NAMES, rows)
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for path in place.iterdir():
            packed.write(path, path.name)
    upload = receive_archive(store, out, name="page")
    result = import_received(
        store,
        upload,
        name="page",
        acting=ACTING,
        options=ImportOptions(allow_possible_identifiers=True),
    )
    assert result.n_items == 1
    command = ("study", "import", place, "--db", store.path, "--bank", "shell")
    assert run(*command).returncode == 1
    allowed = run(*command, "--allow-possible-identifiers")
    assert allowed.returncode == 0
    assert "line 2: column option_a contains what may be" in allowed.stderr
    other = ("study", "import", place / "questions.csv", "--db", store.path, "--bank", "other")
    assert "is only for a folder" in run(*other, "--allow-possible-identifiers").stderr


def test_patients_and_images_that_look_alike_are_the_same(tmp_path: Path, store: Store) -> None:
    """The spreadsheet has composed characters, and the name of the file has decomposed ones."""
    place = write_folder(tmp_path)
    (place / "second.dcm").rename(place / "L\u0075\u0308ng.dcm")
    (place / "questions.csv").write_text(
        "item_id,question,option_a,option_b,truth,images,patient_id\n"
        f"q1,Is it?,Yes,No,B,{FILE},M\u00fc 1\n"
        "q2,Is it large?,Yes,No,A,L\u00fcng.dcm,Mu\u0308\u00a01\n",
        encoding="utf-8",
    )
    import_dicom(store, place, name="own", acting=ACTING)
    with store.look() as look:
        rows = look.rows("SELECT patient_id FROM items")
    assert len(rows) == 2
    assert len({row["patient_id"] for row in rows}) == 1


@pytest.mark.parametrize("answer", ["A", "Yes", "B", "Quentin Featherstone"])
def test_two_columns_of_the_correct_answer_must_agree(
    tmp_path: Path, store: Store, answer: str
) -> None:
    """The second column is searched for names too."""
    place = write_folder(tmp_path)
    (place / "questions.csv").write_text(
        "item_id,question,option_a,option_b,truth,Answer,images\n"
        f"q1,Is there an effusion?,Yes,No,A,{answer},second.dcm\n"
    )
    if answer in ("A", "Yes"):
        assert import_dicom(store, place, name="own", acting=ACTING).n_items == 1
    else:
        reason = "answers that differ: truth A, Answer B" if answer == "B" else "Answer contains"
        with pytest.raises(FaultyBank, match=reason):
            import_dicom(store, place, name="own", acting=ACTING)
