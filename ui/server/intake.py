"""What may be sent to the server: by whom, how much and how slowly; counted as it comes.

A limit that believed ``Content-Length`` would be none: a chunked body has another length.
"""

import asyncio
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope

from study.base.translation import t
from study.people.roles import Act
from study.people.signing_in import Person
from ui.server.access import asking

UPLOADS = "/_stcore/upload_file/"
"""Where Streamlit takes files, from whoever asks: it knows nothing of sign-ins."""

MAY_UPLOAD = (Act.MAKE_STUDY, Act.MODELS, Act.PEOPLE, Act.CLOSE, Act.DEPLOYMENT)

MAX_UPLOADED = 2_000_000_000
"""Bytes a sign-in may upload in an hour; Streamlit holds them in memory until the page is left."""

MAX_BODY = 10_000
MAX_RECORDS = 2_000_000
"""Bytes that may be posted with a form, and by the reading page."""

SLOWEST_S = 30.0
"""How long the next piece of a body is waited for."""

_RECORDS = re.compile(r"(/(preview|teaching|expert|scoring)(/[^/]+)+)?/desk/records")
_HOUR_S = 3600.0


class NotTaken(Exception):
    """A body that is not taken, with its status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Intake:
    """Takes bodies, and keeps count of what each sign-in has uploaded in the last hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._uploaded: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    async def admit(self, scope: Scope, receive: Receive) -> Receive:
        """Return what a request's body is read from, within its limits.

        Raises
        ------
        Refused
            At once, or later by what is returned: the body is too long or too slow, or not from
            somebody who may send it.
        """
        if UPLOADS in scope["path"] and scope["method"] != "OPTIONS":
            who = await run_in_threadpool(_may_upload, Request(scope))
            if who is None:
                raise NotTaken(403, t("Sign in with an account that can upload files."))
            most, sign_in = MAX_UPLOADED - self._recent(who.sign_in), who.sign_in
            too_much = t("Too much data was uploaded within an hour. Try again later.")
        else:
            most = MAX_RECORDS if _RECORDS.fullmatch(scope["path"]) else MAX_BODY
            sign_in, too_much = "", t("Too much data at once.")
        said = Headers(scope=scope).get("content-length", "0")
        if not said.isdecimal() or len(said) > 15 or int(said) > most:
            raise NotTaken(413, too_much)
        return self._counted(receive, most, too_much, sign_in)

    def _counted(self, receive: Receive, most: int, too_much: str, sign_in: str) -> Receive:
        taken, whole = 0, False

        async def counted() -> Message:
            nonlocal taken, whole
            if whole:  # what comes now is that the line was closed, however late
                return await receive()
            try:
                async with asyncio.timeout(SLOWEST_S):
                    message = await receive()
            except TimeoutError as error:
                raise NotTaken(408, t("The data arrived too slowly.")) from error
            whole = not message.get("more_body", False)
            n_bytes = len(message.get("body", b""))
            taken += n_bytes
            if sign_in and n_bytes:
                self._uploaded[sign_in].append((self._clock(), n_bytes))
            if taken > most:
                raise NotTaken(413, too_much)
            return message

        return counted

    def _recent(self, sign_in: str) -> int:
        """Return how many bytes a sign-in uploaded in the last hour; what is older is forgotten."""
        for one in list(self._uploaded):
            pieces = self._uploaded[one]
            while pieces and self._clock() - pieces[0][0] > _HOUR_S:
                pieces.popleft()
            if not pieces:
                del self._uploaded[one]
        return sum(n_bytes for _, n_bytes in self._uploaded.get(sign_in, ()))


def _may_upload(request: Request) -> Person | None:
    who = asking(request)
    return who if who is not None and any(who.may(act) for act in MAY_UPLOAD) else None
