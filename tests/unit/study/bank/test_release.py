"""The published data set: its splits, missing films, and an interrupted import."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.bank.images import ImageFolder
from study.bank.importing import FaultyBank, Imported, import_bank
from study.bank.layout import find_bank, single_file_bank
from study.bank.reading import ImportOptions
from study.base.bank_model import Film
from study.base.canonical import sha256_of
from study.base.errors import BadFile, NotNow
from study.cli import main
from study.store import Store, banks
from study.store.staging import staging
from study.tables import source, text_file
from tests.conftest import ACTING
from tests.unit.study.bank.conftest import ItemDict, write_film


@dataclass(frozen=True)
class CommandResult:
    """The status and output of a command."""

    code: int
    out: str


Cli = Callable[..., CommandResult]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Return a function that runs a command of the study."""

    def run(*words: object) -> CommandResult:
        before = sys.stdout
        code = main([str(word) for word in words])
        if sys.stdout is not before:  # a refused command closes its output
            sys.stdout.close()
            sys.stdout = before
        return CommandResult(code, capsys.readouterr().out)

    return run


VIEW_NAMES = [
    "ANTERO_POSTERIOR", "AP", "AP AXIAL", "DECUBITUS", "ERECT", "KUB", "LAO", "LAT", "LATERAL",
    "LL", "LPO", "N/A", "None", "OBLIQUE", "OTHER", "PA", "PICC LINE", "POSTERO_ANTERIOR", "RAO",
    "RPO", "SUPINE", "UNKNOWN", "AP (KUB)",
]  # fmt: skip


def _items(split: str, item: ItemDict, n: int) -> dict[str, ItemDict]:
    """Return items of different patients, with the frontal film first."""
    items = {}
    for k in range(n):
        place = f"../deid_png/{split}{k}/A/studies/1/series/2/instances"
        items[f"{split}-{k}"] = item | {
            "PatientID": f"{split}{k}",
            "study_id": f"p{split}{k}_aA_s1",
            "ImagePath": [f"{place}/front.png", f"{place}/side.png"],
            "validation_code": str(k % 2),
        }
    return items


@pytest.fixture
def release(tmp_path: Path, item: ItemDict) -> Path:
    """Return the folder of the release: splits of 3, 2 and 1 items with all films."""
    root = tmp_path / "ReXVQA"
    (root / "metadata").mkdir(parents=True)
    for split, n in (("train", 3), ("valid", 2), ("test", 1)):
        items = _items(split, item, n)
        text = json.dumps(items)
        (root / "metadata" / f"{split}_vqa_data.json").write_text(text)
        for record in items.values():
            for path in record["ImagePath"]:
                write_film(root / path.removeprefix("../"))
    return root


def _film(release: Path, split: str, k: int, name: str) -> Path:
    return release / f"deid_png/{split}{k}/A/studies/1/series/2/instances/{name}.png"


def _import_release(store: Store, release: Path, *splits: str, **options: Any) -> Imported:
    parts, images = find_bank(release, splits)
    return import_bank(
        store,
        parts,
        name="release",
        images=images,
        options=ImportOptions(**options),
        acting=ACTING,
    )


def _split_of(store: Store) -> dict[str, str]:
    with store.look() as look:
        return {item.item_id: item.attributes["split"] for item in banks.complete_items(look, 1)}


def test_a_folder_is_imported_with_the_split_of_each_item(store: Store, release: Path) -> None:
    """All splits form one bank in their usual order, with other attributes of the items."""
    result = _import_release(store, release)
    assert (result.n_items, result.n_films, result.n_left_out) == (6, 12, 0)
    assert list(_split_of(store)) == [
        "train-0",
        "train-1",
        "train-2",
        "valid-0",
        "valid-1",
        "test-0",
    ]
    assert set(_split_of(store).values()) == {"train", "valid", "test"}
    with store.look() as look:
        item = next(banks.complete_items(look, 1))
    assert item.attributes["class"] == "x"
    assert item.attributes["validation_code"] == "0"


@pytest.mark.parametrize("words", [("valid", "test"), ("valid", "--split", "test")])
def test_splits_can_be_selected_by_command(
    cli: Cli, store: Store, release: Path, words: Any
) -> None:
    """An option accepts several names and can be repeated."""
    result = cli("import", release, "--db", store.path, "--bank", "part", "--split", *words)
    assert result.code == 0
    assert "Imported 3 items and 6 films" in result.out


def test_the_error_about_a_missing_split_lists_the_others(release: Path) -> None:
    """The splits are listed in their usual order."""
    with pytest.raises(BadFile, match=r"no split dev\. Available splits: train, valid, test"):
        find_bank(release, ("dev",))


def test_a_file_that_is_a_link_out_of_the_folder_is_refused(release: Path, tmp_path: Path) -> None:
    """A link inside the folder is accepted."""
    file = release / "metadata/valid_vqa_data.json"
    file.rename(release / "valid.json")
    file.symlink_to(release / "valid.json")
    assert [part.split for part in find_bank(release)[0]] == ["train", "valid", "test"]
    (release / "valid.json").rename(tmp_path / "elsewhere.json")
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(BadFile, match=r"valid_vqa_data\.json is a link that leads out"):
        find_bank(release)
    assert len(find_bank(release, ["train"])[0]) == 1


def test_the_images_of_a_single_file_of_the_release_are_found(store: Store, release: Path) -> None:
    """The images are in a folder next to `metadata`, even if no film exists."""
    file = release / "metadata/test_vqa_data.json"
    assert single_file_bank(file, None)[1] == release
    for film in (release / "deid_png").rglob("*.png"):
        film.unlink()
    parts, images = single_file_bank(file, None)
    assert images == release
    assert [part.split for part in parts] == ["test"]


def test_missing_films_are_counted_in_one_message(
    store: Store, tmp_path: Path, item: ItemDict
) -> None:
    """The message lists twenty films and the options; nothing is stored."""
    (tmp_path / "metadata").mkdir()
    (tmp_path / "deid_png").mkdir()
    text = json.dumps(_items("test", item, 30))
    (tmp_path / "metadata/test_vqa_data.json").write_text(text)
    with pytest.raises(FaultyBank) as refused:
        _import_release(store, tmp_path)
    assert "Missing images: 60, of 30 items" in str(refused.value)
    assert str(refused.value).count("not found") == 20
    assert "--missing-images frontal" in str(refused.value)
    assert (refused.value.missing.n_films, refused.value.missing.n_items) == (60, 30)
    assert sorted(store.path.parent.glob(f"{store.path.name}-import*")) == []


def test_items_with_missing_films_can_be_omitted(store: Store, release: Path) -> None:
    """The other items are imported."""
    _film(release, "train", 0, "side").unlink()
    result = _import_release(store, release, missing_images="drop")
    assert (result.n_items, result.n_left_out, result.missing.n_items) == (5, 1, 1)
    assert "train-0" not in _split_of(store)


def test_items_with_a_frontal_film_can_be_imported(store: Store, release: Path) -> None:
    """Missing films are left out; an item without its frontal film is omitted."""
    _film(release, "train", 0, "side").unlink()
    _film(release, "train", 1, "front").unlink()
    result = _import_release(store, release, missing_images="frontal")
    assert (result.n_items, result.n_left_out) == (5, 1)
    assert (result.missing.n_films, result.missing.n_shortened) == (2, 1)
    with store.look() as look:
        views = {
            item.item_id: [v.label for v in item.views] for item in banks.complete_items(look, 1)
        }
    assert "train-1" not in views
    assert views["train-0"] == ["PA"]
    assert views["train-2"] == ["PA", "LATERAL"]


def test_the_first_of_several_unnamed_views_counts_as_frontal(
    store: Store, release: Path, item: ItemDict
) -> None:
    """About nine in ten unnamed films of the release are frontal."""
    file = release / "metadata/train_vqa_data.json"
    items = {
        key: record | {"ImageViewPosition": ["UNKNOWN", "UNKNOWN"]}
        for key, record in _items("train", item, 3).items()
    }
    file.write_text(json.dumps(items))
    _film(release, "train", 0, "side").unlink()
    _film(release, "train", 1, "front").unlink()
    _import_release(store, release, "train", missing_images="frontal")
    assert list(_split_of(store)) == ["train-0", "train-2"]


def test_every_view_of_the_release_is_accepted(store: Store, release: Path, item: ItemDict) -> None:
    """A name of a view that could reveal a finding is stored, and not shown."""
    files = [f"deid_png/{n}.png" for n in range(len(VIEW_NAMES))]
    for file in files:
        write_film(release / file)
    many = item | {"ImagePath": files, "ImageViewPosition": VIEW_NAMES}
    (release / "metadata/test_vqa_data.json").write_text(json.dumps({"q": many}))
    _import_release(store, release, "test")
    with store.look() as look:
        (stored_item,) = banks.complete_items(look, 1)
    labels = {view.original or view.label: view.label for view in stored_item.views}
    assert labels["PICC LINE"] == labels["KUB"] == ""
    assert labels["AP (KUB)"] == "AP"
    assert labels["POSTERO_ANTERIOR"] == "PA"


def test_an_interrupted_import_resumes_without_decoding_films_again(
    store: Store, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupted import left no rows; films that have changed are decoded again."""

    def interrupt(step: str, done: int, total: int) -> None:
        if step == "store":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _import_release(store, release, progress=interrupt)
    with store.look() as look:
        assert banks.listed(look) == []
    write_film(_film(release, "test", 0, "front"), level=9)
    read: list[str] = []
    look_at = ImageFolder.read

    def count_and_decode(self: ImageFolder, path: str) -> Film:
        read.append(path)
        return look_at(self, path)

    monkeypatch.setattr(ImageFolder, "read", count_and_decode)
    assert _import_release(store, release).n_items == 6
    assert read == ["deid_png/test0/A/studies/1/series/2/instances/front.png"]
    assert sorted(store.path.parent.glob(f"{store.path.name}-import*")) == []


def test_simultaneous_imports_are_refused(store: Store, release: Path) -> None:
    """The second one does not affect the first."""
    with (
        staging(store.path.with_name(f"{store.path.name}-import"), release),
        pytest.raises(NotNow, match="under way"),
    ):
        _import_release(store, release)
    assert _import_release(store, release).n_items == 6


def test_a_second_import_of_the_same_files_changes_nothing(
    cli: Cli, store: Store, release: Path
) -> None:
    """The command reports this and succeeds; other files with the same name are refused."""
    words = ("import", release, "--db", store.path, "--bank", "release")
    assert cli(*words).code == 0
    repeated = cli(*words)
    assert (repeated.code, repeated.out.count("nothing was changed")) == (0, 1)
    assert cli(*words, "--split", "test").code == 1
    with store.look() as look:
        assert len(banks.listed(look)) == 1


def test_the_content_hash_equals_that_of_the_complete_content(store: Store, release: Path) -> None:
    """The import computes the hash in parts."""
    _import_release(store, release)
    with store.look() as look:
        films = sorted(banks.complete_films(look, 1), key=lambda film: film.path)
        rows = {row["item_id"]: row for row in look.rows("SELECT * FROM items")}
        items = [
            {
                **{
                    key: value
                    for key, value in rows[item.item_id].items()
                    if key not in ("id", "bank", "origin")
                },
                "truth": item.truth,
                "explanation": item.explanation,
                "attributes": dict(item.attributes),
                "views": [
                    [n, view.label, view.path, *([view.original] if view.original else [])]
                    for n, view in enumerate(item.views, 1)
                ],
                "report": dict(item.report),
            }
            for item in sorted(banks.complete_items(look, 1), key=lambda item: item.item_id)
        ]
        (bank,) = banks.listed(look)
    facts = ("path", "sha256", "width", "height", "bits", "low", "high", "n_bytes")
    content = {
        "simulated": False,
        "films": [{name: getattr(film, name) for name in facts} for film in films],
        "items": items,
    }
    assert bank.content_sha256 == sha256_of(content)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    entries=st.dictionaries(st.text(max_size=9), _JSON, min_size=1, max_size=9)
    | st.lists(_JSON, min_size=1, max_size=9),
    indent=st.none() | st.integers(0, 2),
    size=st.integers(1, 40),
    ascii=st.booleans(),
)
def test_a_file_read_in_parts_gives_the_same_entries(
    entries: Any,
    indent: int | None,
    size: int,
    ascii: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The end of a part may divide a number, a character, an escape or a line break."""
    path = tmp_path_factory.mktemp("parts") / "entries.json"
    path.write_text(
        json.dumps(entries, indent=indent, ensure_ascii=ascii), encoding="utf-8", newline="\r\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "_PART_BYTES", size)
        read = source.read_source(path, format="json")
    pairs = (
        list(entries.items()) if isinstance(entries, dict) else [("", entry) for entry in entries]
    )
    assert [(record.key, record.value) for record in read.records] == pairs


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}\n, "c": {"d": [1, 2}}',
        '[{"a": 1}\n {"b": 2}]',
        '{"a": 1} x',
        '{"a": {"b": "c',
        "[1,]",
    ],
)
def test_the_position_of_invalid_json_is_that_in_the_file(tmp_path: Path, text: str) -> None:
    """Line and column refer to the file, not to a part of it."""
    path = tmp_path / "bank.json"
    path.write_text(text)
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "_PART_BYTES", 3)
        with pytest.raises(BadFile) as parts:
            source.read_source(path)
    place = f"line {expected.value.lineno}, column {expected.value.colno}: "
    assert place in str(parts.value)
