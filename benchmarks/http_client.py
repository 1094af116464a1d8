"""A small HTTP client on asyncio that takes little processor time, with one request at a time."""

import asyncio
import json
from typing import Any

from benchmarks.machine import Broken

_ATTEMPTS = 5
"""Number of attempts; like a browser, the client repeats requests if a connection was closed."""
_BUSY_S = 1.0
"""Time that the client waits if the server is busy."""


class Line:
    """A connection that remains open, and is opened again if the server closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.cookie = ""
        self.n_busy = 0

    async def sign_in(self, code: str) -> None:
        """Sign in with an access code and keep the cookie."""
        body = f"access_code={code}".encode()
        status, headers, _ = await self._exchange(
            "POST", "/sign-in", body, "application/x-www-form-urlencoded"
        )
        if status != 303 or "set-cookie" not in headers:
            raise Broken(f"signing in failed with status {status}")
        self.cookie = headers["set-cookie"].partition(";")[0]

    async def request(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the content of a response with status 200; try again if the server is busy."""
        sent = b"" if body is None else json.dumps(body).encode()
        for _ in range(_ATTEMPTS):
            status, _, content = await self._exchange(method, path, sent, "application/json")
            if status != 503:
                break
            self.n_busy += 1
            await asyncio.sleep(_BUSY_S)
        if status != 200:
            raise Broken(f"{method} {path.split('?')[0]}: status {status}")
        return content

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON content of a response with status 200."""
        return json.loads(await self.request(method, path, body))

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _exchange(
        self, method: str, path: str, body: bytes, kind: str
    ) -> tuple[int, dict[str, str], bytes]:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Cookie: {self.cookie}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        for attempt in range(_ATTEMPTS):
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            try:
                writer.write(head.encode() + body)
                await writer.drain()
                return await _response(reader)
            except (OSError, asyncio.IncompleteReadError):  # an idle connection was closed
                self.close()
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError


async def _response(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in head[1:-2]:
        name, _, value = line.partition(":")
        headers.setdefault(name.lower(), value.strip())
    if headers.get("transfer-encoding", "") == "chunked":
        content = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            content += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    else:
        content = await reader.readexactly(int(headers.get("content-length", "0")))
    return int(head[0].split()[1]), headers, content
