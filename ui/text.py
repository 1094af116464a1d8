"""Text from outside, shown as it is: names of studies, banks and readers are no Markdown."""

import re

_MARKS = re.compile(r"([\\`*_{}\[\]()#+.!|~$:<>-])")


def plain(text: str) -> str:
    r"""Return text that Streamlit's Markdown shows sign by sign.

    >>> print(plain("A *b* [c]"))
    A \*b\* \[c\]
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
