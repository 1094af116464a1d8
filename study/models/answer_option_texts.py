"""Matches an option's text in other spellings, spacing and punctuation."""

import re

_AND = r"(?:,\s*and\b|,|&|\band\b)"
_SPELLINGS = {
    "ae": "a?e",
    "oe": "o?e",
    "e": "[ao]?e",
    "our": "ou?r",
    "or": "ou?r",
    "tre": "t(?:re|er)",
    "ter": "t(?:re|er)",
}
_SPELLING = re.compile("ae|oe|our|or|tre|ter|e", re.IGNORECASE)
"""British and American spelling: oedema and edema, tumour and tumor."""

_JOINS = re.compile(r",?\s+and\s+|\s*[,&]\s*", re.IGNORECASE)
_SIDED = re.compile(r"(?:(?<=left)|(?<=right))[ \u2010\u2011\u2013-]sided(?= \w)", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011\u2013](?=[^\W\d_])")


def flexible(own: str) -> str:
    """Return a pattern of an option's text that ignores hyphens and spaces next to punctuation."""
    parts = re.findall(r"[^\W\d_]+|\d+|[^\w\s]|_", _HYPHEN.sub(" ", own))
    pattern = ""
    for n, part in enumerate(parts):
        if n:
            words = part.isalpha() and parts[n - 1].isalpha()
            apart = words and "and" not in (part, parts[n - 1])
            pattern += r"[\s\u2010\u2011\u2013-]+" if apart else r"\s*"
        if part in (",", "&", "and"):
            pattern += _AND
            continue
        pattern += _SPELLING.sub(lambda match: _SPELLINGS[match[0].casefold()], re.escape(part))
        if part.casefold() in ("left", "right") and n + 1 < len(parts):
            pattern += r"(?:[ \u2010\u2011\u2013-]sided)?"
    return pattern + ("s?" if parts and parts[-1].isalpha() and len(parts[-1]) > 4 else "")


def option_key(text: str) -> str:
    """Return an option's text without spaces, hyphens, letter case and final full stops."""
    key = (
        "".join(_HYPHEN.sub("", _JOINS.sub("&", _SIDED.sub("", text))).split())
        .casefold()
        .strip(".()[]!\"'")
    )
    return key.replace("ae", "e").replace("oe", "e").replace("our", "or").replace("tre", "ter")
