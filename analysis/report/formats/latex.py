"""Write LaTeX: escaped text, and booktabs tables that can span several pages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

PREAMBLE = r"""% Tables of the report. In the preamble: \usepackage{booktabs,longtable}
% Characters that pdfLaTeX's fonts lack are printed by XeLaTeX and LuaLaTeX, and named by pdfLaTeX.
\providecommand{\unicodechar}[1]{\ifdefined\Uchar\Uchar"#1\relax\else[U+#1]\fi}
"""
SPECIAL_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # At the start of a row, an opening bracket would be an argument of the row before.
    "[": "{[}",
    "]": "{]}",
    '"': "{''}",
    "`": r"\textasciigrave{}",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "…": r"\ldots{}",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
    "\u202f": r"\,",
}
# Spaces that become a single space; no-break spaces are not included, because they become ties.
BLANKS = re.compile(r"[ \t\r\n\f\v]+")
# Approximate number of characters in a line of a column heading.
HEADING_WIDTH = 16
# Isolates have no effect in LaTeX, which has no bidirectional algorithm.
INVISIBLE = frozenset("\u2066\u2067\u2068\u2069\u200e\u200f\u200b\ufeff")


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX, with characters that every engine supports.

    Examples
    --------
    >>> print(latex_text("50 % of R_1 & \\x 😀"))
    50 \% of R\_1 \& \textbackslash{}x \unicodechar{1F600}
    """
    return "".join(
        _escape_character(character)
        for character in BLANKS.sub(" ", text)
        if character not in INVISIBLE
    )


def _escape_character(character: str) -> str:
    if character in SPECIAL_CHARACTERS:
        return SPECIAL_CHARACTERS[character]
    if ord(character) < 0x20 or ord(character) == 0x7F:
        return ""
    return character if ord(character) < 0x180 else rf"\unicodechar{{{ord(character):X}}}"


def _heading(text: str) -> str:
    lines = textwrap.wrap(text, HEADING_WIDTH, break_long_words=False)
    if len(lines) < 2:
        return latex_text(text)
    return r"\shortstack[r]{" + r"\\".join(latex_text(line) for line in lines) + "}"


def latex_table(
    *,
    label: str,
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    note: str = "",
) -> str:
    r"""Write a table that repeats its header on every page.

    Parameters
    ----------
    label : str
        Label for `\ref`, without `tab:`.
    caption, note : str
        Plain text above and below the table.
    header : sequence of str
        Column headings as plain text.
    rows : iterable of sequence of str
        Cells as plain text; the first column is left-aligned, the others are right-aligned.

    Returns
    -------
    str
        A `longtable` environment.
    """
    columns = "l" + "r" * (len(header) - 1)
    width = len(header)
    head = " & ".join(_heading(cell) for cell in header) + r" \\"
    body = "\n".join(" & ".join(latex_text(cell) for cell in row) + r" \\" for row in rows)
    below = (
        rf"\multicolumn{{{width}}}{{p{{0.95\linewidth}}}}{{\footnotesize {latex_text(note)}}} \\"
    )
    lines = [
        rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
        rf"\caption{{{latex_text(caption)}}}\label{{tab:{label}}} \\",
        r"\toprule",
        head,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        r"\bottomrule",
        *([below] if note else []),
        r"\endlastfoot",
        body,
        r"\end{longtable}",
    ]
    return "\n".join(line for line in lines if line) + "\n"
