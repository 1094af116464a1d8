"""Prometheus metrics, served only with a token.

Labels are route templates, methods and outcomes, never names, codes or studies.
"""

import hmac
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from study.base.errors import Busy, StudyError
from ui.server import health
from ui.server.deployment import Lane, in_turn

VARIABLE = "READING_ROOM_METRICS_TOKEN"

REGISTRY = CollectorRegistry()
_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

requests = Counter(
    "reading_room_requests", "HTTP requests.", ("method", "route", "status"), registry=REGISTRY
)
request_seconds = Histogram(
    "reading_room_request_seconds",
    "Duration of HTTP requests in seconds.",
    ("route",),
    buckets=_BUCKETS_S,
    registry=REGISTRY,
)
open_websockets = Gauge(
    "reading_room_open_websockets", "Open websockets of staff pages.", registry=REGISTRY
)
records = Counter(
    "reading_room_records",
    "Records of readers, such as answers, by their outcome. "
    "A record that is sent again is counted again.",
    ("outcome",),
    registry=REGISTRY,
)


class _CurrentValues(Collector):
    """Values that are measured when the metrics are requested."""

    def collect(self) -> Iterable[Metric]:
        """Yield the current values; those of a store that cannot be opened are left out."""
        ready = health.CACHED_READINESS.get()
        yield _gauge("ready", "Whether all checks of /readyz pass.", ready.is_ready)
        yield _gauge("disk_free_bytes", "Free space on the disk of the store.", ready.free_bytes)
        yield _gauge("images", "Images of the open studies.", ready.n_images)
        yield _gauge("images_prepared", "Prepared images of the open studies.", ready.n_prepared)
        if not ready.has_store:
            return
        try:
            age_s = health.last_backup_age_s(datetime.now(UTC))
        except StudyError:
            return
        if age_s is not None:
            yield _gauge("backup_age_seconds", "Age of the newest backup.", age_s)


REGISTRY.register(_CurrentValues())


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"reading_room_{name}", help_text, value=float(value))


def routes() -> list[Route]:
    """Return the route of the metrics."""
    return [Route("/metrics", _metrics, methods=["GET"])]


async def _metrics(request: Request) -> Response:
    token = os.environ.get(VARIABLE, "")
    if not token:
        return PlainTextResponse(f"Metrics are off. To turn them on, set {VARIABLE}.", 404)
    sent = request.headers.get("authorization", "")
    if not hmac.compare_digest(sent.encode(), f"Bearer {token}".encode()):
        return PlainTextResponse("Send the token as: Authorization: Bearer TOKEN.", 401)
    try:
        text = await in_turn(partial(generate_latest, REGISTRY), Lane.CHECKS)
    except Busy:
        return PlainTextResponse("The server is busy. Try again in a moment.", 503)
    return Response(text, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})
