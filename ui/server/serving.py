"""What the server that runs this program keeps to, told it before it takes its first connection.

Streamlit starts the server and lets nothing of this be set from a file.
"""

import logging
import resource
import signal
from contextlib import suppress
from functools import partial

import uvicorn
from streamlit import net_util
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession

from ui.server.connections import CountedLine, Lines
from ui.server.log_once import quieten

MOST_LINES = 4096
"""Connections at once; fewer where the system allows fewer files."""

MAX_MESSAGE = 5_000_000
"""Bytes a page may send at once over its websocket; files are sent another way."""

_BACKLOG = 128
"""How many connections are accepted in one go, before any is looked at."""

_OTHER_FILES = 256
"""Films, the store's connections, letters: what is open beside the lines."""

_log = logging.getLogger("reading_room.serving")


def settle() -> None:
    """Have the server of this process keep within its limits, and Streamlit keep to itself."""
    quieten()
    files = _raise_the_limit_of_files()
    _stay_at_home()
    _keep_paths_to_ourselves()
    server = _server()
    if server is None:
        _log.warning("The server's limits are not known to it: start it with `streamlit run`.")
        return
    most = max(16, min(MOST_LINES, files - _BACKLOG - _OTHER_FILES))
    server.config.http_protocol_class = partial(CountedLine, lines=Lines(most=most))  # type: ignore[assignment]
    server.config.backlog = _BACKLOG
    server.config.ws_max_size = MAX_MESSAGE


def _server() -> uvicorn.Server | None:
    """Return the server, known by its waiting for the signal to end: nothing else leads to it."""
    found = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return found if isinstance(found, uvicorn.Server) else None


def _raise_the_limit_of_files() -> int:
    """Let this process open as many files as its system allows, and return how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # macOS says "no limit", and means less
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return MOST_LINES * 2 if soft == resource.RLIM_INFINITY else soft


def _stay_at_home() -> None:
    """Keep Streamlit from asking the internet for this machine's address, while everybody waits.

    It wants to know for a page of another origin. `ui.server.headers` refuses such a page before.
    """
    net_util.get_external_ip = lambda: None
    net_util.get_internal_ip = lambda: None


def _keep_paths_to_ourselves() -> None:
    """Keep Streamlit from telling every browser where this program lies, and on what it runs."""
    whole = AppSession._create_new_session_message

    def without_paths(session: AppSession, *what: object, **more: object) -> ForwardMsg:
        message = whole(session, *what, **more)  # type: ignore[arg-type]
        message.new_session.main_script_path = ""
        message.new_session.initialize.environment_info.python_version = ""
        message.new_session.initialize.environment_info.server_os = ""
        return message

    AppSession._create_new_session_message = without_paths  # type: ignore[method-assign, assignment]
