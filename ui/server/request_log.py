"""Request ids, request metrics, and an optional log in JSON.

Every response has the header ``X-Request-ID``: the id that the proxy sent, or a new one. With
``READING_ROOM_LOG=json``, each request and each message of the program is one line of JSON with
that id. Paths are logged as route templates and without queries, because both can contain codes.
"""

import json
import logging
import os
import re
import secrets
import sys
import time
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from study.base.text import quoted
from study.base.translation import t
from ui.server import metrics
from ui.server.serving import OnceAMinute

VARIABLE = "READING_ROOM_LOG"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
_request_id: ContextVar[str] = ContextVar("request_id", default="")
_log = logging.getLogger("reading_room.requests")


class JsonLines(logging.Formatter):
    """Formats a message as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a message, with the id of the request that caused it."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": _request_id.get(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps({key: value for key, value in line.items() if value != ""})


def set_up() -> None:
    """Log in JSON if ``READING_ROOM_LOG`` is ``json``.

    Raises
    ------
    SystemExit
        The variable has another value.
    """
    setting = os.environ.get(VARIABLE, "")
    if setting not in ("", "text", "json"):
        raise SystemExit(f"{VARIABLE} is {quoted(setting)}. Use json or text.")
    if setting != "json":
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(OnceAMinute())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    for name in list(root.manager.loggerDict):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").disabled = True  # because it logs paths
    _log.setLevel(logging.INFO)


class RouteTemplates:
    """Finds the route template of a path."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._fixed = {route.path for route in routes if isinstance(route, Route)}
        self._others = [
            (route.path_regex, route.path)
            for route in routes
            if (isinstance(route, Route) and "{" in route.path) or isinstance(route, Mount)
        ]

    def of(self, path: str) -> str:
        """Return the template of a path; ``other`` for pages and files of Streamlit."""
        if path in self._fixed:
            return path
        matches = (template for regex, template in self._others if regex.match(path))
        return next(matches, "other")


class RequestLog:
    """ASGI middleware: gives each request an id, counts it, and logs it."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._templates = RouteTemplates(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get("x-request-id", "")
        request_id = sent if _ID.fullmatch(sent) else secrets.token_hex(8)
        _request_id.set(request_id)
        status, began_s, started = 500, time.perf_counter(), False

        async def with_id(message: Message) -> None:
            nonlocal status, started
            if message["type"].endswith("http.response.start"):
                status, started = message["status"], True
                message["headers"] = list(message.get("headers", ()))
                MutableHeaders(raw=message["headers"])["x-request-id"] = request_id
            await send(message)

        if scope["type"] == "websocket":
            with metrics.open_websockets.track_inprogress():
                await self._app(scope, receive, with_id)
            return
        try:
            await self._app(scope, receive, with_id)
        except Exception:
            if not started:
                reason = t("An error occurred. The server's log has it under {id}.", id=request_id)
                await PlainTextResponse(reason, 500)(scope, receive, with_id)
            raise
        finally:
            self._record(scope, status, time.perf_counter() - began_s)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = self._templates.of(scope["path"])
        metrics.requests.labels(method, route, status).inc()
        metrics.request_seconds.labels(route).observe(seconds)
        if _log.isEnabledFor(logging.INFO):
            fields = {"method": method, "route": route, "status": status}
            fields["ms"] = round(seconds * 1000, 1)
            _log.info("request", extra={"fields": fields})


def request_log_middleware(routes: Sequence[BaseRoute]) -> Middleware:
    """Return the middleware for an application with these routes."""
    return Middleware(RequestLog, routes=routes)
