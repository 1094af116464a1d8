"""Matches an option's text in other spellings, spacing and punctuation, and with small typos."""

import re
from collections.abc import Sequence
from functools import lru_cache

from study.models.answer_words import word_set

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


@lru_cache(maxsize=1024)  # the options of an item are asked for with every output
def option_key(text: str) -> str:
    """Return an option's text without spaces, hyphens, letter case and final full stops."""
    key = (
        "".join(_HYPHEN.sub("", _JOINS.sub("&", _SIDED.sub("", text))).split())
        .casefold()
        .strip(".()[]!\"'")
    )
    return key.replace("ae", "e").replace("oe", "e").replace("our", "or").replace("tre", "ter")


_LONG_WORD = re.compile(r"(?<![\w-])[^\W\d_]{5,}(?![\w-])")
_LETTERS_OF_A_TYPO = 6
_NEVER_CORRECTED = word_set("never_corrected")


def without_typos(text: str, options: Sequence[str]) -> str:
    """Return a text in which each word one typo away from one long word of the options is it.

    Only words with the same first letter, so that "atypical" is not read as "typical".

    >>> without_typos("A left pnuemothorax.", ["Pneumothorax", "Pleural effusion"])
    'A left pneumothorax.'
    """
    known = {word.casefold() for option in options for word in _LONG_WORD.findall(option)}
    long = [word for word in known - _NEVER_CORRECTED if len(word) >= _LETTERS_OF_A_TYPO]

    def corrected(match: re.Match[str]) -> str:
        written = match[0].casefold()
        if written in known or written in _NEVER_CORRECTED:
            return match[0]
        meant = [word for word in long if _is_typo(written, word)]
        return meant[0] if len(meant) == 1 else match[0]

    return _LONG_WORD.sub(corrected, text) if long else text


def _is_typo(written: str, word: str) -> bool:
    """Return whether one letter is missing, added, wrong or swapped, but no ending is."""
    if written[0] != word[0] or abs(len(written) - len(word)) > 1:
        return False
    n = next((i for i, (a, b) in enumerate(zip(written, word, strict=False)) if a != b), None)
    if n is None:
        return False  # an ending: "nodules", "moderated"
    swapped = written[n : n + 2] == word[n : n + 2][::-1] and written[n + 2 :] == word[n + 2 :]
    if len(written) == len(word):
        return swapped or (written[n + 1 :] == word[n + 1 :] and n + 1 < len(word))
    if len(written) < len(word):
        return written[n:] == word[n + 1 :]
    return written[n + 1 :] == word[n:]
