"""A firewall before a port of this machine, which can drop all packets without an answer.

The port is that of a second network namespace, which Linux connects to the first by a virtual line.
A suspended program is different: its system still accepts what is sent to it.
"""

import ctypes
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MISSING = "a firewall needs Linux, the program ip (apt install iproute2), and root"

_NEW_NETWORK = 0x40000000
_NEAR, _FAR = "02:00:00:00:00:01", "02:00:00:00:00:02"
"""The addresses of the line's ends, which are known: no packet has to ask for them."""


class Firewall:
    """A namespace, and the line to it; it drops packets while it has no route for the replies.

    Attributes
    ----------
    host : str
        The address of the far end, at which the sockets of `entrance` listen.
    """

    def __init__(self) -> None:
        number = os.getpid() * 4 % 65536
        self._near, self.host = (f"198.18.{number // 256}.{number % 256 + end}" for end in (1, 2))
        self._ends = f"rr{os.getpid()}near", f"rr{os.getpid()}far"
        self._here, self._there = _namespaces()

    def build(self) -> None:
        """Make the line.

        Raises
        ------
        OSError
            The system does not permit it.
        """
        near, far = self._ends
        there = f"/proc/{os.getpid()}/fd/{self._there}"
        other_end = ("peer", "name", far, "address", _FAR, "netns", there)
        _ip("link", "add", near, "address", _NEAR, "type", "veth", *other_end)
        _set_up(near, self._near, self.host, _FAR)
        with self._inside():
            _set_up(far, self.host, self._near, _NEAR)
            for name in ("all", far):
                Path(f"/proc/sys/net/ipv4/conf/{name}/rp_filter").write_text("1")

    def remove(self) -> None:
        """Remove the line, if it exists, and the namespace."""
        with suppress(OSError):
            _ip("link", "delete", self._ends[0])
        for namespace in (self._here, self._there):
            os.close(namespace)

    def entrance(self, port: int = 0) -> socket.socket:
        """Return a socket that listens at a port of the far end, by default at a free one."""
        with self._inside():
            return socket.create_server((self.host, port))

    def drop(self) -> None:
        """Drop all packets in both directions."""
        with self._inside():
            _ip("route", "add", "blackhole", self._near)

    def let_pass(self) -> None:
        """Let all packets pass again, if they are dropped."""
        with self._inside(), suppress(OSError):
            _ip("route", "delete", "blackhole", self._near)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Move this thread to the namespace while the block runs; its sockets stay there."""
        _enter(self._there)
        try:
            yield
        finally:
            _enter(self._here)


@contextmanager
def firewall() -> Iterator[Firewall | None]:
    """Build a firewall and remove it afterwards, or yield None if that is not permitted."""
    try:
        new_firewall = Firewall()
    except OSError:
        yield None
        return
    try:
        try:
            new_firewall.build()
        except OSError:
            yield None
        else:
            yield new_firewall
    finally:
        new_firewall.remove()


def _namespaces() -> tuple[int, int]:
    """Return the descriptors of this thread's namespace and of a new one, which ends with it."""
    own_namespace = "/proc/thread-self/ns/net"
    own_fd = os.open(own_namespace, os.O_RDONLY)
    try:
        _check(ctypes.CDLL(None).unshare(_NEW_NETWORK))
    except OSError:
        os.close(own_fd)
        raise
    other_fd = os.open(own_namespace, os.O_RDONLY)
    _enter(own_fd)
    return own_fd, other_fd


def _enter(namespace: int) -> None:
    _check(ctypes.CDLL(None).setns(namespace, _NEW_NETWORK))


def _check(result: int) -> None:
    if result:
        raise OSError("the system does not permit it")


def _set_up(end: str, address: str, other: str, hardware_address: str) -> None:
    """Start an end of the line, which knows the other one."""
    _ip("address", "add", f"{address}/30", "dev", end)
    _ip("link", "set", end, "up")
    _ip("neighbour", "add", other, "lladdr", hardware_address, "dev", end)


def _ip(*arguments: str) -> None:
    program = shutil.which("ip") or shutil.which("ip", path="/usr/sbin:/sbin") or "ip"
    result = subprocess.run([program, *arguments], capture_output=True, text=True)
    if result.returncode:
        raise OSError(result.returncode, result.stderr)
