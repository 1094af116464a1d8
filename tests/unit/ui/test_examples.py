"""Example files offered for download are accepted when they are uploaded."""

import io

from study.bank.importing import SIMULATED_OPTIONS
from study.bank.uploads import import_received, receive_archive
from study.store import Store
from tests.conftest import ACTING
from ui.overview.examples import bank_zip


def test_the_example_bank_is_imported_without_errors(store: Store) -> None:
    """All its questions and images are imported, and the file is small."""
    example = bank_zip()
    arrived = receive_archive(store, io.BytesIO(example), name="Example")
    done = import_received(store, arrived, name="Example", options=SIMULATED_OPTIONS, acting=ACTING)
    assert (done.n_items, done.n_left_out) == (12, 0)
    assert len(example) < 10_000_000
