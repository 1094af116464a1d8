"""The Compose settings for PostgreSQL produce a working store."""

import os
import subprocess
from pathlib import Path

import pg8000.native as pg
import pytest
import yaml

from benchmarks.postgres_cluster import MISSING, postgres_programs, temporary_server
from study.lifecycle.deployments import init
from study.store import Store
from study.store.address import ServerAddress, settings_of
from study.trail.verification import verify
from tests.conftest import NOW, ROOT, entropy_from

COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.postgres.yaml").read_text("utf-8"))
APP, DATABASE = COMPOSE["services"]["app"], COMPOSE["services"]["database"]
PASSWORD = "it's a $secret"


def test_the_address_of_the_app_is_that_of_the_database() -> None:
    """Both containers have the same password."""
    address = settings_of(ServerAddress(APP["environment"]["READING_ROOM_DB"]))
    (network,) = DATABASE["networks"].values()
    assert [host["host"] for host in address["hosts"]] == [network["ipv4_address"]]
    assert APP["environment"]["PGPASSWORD"] == DATABASE["environment"]["POSTGRES_PASSWORD"]
    base = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    addresses = [each["networks"]["inside"]["ipv4_address"] for each in base["services"].values()]
    assert network["ipv4_address"] not in addresses
    assert APP["environment"]["READING_ROOM_FILES"] in base["services"]["app"]["volumes"][0]


@pytest.mark.thorough
@pytest.mark.sqlite("starts its own PostgreSQL server")
def test_the_script_creates_accounts_and_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The administrator is named postgres, as in the image; then `init` succeeds."""
    folder = postgres_programs()
    if folder is None:
        pytest.skip(MISSING)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("READING_ROOM_FILES", str(tmp_path))
    script = DATABASE["volumes"][0].partition(":")[0]
    with temporary_server({}) as cluster:
        cluster.administer("CREATE ROLE postgres LOGIN SUPERUSER")
        place = {"host": "127.0.0.1", "port": cluster.port, "database": "postgres"}
        with pg.Connection("postgres", **place) as administrator:
            administrator.run("ALTER ROLE reading_room RENAME TO initial")
            environment = {
                "PATH": f"{folder}:{os.environ['PATH']}",
                "PGHOST": "127.0.0.1",
                "PGPORT": str(cluster.port),
                "POSTGRES_PASSWORD": PASSWORD,
            }
            subprocess.run([ROOT / "deploy" / script], env=environment, check=True)
            stored = administrator.run("SELECT count(rolpassword) FROM pg_authid")
            assert stored == [[2]]
        address = APP["environment"]["READING_ROOM_DB"]
        (network,) = DATABASE["networks"].values()
        address = address.replace(f"{network['ipv4_address']}:5432", f"127.0.0.1:{cluster.port}")
        store = init(address, entropy=entropy_from(1), now=NOW)
        assert verify(store) == []
        Store(address)
