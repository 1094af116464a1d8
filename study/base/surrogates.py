"""Text from a browser may hold half of a sign; such halves cannot be stored as UTF-8."""


def without_surrogates(text: str) -> str:
    """Return text with every lone surrogate replaced by the replacement character.

    >>> without_surrogates("a" + chr(0xD800)) == "a" + chr(0xFFFD)
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
