"""Prior images in the input of models and in bundles."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pyarrow import parquet

from analysis import read_bundle
from study.bank.importing import import_bank
from study.base.actor import Acting, By
from study.base.errors import BadFile
from study.exchange.bundle import bundle_files, zip_files
from study.exchange.exam_papers import export_paper
from study.exchange.restoring import restore
from study.lifecycle.deployments import init
from study.models.model_protocol import ModelProtocol, Shown
from study.models.paper import Paper, PaperFilm, paper_of_bank, paper_of_study, prompt_of
from study.reading.simulation import simulate
from study.store import Store
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, SECRETS, entropy_from, open_trial, write_bank_with_priors
from tests.sites import close_trial, create_empty

MODEL_PROTOCOL = ModelProtocol()
NAME = "AP, prior, 3 months earlier"
N_PATIENTS = 4


def _study(folder: Path, *context: str) -> Store:
    """Return a deployment with an open study of all patients; the last has no prior image."""
    store = init(folder / "store.db", entropy=entropy_from(1), now=NOW)
    path = write_bank_with_priors(folder / "bank", N_PATIENTS, 1)
    records = json.loads(path.read_text())
    records["q0001"] |= {"prior_days": None}
    path.write_text(json.dumps(records))
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    open_trial(store, {"cases": N_PATIENTS, "context": list(context)}, "R1")
    return store


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    """Return the paper of a study that shows prior images."""
    return paper_of_study(_study(tmp_path, "age", "prior"), "trial", MODEL_PROTOCOL)


def _films(paper: Paper, item_id: str) -> list[PaperFilm]:
    return [film for item in paper.items if item.item_id == item_id for film in item.films]


def test_models_receive_the_same_prior_images_as_readers(paper: Paper) -> None:
    """Prior images are last, and named as such; the prompt has the second template."""
    assert [film.name for film in _films(paper, "q0000")] == ["PA", "LATERAL", NAME]
    assert [film.name for film in _films(paper, "q0001")] == ["PA", "LATERAL", "AP, prior"]
    assert [film.name for film in _films(paper, "q0003")] == ["PA", "LATERAL"]
    assert paper.asked == replace(MODEL_PROTOCOL, template="2")
    texts = {item.item_id: prompt_of(item, paper.asked).text for item in paper.items}
    assert texts["q0000"].startswith(
        f"Images, in order: 1: PA; 2: LATERAL; 3: {NAME}. Images called prior are of an earlier "
        "examination of the same patient, for comparison.\n\n"
    )
    assert texts["q0003"].startswith("Images, in order: 1: PA, 2: LATERAL.\n\n")


def test_papers_without_prior_images_are_unchanged(tmp_path: Path) -> None:
    """Such papers have the first template and the same hashes as before."""
    store = _study(tmp_path, "age")
    paper = paper_of_study(store, "trial", MODEL_PROTOCOL)
    assert paper.asked == MODEL_PROTOCOL
    assert not any(film.prior for item in paper.items for film in item.films)
    assert all(len(film) == 2 for item in paper.as_json()["items"] for film in item["films"])
    assert paper_of_bank(store, "bank", MODEL_PROTOCOL).asked == MODEL_PROTOCOL
    model_protocol = replace(MODEL_PROTOCOL, context=("prior",))
    assert len(_films(paper_of_bank(store, "bank", model_protocol), "q0000")) == 3


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"condition": Shown.IMAGE_ABSENT}, []),
        ({"views": "first"}, ["PA", NAME]),
    ],
)
def test_conditions_and_views_apply_to_prior_images(
    tmp_path: Path, changed: dict[str, object], names: list[str]
) -> None:
    """Under the condition without images, no prior images are sent.

    The value "first" selects the first view of both examinations.
    """
    model_protocol = replace(MODEL_PROTOCOL, **changed)  # type: ignore[arg-type]
    paper = paper_of_study(_study(tmp_path, "prior"), "trial", model_protocol)
    assert [film.name for film in _films(paper, "q0000")] == names


def test_each_format_labels_prior_images(tmp_path: Path, paper: Paper) -> None:
    """No path, number of days or correct answer from the bank is included."""
    store, out = Store(tmp_path / "store.db"), tmp_path / "out"
    export_paper(store, paper, out, acting=ACTING)
    board = json.loads((out / "leaderboard/input.json").read_text())["q0000"]
    assert board["frontal_lateral"] == ["PA", "LATERAL", NAME]
    assert f"Prior images:3 ({NAME})." in board["context"]
    assert len(board["image_path"]) == len(board["image_path_16_bit"]) == 3
    table = pd.read_csv(out / "vlmevalkit/ReadingRoom.tsv", sep="\t")
    hints = dict(zip(table["item_id"], table["hint"], strict=True))
    assert f"Prior images: 3 ({NAME})" in hints["q0000"]
    assert "Prior" not in hints["q0003"]
    rows = parquet.read_table(out / "datasets/data/test.parquet").to_pylist()
    assert {row["item_id"]: len(row["images"]) for row in rows} == dict(
        zip(("q0000", "q0001", "q0002", "q0003"), (3, 3, 3, 2), strict=True)
    )
    for name in ("openai-batch/batch-001.jsonl", "inspect/samples.jsonl", "jsonl/items.jsonl"):
        assert NAME in (out / name).read_text()
    for file in filter(Path.is_file, out.rglob("*")):
        content = file.read_bytes()
        for leak in (*SECRETS, "before.png", "films/0", "prior_days"):
            assert leak.encode() not in content, (file, leak)


def _read_and_close(store: Store) -> None:
    simulate(store, study="trial", reader_id="R1", seed=3, accuracy=0.7, now=NOW)
    close_trial(store)


def test_a_bundle_with_prior_images_is_restored_identically(
    tmp_path: Path,
) -> None:
    """A column marks the cases with a prior image."""
    (tmp_path / "a").mkdir()
    store = _study(tmp_path / "a", "prior")
    _read_and_close(store)
    files = bundle_files(store, "trial")
    rows = list(csv.DictReader(io.StringIO(files["items.csv"].decode())))
    assert {row["item_id"]: row["prior_days"] for row in rows} == {
        "q0000": "91",
        "q0001": "?",
        "q0002": "91",
        "q0003": "",
    }
    (items,) = (
        resource for resource in json.loads(files["datapackage.json"])["resources"]
        if resource["name"] == "items-csv"
    )  # fmt: skip
    assert "prior_days" in {field["name"] for field in items["schema"]["fields"]}
    (tmp_path / "bundle.zip").write_bytes(zip_files(files))
    assert len(read_bundle(tmp_path / "bundle.zip").items) == N_PATIENTS
    assert verify(store) == []

    target = create_empty(tmp_path / "b", 2)
    by = By(name="c", role="administrator", place="abc")
    restore(target, tmp_path / "bundle.zip", acting=Acting(by=by, now=NOW))
    restored = bundle_files(target, "trial")
    assert restored["items.csv"] == files["items.csv"]
    assert restored["records.jsonl"] == files["records.jsonl"]
    assert verify(target) == []

    lines = files["records.jsonl"].decode().replace('"prior_days":"?"', '"prior_days":"x"')
    altered = {**files, "records.jsonl": lines.encode()}
    (tmp_path / "altered.zip").write_bytes(zip_files(altered))
    with pytest.raises(BadFile):
        restore(
            create_empty(tmp_path / "c", 3), tmp_path / "altered.zip", acting=Acting(by=by, now=NOW)
        )


def test_bundles_of_studies_without_prior_images_are_unchanged(tmp_path: Path) -> None:
    """Bundles of such studies do not mention prior images in the bank."""
    store = _study(tmp_path, "age")
    _read_and_close(store)
    files = bundle_files(store, "trial")
    assert b"prior" not in files["items.csv"]
    assert b"prior_days" not in files["records.jsonl"]
    assert b"prior_days" not in files["datapackage.json"]
