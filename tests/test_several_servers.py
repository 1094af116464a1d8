"""Several servers on one store: sign-ins and addresses of one server are valid on the others."""

import shutil
import urllib.request
from random import Random

import pytest

from benchmarks.postgres_cluster import programs
from tests.e2e.server import Server
from tests.torture.browser import Browser, Ledger
from tests.torture.faults import KILLED
from tests.torture.front import PROXIES
from tests.torture.postgres import Postgres
from tests.torture.sqlite import Sqlite
from tests.torture.suite import Engine, Outcome, Plan, deployed, run_batch


@pytest.mark.slow
def test_image_addresses_are_valid_on_all_servers_and_after_a_restart() -> None:
    """The sign-in is valid there too, because the keys are in the store."""
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


ON_POSTGRES = Postgres() if programs() else Sqlite()
"""The engine of one of the runs; each proxy runs with one engine, because it does not depend on
it."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("proxy", "engine"),
    list(zip(PROXIES, (Sqlite(), ON_POSTGRES), strict=True)),
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
