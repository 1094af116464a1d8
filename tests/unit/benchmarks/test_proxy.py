"""The slow connection, with a simulated clock."""

import asyncio
import socket
import threading

import pytest

from benchmarks.proxy import LOCAL, SLOW, SlowLine, proxied
from tests.conftest import run_in_thread


def test_the_time_of_a_film_is_size_over_rate_plus_half_a_round_trip() -> None:
    """A film of 2.2 MB takes 1.76 s at 10 Mbit/s, plus 100 ms, minus the small first burst."""
    line, left_s, arrives_s = SLOW.direction(), 0.0, 0.0
    for _ in range(2_200_000 // 8_000):
        left_s, arrives_s = line.send(8_000, left_s)
    assert left_s == pytest.approx(2_200_000 / 1_250_000, abs=0.02)
    assert arrives_s == pytest.approx(left_s + 0.1)


def test_connections_share_the_rate() -> None:
    """Alternating chunks of two connections leave as fast as those of one."""
    line = SlowLine(bytes_per_s=1_000, burst_bytes=0)
    assert [line.send(500, 0.0)[0] for _ in range(4)] == [0.5, 1.0, 1.5, 2.0]


def test_an_idle_connection_gains_at_most_the_burst() -> None:
    """After an hour the connection is no faster than before."""
    line = SlowLine(bytes_per_s=1_000, burst_bytes=100)
    assert line.send(100, 3_600.0)[0] == 3_600.0
    assert line.send(1_000, 3_600.0)[0] == pytest.approx(3_601.0)


def test_the_burst_compensates_for_late_timers() -> None:
    """A sender that always wakes up 10 ms late still gets the full rate."""
    line, now_s = SlowLine(bytes_per_s=1_000_000, burst_bytes=20_000), 0.0
    for _ in range(100):
        now_s = line.send(10_000, now_s)[0] + 0.009
    assert now_s == pytest.approx(1.0, abs=0.03)


def test_a_local_connection_has_no_delay() -> None:
    """A local connection has neither a limited rate nor a delay."""
    assert LOCAL.direction().send(10**9, 5.0) == (5.0, 5.0)


def test_a_message_does_not_wait_for_the_acknowledgement_of_the_previous_message() -> None:
    """Such waiting once made each statement through the proxy take 60 ms instead of 1.5 ms."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_server(("127.0.0.1", 0)) as entrance,
        proxied(listening.getsockname()[1], LOCAL, entrance),
    ):
        assert entrance.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_proxy_counts_each_exchange_and_forwards_every_byte() -> None:
    """Requests on the same connection are counted separately, with paths and sizes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_answer_twice, args=(listening,), daemon=True).start()
        with proxied(listening.getsockname()[1], LOCAL) as proxy:
            answers = run_in_thread(_ask_twice(proxy.port))
            assert answers == [b"x" * 100, b"y" * 50_000]
            exchanges = proxy.log.exchanges
    assert [(each.path, each.received_bytes) for each in exchanges] == [
        ("/films/1", 100),
        ("/desk", 50_000),
    ]
    assert exchanges[0].sent_bytes == len(_request("/films/1"))
    assert proxy.log.exchanges_under("/films/") == exchanges[:1]
    assert all(each.last_s is not None and each.last_s >= each.asked_s for each in exchanges)


def test_a_request_is_pending_until_its_answer_begins_or_its_connection_ends() -> None:
    """The benchmark of the reading page once waited 20 s for films requested by a closed page."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        with proxied(listening.getsockname()[1], LOCAL) as proxy:
            with socket.create_connection(("127.0.0.1", proxy.port)) as browser:
                browser.sendall(_request("/films/1"))
                server, _ = listening.accept()
                assert server.recv(10_000)
                (exchange,) = proxy.log.exchanges
                assert exchange.is_pending
            server.close()
        assert not exchange.is_pending


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def _answer_twice(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        for answer in (b"x" * 100, b"y" * 50_000):
            connection.recv(10_000)
            connection.sendall(answer)
        connection.recv(1)


async def _ask_twice(port: int) -> list[bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    for path, size in (("/films/1", 100), ("/desk", 50_000)):
        writer.write(_request(path))
        answers.append(await reader.readexactly(size))
    writer.close()
    await writer.wait_closed()
    return answers
