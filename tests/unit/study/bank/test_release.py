"""The release as it lies on a disk: its splits, films that are not there, an import cut off."""

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
from study.bank.layout import find_bank, one_file
from study.bank.reading import MissingImages
from study.base.bank_model import Film
from study.base.canonical import sha256_of
from study.base.errors import BadFile, NotNow
from study.cli import main
from study.store import Store, banks
from study.store.staging import staging
from study.tables import source, text_file
from tests.conftest import NOW
from tests.unit.study.bank.conftest import ItemDict, write_film


@dataclass(frozen=True)
class Said:
    """What a command ended in and wrote."""

    code: int
    out: str


Cli = Callable[..., Said]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Return a function that runs a command of the study."""

    def run(*words: object) -> Said:
        before = sys.stdout
        code = main([str(word) for word in words])
        if sys.stdout is not before:  # a command that is refused writes to nowhere afterwards
            sys.stdout.close()
            sys.stdout = before
        return Said(code, capsys.readouterr().out)

    return run


VIEWS = [
    "ANTERO_POSTERIOR", "AP", "AP AXIAL", "DECUBITUS", "ERECT", "KUB", "LAO", "LAT", "LATERAL",
    "LL", "LPO", "N/A", "None", "OBLIQUE", "OTHER", "PA", "PICC LINE", "POSTERO_ANTERIOR", "RAO",
    "RPO", "SUPINE", "UNKNOWN", "AP (KUB)",
]  # fmt: skip


def _items(split: str, item: ItemDict, n: int) -> dict[str, ItemDict]:
    """Return items of one patient each, frontal first, lateral second."""
    found = {}
    for k in range(n):
        where = f"../deid_png/{split}{k}/A/studies/1/series/2/instances"
        found[f"{split}-{k}"] = item | {
            "PatientID": f"{split}{k}",
            "study_id": f"p{split}{k}_aA_s1",
            "ImagePath": [f"{where}/front.png", f"{where}/side.png"],
            "validation_code": str(k % 2),
        }
    return found


@pytest.fixture
def release(tmp_path: Path, item: ItemDict) -> Path:
    """Return the release's folder: three splits of 3, 2 and 1 items, every film there."""
    root = tmp_path / "ReXVQA"
    (root / "metadata").mkdir(parents=True)
    for split, n in (("train", 3), ("valid", 2), ("test", 1)):
        items = _items(split, item, n)
        text = json.dumps(items)
        (root / "metadata" / f"{split}_vqa_data.json").write_text(text)
        for one in items.values():
            for path in one["ImagePath"]:
                write_film(root / path.removeprefix("../"))
    return root


def _film(release: Path, split: str, k: int, name: str) -> Path:
    return release / f"deid_png/{split}{k}/A/studies/1/series/2/instances/{name}.png"


def _bring(
    store: Store, release: Path, *splits: str, missing_images: MissingImages | None = None
) -> Imported:
    parts, images = find_bank(release, splits)
    return import_bank(
        store, parts, name="release", images=images, missing_images=missing_images, now=NOW
    )


def _split_of(store: Store) -> dict[str, str]:
    with store.look() as look:
        return {one.item_id: one.attributes["split"] for one in banks.whole_items(look, 1)}


def test_a_folder_is_enough_and_every_item_keeps_its_split(store: Store, release: Path) -> None:
    """All splits are one bank, in their usual order, with what else the file says of an item."""
    done = _bring(store, release)
    assert (done.n_items, done.n_films, done.n_left_out) == (6, 12, 0)
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
        one = next(banks.whole_items(look, 1))
    assert one.attributes["class"] == "x"
    assert one.attributes["validation_code"] == "0"


@pytest.mark.parametrize("words", [("valid", "test"), ("valid", "--split", "test")])
def test_splits_are_chosen_by_command(cli: Cli, store: Store, release: Path, words: Any) -> None:
    """Several names behind one option, or the option again."""
    done = cli("import", release, "--db", store.path, "--bank", "some", "--split", *words)
    assert done.code == 0
    assert "Imported 3 items and 6 films" in done.out


def test_a_split_that_is_not_there_is_refused_with_those_that_are(release: Path) -> None:
    """In their usual order."""
    with pytest.raises(BadFile, match=r"no split dev\. There: train, valid, test"):
        find_bank(release, ("dev",))


def test_a_file_that_is_a_link_out_of_the_folder_is_refused(release: Path, tmp_path: Path) -> None:
    """A link inside the folder is its file."""
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


def test_one_file_of_the_release_finds_its_images(store: Store, release: Path) -> None:
    """The paths lead out of `metadata` into the folder beside it, even if no film is there."""
    file = release / "metadata/test_vqa_data.json"
    assert one_file(file, None)[1] == release
    for film in (release / "deid_png").rglob("*.png"):
        film.unlink()
    parts, images = one_file(file, None)
    assert images == release
    assert [part.split for part in parts] == ["test"]


def test_missing_films_are_one_finding_with_a_count(
    store: Store, tmp_path: Path, item: ItemDict
) -> None:
    """Nothing is kept; twenty are named, and what can be done about it."""
    (tmp_path / "metadata").mkdir()
    (tmp_path / "deid_png").mkdir()
    text = json.dumps(_items("test", item, 30))
    (tmp_path / "metadata/test_vqa_data.json").write_text(text)
    with pytest.raises(FaultyBank) as refused:
        _bring(store, tmp_path)
    assert "Missing images: 60, of 30 items" in str(refused.value)
    assert str(refused.value).count("not found") == 20
    assert "--missing-images frontal" in str(refused.value)
    assert (refused.value.missing.n_films, refused.value.missing.n_items) == (60, 30)
    assert sorted(store.path.parent.glob(f"{store.path.name}-import*")) == []


def test_items_without_all_their_films_are_left_out(store: Store, release: Path) -> None:
    """Where that was asked for; the rest is imported."""
    _film(release, "train", 0, "side").unlink()
    done = _bring(store, release, missing_images="drop")
    assert (done.n_items, done.n_left_out, done.missing.n_items) == (5, 1, 1)
    assert "train-0" not in _split_of(store)


def test_items_are_taken_whose_frontal_film_is_there(store: Store, release: Path) -> None:
    """Without the films that are missing; an item whose frontal film is missing is left out."""
    _film(release, "train", 0, "side").unlink()
    _film(release, "train", 1, "front").unlink()
    done = _bring(store, release, missing_images="frontal")
    assert (done.n_items, done.n_left_out) == (5, 1)
    assert (done.missing.n_films, done.missing.n_shortened) == (2, 1)
    with store.look() as look:
        views = {one.item_id: [v.label for v in one.views] for one in banks.whole_items(look, 1)}
    assert "train-1" not in views
    assert views["train-0"] == ["PA"]
    assert views["train-2"] == ["PA", "LATERAL"]


def test_of_views_without_a_name_the_first_is_the_frontal_one(
    store: Store, release: Path, item: ItemDict
) -> None:
    """About nine in ten films of the release without a name are frontal."""
    file = release / "metadata/train_vqa_data.json"
    items = {
        key: one | {"ImageViewPosition": ["UNKNOWN", "UNKNOWN"]}
        for key, one in _items("train", item, 3).items()
    }
    file.write_text(json.dumps(items))
    _film(release, "train", 0, "side").unlink()
    _film(release, "train", 1, "front").unlink()
    _bring(store, release, "train", missing_images="frontal")
    assert list(_split_of(store)) == ["train-0", "train-2"]


def test_every_view_of_the_release_is_taken(store: Store, release: Path, item: ItemDict) -> None:
    """What could tell a finding is shown to nobody, and kept as the file said it."""
    files = [f"deid_png/{n}.png" for n in range(len(VIEWS))]
    for file in files:
        write_film(release / file)
    many = item | {"ImagePath": files, "ImageViewPosition": VIEWS}
    (release / "metadata/test_vqa_data.json").write_text(json.dumps({"q": many}))
    _bring(store, release, "test")
    with store.look() as look:
        (one,) = banks.whole_items(look, 1)
    said = {view.said or view.label: view.label for view in one.views}
    assert said["PICC LINE"] == said["KUB"] == ""
    assert said["AP (KUB)"] == "AP"
    assert said["POSTERO_ANTERIOR"] == "PA"


def test_an_import_cut_off_does_not_look_at_films_again(
    store: Store, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is in the store; the films it had decoded are known, changed ones are not."""

    def cut(step: str, done: int, total: int) -> None:
        if step == "store":
            raise KeyboardInterrupt

    parts, images = find_bank(release)
    with pytest.raises(KeyboardInterrupt):
        import_bank(store, parts, name="release", images=images, progress=cut, now=NOW)
    with store.look() as look:
        assert banks.listed(look) == []
    write_film(_film(release, "test", 0, "front"), level=9)
    read: list[str] = []
    look_at = ImageFolder.read

    def counted(self: ImageFolder, path: str) -> Film:
        read.append(path)
        return look_at(self, path)

    monkeypatch.setattr(ImageFolder, "read", counted)
    assert _bring(store, release).n_items == 6
    assert read == ["deid_png/test0/A/studies/1/series/2/instances/front.png"]
    assert sorted(store.path.parent.glob(f"{store.path.name}-import*")) == []


def test_one_import_at_a_time(store: Store, release: Path) -> None:
    """The second is told to wait, and spoils nothing of the first."""
    with (
        staging(store.path.with_name(f"{store.path.name}-import"), release),
        pytest.raises(NotNow, match="under way"),
    ):
        _bring(store, release)
    assert _bring(store, release).n_items == 6


def test_the_same_files_again_change_nothing(cli: Cli, store: Store, release: Path) -> None:
    """By command, which says so and succeeds; other files under the name are refused."""
    words = ("import", release, "--db", store.path, "--bank", "release")
    assert cli(*words).code == 0
    again = cli(*words)
    assert (again.code, again.out.count("nothing was changed")) == (0, 1)
    assert cli(*words, "--split", "test").code == 1
    with store.look() as look:
        assert len(banks.listed(look)) == 1


def test_the_content_hash_is_that_of_the_whole(store: Store, release: Path) -> None:
    """Though it is never held as a whole."""
    _bring(store, release)
    with store.look() as look:
        films = sorted(banks.whole_films(look, 1), key=lambda one: one.path)
        rows = {row["item_id"]: row for row in look.rows("SELECT * FROM items")}
        items = [
            {
                **{
                    key: value
                    for key, value in rows[one.item_id].items()
                    if key not in ("id", "bank", "origin")
                },
                "truth": one.truth,
                "explanation": one.explanation,
                "attributes": dict(one.attributes),
                "views": [
                    [n, view.label, view.path, *([view.said] if view.said else [])]
                    for n, view in enumerate(one.views, 1)
                ],
                "report": dict(one.report),
            }
            for one in sorted(banks.whole_items(look, 1), key=lambda one: one.item_id)
        ]
        (bank,) = banks.listed(look)
    facts = ("path", "sha256", "width", "height", "bits", "low", "high", "n_bytes")
    whole = {
        "simulated": False,
        "films": [{name: getattr(film, name) for name in facts} for film in films],
        "items": items,
    }
    assert bank.content_sha256 == sha256_of(whole)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    found=st.dictionaries(st.text(max_size=9), _JSON, min_size=1, max_size=9)
    | st.lists(_JSON, min_size=1, max_size=9),
    indent=st.none() | st.integers(0, 2),
    size=st.integers(1, 40),
    ascii=st.booleans(),
)
def test_a_file_read_in_parts_is_as_one_read_whole(
    found: Any, indent: int | None, size: int, ascii: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wherever a part ends: in a number, a sign of several bytes, an escape, a line's end."""
    path = tmp_path_factory.mktemp("parts") / "entries.json"
    path.write_text(
        json.dumps(found, indent=indent, ensure_ascii=ascii), encoding="utf-8", newline="\r\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "_PART_BYTES", size)
        read = source.read_source(path, format="json")
    pairs = list(found.items()) if isinstance(found, dict) else [("", one) for one in found]
    assert [(one.key, one.value) for one in read.records] == pairs


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
def test_where_json_breaks_off_is_told_as_of_the_whole(tmp_path: Path, text: str) -> None:
    """The line, the column and the sign are those in the file, not in a part of it."""
    path = tmp_path / "bank.json"
    path.write_text(text)
    with pytest.raises(json.JSONDecodeError) as whole:
        json.loads(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "_PART_BYTES", 3)
        with pytest.raises(BadFile) as parts:
            source.read_source(path)
    place = f"line {whole.value.lineno}, column {whole.value.colno}: "
    assert place in str(parts.value)
