"""A proxy in front of several servers, configured as docs/several-servers.md describes."""

import re
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import free_port
from benchmarks.postgres_cluster import wait_until

PROXIES = ("nginx", "caddy")

_PAGE = Path(__file__).parents[2] / "docs" / "several-servers.md"

_NGINX = """daemon off; pid {folder}/pid; error_log {folder}/log;
events {{ worker_connections 1024; }}
http {{
access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
map $http_upgrade $reading_room_connection {{ default upgrade; '' ''; }}
{outside}
server {{ listen 127.0.0.1:{port};
{inside}
}}
}}
"""

_CADDY = """{{
admin off
auto_https off
}}
{outside}
http://127.0.0.1:{port} {{
{inside}
}}
"""


@contextmanager
def proxied(kind: str, ports: Sequence[int]) -> Iterator[int]:
    """Run nginx or Caddy in front of servers, and yield its port."""
    program = shutil.which(kind) or shutil.which(kind, path="/usr/sbin")
    assert program, f"{kind} is not installed: apt install {kind}"
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="reading-room-proxy-") as folder:
        file = Path(folder, "config")
        if kind == "nginx":
            outside, inside = _described("# in server { }", ports)
            file.write_text(_NGINX.format(folder=folder, outside=outside, inside=inside, port=port))
            command = [program, "-c", str(file), "-p", folder]
        else:
            outside, inside = _described("# in the site", ports)
            file.write_text(_CADDY.format(outside=outside, inside=inside, port=port))
            command = [program, "run", "--adapter", "caddyfile", "--config", str(file)]
        with Path(folder, "out").open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, cwd=folder)
        try:
            wait_until(lambda: process.poll() is not None or _answers(port))
            assert process.poll() is None, Path(folder, "out").read_text()
            yield port
        finally:
            process.terminate()
            process.wait()


def _described(divider: str, ports: Sequence[int]) -> tuple[str, str]:
    """Return the two parts of the configuration in the documentation, for other ports."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", _PAGE.read_text("utf-8"), re.M | re.S)
    block = next(each for each in blocks if divider in each)
    servers = "".join(
        f"    server 127.0.0.1:{port} max_fails=1 fail_timeout=5s;\n" for port in ports
    )
    block = re.sub(r"(    server 127\.0\.0\.1:\d+ max_fails=1 fail_timeout=5s;\n)+", servers, block)
    entries = " ".join(f"127.0.0.1:{port}" for port in ports)
    text_outside, inside = re.sub(r"(?<=\bto )[\d.: ]+", entries, block).split(divider)
    return text_outside, inside


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
