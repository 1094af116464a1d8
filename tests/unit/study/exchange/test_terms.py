"""The licence of a bank is exported with its content, and an export can omit the texts."""

import io
import json
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from frictionless import validate

import analysis
from study.bank.importing import import_bank
from study.bank.reading import ImportOptions
from study.base.errors import BadFile, BadInput
from study.base.provenance import Provenance
from study.exchange import archives
from study.exchange.bundle import export
from study.exchange.restoring import restore
from study.lifecycle import studies
from study.lifecycle.deployments import init
from study.models.models import add_model
from study.reading.simulation import simulate
from study.store import Store, banks
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from, open_trial, tamper, write_bank

TERMS = Provenance(
    version="1.2",
    licence="CC BY-NC 4.0",
    source_url="https://example.org/bank",
    citation="Example et al., 2025",
)


@pytest.fixture
def closed_study(store: Store, tmp_path: Path) -> Store:
    """Return a closed study of a bank with terms and a model that repeats the options' texts."""
    path = write_bank(tmp_path / "bank")
    import_bank(
        store,
        path,
        name="bank",
        images=path.parent,
        options=ImportOptions(provenance=TERMS),
        acting=ACTING,
    )
    open_trial(store, {"cases": 8, "one_question_per": "item"}, "R1")
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    file = tmp_path / "model.json"
    items = json.loads(path.read_text())
    answers = {key: {"model_prediction": item["options"][1]} for key, item in items.items()}
    file.write_text(json.dumps(answers))
    add_model(store, file, study="trial", model_id="M1", model_version="1", acting=ACTING)
    studies.close(store, study="trial", reason="Done.", acting=ACTING)
    return store


@pytest.mark.parametrize(
    ("licence", "restricted"),
    [
        ("CC BY-NC 4.0", True),
        ("CC-BY-NC-SA-4.0", True),
        ("ReXGradient non-commercial agreement", True),
        ("PhysioNet Credentialed Health Data License", True),
        ("Gated: accept the terms first", True),
        ("CC BY 4.0", False),
        ("CC0", False),
        ("", False),
    ],
)
def test_a_restricted_licence_is_recognised_by_its_text(licence: str, *, restricted: bool) -> None:
    terms = Provenance(licence=licence)
    assert (terms.is_restricted, bool(terms.warning)) == (restricted, restricted)


@pytest.mark.parametrize(
    "invalid_values", [{"source_url": "javascript:x"}, {"licence": "x" * 2001}, {"version": "1\0"}]
)
def test_invalid_terms_are_refused(invalid_values: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        Provenance(**invalid_values)


def test_every_export_states_the_terms(closed_study: Store, tmp_path: Path) -> None:
    """The Frictionless metadata, the first sheet of the workbook and a restored study do."""
    export(closed_study, study="trial", out=tmp_path / "bundle")
    package = json.loads((tmp_path / "bundle" / "datapackage.json").read_text())
    (licence,), (source,) = package["licenses"], package["sources"]
    assert licence["name"] == "CC BY-NC 4.0"
    assert "non-commercial use" in licence["title"]
    assert source == {"title": "bank 1.2. Example et al., 2025", "path": "https://example.org/bank"}
    assert validate(str(tmp_path / "bundle" / "datapackage.json")).valid
    archives.archive(closed_study, tmp_path / "files", study="trial", acting=ACTING)
    with zipfile.ZipFile(tmp_path / "files" / archives.EXCEL) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "CC BY-NC 4.0" in sheet
    assert "non-commercial use" in sheet
    other = init(tmp_path / "other.db", entropy=entropy_from(2), now=NOW)
    restore(other, tmp_path / "bundle", acting=ACTING)
    with other.look() as look:
        assert banks.bank_row(look, "bank").provenance == TERMS
    assert verify(other) == []


def test_an_export_without_texts_gives_the_same_analysis(
    closed_study: Store, tmp_path: Path
) -> None:
    export(closed_study, study="trial", out=tmp_path / "complete")
    export(closed_study, study="trial", out=tmp_path / "bare", texts=False)
    archived = archives.archive(
        closed_study, tmp_path / "files", study="trial", texts=False, acting=ACTING
    )
    assert archived.left_out == {archives.COPY: archives.HAS_TEXTS_REASON}
    content = b"".join(path.read_bytes() for path in (tmp_path / "bare").iterdir())
    content += b"".join(_unpacked(path) for path in (tmp_path / "files").iterdir())
    assert b"Which finding" not in content
    assert b"Finding A" not in content
    assert b"Finding A" in b"".join(path.read_bytes() for path in (tmp_path / "complete").iterdir())
    complete, bare = (analysis.read_bundle(tmp_path / name) for name in ("complete", "bare"))
    columns = ["rater_id", "item_id", "answer", "status"]
    assert complete.readings[columns].equals(bare.readings[columns])
    known = [bundle.items["option_set"].factorize()[0].tolist() for bundle in (complete, bare)]
    assert known[0] == known[1]
    with pytest.raises(BadFile, match="exported without texts"):
        restore(closed_study, tmp_path / "bare", acting=ACTING)


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if not zipfile.is_zipfile(path):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        return b"".join(opened.read(name) for name in opened.namelist())


def test_verification_reports_altered_terms(closed_study: Store) -> None:
    assert verify(closed_study) == []
    tamper(closed_study, "UPDATE banks SET licence = 'CC0'")
    assert any("licence altered since the import" in breach for breach in verify(closed_study))


def test_a_bank_without_terms_of_an_earlier_version_is_valid(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = banks.facts
    with monkeypatch.context() as earlier:
        earlier.setattr(
            banks,
            "facts",
            lambda row: {
                key: value for key, value in facts(row).items() if key not in asdict(TERMS)
            },
        )
        path = write_bank(tmp_path / "bank", n_patients=2)
        import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    assert verify(store) == []
