"""Describes operating system errors in the user's language."""

import errno
import socket
import ssl

from study.base.translation import later, t, translated

_REASONS = {
    errno.EACCES: later("access is denied"),
    errno.EPERM: later("access is denied"),
    errno.EROFS: later("the disk is read-only"),
    errno.ENOSPC: later("the disk is full"),
    errno.EDQUOT: later("the disk is full"),
    errno.EFBIG: later("the file is too large for the disk"),
    errno.EIO: later("the disk reports an error"),
    errno.ENOENT: later("there is no file or folder of this name"),
    errno.ENOTDIR: later("there is no file or folder of this name"),
    errno.EISDIR: later("it is a folder"),
    errno.EEXIST: later("a file or folder of this name exists"),
    errno.ENOTEMPTY: later("the folder is not empty"),
    errno.ENAMETOOLONG: later("the name is too long"),
    errno.EMFILE: later("too many files are open"),
    errno.ENFILE: later("too many files are open"),
    errno.ECONNREFUSED: later("the connection was refused"),
    errno.ECONNRESET: later("the connection was interrupted"),
    errno.EPIPE: later("the connection was interrupted"),
    errno.EHOSTUNREACH: later("the address cannot be reached"),
    errno.ENETUNREACH: later("the address cannot be reached"),
    errno.ETIMEDOUT: later("no answer within the time limit"),
}


def system_reason(error: Exception) -> str:
    """Return why the operating system refused an operation, without the system's message.

    >>> system_reason(OSError(errno.ENOSPC, "No space left on device"))
    'the disk is full'
    >>> system_reason(OSError(errno.ENXIO, "No such device or address"))
    'error ENXIO'
    """
    if isinstance(error, socket.gaierror):
        return t("the name of the server is unknown")
    if isinstance(error, ssl.SSLError):
        return t("no encrypted connection could be established")
    if isinstance(error, TimeoutError):
        return translated(_REASONS[errno.ETIMEDOUT])
    number = getattr(error, "errno", None) or 0
    if number in _REASONS:
        return translated(_REASONS[number])
    code = errno.errorcode.get(number, type(error).__name__)
    return t("error {code}", code=code)
