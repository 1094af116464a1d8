"""Writing the results: completely or not at all, without changing other files."""

import os
from pathlib import Path

import pytest

from analysis.cli import main
from analysis.errors import OutputError
from analysis.report.formats.folder import OutputPart, replacement_folder

pytestmark = pytest.mark.usefixtures("without_printing")

PATH_RENAME = Path.rename


def _report(folder: Path, out: Path, command: str = "report") -> int:
    return main([command, str(folder), "--out", str(out)])


def _files_in(place: Path) -> dict[str, bytes]:
    return {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}


@pytest.mark.thorough
def test_the_command_prints_the_path_of_the_report(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line can be passed to another command."""
    assert _report(folder, tmp_path / "deep" / "out") == 0
    path = Path(capsys.readouterr().out.strip())
    assert path == tmp_path / "deep" / "out" / "report.html"
    assert path.is_file()


@pytest.mark.thorough
def test_nothing_outside_an_existing_folder_is_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent folder may belong to another user or be on another filesystem."""
    parent = tmp_path / "parent"
    (parent / "out").mkdir(parents=True)
    paths: list[Path] = []
    mkdir = Path.mkdir

    def watch(self: Path, *rest: object, **options: object) -> None:
        paths.append(self)
        mkdir(self, *rest, **options)

    monkeypatch.setattr(Path, "mkdir", watch)
    parent.chmod(0o555)
    try:
        assert _report(folder, parent / "out") == 0
    finally:
        parent.chmod(0o755)
    assert paths
    assert all(parent / "out" in place.parents for place in paths)
    assert sorted(p.name for p in (parent / "out").iterdir()) == [
        "figures",
        "paper",
        "report.html",
        "report.pdf",
        "results.json",
        "tables",
    ]


def test_a_symbolic_link_to_another_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    """The folder need not exist yet."""
    for there in (True, False):
        target, link = tmp_path / f"target-{there}", tmp_path / f"link-{there}"
        if there:
            target.mkdir()
        link.symlink_to(target)
        assert _report(folder, link, "tables") == 0
        assert link.is_symlink()
        assert (target / "tables/missing.csv").is_file()


def test_the_folder_can_have_the_longest_possible_name(folder: Path, tmp_path: Path) -> None:
    """The name of the temporary folder is short."""
    assert _report(folder, tmp_path / ("o" * 255), "tables") == 0
    assert _report(folder, tmp_path / ("o" * 256), "tables") == 1


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("tables", "is not a folder"),
        ("figures", "is not a folder"),
        ("report.html/x", "is not a file"),
        ("tables/notes.txt", "contains “notes.txt”, which no report wrote"),
        ("figures/mine/x", "contains “mine”"),
        ("figures/mine.png", "contains “mine.png”"),
        ("paper/draft.tex", "contains “draft.tex”, which no report wrote"),
        ("paper/mytables.tex", "contains “mytables.tex”"),
        ("report.pdf/x", "is not a file"),
    ],
)
def test_a_folder_that_cannot_be_written_is_reported_and_nothing_is_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, words: str
) -> None:
    """The folder is checked before anything is computed."""
    out = tmp_path / "out"
    (out / place).parent.mkdir(parents=True)
    (out / place).write_text("mine")
    before = _files_in(out)
    assert _report(folder, out) == 1
    assert words in capsys.readouterr().err
    assert _files_in(out) == before
    assert not [p for p in out.iterdir() if p.name.startswith(".")]


def test_links_and_reports_of_other_programs_are_kept(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder is replaced only if its results.json shows that it contains a report."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("mine")
    assert _report(folder, out) == 1
    assert "was not written by an earlier report" in capsys.readouterr().err
    assert _report(folder, out, "tables") == 0
    assert (out / "report.html").read_text() == "mine"
    other_folder = tmp_path / "theirs"
    for place in ("report.pdf", "paper/tables.tex"):
        (other_folder / place).parent.mkdir(parents=True, exist_ok=True)
        (other_folder / place).write_text("mine")
        assert _report(folder, other_folder) == 1
        assert "was not written by an earlier report" in capsys.readouterr().err
        assert (other_folder / place).read_text() == "mine"
        (other_folder / place).unlink()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "tables").symlink_to(tmp_path / "nowhere")
    assert _report(folder, linked) == 1
    assert "is a link" in capsys.readouterr().err


def _failing(patch: pytest.MonkeyPatch, step: int) -> None:
    """Make a move fail because the disk is full."""
    moves = iter(range(100))

    def rename(self: Path, target: Path) -> Path:
        if next(moves) == step:
            raise OSError(28, os.strerror(28))
        return PATH_RENAME(self, target)

    patch.setattr(Path, "rename", rename)


def test_a_failure_at_any_step_keeps_the_previous_files(tmp_path: Path) -> None:
    """Three parts are moved out and three in; after a failure all moves are undone."""
    parts = [
        OutputPart(name="tables", endings=(".csv",)),
        OutputPart(name="a.txt"),
        OutputPart(name="b.txt"),
    ]

    def write(text: str) -> None:
        with replacement_folder(tmp_path, parts) as fresh:
            (fresh / "tables").mkdir()
            for name in ("tables/one.csv", "a.txt", "b.txt"):
                (fresh / name).write_text(text)

    write("earlier")
    before = _files_in(tmp_path)
    for step in range(6):
        with pytest.MonkeyPatch.context() as patch:
            _failing(patch, step)
            with pytest.raises(OutputError, match="cannot be written"):
                write("new")
        assert _files_in(tmp_path) == before
    write("new")
    assert set(_files_in(tmp_path).values()) == {b"new"}


@pytest.mark.thorough
def test_a_failure_in_the_middle_keeps_the_previous_report(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move fails after six parts have been moved out and the first has been moved in."""
    out = tmp_path / "out"
    assert _report(folder, out) == 0
    before = _files_in(out)
    (folder / "readings.csv").write_text("rater_id,item_id,answer\nR1,q1,A\n")
    with monkeypatch.context() as patch:
        _failing(patch, 7)
        assert _report(folder, out) == 1
    assert _files_in(out) == before
    assert _report(folder, out) == 0
    assert _files_in(out) != before


def test_files_that_cannot_be_restored_are_not_deleted(tmp_path: Path) -> None:
    """The previous file remains in the temporary folder."""
    (tmp_path / "a.txt").write_text("earlier")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Exception, match="cannot be written"):  # noqa: SIM117, PT012
        with replacement_folder(tmp_path, [OutputPart(name="a.txt")]) as fresh:
            (fresh / "a.txt").write_text("new")
            moves = iter(range(100))

            def rename(self: Path, target: Path) -> Path:
                if next(moves) > 0:
                    raise OSError(5, os.strerror(5))
                return PATH_RENAME(self, target)

            patch.setattr(Path, "rename", rename)
    assert [p.read_text() for p in tmp_path.rglob("a.txt")] == ["earlier"]


@pytest.mark.thorough
def test_new_tables_remove_the_previous_report(folder: Path, tmp_path: Path) -> None:
    """The previous report would contradict the new tables; other files are kept."""
    out = tmp_path / "out"
    assert _report(folder, out) == 0
    (out / "note.txt").write_text("mine")
    assert _report(folder, out, "tables") == 0
    assert sorted(p.name for p in out.iterdir()) == ["note.txt", "tables"]


def test_a_cell_with_a_carriage_return_is_quoted(folder: Path, tmp_path: Path) -> None:
    """Most programs would otherwise end the row there; rows end in a newline."""
    readings = (folder / "readings.csv").read_bytes().replace(b"R1", b'"R\r1"')
    (folder / "readings.csv").write_bytes(readings)
    assert _report(folder, tmp_path / "out", "tables") == 0
    written = (tmp_path / "out/tables/missing.csv").read_bytes()
    assert written.split(b"\n")[1].startswith(b'"R\r1",')
    assert b"\r\n" not in written
