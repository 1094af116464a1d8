"""Check tables in LaTeX with a small grammar, because LaTeX is not installed."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A command, an escaped character, or a single character.
TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|.", re.DOTALL)
TABLE = re.compile(r"\\begin\{longtable\}\{@\{\}(l+r*)@\{\}\}\n(.*?)\\end\{longtable\}", re.DOTALL)
RULES = ("toprule", "midrule", "bottomrule", "endfirsthead", "endhead", "endfoot", "endlastfoot")


def latex_errors(text: str) -> list[str]:
    """Return the errors in a file of tables.

    Parameters
    ----------
    text : str
        The content of `paper/tables.tex`.

    Returns
    -------
    list of str
        Empty if braces, environments, characters and columns are correct.
    """
    # The preamble is constant: comments, and a definition that contains `#`.
    body = text[text.index("\\begin{longtable}") :] if "\\begin{longtable}" in text else ""
    return [
        *_brace_errors(body),
        *_character_errors(body),
        *_environment_errors(body),
        *_column_errors(body),
    ]


def _brace_errors(text: str) -> Iterator[str]:
    depth = 0
    for token in TOKEN.findall(text):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            yield "a brace closes that was never opened"
            return
    if depth:
        yield f"{depth} braces stay open"


def _character_errors(text: str) -> Iterator[str]:
    tokens = TOKEN.findall(text)
    for sign in ("#", "%", "_", "^", '"'):
        if sign in tokens:
            yield f"{sign} is not escaped"
    if tokens.count("$") % 2:
        yield "$ opens and does not close"
    strange = sorted({token for token in tokens if len(token) == 1 and ord(token) >= 0x180})
    if strange:
        yield f"{strange} are no letters of pdfLaTeX"


def _environment_errors(text: str) -> Iterator[str]:
    for name in set(re.findall(r"\\(?:begin|end)\{(\w+)\}", text)):
        begun, ended = text.count(f"\\begin{{{name}}}"), text.count(f"\\end{{{name}}}")
        if begun != ended or begun != len(TABLE.findall(text)):
            yield f"{name} begins {begun} and ends {ended} times"


def _column_errors(text: str) -> Iterator[str]:
    for columns, body in TABLE.findall(text):
        for row in _table_rows(body):
            cells = sum(token == "&" for token in _outside_braces(row)) + 1
            wide = re.match(r"\\multicolumn\{(\d+)\}", row)
            result = int(wide[1]) if wide else cells
            if result != len(columns):
                yield f"{result} cells under {len(columns)} columns: {row[:60]}"


def _table_rows(body: str) -> Iterator[str]:
    """Yield the rows without rules and caption; a row ends at a line break outside of braces."""
    depth, row = 0, ""
    for token in TOKEN.findall(body):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if token == "\\\\" and depth == 0:
            if not row.strip().startswith("\\caption"):
                yield row.strip()
            row = ""
        elif token.removeprefix("\\") not in RULES:
            row += token
    if row.strip():
        yield row.strip()


def _outside_braces(row: str) -> Iterator[str]:
    depth = 0
    for token in TOKEN.findall(row):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth == 0:
            yield token
