"""Values that look alike are treated as equal in a bank, its draws and its predictions."""

import json
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from study.bank.fields import Fields, Trouble
from study.bank.importing import Imported, import_bank
from study.bank.managing import check_bank, describe_in_full, item_of, join_banks
from study.bank.options import note_on_letters, read_options, read_truth
from study.base.errors import BadFile, BadInput
from study.lifecycle import studies
from study.models.predictions import read_predictions
from study.protocol.protocol import Protocol
from study.protocol.sampling import count_drawable, preview_draw
from study.store import Store, bank_contents, banks
from tests.conftest import ACTING
from tests.unit.study.bank.conftest import write_film
from tests.unit.study.base.test_text_keys import LOOK_ALIKES
from ui.banks.questions import facets

NFC, NFD = "M\u00fc1", "Mu\u03081"
assert unicodedata.normalize("NFD", NFC) == NFD

Row = dict[str, Any]
Bank = Callable[[Sequence[Row]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Bank:
    """Return a function that writes a bank file with a film for each item."""

    def write(rows: Sequence[Row]) -> Path:
        folder = tmp_path / "bank"
        rows_written = []
        for n, row in enumerate(rows):
            write_film(folder / f"{n}.png", level=n)
            plain = {"question": f"Is it {n}?", "options": ["Yes", "No"], "truth": "A"}
            rows_written.append({"item_id": f"q{n}", "images": f"{n}.png", **plain, **row})
        path = folder / "bank.json"
        path.write_text(json.dumps(rows_written))
        return path

    return write


def _import_rows(store: Store, path: Path, name: str = "bank") -> Imported:
    return import_bank(store, path, name=name, images=path.parent, acting=ACTING)


def _protocol(**values: Any) -> Protocol:
    return Protocol.from_json({"cases": 2, "stratify_by": [], **values})


IDS = [pair for pair in LOOK_ALIKES if pair[1].isprintable() or not {*pair[1]} & {*"\a\t\n"}]
"""The pairs without control characters, which item IDs must not contain."""


@pytest.mark.parametrize(("text", "other", "difference"), IDS)
def test_the_error_of_item_ids_that_look_alike_names_the_difference(
    store: Store, write: Bank, text: str, other: str, difference: str
) -> None:
    path = write([{"item_id": text}, {"item_id": other}])
    with pytest.raises(BadFile, match="item id given 2 times") as refused:
        _import_rows(store, path)
    assert difference in str(refused.value)


@pytest.mark.parametrize(("text", "other", "difference"), LOOK_ALIKES)
def test_a_patient_in_two_spellings_is_the_same_patient(
    store: Store, write: Bank, text: str, other: str, difference: str
) -> None:
    path = write([{"patient_id": text}, {"patient_id": other}, {"patient_id": "another"}])
    notes = "\n".join(_import_rows(store, path).notes)
    with store.look() as look:
        bank = banks.bank_row(look, "bank").id
        assert bank_contents.totals(look, bank)["patients"] == 2
        assert [item.patient_id for item in banks.complete_items(look, bank)] == [
            text,
            other.strip(),
            "another",
        ]
    if text != other.strip():
        assert "counts as" in notes
        assert difference in notes
    assert count_drawable(store, bank, _protocol()) == (3, 2)
    with pytest.raises(BadInput, match="3 needed, 2 available"):
        preview_draw(store, bank, _protocol(cases=3))


def test_an_examination_with_two_spellings_of_its_patient_has_one_patient(
    store: Store, write: Bank
) -> None:
    """Two spellings of a patient are not a contradiction; a missing patient is filled in."""
    rows = [
        {"examination_id": NFC, "patient_id": NFC},
        {"examination_id": NFD, "patient_id": NFD},
        {"examination_id": NFD, "patient_id": ""},
    ]
    _import_rows(store, write(rows))
    with store.look() as look:
        bank = banks.bank_row(look, "bank").id
        totals = bank_contents.totals(look, bank)
        assert (totals["examinations"], totals["patients"]) == (1, 1)
        assert "" not in {item.patient_id for item in banks.complete_items(look, bank)}
    rows[1]["patient_id"] = "P2"
    with pytest.raises(BadFile, match="is given to patients"):
        _import_rows(store, write(rows), "again")


TASKS = [
    "Presence Assessment",
    "PRESENCE ASSESSMENT",
    "presence  assessment",
    "Presence\u00a0Assessment",
]


def test_a_task_in_several_spellings_is_one_stratum(store: Store, write: Bank) -> None:
    rows = [
        {"task": task, "category": task, "subcategory": task, "site": task, "patient_id": f"P{n}"}
        for n, task in enumerate([*TASKS, "Negation"])
    ]
    path = write(rows)
    notes = "\n".join(_import_rows(store, path).notes)
    assert notes == "\n".join(check_bank(path, images=None).notes)
    assert "task “PRESENCE ASSESSMENT” counts as “Presence Assessment”: they differ in" in notes
    with store.look() as look:
        by = describe_in_full(look, "bank")["by"]
        bank = banks.bank_row(look, "bank").id
        assert [item.task for item in banks.complete_items(look, bank)] == [*TASKS, "Negation"]
    assert by["task"] == by["category"] == {"Negation": 1, "Presence Assessment": 4}
    assert set(facets(store, bank, "any")["task"]) == set(by["task"])
    for stratum in ("task", "category", "subcategory", "site"):
        drawn = preview_draw(store, bank, _protocol(stratify_by=[stratum], allocation="equal"))
        assert {row.name: row.n_items for row in drawn.strata} == by["task"]


def test_an_allocation_may_use_any_spelling_of_a_stratum_once(store: Store, write: Bank) -> None:
    rows = [{"task": TASKS[n % 4], "patient_id": f"P{n}"} for n in range(4)]
    _import_rows(store, write(rows))
    with store.look() as look:
        bank = banks.bank_row(look, "bank").id
    protocol = _protocol(stratify_by=["task"], allocation={TASKS[2]: 2})
    assert [stratum.n_drawn for stratum in preview_draw(store, bank, protocol).strata] == [2]
    protocol = _protocol(stratify_by=["task"], allocation={TASKS[2]: 1, TASKS[1]: 1})
    with pytest.raises(BadInput, match=r"names the stratum .* twice"):
        preview_draw(store, bank, protocol)


def test_lists_of_items_may_use_any_spelling(store: Store, write: Bank) -> None:
    _import_rows(store, write([{"item_id": NFD, "patient_id": "P1"}, {}, {}]))
    with store.look() as look:
        bank = banks.bank_row(look, "bank").id
        assert item_of(look, "bank", NFC).item_id == NFD
    assert [
        item for item, _ in preview_draw(store, bank, _protocol(cases=1, only_items=[NFC])).cases
    ] == [NFD]
    drawn = preview_draw(store, bank, _protocol(cases=2, without_items=[f"{NFC}\u200b"]))
    assert {item for item, _ in drawn.cases} == {"q1", "q2"}


@pytest.mark.parametrize(
    ("written", "on_disk"),
    [
        ("L\u00fcng.png", "Lu\u0308ng.png"),
        ("Lu\u0308ng.png", "L\u00fcng.png"),
        ("shot 9.png", "shot\u202f9.png"),
        ("a/L\u00fcng/\uff21.png", "a/Lu\u0308ng/A.png"),
    ],
)
def test_an_image_is_found_by_a_name_that_looks_alike(
    store: Store, write: Bank, tmp_path: Path, written: str, on_disk: str
) -> None:
    path = write([{"images": written}, {"images": on_disk}, {"images": written}])
    write_film(path.parent / on_disk, level=7)
    result = _import_rows(store, path)
    assert result.n_films == 1
    assert any("found under a name that differs" in note for note in result.notes)
    with store.look() as look:
        bank = banks.bank_row(look, "bank")
        (film,) = bank_contents.films_of(look, bank.id, 1)
        assert film.file.is_file()


def test_an_image_name_that_looks_like_two_files_is_missing(store: Store, write: Bank) -> None:
    path = write([{"images": "L\u00fcng.png"}])
    for name in ("Lu\u0308ng.png", "L\u00fcng\u200b.png"):
        write_film(path.parent / name)
    with pytest.raises(BadFile, match="not found"):
        _import_rows(store, path)


@pytest.mark.parametrize(("text", "other", "difference"), LOOK_ALIKES)
def test_predictions_are_matched_by_ids_that_look_alike(
    tmp_path: Path, text: str, other: str, difference: str
) -> None:
    path = tmp_path / "answers.json"
    path.write_text(
        json.dumps([{"item_id": other, "answer": "B"}, {"item_id": "q2", "answer": "A"}])
    )
    read = read_predictions(path, options={text: ("Yes", "No"), "q2": ("Yes", "No")})
    assert {prediction.item_id: prediction.answer for prediction in read.predictions} == {
        text: "B",
        "q2": "A",
    }
    assert not read.unknown_ids


def test_predictions_for_two_spellings_of_an_item_are_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([{"item_id": NFC, "answer": "B"}, {"item_id": NFD, "answer": "A"}]))
    with pytest.raises(BadFile, match="given again"):
        read_predictions(path, options={NFC: ("Yes", "No")})


def test_banks_with_equal_ids_are_joined_with_a_prefix(store: Store, write: Bank) -> None:
    rows = [{"patient_id": "P1", "examination_id": "E1"}, {"patient_id": "P2"}]
    _import_rows(store, write(rows), "north")
    _import_rows(store, write([{**rows[0], "question": "What?"}, rows[1]]), "south")
    with pytest.raises(BadInput, match="as a prefix of every ID"):
        join_banks(store, ["north", "south"], name="both", acting=ACTING)
    joined = join_banks(store, ["north", "south"], name="both", prefix=True, acting=ACTING)
    assert (joined.n_items, joined.shared_patients) == (4, ())
    with store.look() as look:
        items = list(banks.complete_items(look, banks.bank_row(look, "both").id))
    assert [item.item_id for item in items] == ["north/q0", "north/q1", "south/q0", "south/q1"]
    assert items[2].patient_id == "south/P1"
    assert items[2].examination_id == "south/E1"
    studies.draw(store, bank="both", study="trial", protocol=_protocol(cases=4), acting=ACTING)


def test_prefixes_that_could_give_duplicate_ids_are_refused(store: Store, write: Bank) -> None:
    _import_rows(store, write([{"item_id": "b/q"}]), "a")
    _import_rows(store, write([{"item_id": "q"}]), "a/b")
    with pytest.raises(BadInput, match="begins with"):
        join_banks(store, ["a", "a/b"], name="both", prefix=True, acting=ACTING)


LETTERED_OPTIONS = [
    ["\uff21\uff0eNodule", "\uff22\uff0eMass"],
    ["A\uff1aNodule", "B\uff1aMass"],
    ["\uff08A\uff09Nodule", "\uff08B\uff09 Mass"],
    ["A\u3001Nodule", "B\u3001Mass"],
    ["A \u2014 Nodule", "B \u2014 Mass"],
    ["A- Nodule", "B- Mass"],
    ["\u200bA. Nodule", "B.\u00a0Mass"],
    ["\u0410. Nodule", "\u0412. Mass"],
    {"\uff21": "Nodule", "B\u200b": "Mass"},
]


@pytest.mark.parametrize("options", LETTERED_OPTIONS)
def test_letters_of_options_are_removed_in_every_form(options: object) -> None:
    """Readers see the options in a different order, so a printed letter would be wrong."""
    trouble = Trouble("q1")
    fields = Fields({"options": options, "truth": "B"})
    assert (read := read_options(fields, trouble)) == ("Nodule", "Mass")
    assert read_truth(fields, read, trouble) == "B"
    assert not trouble.faults
    assert not note_on_letters(read)


@pytest.mark.parametrize(
    ("options", "is_noted"),
    [
        (["1. Nodule", "2. Mass"], True),
        (["\u0410) Nodule", "\u0411) Mass", "\u0412) Cyst"], True),
        (["**A.** Nodule", "**B.** Mass"], True),
        (["A. Nodule", "Mass"], True),
        (["1.5 cm", "2.5 cm"], False),
        (["1 nodule", "2 nodules"], False),
        (["A-lines", "B-lines"], False),
        (["Candida", "A. fumigatus"], False),
    ],
)
def test_kept_letters_and_numbers_of_options_are_noted(options: list[str], is_noted: bool) -> None:
    assert list(read_options(Fields({"options": options}), Trouble("q1"))) == options
    assert bool(note_on_letters(options)) is is_noted


@pytest.mark.parametrize("truth", ["\u0412", "(\u0432)", "\u0415."])
def test_a_letter_at_another_position_of_its_alphabet_is_an_error(truth: str) -> None:
    trouble = Trouble("q1")
    assert read_truth(Fields({"truth": truth}), list("uvwxyz"), trouble) is None
    assert "another alphabet" in trouble.faults[0].what
    for letter, plain in (("\u0410", "A"), ("\u0421", "C")):
        assert read_truth(Fields({"truth": letter}), list("uvwxyz"), trouble) == plain
