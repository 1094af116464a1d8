"""Several servers on one store: what one of them issued is valid on the others."""

import urllib.request
from random import Random

import pytest

from tests.e2e.server import Server
from tests.torture.browser import Browser, Ledger
from tests.torture.suite import Plan, deployed


@pytest.mark.slow
def test_image_addresses_are_valid_on_all_servers_and_after_a_restart() -> None:
    """The sign-in is valid there too, because both have their keys in the store."""
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
