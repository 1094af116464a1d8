"""The deposit of a protocol for OSF or Zenodo."""

import hashlib
import json
from collections.abc import Callable

import pytest

from study.base.errors import BadInput, NotNow
from study.exchange.protocol_deposit import SUMS, deposit_files
from study.reading.simulation import simulate
from study.store import Store
from study.store.studies import cases, study_row
from study.trail.heads import check_heads
from tests.conftest import NOW

Opened = Callable[..., Store]
CREATORS = ["Curie, Marie", " ", "Röntgen, Wilhelm "]
METADATA = {"ethics_approval": "Committee <7>", "funding": "None"}


def test_a_deposit_has_the_protocol_hashes_and_metadata(opened: Opened) -> None:
    """The metadata for OSF and for Zenodo have the authors; the chain head is stated."""
    store = opened(metadata=METADATA)
    files = deposit_files(store, "trial", creators=CREATORS, now=NOW)
    zenodo = json.loads(files["zenodo.json"])["metadata"]
    assert [creator["name"] for creator in zenodo["creators"]] == [
        "Curie, Marie",
        "Röntgen, Wilhelm",
    ]
    required = {"upload_type", "title", "creators", "description", "access_right", "license"}
    assert required <= zenodo.keys()
    assert zenodo["publication_date"] == NOW.date().isoformat()
    assert "Ethics approval: Committee &lt;7&gt;" in zenodo["description"]
    osf = json.loads(files["osf.json"])["data"]
    assert osf["type"] == "nodes"
    assert {"title", "category"} <= osf["attributes"].keys()
    with store.look() as look:
        digest = study_row(look, "trial").protocol_sha256
    assert digest in zenodo["description"]
    assert digest in osf["attributes"]["description"]
    assert all(finding.matches for finding in check_heads(store, files["head.txt"].decode()))
    sums = dict(line.split("  ")[::-1] for line in files[SUMS].decode().splitlines())
    assert sums == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != SUMS
    }


def test_a_deposit_does_not_name_the_drawn_cases(opened: Opened) -> None:
    """Readers could look up the cases in a public deposit."""
    store = opened()
    files = deposit_files(store, "trial", creators=CREATORS, now=NOW)
    with store.look() as look:
        ids = [row.item_id for row in cases(look, study_row(look, "trial").id)]
    assert ids
    assert not [item_id for item_id in ids if any(item_id.encode() in f for f in files.values())]


def test_a_deposit_is_refused_after_the_first_reading(opened: Opened) -> None:
    """An author is required by Zenodo."""
    store = opened()
    with pytest.raises(BadInput, match="at least one author"):
        deposit_files(store, "trial", creators=["", " "], now=NOW)
    simulate(store, study="trial", reader_id="R1", seed=1, accuracy=0.7, now=NOW)
    with pytest.raises(NotNow, match="before the first reading"):
        deposit_files(store, "trial", creators=CREATORS, now=NOW)
