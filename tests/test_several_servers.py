"""Several servers with one store: a sign-in or address from one server is valid on the others."""

import json
import os
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from urllib.error import HTTPError

import pytest

from benchmarks.postgres_cluster import (
    MISSING,
    NEW_DATABASE,
    Cluster,
    postgres_programs,
    temporary_server,
)
from study.store import Store, schema
from study.trail.verification import verify
from tests.e2e.server import Server
from tests.torture.altered_server import NEWER, upgraded_migrations
from tests.torture.browser import Browser, ConnectionFault, Cut, Ledger
from tests.torture.faults import KILLED
from tests.torture.front import PROXIES
from tests.torture.postgres import Postgres
from tests.torture.sqlite import Sqlite
from tests.torture.suite import Engine, Outcome, Plan, deployed, run_batch


@pytest.mark.thorough
def test_image_addresses_are_valid_on_all_servers_and_after_a_restart() -> None:
    """Sign-ins remain valid too, because the keys are in the store."""
    with deployed(Plan(readers=1, cases=1, servers=2), "images") as (site, codes):
        reader = Browser(site.network, [site.servers[0].port], codes["R1"], Random(1), Ledger())
        reader.sign_in()
        reader.load()
        address = reader.desk["cases"][0]["views"][0]["url"].lstrip("/")

        def image(server: Server) -> bytes:
            request = urllib.request.Request(f"{server.url}/{address}")
            request.add_header("Cookie", reader.cookie)
            with urllib.request.urlopen(request, timeout=30) as answer:
                content: bytes = answer.read()
            return content

        images = [image(server) for server in site.servers]
        for server in site.servers:
            server.kill()
            server.start()
        images += [image(server) for server in site.servers]
    assert images[0]
    assert images == images[:1] * 4


SECOND_ENGINE = Postgres() if postgres_programs() else Sqlite()
"""The engine of the run with the second proxy; proxies do not depend on the engine."""


@pytest.mark.parametrize(
    ("proxy", "engine"),
    list(zip(PROXIES, (Sqlite(), SECOND_ENGINE), strict=True)),
    ids=PROXIES,
)
def test_readers_continue_behind_a_proxy_when_a_server_is_killed(
    proxy: str, engine: Engine
) -> None:
    """The proxy has the configuration of docs/several-servers.md."""
    if not (shutil.which(proxy) or shutil.which(proxy, path="/usr/sbin")):
        pytest.skip(f"{proxy} is not installed: apt install {proxy}")
    plan = Plan(
        readers=6, cases=5, server_faults=1, servers=2, engine=engine, proxy=proxy, only=KILLED
    )
    outcome = run_batch(plan, seed=proxy)
    assert outcome.faults[KILLED] == 1
    assert outcome == Outcome(acknowledged=outcome.acknowledged, faults=outcome.faults)
    assert outcome.acknowledged >= plan.readers * plan.cases


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [Sqlite(), SECOND_ENGINE], ids=["sqlite", "postgres"])
def test_servers_of_an_older_version_stop_when_a_newer_one_upgrades_the_store(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They report the reason and store nothing; readers' pages keep answers for the new version."""
    plan = Plan(readers=1, cases=3, servers=2, engine=engine)
    with deployed(plan, "upgrade") as (site, codes):
        older, newer = site.servers
        ports = [older.port]
        reader = Browser(site.network, ports, codes["R1"], Random(1), Ledger())
        reader.sign_in()
        reader.load()
        _start_newer_version(newer)
        reader.answer("first")
        with pytest.raises(Cut, match="status 503"):
            reader.send(ConnectionFault.NONE)
        status, reason = _readiness(older)
        assert (status, reason[:25]) == (503, "The database was upgraded")
        for server, name in ((newer, "second"), (older, "third")):
            if server is older:
                _start_newer_version(older)
            ports[:] = [server.port]
            reader.send(ConnectionFault.NONE)
            assert _readiness(server)[1] == "ok"
            reader.answer(name)
        reader.send(ConnectionFault.NONE)
        assert reader.is_done
        assert (len(reader.ledger.acknowledged), reader.ledger.n_signed_out) == (3, 0)
        monkeypatch.setattr(schema, "MIGRATIONS", upgraded_migrations())
        assert verify(Store(older.store.address)) == []


def _start_newer_version(server: Server) -> None:
    """Replace a server by one with a newer version of the program."""
    server.kill()
    server.watched = (*server.watched[:-1], NEWER)
    server.start()


def _readiness(server: Server) -> tuple[int, str]:
    """Return the HTTP status of ``/readyz`` and the result of its store check."""
    try:
        with urllib.request.urlopen(f"{server.url}/readyz", timeout=30) as answer:
            return answer.status, json.load(answer)["checks"]["store"]
    except HTTPError as error:
        return error.code, json.load(error)["checks"]["store"]


class PostgresWithPassword(Postgres):
    """PostgreSQL that requires the passwords of an account and of its readers' connections."""

    cluster: Cluster

    @contextmanager
    def place(self) -> Iterator[str]:
        """Yield the address of an empty database, without its password."""
        with temporary_server({}) as self.cluster, tempfile.TemporaryDirectory() as files:
            self.cluster.administer(
                "CREATE ROLE clinic LOGIN PASSWORD 'first'",
                "CREATE ROLE clinic_desk LOGIN PASSWORD 'first'",
                "CREATE ROLE clinic_staff",
                "GRANT clinic_staff TO clinic",
                f"CREATE DATABASE store OWNER clinic {NEW_DATABASE}",
            )
            rules = self.cluster.data / "pg_hba.conf"
            rules.write_text(
                "host all reading_room 127.0.0.1/32 trust\n"
                "host all all 127.0.0.1/32 scram-sha-256\n"
            )
            self.cluster.administer("SELECT pg_reload_conf()")
            with pytest.MonkeyPatch.context() as environment:
                environment.setenv("READING_ROOM_FILES", files)
                environment.setenv("PGPASSWORD", "first")
                yield f"postgresql://clinic@127.0.0.1:{self.cluster.port}/store"


@pytest.mark.thorough
@pytest.mark.skipif(not postgres_programs(), reason=MISSING)
def test_the_database_password_can_be_changed_while_servers_run() -> None:
    """Connections remain open, and servers restart one after another; no reader signs in again."""
    engine = PostgresWithPassword()
    with deployed(Plan(readers=1, cases=4, servers=2, engine=engine), "password") as (site, codes):
        first, second = site.servers
        ports = [first.port]
        reader = Browser(site.network, ports, codes["R1"], Random(1), Ledger())

        def send(server: Server) -> None:
            ports[:] = [server.port]
            reader.send(ConnectionFault.NONE)

        reader.sign_in()
        reader.load()
        for server in site.servers:
            reader.answer(str(server.port))
            send(server)
        engine.cluster.administer(
            "BEGIN",
            "ALTER ROLE clinic PASSWORD 'second'",
            "ALTER ROLE clinic_desk PASSWORD 'second'",
            "COMMIT",
        )
        reader.answer("third")
        send(first)
        engine.cluster.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> 'reading_room'"
        )
        reader.answer("fourth")
        for server in site.servers:
            with pytest.raises(Cut, match="status 503"):
                send(server)
        os.environ["PGPASSWORD"] = "second"  # `place` restores it
        first.kill()
        first.start()
        with pytest.raises(Cut, match="status 503"):
            send(second)
        send(first)
        second.kill()
        second.start()
        assert [_readiness(server)[1] for server in site.servers] == ["ok", "ok"]
        assert reader.is_done
        assert (len(reader.ledger.acknowledged), reader.ledger.n_signed_out) == (4, 0)
        assert verify(Store(first.store.address)) == []
