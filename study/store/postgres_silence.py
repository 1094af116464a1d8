"""Fails all requests except one immediately while a PostgreSQL server does not answer.

Each time-limited statement is abandoned after a few seconds. If every request waited that long, a
hundred readers would occupy all threads of an app server.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SILENT = "08S01"
"""The code of a server that did not answer in time."""


class ServerError(sqlite3.OperationalError):
    """An error of the server with its code (SQLSTATE), or of the network (08000, 08S01).

    `is_final` states whether the connection ended or was refused.
    """

    def __init__(self, message: str, code: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.code, self.is_final = code, is_final


class Silence:
    """Whether the last time-limited transaction had no answer, shared by a store's connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_silent = self._is_tried = False

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Connect to the server or begin a transaction within the block.

        Raises
        ------
        ServerError
            The server does not answer, and another thread is trying it now.
        """
        with self._lock:
            if self._is_silent and self._is_tried:
                raise ServerError("the server does not answer", SILENT, is_final=True)
            is_own_attempt = self._is_tried = self._is_silent
        is_silent = False
        try:
            yield
        except ServerError as error:
            is_silent = error.code == SILENT
            raise
        finally:
            with self._lock:
                self._is_silent = is_silent
                self._is_tried = self._is_tried and not is_own_attempt
