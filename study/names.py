"""Names of banks, studies, models and readers: what one may look like, and when two are one."""

import unicodedata

from study.errors import NotNow

LONGEST = 100


def name_fault(name: str) -> str:
    """Return what is wrong with a name, as the end of a sentence; empty where nothing is.

    >>> name_fault("R1"), name_fault(" R1")
    ('', 'begins or ends with a space')
    """
    if not name.strip():
        return "is empty"
    if name != name.strip():
        return "begins or ends with a space"
    if len(name) > LONGEST:
        return f"has more than {LONGEST} characters"
    if not name.isprintable():
        return "has signs that cannot be printed"
    return ""


def check_name(name: str, what: str) -> None:
    """Refuse a name that could not be told from others on a screen or in a file.

    Raises
    ------
    NotNow
        The name is empty, too long, not printable (as a lone surrogate), or has space around it.
    """
    fault = name_fault(name)
    if fault:
        raise NotNow(f"The name of a {what} {fault}: {name[:LONGEST]!r}. Choose another name.")


def name_key(name: str) -> str:
    """Return what two names have in common that people would take for one.

    >>> name_key("GPT-4V ") == name_key("gpt-4v")
    True
    """
    return unicodedata.normalize("NFKC", name).strip().casefold()
