"""Requests from unknown clients, and the connections that a server opens."""

import base64
import http.client
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.conftest import Reader
from tests.e2e.server import Server, enter

Serve = Callable[..., Server]

HOME = ("127.0.0.1", "'127.0.0.1'", "('127.0.0.1'", "'localhost'", "::1", "'::1'", "('::1'", "/")
"""Prefixes of addresses of this machine."""


def _handshake_status(port: int, **headers: str) -> str:
    """Send the handshake of a websocket and return the status of the response."""
    requests = {
        "Host": f"127.0.0.1:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(b"sixteen bytes of").decode(),
        "Sec-WebSocket-Protocol": "streamlit",
        **headers,
    }
    lines = [
        "GET /_stcore/stream HTTP/1.1",
        *(f"{name}: {value}" for name, value in requests.items()),
    ]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        return line.recv(1000).decode().split()[1]


@pytest.mark.browser
def test_the_server_opens_no_connection(serve: Serve, reader: Reader, tmp_path: Path) -> None:
    """Foreign pages, unknown clients, a reader and a coordinator cause no lookup of a name."""
    calls = tmp_path / "calls"
    server = serve(watched=("tests.network_log", str(calls), "0"))
    port = server.port
    for origin in ("https://elsewhere.example", "http://localhost:3000", "null", "nonsense"):
        assert _handshake_status(port, Origin=origin) == "403"
    assert _handshake_status(port, Origin=server.url, Host="reading.hospital.example") == "403"
    assert _handshake_status(port, Origin=server.url) == "101"
    stranger = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for path in ("/", "/_stcore/health", "/_stcore/host-config", "/desk", "/nowhere"):
        stranger.request("GET", path, headers={"Origin": "https://elsewhere.example"})
        stranger.getresponse().read()
    stranger.close()
    reader.enter(server.url, server.codes["R1"])
    reader.wait(position=1)
    reader.answer("a")
    reader.wait(position=2)
    reader.wait_saved()
    reader.page.context.clear_cookies()
    enter(reader.page, server.url, server.codes["coordinator"])
    reader.page.get_by_role("heading", name="Progress").first.wait_for()
    called = calls.read_text().splitlines()
    assert [call for call in called if not call.startswith(HOME)] == []
    printed = server.log.read_text()
    assert printed.count("have the proxy pass Host on") == 1  # for five refusals within a minute
    assert "have the proxy pass Host on" in printed


@pytest.fixture
def knocked(serve: Serve, tmp_path: Path) -> Iterator[Server]:
    """Return a server with a limit of 512 open files and 600 incomplete requests."""
    server = serve(watched=("tests.network_log", str(tmp_path / "calls"), "512"))
    with ExitStack() as opened:
        for _ in range(600):
            line = opened.enter_context(socket.create_connection(("127.0.0.1", server.port), 30))
            line.sendall(b"GET /desk HT")
        yield server


@pytest.mark.thorough
def test_readers_are_served_among_six_hundred_incomplete_requests(knocked: Server) -> None:
    """The server drops incomplete requests, and its log stays small."""
    for _ in range(20):
        line = http.client.HTTPConnection("127.0.0.1", knocked.port, timeout=5)
        line.request("GET", "/desk")
        assert line.getresponse().status == 401
        line.close()
    assert knocked.log.stat().st_size < 20_000
