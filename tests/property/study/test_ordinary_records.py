"""Records read by columns give the same rows and notes as records read one by one."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from study.bank.fields import Notes
from study.bank.images import ImageFolder
from study.bank.items import ItemReader
from study.bank.ordinary import add_entries
from study.base.bank_model import Fault
from study.store.staging import Batch
from study.tables.source import Record

Fields = dict[str, Any]

_FIELDS: Fields = {
    "question": "Which finding is present?",
    "options": ["A. Nodule", "B. Mass", "C. Bilateral effusion", "D. Normal"],
    "correct_answer": "B",
    "correct_answer_explanation": "A mass is seen.",
    "task_name": "Presence",
    "category": "Lung",
    "subcategory": "Mass",
    "class": "finding",
    "study_id": "S1",
    "AccessionNumber": "A1",
    "PatientID": "P1",
    "PatientSex": "F",
    "PatientAge": "060Y",
    "Findings": "Clear lungs.",
    "ImagePath": ["../films/1.png"],
    "ImageViewPosition": ["POSTERO_ANTERIOR"],
    "ImageModality": ["DX"],
}
_OTHER_FIELDS: Fields = {
    "colour": "grey",
    "item_id": "q1",
    "prior_images": ["0.png"],
    "pixel_spacing": 0.2,
    "context": "Age: 50",
    "option_a": "Nodule",
    "split": "test",
    "Question": "Again?",
    "gender": "M",
    "!": "sign",
}
_ODD_VALUES: tuple[Any, ...] = (
    *(None, "", "  ", " x ", 0, 1, 60.0, True, float("nan"), float("inf"), [], {}, {"a": 1}),
    *(["a"], ["a", "b"], [1], [None], "a|b", '["a", "b"]', '{"A": "x", "B": "y"}', "line\nbreak"),
    *("é", "\u200b", "\u3000x", "\ud800", "x\0", "\x85", "y" * 2_001, "y" * 10_001 + " "),
    *("B", "a", "(C)", "H", "В", "Mass", "None.", "U", "7", "50-60", "PICC LINE", "entry 3"),
    *(["A. Mass", "B. mass"], ["B. Nodule", "A. Mass"], ["A. fumigatus", "Mass"], ["A. x", "B. "]),
    *(["1. Yes", "2. No"], ["Yes", "No."], ["A", "B"], ["Naïve", "naïve"], ["x|y", "x"]),
    *(["a.png", "a.png"], ["../../a.png"], "a.png;b.png", ["http://x/a.png"], ["é.png"]),
    *("],[", "},{", '","'),
)
_KEYS = st.sampled_from(("", "é", " q ", "q\n", "x" * 501, "a b", "entry 2", "q1"))


@st.composite
def _entries(draw: st.DrawFn) -> list[Record | Fault]:
    """Return records of which a few differ from the others in a few values or keys."""
    fields = {**_FIELDS}
    for name in draw(st.lists(st.sampled_from([*_OTHER_FIELDS]), max_size=2)):
        fields[name] = _OTHER_FIELDS[name]
    for name in draw(st.lists(st.sampled_from([*_FIELDS]), max_size=2)):
        fields.pop(name, None)
    if draw(st.booleans()):
        fields[draw(st.sampled_from([*fields]))] = draw(st.sampled_from(_ODD_VALUES))
    entries: list[Record | Fault] = []
    for n in range(1, draw(st.integers(20, 26)) + 1):
        value: Any = dict(fields)
        key = f"q{n}"
        if draw(st.integers(0, 3)) == 0:
            value[draw(st.sampled_from([*value]))] = draw(st.sampled_from(_ODD_VALUES))
        match draw(st.integers(0, 30)):
            case 0:
                key = draw(_KEYS)
            case 1:
                value.pop(draw(st.sampled_from([*value])))
            case 2:
                value = draw(st.sampled_from((None, 3, "text", [], {})))
        entries.append(Record(key=key, place=f"entry {n}", value=value))
    if draw(st.integers(0, 5)) == 0:
        entries.insert(3, Fault(key="line 4", what="not JSON", remedy="write JSON"))
    return entries


def _one_by_one(
    entries: Sequence[Record | Fault], reader: ItemReader, batch: Batch, split: str
) -> None:
    for n, entry in enumerate(entries, 1):
        if isinstance(entry, Record):
            batch.add(n, reader.draft(entry, split))
        else:
            batch.add_fault(n, entry)


def _read(add: Any, folder: ImageFolder, entries: Sequence[Record | Fault], split: str) -> Fields:
    notes, batch = Notes(None), Batch()
    reader = ItemReader(folder, notes)
    add(entries, reader, batch, split)
    return {
        "n": batch.n,
        "rows": [(table, rows) for table, rows in batch.rows.items() if rows],
        "names": {column: sorted(names) for column, names in batch.names.items()},
        "unusual ids": batch.has_unusual_ids,
        "notes": notes.lines(),
        "reader": (reader.has_truth, reader.has_items, reader.has_place_keys),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ImageFolder:
    """Return an images folder; its films need not exist."""
    return ImageFolder(tmp_path_factory.mktemp("images"))


@given(entries=_entries(), split=st.sampled_from(("", "train")))
@example(entries=[], split="")
def test_columns_give_the_rows_of_single_records(
    folder: ImageFolder, entries: list[Record | Fault], split: str
) -> None:
    """Items, faults, notes and their order do not depend on how a record is read."""
    assert repr(_read(add_entries, folder, entries, split)) == repr(
        _read(_one_by_one, folder, entries, split)
    )


@pytest.mark.parametrize("name", ["", *_OTHER_FIELDS])
def test_every_odd_value_in_every_field(folder: ImageFolder, name: str) -> None:
    """Each unexpected value of each field has the same effect among ordinary records."""
    fields = {**_FIELDS, **({name: _OTHER_FIELDS[name]} if name else {})}
    for field in fields:
        entries = [
            Record(key=f"q{n}", place=f"entry {n}", value={**fields, field: value})
            for n, value in enumerate([fields[field]] * 4 + [*_ODD_VALUES], 1)
        ]
        assert repr(_read(add_entries, folder, entries, "")) == repr(
            _read(_one_by_one, folder, entries, "")
        ), field


def test_ordinary_records_are_read_by_columns(
    folder: ImageFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first ordinary record and the unusual records are read one by one."""
    one_by_one = []
    draft = ItemReader.draft

    def counted(self: ItemReader, record: Record, split: str = "") -> Any:
        one_by_one.append(record.key)
        return draft(self, record, split)

    monkeypatch.setattr(ItemReader, "draft", counted)
    odd: dict[int, Fields] = {
        5: {"PatientAge": "old"},
        7: {"options": ["Yes", "yes"]},
        8: {"Findings": None},
    }
    entries = [
        Record(key=f"q{n}", place=f"entry {n}", value={**_FIELDS, **odd.get(n, {})})
        for n in range(40)
    ]
    add_entries(entries, ItemReader(folder, Notes()), Batch(), "")
    assert one_by_one == ["q0", "q5", "q7"]
