"""Studies and predictions are removed completely, with a certificate."""

import errno
import json
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest

from study.bank.managing import remove_bank
from study.base.actor import COMMAND_LINE, Acting, By
from study.base.errors import BadInput, Busy, NotFound, NotNow, StudyError
from study.exchange import backups, bundle, removing, restoring
from study.lifecycle import studies
from study.models.models import add_model, withdraw_model
from study.reading import desk
from study.store import Store, events, schema
from study.trail.trails import record_export
from study.trail.verification import remarks, verify
from tests.conftest import ACTING, NOW, person, presentation, reading

Opened = Callable[..., Store]
BY = By(name="admin", role="administrator")
LATER = NOW + timedelta(hours=1)
TEXTS = ("a comment of a reader", "because reading is over", "raw output of a model")


@pytest.fixture
def closed_study(opened: Opened, tmp_path: Path) -> Store:
    """Return a closed study with a reading, a comment and a withdrawn model."""
    store = opened(readers=("R1", "R2"), comments=True)
    reader = person(store, "R1")
    for case in desk.desk(store, reader, now=NOW).cases:
        records = [presentation(case.case), reading(case.case, comment=TEXTS[0])]
        desk.take_records(store, reader, records, now=NOW)
        break
    file = tmp_path / "model.jsonl"
    lines = ({"item_id": f"q{i:04d}", "output": f"{TEXTS[2]}. Answer: A"} for i in range(24))
    file.write_text("\n".join(map(json.dumps, lines)))
    add_model(store, file, study="trial", model_id="M1", acting=ACTING)
    withdraw_model(store, study="trial", model_id="M1", reason="The wrong file", acting=ACTING)
    studies.close(store, study="trial", reason=TEXTS[1], acting=ACTING)
    return store


def _remove_study(store: Store, **changed: str) -> removing.Certificate:
    values = {"study": "trial", "typed": "trial", "reason": "Retention is over", **changed}
    return removing.remove_study(store, **values, acting=Acting(by=BY, now=LATER))


def _export(store: Store, out: Path) -> None:
    bundle.export(store, study="trial", out=out)
    record_export(store, study="trial", file="bundle", acting=Acting(by=COMMAND_LINE, now=LATER))


def _file_contents(store: Store) -> bytes:
    files = (Path(f"{store.path}{end}") for end in ("", "-wal"))
    return b"".join(file.read_bytes() for file in files if file.exists())


@pytest.mark.sqlite("reads the bytes of the file")
def test_no_text_of_a_removed_study_remains_in_the_files(
    closed_study: Store, tmp_path: Path
) -> None:
    """The store's file and journal do not contain it, and the verification finds no breach."""
    closed_study.begin_witness()
    _export(closed_study, tmp_path / "bundle")
    assert all(text.encode() in _file_contents(closed_study) for text in TEXTS)
    with closed_study.look() as look:
        protocol = str(look.value("SELECT protocol FROM studies"))
    certificate = _remove_study(closed_study)
    assert certificate.overwritten
    content = _file_contents(closed_study)
    assert [text for text in (*TEXTS, protocol[:200]) if text.encode() in content] == []
    assert verify(closed_study) == []
    assert not [line for line in remarks(closed_study) if "trial" in line]
    with closed_study.look() as look:
        assert look.value("SELECT count(*) FROM people") == 0
        assert events.chains(look) == ["deployment"]


def test_a_certificate_states_what_was_removed(closed_study: Store, tmp_path: Path) -> None:
    """The certificate has counts, hashes, the person, the reason and the backups of the study."""
    backup = backups.make_backup(closed_study, acting=Acting(by=BY, now=NOW))
    _export(closed_study, tmp_path / "bundle")
    certificate = _remove_study(closed_study)
    assert certificate.removed["rows"]["readings"] == 1
    assert certificate.removed["rows"]["readers"] == 2
    assert certificate.removed["rows"]["predictions"] == 8
    assert (
        certificate.removed["chains"]["study:trial"]["number"]
        == certificate.removed["rows"]["events"]
    )
    assert (certificate.by, certificate.reason) == ("admin", "Retention is over")
    assert certificate.backups == (backup.file.name,)
    assert f"Backups made before, which may contain it: {backup.file.name}." in certificate.text
    assert json.loads(certificate.as_json)["event_hash"] == certificate.event_hash
    assert backup.file.name in certificate.text
    backups.make_backup(closed_study, acting=Acting(by=BY, now=LATER + timedelta(hours=1)))
    assert removing.certificates(closed_study) == [certificate]


@pytest.mark.parametrize(
    ("function", "step", "error"),
    [
        ("study", "forget_heads", OSError(errno.ENOSPC, "full")),
        ("study", "checkpoint", Busy("The database cannot be reached.")),
        ("model", "checkpoint", Busy("The database cannot be reached.")),
    ],
)
def test_an_error_after_a_removal_states_that_the_removal_is_complete(
    closed_study: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    step: str,
    error: Exception,
) -> None:
    """The certificate can be printed later, and the verification finds no breach."""
    closed_study.begin_witness()
    _export(closed_study, tmp_path / "bundle")
    remove = _remove_study if function == "study" else _remove_model
    with monkeypatch.context() as patch:
        patch.setattr(Store, step, Mock(side_effect=error))
        with pytest.raises(StudyError, match=r"removed\. The .* Print the certificate with"):
            remove(closed_study)
    with pytest.raises(NotFound):
        remove(closed_study)
    (certificate,) = removing.certificates(closed_study)
    assert certificate.what.startswith(function)
    assert verify(closed_study) == []


def _remove_model(store: Store) -> removing.Certificate:
    values = {"study": "trial", "model_id": "M1", "typed": "M1", "reason": "Retention is over"}
    return removing.remove_model(store, **values, acting=Acting(by=BY, now=LATER))


def test_a_study_is_removed_only_after_its_export(closed_study: Store) -> None:
    """The name must be typed, and the bundle must have been written after the study was closed."""
    with pytest.raises(NotNow, match="Export it first"):
        _remove_study(closed_study)
    with pytest.raises(BadInput, match="not confirmed"):
        _remove_study(closed_study, typed="Trial")
    with pytest.raises(BadInput):
        _remove_study(closed_study, reason=" ")
    assert verify(closed_study) == []


def test_an_open_study_is_not_removed(opened: Opened) -> None:
    """The database refuses the deletion too."""
    store = opened()
    with pytest.raises(NotNow, match="Only a closed study"):
        _remove_study(store)
    with pytest.raises(sqlite3.IntegrityError, match="only a closed study"), store.change() as all_:
        all_.execute("DELETE FROM studies")


@pytest.mark.parametrize("table", sorted(schema.REMOVED_WITH_STUDY))
def test_rows_of_a_study_cannot_be_deleted_while_it_exists(closed_study: Store, table: str) -> None:
    """A trigger refuses the deletion, except of predictions of a withdrawn model."""
    with closed_study.look() as look:
        is_empty = not look.value(f"SELECT count(*) FROM {table}")
    if is_empty or table == "predictions":
        return
    with (
        pytest.raises(sqlite3.IntegrityError, match="written once"),
        closed_study.change() as change,
    ):
        change.execute(f"DELETE FROM {table}")


def test_a_removed_study_can_be_restored_from_its_bundle(
    closed_study: Store, tmp_path: Path
) -> None:
    """The name is available again, and the restored store has no breach."""
    _export(closed_study, tmp_path / "bundle")
    _remove_study(closed_study)
    restoring.restore(closed_study, tmp_path / "bundle", acting=Acting(by=BY, now=LATER))
    assert verify(closed_study) == []


def test_the_predictions_of_a_withdrawn_model_are_removed(
    closed_study: Store, tmp_path: Path
) -> None:
    """The model's row is kept; the bundle without its predictions can be restored."""
    certificate = removing.remove_model(
        closed_study,
        study="trial",
        model_id="M1",
        typed="M1",
        reason="The licence ended",
        acting=Acting(by=BY, now=LATER),
    )
    assert certificate.removed["rows"] == {"predictions": 8}
    assert certificate.removed["predictions_sha256"]
    assert TEXTS[2].encode() not in _file_contents(closed_study)
    assert verify(closed_study) == []
    _export(closed_study, tmp_path / "bundle")
    _remove_study(closed_study)
    restoring.restore(closed_study, tmp_path / "bundle", acting=Acting(by=BY, now=LATER))
    assert verify(closed_study) == []


def test_predictions_of_a_model_that_was_not_withdrawn_are_not_removed(
    opened: Opened, tmp_path: Path
) -> None:
    """The model must be withdrawn first; the database refuses the deletion too."""
    store = opened()
    file = tmp_path / "model.json"
    file.write_text(json.dumps({f"q{i:04d}": {"model_prediction": "A"} for i in range(24)}))
    add_model(store, file, study="trial", model_id="M1", acting=ACTING)
    with pytest.raises(NotFound, match="Withdraw it first"):
        removing.remove_model(
            store,
            study="trial",
            model_id="M1",
            typed="M1",
            reason="x",
            acting=Acting(by=BY, now=NOW),
        )
    with pytest.raises(sqlite3.IntegrityError, match="written once"), store.change() as change:
        change.execute("DELETE FROM predictions")


def test_the_removal_of_a_bank_has_a_certificate(banked: Store) -> None:
    """The certificate names the bank and the hash of its content."""
    remove_bank(banked, "bank", acting=ACTING)
    (certificate,) = removing.certificates(banked)
    assert certificate.what == "bank removed: bank"
    assert certificate.removed["content_sha256"]
