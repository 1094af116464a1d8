"""The readings as they would be, had models' words been read by other rules."""

from __future__ import annotations

from dataclasses import replace

from analysis.bundle.model import RULES, Bundle, Status
from analysis.readings.matrix import ReadingMatrix, reading_matrix

ANALYSES = {rules: f"model answers read by {rules} rules" for rules in RULES}
"""What an analysis by each set of rules is called."""


def read_by_rules(bundle: Bundle) -> dict[str, ReadingMatrix]:
    """Return the readings by each set of rules that reads an answer otherwise than it stands.

    Returns
    -------
    dict of str to ReadingMatrix
        By the names in `ANALYSES`.

    Examples
    --------
    >>> import pandas as pd
    >>> from analysis.bundle import bundle_from_tables
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1"]}),
    ...     pd.DataFrame({"rater_id": "M", "item_id": ["q1"], "answer": "A"}),
    ... )
    >>> told = bundle.readings.assign(strict="unparsed", standard="A", loose="A")
    >>> for name, matrix in read_by_rules(replace(bundle, readings=told)).items():
    ...     print(name, matrix.answers.tolist())
    model answers read by strict rules [[-1]]
    """
    found, readings = {}, bundle.readings
    for rules in RULES:
        if rules not in readings:
            continue
        words = readings[rules]
        is_status = words.isin([status.value for status in Status])
        stands = readings["answer"].where(readings["answer"] != "", readings["status"])
        other = (words != "") & (words != stands)
        if not other.any():
            continue
        again = readings.assign(
            answer=readings["answer"].mask(other, words.mask(is_status, "")),
            status=readings["status"].mask(other, words.where(is_status, Status.ANSWERED.value)),
        )
        found[ANALYSES[rules]] = reading_matrix(replace(bundle, readings=again))
    return found
