"""Restoring a study from its bundle, merging sites into one study, and refused bundles."""

import hashlib
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

import analysis
from analysis import read_bundle
from study.bank.importing import SIMULATED_OPTIONS, import_bank
from study.base.actor import COMMAND_LINE, Acting, By
from study.base.canonical import canonical_json, sha256_of
from study.base.errors import BadFile, NotNow
from study.exchange.bundle import bundle_files, zip_files
from study.exchange.restoring import IDENTICAL_FILES, merge, restore
from study.lifecycle import studies
from study.lifecycle.deployments import reader_code
from study.models.models import add_model, withdraw_model
from study.protocol.protocol import Protocol
from study.reading import desk
from study.reading.simulation import simulate
from study.store import Store, archive, events
from study.store import studies as stored_studies
from study.trail.verification import verify, verify_study
from tests import templates
from tests.conftest import NOW, SECRETS, entropy_from, invite, person, tamper, write_bank
from tests.sites import close_trial, create_empty, create_site, export_bundle

BY = By(name="c", role="administrator", place="abc")
LATER = NOW + timedelta(days=30)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a deployment with a study that has every kind of record."""
    return create_site(tmp_path_factory.mktemp("sites") / "a", 1)


@pytest.fixture(scope="module")
def bundle(original: Store) -> dict[str, bytes]:
    """Return that study's bundle."""
    return bundle_files(original, "trial")


@pytest.fixture
def target(tmp_path: Path) -> Store:
    """Return another, empty deployment."""
    return create_empty(tmp_path / "target", 2)


def _folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def _bundle_with(files: dict[str, bytes], **changed: bytes) -> dict[str, bytes]:
    """Return a bundle with replaced files and matching hashes."""
    new = {**files, **{name.replace("__", "."): text for name, text in changed.items()}}
    package = json.loads(new["datapackage.json"])
    for resource in package["resources"]:
        resource["hash"] = f"sha256:{hashlib.sha256(new[resource['path']]).hexdigest()}"
    return {**new, "datapackage.json": json.dumps(package).encode()}


def test_a_restored_study_exports_identical_files(
    original: Store, bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """Tables, protocol and records are the same, and the chain continues."""
    (tmp_path / "bundle.zip").write_bytes(zip_files(bundle))
    result = restore(target, tmp_path / "bundle.zip", acting=Acting(by=BY, now=LATER))
    assert (result.study, result.bank, result.state) == ("trial", "bank", "open")
    assert (result.n_readers, result.n_models) == (2, 1)
    restored = bundle_files(target, "trial")
    assert {name: restored[name] for name in IDENTICAL_FILES} == {
        name: bundle[name] for name in IDENTICAL_FILES
    }
    assert restored["audit.jsonl"].startswith(bundle["audit.jsonl"])
    added = json.loads(restored["audit.jsonl"].splitlines()[-1])
    assert (added["kind"], added["actor"]) == ("study restored", "c")
    assert verify(target) == []
    verdict = verify_study(target, "trial")
    assert verdict.breaches == ()
    assert verdict.n_events == len(restored["audit.jsonl"].splitlines())
    assert len(read_bundle(tmp_path / "bundle.zip").readings) > 0


def test_a_restored_study_can_be_exported_and_restored_again(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """A folder is accepted like a zip, and the original deployment remains recorded."""
    restore(target, _folder(tmp_path / "b", bundle), acting=Acting(by=BY, now=LATER))
    third = create_empty(tmp_path / "third", 3)
    result = restore(third, export_bundle(target), acting=Acting(by=BY, now=LATER))
    restored = bundle_files(third, "trial")
    assert {name: restored[name] for name in IDENTICAL_FILES} == {
        name: bundle[name] for name in IDENTICAL_FILES
    }
    assert verify(third) == []
    first = json.loads(bundle["records.jsonl"].splitlines()[0])
    assert result.deployment_id == first["deployment_id"]


def test_a_zip_of_the_folder_is_accepted(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """Each path begins with the name of the folder."""
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for name, content in bundle.items():
            archive.writestr(f"trial/{name}", content)
    assert restore(target, tmp_path / "b.zip", acting=Acting(by=BY, now=LATER)).study == "trial"


def test_a_zip_with_a_duplicate_file_is_refused(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """Other separators in the name do not matter."""
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for name, content in bundle.items():
            archive.writestr(f"trial/{name}", content)
        archive.writestr("trial\\items.csv", b"")
    with pytest.raises(BadFile, match=r"b\.zip cannot be read as a bundle: (.|\n)*appears twice"):
        restore(target, tmp_path / "b.zip", acting=Acting(by=BY, now=LATER))


SCORING_KINDS = {"scoring", "scorer", "score", "scored_answer", "scored_case", "scoring_end"}
AID_KINDS = {"aid", "aid_request", "wrong_image"}
"""Kinds of records that this study does not have."""


def test_records_omit_the_truth_codes_and_personal_answers(
    original: Store, bundle: dict[str, bytes]
) -> None:
    """The truth, access codes and personal answers are not exported."""
    text = bundle["records.jsonl"].decode()
    kinds = {json.loads(line)["row"] for line in text.splitlines()}
    assert kinds == {"study", *archive.KINDS} - SCORING_KINDS - AID_KINDS
    assert not {"preparation", "code", "name"} & kinds
    assert not any(secret in text for secret in SECRETS)
    assert '"truth"' not in text
    with original.look() as look:
        codes = look.rows("SELECT lookup, code_hash FROM codes")
    assert not any(row["lookup"] in text or row["code_hash"] in text for row in codes)


def test_a_restored_study_uses_an_imported_bank(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """Films and explanations are then available; the bank may have another name."""
    path = write_bank(tmp_path / "bank")
    import_bank(
        target,
        path,
        name="other",
        images=path.parent,
        options=SIMULATED_OPTIONS,
        acting=Acting(by=COMMAND_LINE, now=NOW),
    )
    assert (
        restore(target, _folder(tmp_path / "b", bundle), acting=Acting(by=BY, now=LATER)).bank
        == "other"
    )
    assert verify(target) == []
    restored = bundle_files(target, "trial")
    assert {name: restored[name] for name in IDENTICAL_FILES} == {
        name: bundle[name] for name in IDENTICAL_FILES
    }


def test_a_different_bank_of_the_same_name_is_unchanged(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """The restored bank gets another name, and no study can be drawn from it."""
    path = write_bank(tmp_path / "bank", n_patients=3)
    import_bank(
        target, path, name="bank", images=path.parent, acting=Acting(by=COMMAND_LINE, now=NOW)
    )
    result = restore(target, _folder(tmp_path / "b", bundle), acting=Acting(by=BY, now=LATER))
    assert result.bank == "bank (2)"
    assert verify(target) == []
    with pytest.raises(NotNow, match="has no images"):
        studies.draw(
            target,
            bank="bank (2)",
            study="new",
            protocol=Protocol(),
            acting=Acting(by=COMMAND_LINE, now=NOW),
        )


def test_a_restored_study_cannot_be_read(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """A restored study has no access codes, and the desk refuses readers."""
    restore(target, _folder(tmp_path / "b", bundle), acting=Acting(by=BY, now=LATER))
    with pytest.raises(NotNow, match="restored from a bundle"):
        invite(target, "R9")
    with pytest.raises(NotNow, match="restored from a bundle"):
        simulate(target, study="trial", reader_id="S1", seed=1, accuracy=0.7, now=LATER)
    with pytest.raises(NotNow, match="restored from a bundle"):
        desk.desk(target, person(target, "P1"), now=NOW)
    with pytest.raises(NotNow, match="restored from a bundle"):
        reader_code(target, study="trial", reader_id="P1", entropy=entropy_from(9), now=LATER)


def test_a_restored_study_stays_closed(target: Store, tmp_path: Path) -> None:
    """The time at which the study was closed is kept."""
    store = create_site(tmp_path / "b", 4)
    close_trial(store)
    assert verify(store) == []
    assert restore(target, export_bundle(store), acting=Acting(by=BY, now=LATER)).state == "closed"
    with target.look() as look:
        row = stored_studies.find(look, "trial")
    assert row is not None
    assert row.closed_at_utc == "2025-06-05T12:00:00.000Z"
    assert verify(target) == []


def test_an_existing_study_is_not_restored_again(
    original: Store, bundle: dict[str, bytes], tmp_path: Path
) -> None:
    """The existing study is not overwritten or duplicated."""
    copy = Store(templates.copy_store(original.path, tmp_path / "copy.db"))
    with pytest.raises(NotNow, match="already exists"):
        restore(copy, _folder(tmp_path / "b", bundle), acting=Acting(by=BY, now=LATER))


def _with_changed_row(
    files: dict[str, bytes], kind: str, change: Callable[[dict[str, object]], None]
) -> bytes:
    """Return records.jsonl with the first row of a kind changed."""
    lines, done = [], False
    for text in files["records.jsonl"].decode().splitlines():
        row = json.loads(text)
        if row["row"] == kind and not done:
            change(row)
            done = True
        lines.append(canonical_json(row) + "\n")
    assert done
    return "".join(lines).encode()


def _refusal(target: Store, path: Path) -> str:
    with pytest.raises(BadFile) as refused:
        restore(target, path, acting=Acting(by=BY, now=LATER))
    with target.look() as look:
        assert stored_studies.names(look) == []
        assert events.chains(look) == ["deployment"]
        assert look.value("SELECT count(*) FROM banks") == 0
    return str(refused.value)


EDITED_VALUES = [
    ("reading", "answer", "D", "altered"),
    ("reading", "comment", "x", "altered"),
    ("reading", "response_ms", "soon", "does not fit"),
    ("reading", "assignment", "nowhere", "does not fit"),
    ("reading", "timing_source", [], "does not fit"),
    ("presentation", "circumstances", "{}", "altered"),
    ("assignment", "position", 99, "assignments of"),
    ("assignment", "item_id", "q9999", "does not fit"),
    ("assignment", "reader_id", "nobody", "does not fit"),
    ("reader", "level", "professor", "level altered"),
    ("reader", "reader_id", {"a": 1}, "does not fit"),
    ("model", "model_version", "9", "model_version altered"),
    ("prediction", "answer", "B", "predictions of"),
    ("case", "stratum", "x", "cases or their strata"),
    ("case", "number", 2, "are inconsistent"),
    ("case", "item_id", "q9999", "are inconsistent"),
    ("case", "age", 10**30, "are inconsistent"),
    ("study", "opened_at_utc", "x", "opened_at_utc altered"),
    ("study", "deployment_id", "../x", "which deployment"),
    ("study", "format", 2, "format 2"),
    ("study", "study", "other", "a different study"),
]


@pytest.mark.parametrize(
    ("kind", "key", "value", "expected"), EDITED_VALUES, ids=[str(case) for case in EDITED_VALUES]
)
def test_an_edited_row_is_refused(
    bundle: dict[str, bytes],
    target: Store,
    tmp_path: Path,
    kind: str,
    key: str,
    value: object,
    expected: str,
) -> None:
    """The hashes of the files match, and nothing is stored."""
    records = _with_changed_row(bundle, kind, lambda row: row.update({key: value}))
    path = _folder(tmp_path / "b", _bundle_with(bundle, records__jsonl=records))
    message = _refusal(target, path)
    assert expected in message or "differs when exported again" in message, message


def test_a_table_that_differs_from_the_records_is_refused(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """An analysis uses readings.csv, so the chain must confirm it."""
    text = bundle["readings.csv"].replace(b",unaided,", b",aided,")
    path = _folder(tmp_path / "b", _bundle_with(bundle, readings__csv=text))
    assert "readings.csv contradicts" in _refusal(target, path)


def test_all_altered_and_missing_files_are_reported(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """One message lists all of them."""
    files = {**bundle, "items.csv": b"item_id\n", "more.txt": b"x"}
    del files["raters.csv"]
    message = _refusal(target, _folder(tmp_path / "b", files))
    assert "3 errors" in message
    for words in ("items.csv was altered", "raters.csv is missing", "more.txt is not listed"):
        assert words in message


def test_the_first_invalid_event_of_a_chain_is_reported(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """The message has its number, kind and time."""
    lines = bundle["audit.jsonl"].decode().splitlines(keepends=True)
    lines[4] = lines[4].replace('"actor":"', '"actor":"x')
    path = _folder(tmp_path / "b", _bundle_with(bundle, audit__jsonl="".join(lines).encode()))
    assert f"event 5 ({json.loads(lines[4])['kind']}, 2025-06-04T12" in _refusal(target, path)


def test_an_edited_protocol_is_refused(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """The hash of the file or the chain reveals the change."""
    protocol = json.loads(bundle["protocol.json"])
    protocol["locked"]["protocol"]["margin"] = 0.5
    for fit, message in ((False, "does not have its hash"), (True, "a different protocol")):
        if fit:
            protocol["sha256"] = sha256_of(protocol["locked"])
        text = json.dumps(protocol).encode()
        path = _folder(tmp_path / f"b{fit}", _bundle_with(bundle, protocol__json=text))
        assert message in _refusal(target, path)


def test_a_truncated_chain_is_refused(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """The package has the number of the last event."""
    text = b"\n".join(bundle["audit.jsonl"].splitlines()[:-3]) + b"\n"
    path = _folder(tmp_path / "b", _bundle_with(bundle, audit__jsonl=text))
    assert "does not end at" in _refusal(target, path)


def test_a_bundle_of_another_program_is_refused(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """The message states that it can be analysed."""
    files = {name: text for name, text in bundle.items() if name != "records.jsonl"}
    package = json.loads(files["datapackage.json"])
    package["resources"] = [row for row in package["resources"] if row["path"] != "records.jsonl"]
    files["datapackage.json"] = json.dumps(package).encode()
    assert "can be analysed, but not restored" in _refusal(target, _folder(tmp_path / "b", files))


def test_a_blinded_bundle_needs_its_bank(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """The bundle lacks the reference standard; the message states what to import."""
    package = json.loads(bundle["datapackage.json"])
    package["reading_room"]["blinded"] = True
    files = {**bundle, "datapackage.json": json.dumps(package).encode()}
    assert "Import the bank “bank” first" in _refusal(target, _folder(tmp_path / "b", files))


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06" + b"\0" * 18, b"x" * 999])
def test_a_file_that_is_not_a_bundle_is_refused(
    target: Store, tmp_path: Path, content: bytes
) -> None:
    """A message is shown, without a traceback."""
    (tmp_path / "b.zip").write_bytes(content)
    assert "b.zip" in _refusal(target, tmp_path / "b.zip")


@pytest.mark.parametrize("name", ["records.jsonl", "audit.jsonl", "protocol.json", "items.csv"])
@pytest.mark.parametrize(
    "content", [b"", b"\xff\n", b"7\n", b"[]\n", b'{"a":1}\n', b"[" * 5000 + b"\n"]
)
def test_a_bundle_with_an_invalid_file_is_refused(
    bundle: dict[str, bytes], target: Store, tmp_path: Path, name: str, content: bytes
) -> None:
    """Any content is refused with a message."""
    path = _folder(tmp_path / "b", _bundle_with(bundle, **{name.replace(".", "__"): content}))
    assert "b: " in _refusal(target, path)


def test_verification_reports_alterations_of_a_restored_study(
    bundle: dict[str, bytes], target: Store, tmp_path: Path
) -> None:
    """The restored chain covers all rows as in the original deployment."""
    restore(target, _folder(tmp_path / "b", bundle), acting=Acting(by=BY, now=LATER))
    tamper(target, "UPDATE readings SET answer = 'D' WHERE answer <> 'D'")
    assert any("was altered" in breach for breach in verify(target))
    tamper(target, "UPDATE reference_standard SET truth = 'A'")
    assert any("bank bank: its items" in breach for breach in verify(target))


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (None, "zeros.csv is not listed"),
        (7, "zeros.csv was altered"),
        ("all", "unpacks to 600,000,000 bytes"),
    ],
)
def test_a_file_that_is_far_too_large_is_refused_before_it_is_unpacked(
    target: Store, bundle: dict[str, bytes], tmp_path: Path, listed: object, message: str
) -> None:
    """The declared sizes are checked first."""
    n_zeros = 600_000_000 if listed == "all" else 100_000_000
    package = json.loads(bundle["datapackage.json"])
    if listed is not None:
        n_bytes = n_zeros if listed == "all" else listed
        row = {"name": "zeros", "path": "zeros.csv", "hash": "sha256:0", "bytes": n_bytes}
        package["resources"].append(row)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in {**bundle, "datapackage.json": json.dumps(package).encode()}.items():
            archive.writestr(name, content)
        with archive.open("zeros.csv", "w") as zeros:
            for _ in range(n_zeros // 10_000_000):
                zeros.write(bytes(10_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match=message):
            restore(target, path, acting=Acting(by=BY, now=LATER))
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


COORDINATOR = By(name="c", role="coordinator")
ACTING = Acting(by=COORDINATOR, now=LATER)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the stores of three closed sites, created once."""
    folder = tmp_path_factory.mktemp("sites")
    for number, bank in enumerate(("bank", "another name", "bank"), start=1):
        store = create_site(
            folder / f"site{number}",
            number,
            person_id=f"P{number}",
            simulated=f"S{number}",
            bank=bank,
        )
        close_trial(store)
    return folder


def _copy(sites: Path, tmp_path: Path, number: int) -> Store:
    folder = tmp_path / f"copy{number}"
    folder.mkdir()
    return Store(templates.copy_store(sites / f"site{number}" / "store.db", folder / "store.db"))


@pytest.fixture
def home(sites: Path, tmp_path: Path) -> Store:
    """Return a closed study."""
    return _copy(sites, tmp_path, 1)


@pytest.fixture
def other(sites: Path, tmp_path: Path) -> Store:
    """Return the same study, closed, from another deployment with other readers."""
    return _copy(sites, tmp_path, 2)


@pytest.fixture
def third(sites: Path, tmp_path: Path) -> Store:
    """Return the same study, closed, from a third deployment."""
    return _copy(sites, tmp_path, 3)


def _conflicts(store: Store, path: Path, **changed: str) -> str:
    before = bundle_files(store, "trial")
    with pytest.raises(BadFile) as refused:
        merge(store, path, study="trial", **changed, acting=ACTING)
    assert bundle_files(store, "trial") == before
    assert verify(store) == []
    return str(refused.value)


def test_a_merged_study_has_both_sites(home: Store, other: Store, tmp_path: Path) -> None:
    """The merged study has the readers with their site, the model once, and both chains."""
    result = merge(home, export_bundle(other), study="trial", site="Bergen", acting=ACTING)
    assert (result.readers, result.models) == (("P2", "S2"), ())
    assert verify(home) == []
    files = bundle_files(home, "trial")
    assert (
        files[f"audit-{result.deployment_id}.jsonl"] == bundle_files(other, "trial")["audit.jsonl"]
    )
    study = analysis.read_bundle(export_bundle(home, "merged.zip"))
    raters = study.raters.set_index("rater_id")
    assert list(raters.index) == ["P1", "S1", "P2", "S2", "M1"]
    assert raters.loc["S2", "site"] == "Bergen"
    n_lines = sum(len(files[name].splitlines()) for name in files if name.startswith("audit"))
    assert verify_study(home, "trial").n_events == n_lines


def test_without_a_name_the_site_has_the_id_of_the_deployment(home: Store, other: Store) -> None:
    """The ID of a deployment is unique."""
    result = merge(home, export_bundle(other), study="trial", acting=ACTING)
    assert result.site == result.deployment_id
    assert verify(home) == []


def test_a_third_site_can_be_merged(home: Store, other: Store, third: Store) -> None:
    """The bundles are merged one after the other."""
    for site_store in (other, third):
        merge(home, export_bundle(site_store), study="trial", acting=ACTING)
    assert verify(home) == []
    assert len([name for name in bundle_files(home, "trial") if name.startswith("audit-")]) == 2


def test_a_merged_study_is_restored_identically(home: Store, other: Store, tmp_path: Path) -> None:
    """The bundle of a merged study includes the chain of each site."""
    merge(home, export_bundle(other), study="trial", site="Bergen", acting=ACTING)
    target = create_empty(tmp_path / "target", 9)
    restore(target, export_bundle(home, "merged.zip"), acting=ACTING)
    first, restored = bundle_files(home, "trial"), bundle_files(target, "trial")
    sites = [name for name in first if name.startswith("audit-")]
    assert {name: restored[name] for name in (*IDENTICAL_FILES, *sites)} == {
        name: first[name] for name in (*IDENTICAL_FILES, *sites)
    }
    assert verify(target) == []


def test_a_restored_study_can_be_merged(home: Store, other: Store, tmp_path: Path) -> None:
    """The deployment where it was read is its site, not the one where it was restored."""
    target = create_empty(tmp_path / "target", 9)
    restore(target, export_bundle(home), acting=ACTING)
    merge(target, export_bundle(other), study="trial", acting=ACTING)
    assert verify(target) == []
    returned_store = create_empty(tmp_path / "back", 10)
    restore(returned_store, export_bundle(other, "again.zip"), acting=ACTING)
    result = merge(home, export_bundle(returned_store), study="trial", acting=ACTING)
    assert verify(home) == []
    assert "was already merged" in _conflicts(home, export_bundle(other, "once-more.zip"))
    assert result.readers == ("P2", "S2")


def test_a_bundle_is_not_merged_twice(home: Store, other: Store) -> None:
    """The message names the deployment and each reader."""
    path = export_bundle(other)
    merge(home, path, study="trial", acting=ACTING)
    message = _conflicts(home, path)
    assert "was already merged" in message
    assert "the reader P2 is in both" in message


def test_a_study_is_not_merged_with_itself(home: Store) -> None:
    """The bundle names the deployment of the study."""
    assert "itself was read" in _conflicts(home, export_bundle(home))


def test_readers_and_models_with_the_same_name_are_reported(home: Store, tmp_path: Path) -> None:
    """Upper and lower case do not matter; a model may be the same at both sites."""
    twin = create_site(tmp_path / "twin", 2, person_id="p1", simulated="M1x", model="DCBA")
    close_trial(twin)
    message = _conflicts(home, export_bundle(twin))
    assert "the reader p1 is in both" in message
    assert "the model M1 is in both, with different predictions" in message


def test_a_model_withdrawn_at_one_site_only_is_a_conflict(home: Store, other: Store) -> None:
    """Otherwise the wrong file would count for both."""
    withdraw_model(
        home,
        study="trial",
        model_id="M1",
        reason="Wrong file",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    assert "the model M1 was withdrawn in the study but not in the bundle" in _conflicts(
        home, export_bundle(other)
    )
    assert "the model M1 was withdrawn in the bundle but not in the study" in _conflicts(
        other, export_bundle(home)
    )
    withdraw_model(
        other,
        study="trial",
        model_id="M1",
        reason="Wrong file",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    merge(home, export_bundle(other, "again.zip"), study="trial", acting=ACTING)
    assert verify(home) == []


def test_a_model_with_a_withdrawn_name_can_be_merged(
    home: Store, other: Store, tmp_path: Path
) -> None:
    """The merged model is a different one, and can be withdrawn too."""
    for store, letter in ((home, "B"), (other, "C")):
        path = tmp_path / f"{letter}.json"
        path.write_text(json.dumps({f"q{i:04d}": letter for i in range(24)}))
        add_model(
            store, path, study="trial", model_id="M2", acting=Acting(by=COMMAND_LINE, now=LATER)
        )
    withdraw_model(
        home,
        study="trial",
        model_id="M2",
        reason="Wrong file",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    result = merge(home, export_bundle(other), study="trial", acting=ACTING)
    assert result.models == ("M2",)
    assert verify(home) == []
    readings = bundle_files(home, "trial")["readings.csv"].decode().splitlines()
    assert {line.split(",")[2] for line in readings if line.startswith("M2,")} == {"C"}
    target = create_empty(tmp_path / "target", 9)
    restore(target, export_bundle(home, "merged.zip"), acting=ACTING)
    withdraw_model(
        home,
        study="trial",
        model_id="M2",
        reason="Wrong too",
        acting=Acting(by=COMMAND_LINE, now=LATER),
    )
    assert verify(home) == verify(target) == []


def test_a_reader_with_the_name_of_a_model_is_refused(home: Store, other: Store) -> None:
    """Tables could not distinguish the reader from the model."""
    with home.change() as change:
        change.execute(
            "INSERT INTO readers (study, reader_id, level, years, site, simulated, "
            "invited_at_utc) VALUES (1, 'm1 ', '', '', '', 0, 'x')"
        )
    with pytest.raises(BadFile, match="its model M1 has the name of a reader in the study"):
        merge(home, export_bundle(other), study="trial", acting=ACTING)


def test_studies_with_different_protocols_are_not_merged(home: Store, tmp_path: Path) -> None:
    """One different value is enough for a refusal."""
    store = create_site(tmp_path / "x", 2, person_id="P2", simulated="S2", margin=0.1)
    close_trial(store)
    assert "a different protocol" in _conflicts(home, export_bundle(store))


def test_open_studies_are_not_merged(tmp_path: Path) -> None:
    """Both studies must be closed."""
    home = create_site(tmp_path / "here", 1)
    other = create_site(tmp_path / "there", 2, person_id="P2", simulated="S2")
    message = _conflicts(home, export_bundle(other))
    assert "“trial” is still open" in message
    assert "while its study was still open" in message


def test_a_merged_bundle_is_not_merged_again(home: Store, other: Store, third: Store) -> None:
    """Each site is merged from its own deployment."""
    merge(other, export_bundle(home), study="trial", acting=ACTING)
    assert "contains merged sites" in _conflicts(third, export_bundle(other))


def test_studies_with_different_amendments_are_not_merged(home: Store, other: Store) -> None:
    """The message reports the difference."""
    with other.change() as change:
        change.execute("DROP TRIGGER amendments_refuse_update")
        change.execute("UPDATE amendments SET changes = replace(changes, '3', '4')")
    assert "different amendments" in _conflicts(home, export_bundle(other))


@pytest.mark.parametrize("name", ["x" * 101, "a\x00b"])
def test_a_site_needs_a_valid_name(home: Store, other: Store, name: str) -> None:
    """The name is shown in tables and figures."""
    assert "the site" in _conflicts(home, export_bundle(other), site=name)


ALTERATIONS = [
    ("UPDATE events SET actor = 'x' WHERE chain LIKE '%#%' AND number = 5", "event 5 ("),
    ("DELETE FROM events WHERE chain LIKE '%#%' AND number > 20", "cut off"),
    ("UPDATE chain_heads SET told_as = '' WHERE chain LIKE '%#%'", "event 1 ("),
    (
        "DELETE FROM readings WHERE assignment IN (SELECT id FROM assignments WHERE reader = 4)",
        "is missing",
    ),
    ("UPDATE readers SET site = 'Oslo' WHERE reader_id = 'S2'", "the reader S2: site altered"),
    ("UPDATE readers SET site = 'Oslo' WHERE reader_id = 'S1'", "the reader S1: site altered"),
    ("DELETE FROM readers WHERE reader_id = 'P2'", "the reader P2 is missing"),
    ("UPDATE assignments SET shown_order = 'DCBA' WHERE reader = 3", "assignments of P2"),
]


@pytest.mark.parametrize(
    ("statement", "message"), ALTERATIONS, ids=[case[0] for case in ALTERATIONS]
)
def test_verification_reports_alterations_of_a_merged_site(
    home: Store, other: Store, statement: str, message: str
) -> None:
    """The verification covers the chains of both sites."""
    merge(home, export_bundle(other), study="trial", site="Bergen", acting=ACTING)
    tamper(home, statement)
    assert any(message in breach for breach in verify(home)), verify(home)


def test_verification_reports_a_truncated_merged_chain(home: Store, other: Store) -> None:
    """The chain of the merging study has the last event of the merged chain."""
    result = merge(home, export_bundle(other), study="trial", acting=ACTING)
    chain = events.merged_chain("trial", result.deployment_id)
    with home.look() as look:
        last = list(events.walk(look, chain))[-2]
    tamper(
        home,
        f"DELETE FROM events WHERE chain = '{chain}' AND number > {last.number}",
        f"UPDATE chain_heads SET number = {last.number}, hash = '{last.hash}' "
        f"WHERE chain = '{chain}'",
    )
    assert any("its chain was replaced" in breach for breach in verify(home))
    tamper(
        home,
        f"DELETE FROM events WHERE chain = '{chain}'",
        f"DELETE FROM chain_heads WHERE chain = '{chain}'",
    )
    assert any("its chain was replaced" in breach for breach in verify(home))
