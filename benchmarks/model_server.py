"""A substitute for a model server: chat completions, and failures on request.

``python -m benchmarks.model_server SECONDS`` answers every question after SECONDS, and
prints the port it listens on.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "answer"
STALL = "stall"
CUT = "cut off"
LIMIT = "rate limit"
GARBLED = "malformed"
ERROR = "error"
FILTERED = "filtered"

Behaviour = Callable[[int, str], str]
"""A function of the number of a request (from 0) and its question that returns the response."""


class ModelServer(ThreadingHTTPServer):
    """Answers requests and records them."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, behave: Behaviour = lambda _number, _text: ANSWER, *, seconds: float = 0):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behave = behave
        self.seconds = seconds
        self.asked: list[str] = []
        self.responses: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """Return the address to give as `--base-url`."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do not report clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = _text(body)
        with self.server.lock:
            number = len(self.server.asked)
            self.server.asked.append(text)
            self.server.keys.append(self.headers.get("Authorization", ""))
            self.server.bodies[:] = [body]
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            self.server.closing.wait(self.server.seconds)
            self._answer(number, text, body)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    def _answer(self, number: int, text: str, body: dict[str, Any]) -> None:
        response = self.server.behave(number, text)
        words = f"{'ABCD'[number % 4]}\n\nSaid in reply to request {number}."
        if response == STALL:
            self.server.closing.wait(30)
        elif response == LIMIT:
            self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.2"})
        elif response == ERROR:
            key = self.headers.get("Authorization", "")
            self._send(401, {"error": {"message": f"incorrect key: {key}"}})
        elif response == GARBLED:
            self._send(200, '{"choices": [{"message": {"content": "A')
        elif response == CUT:
            self._headers(200, {"Content-Length": "1000"})
            self.wfile.write(b'{"id": "')
            self.close_connection = True
        elif body.get("stream"):
            self._stream(words)
        else:
            stop = "content_filter" if response == FILTERED else "stop"
            self._send(200, _completion(words, stop))
        if response in (ANSWER, FILTERED):
            with self.server.lock:
                self.server.responses.append((text, words))

    def _send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        sent = text.encode()
        kind = {"Content-Type": "application/json", "Content-Length": str(len(sent))}
        self._headers(status, {**kind, **(headers or {})})
        self.wfile.write(sent)
        self.wfile.flush()

    def _headers(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, words: str) -> None:
        self._headers(200, {"Content-Type": "text/event-stream", "Connection": "close"})
        for piece in (*words.split(" "), None):
            delta = {} if piece is None else {"role": "assistant", "content": f"{piece} "}
            choice = {"index": 0, "delta": delta, "finish_reason": None if piece else "stop"}
            self._event({**_frame("chat.completion.chunk"), "choices": [choice]})
        self._event({**_frame("chat.completion.chunk"), "choices": [], "usage": _USAGE})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, content: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(content)}\n\n".encode())
        self.wfile.flush()


_USAGE = {"prompt_tokens": 800, "completion_tokens": 20, "total_tokens": 820}


def _frame(kind: str) -> dict[str, Any]:
    return {"id": "c1", "object": kind, "created": 1, "model": "stand-in-1"}


def _completion(words: str, stop: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": words}
    choice = {"index": 0, "message": message, "finish_reason": stop}
    return {**_frame("chat.completion"), "choices": [choice], "usage": _USAGE}


def _text(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


@contextmanager
def run_server(server: ModelServer) -> Iterator[ModelServer]:
    """Run a server in threads of this process within the context."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    alone = ModelServer(seconds=float(sys.argv[1]))
    print(alone.server_address[1], flush=True)
    alone.serve_forever()
