"""Names of banks, studies, models and readers: what one may look like, and when two are one."""

import unicodedata

from study.errors import NotNow
from study.words import t

LONGEST = 100


def name_fault(name: str) -> str:
    """Return what is wrong with a name, as the end of a sentence; empty where nothing is.

    >>> name_fault("R1"), name_fault(" R1")
    ('', 'begins or ends with a space')
    """
    if not name.strip():
        return t("is empty")
    if name != name.strip():
        return t("begins or ends with a space")
    if len(name) > LONGEST:
        return t("has more than {longest} characters", longest=LONGEST)
    if not name.isprintable():
        return t("has signs that cannot be printed")
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
        raise NotNow(
            t(
                "The name of a {what} {fault}: {name!r}. Choose another name.",
                what=what,
                fault=fault,
                name=name[:LONGEST],
            )
        )


def name_key(name: str) -> str:
    """Return what two names have in common that people would take for one.

    >>> name_key("GPT-4V ") == name_key("gpt-4v")
    True
    """
    return unicodedata.normalize("NFKC", name).strip().casefold()
