"""While a study is open, no message to its staff reveals which answers are correct."""

import base64
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocket

import analysis
from study.base.actor import COMMAND_LINE, Acting
from study.exchange.bundle import bundle_files, zip_files
from study.lifecycle import studies
from study.models import models
from study.people.roles import STUDY_PERMISSIONS, Role
from study.reading.simulation import simulate
from study.store import Store
from tests.conftest import ACTING, NOW, SECRETS, bank_records, entropy_from, write_bank
from tests.e2e.conftest import Profile
from tests.e2e.prepared import PARTS, pages_for, statistician, walk
from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
N_CASES = 23
"""A prime number, because shares of it do not occur elsewhere on a page."""

WATCHES = (Role.COORDINATOR, Role.STATISTICIAN)
SEEN_WHILE_OPEN = {**PARTS, "results": ("Agreement",)}


def _accuracies(store: Store) -> set[float]:
    """Return the accuracy of each rater, as the analysis computes it from the complete bundle."""
    bundle = store.path.with_name("complete.zip")
    bundle.write_bytes(zip_files(bundle_files(store, study="trial")))
    table = analysis.accuracy(analysis.read_bundle(bundle))
    return set(table.loc[table["group"] == "micro", "accuracy"])


def _forms(share: float) -> Iterator[bytes]:
    """Yield the notations of a share: digits, a percentage, a double, and the double in base 64."""
    yield f"{share:.4f}".encode()
    yield f"{100 * share:.1f}".encode()
    double = struct.pack("<d", share)
    yield double
    for before in range(
        3
    ):  # offset within three bytes; only the characters that depend on the searched text alone
        data = base64.b64encode(bytes(before) + double + bytes(3))
        yield data[-(-8 * before // 6) : 8 * (before + 8) // 6]


def _revealed(store: Store, heard: list[bytes]) -> set[bytes]:
    """Return the received accuracies and texts that only the reference standard reveals."""
    everything = b"\0".join(heard)
    forms = {form for share in _accuracies(store) for form in _forms(share)}
    return {form for form in (*forms, *map(str.encode, SECRETS)) if form in everything}


def _listen(page: Page) -> list[bytes]:
    """Return a list to which all messages to a page are added."""
    heard: list[bytes] = []

    def note(payload: bytes | str) -> None:
        heard.append(payload.encode() if isinstance(payload, str) else payload)

    def connected(line: WebSocket) -> None:
        line.on("framereceived", note)

    page.on("websocket", connected)
    return heard


def test_no_page_reveals_accuracy_before_closing(
    serve: Callable[..., Server], profile: Profile, tmp_path: Path
) -> None:
    """All messages of every page of each role are searched; after closing, Results has it."""
    bank = write_bank(tmp_path / "bank", n_patients=N_CASES, per_patient=1)
    server = serve(readers=("R1", "R2"), bank=bank, cases=N_CASES)
    store = server.store
    server.codes[Role.STATISTICIAN] = statistician(
        store, "trial", entropy_from(9), datetime.now(UTC)
    )
    for reader_id, accuracy in (("R1", 0.6), ("R2", 0.8)):
        simulate(store, study="trial", reader_id=reader_id, seed=1, accuracy=accuracy, now=NOW)
    answers = tmp_path / "model.csv"
    answers.write_text(
        "item_id,answer\n" + "".join(f"{key},A\n" for key in bank_records(N_CASES, 1))
    )
    models.add_model(store, answers, study="trial", model_id="Model A", acting=ACTING)
    for role in WATCHES:
        page = profile().new_page()
        heard = _listen(page)
        entries = [entry for entry in pages_for(role) if entry.act in STUDY_PERMISSIONS[role]]
        pages_seen = list(walk(page, server, role, SEEN_WHILE_OPEN, entries))
        assert "results, Agreement" in pages_seen
        assert heard
        assert _revealed(store, heard) == set()
    studies.close(
        store,
        study="trial",
        reason="Every case is read.",
        acting=Acting(by=COMMAND_LINE, now=datetime.now(UTC)),
    )
    heard.clear()
    page.goto(f"{server.url}/results")
    page.get_by_role("radio", name="Accuracy").click()
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert _revealed(store, heard)
