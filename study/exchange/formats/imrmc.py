"""Writes readings as input for iMRMC, the FDA's program for multi-reader multi-case studies.

An input file consists of a header of free text with the four sizes, the line ``BEGIN DATA:``, and
rows of ``readerID,caseID,modalityID,score``. Rows with reader ``-1`` and modality ``0`` contain the
reference standard: 1 for a case with the finding, 0 for a case without. iMRMC compares areas under
ROC curves. A multiple-choice answer is not a rating, so it is converted in two ways, each in two
files:

- Percent correct, as in iMRMC's manual and its ``test_binary_data.imrmc``: every case counts as a
  case with the finding, with the score 1 for a correct and 0 for a wrong answer, and a few
  artificial cases without the finding have the score 0.5. The area is then the share of correct
  answers.
- AUC, if readers rated their confidence and all cases have the same two options: the score is the
  confidence, which is negative if the answer is the first option.

Sources: Gallas BD, Bandos A, Samuelson FW, Wagner RF. Commun Stat Theory Methods 2009;38:2586-2603,
doi:10.1080/03610920802610084; the pages "MRMC analysis of binary data" and the reader of input
files, github.com/DIDSR/iMRMC.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from study.base.errors import BadFile
from study.base.text import csv_bytes, quoted

N_ARTIFICIAL_CASES = 5
"""Number of artificial cases without the finding in percent-correct files, as in the manual."""

Rows = Sequence[Mapping[str, Any]]
_Key = tuple[str, str, str]  # rater_id, condition, item_id
_Scores = Mapping[_Key, float]

README = """\
Input for iMRMC (https://github.com/DIDSR/iMRMC): one analysis per file.

percent-correct.imrmc        AUC in iMRMC is the share of correct answers. Score 1: correct,
                             0: wrong. Readers who have started; a missing answer counts as wrong.
percent-correct-kept.imrmc   The same without missing answers and excluded readings.
auc.imrmc                    Only if confidence was asked and all cases have the same two options:
                             confidence, negative if the answer is the first option. A missing
                             answer has the worst score.
auc-kept.imrmc               The same without missing answers and excluded readings.
key.csv                      The numbers of readers and cases.

In the files of percent correct, cases with numbers above the last in key.csv are artificial: iMRMC
needs cases without the finding, and these have the score 0.5 for all readers.
Modalities are the study's conditions. Models are not included: a single reader has no variance
among readers. For hidden repeats, the first reading counts.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Design:
    """Readers and cases with their numbers, the reference standard, and the readings."""

    title: str
    readers: Mapping[str, int]
    cases: Mapping[str, int]
    truths: Mapping[str, str]
    conditions: Sequence[str]
    begun: frozenset[tuple[str, str]]
    readings: Mapping[_Key, Mapping[str, Any]]
    incomplete: bool


def imrmc_files(
    title: str, tables: Mapping[str, Rows], conditions: Sequence[str], *, incomplete: bool = False
) -> dict[str, bytes]:
    """Return iMRMC's input files by name, and a file that explains their numbers.

    Parameters
    ----------
    title
        The title in the headers.
    tables
        Rows by file name in the bundle.
    conditions
        The study's conditions, in the protocol's order.
    incomplete
        Whether readers were assigned only some of the cases; if so, the cases that a reader has not
        read are left out.

    Raises
    ------
    BadFile
        A case has no reference standard, or there are no readings.
    """
    design = replace(_design(title, tables, conditions), incomplete=incomplete)
    files = {
        "percent-correct.imrmc": _percent_correct(design, answered_only=False),
        "percent-correct-kept.imrmc": _percent_correct(design, answered_only=True),
    }
    options = _two_options(tables, design)
    if options:
        files["auc.imrmc"] = _auc(design, options, answered_only=False)
        files["auc-kept.imrmc"] = _auc(design, options, answered_only=True)
    key = [("reader", number, name) for name, number in design.readers.items()]
    key += [("case", number, name) for name, number in design.cases.items()]
    return {
        **{name: "".join(f"{line}\n" for line in lines).encode() for name, lines in files.items()},
        "key.csv": csv_bytes(("what", "number", "name"), key),
        "README.txt": README.encode(),
    }


def _design(title: str, tables: Mapping[str, Rows], conditions: Sequence[str]) -> _Design:
    items = tables["items.csv"]
    items_without_truth = [row["item_id"] for row in items if not row["truth"]]
    if items_without_truth:
        raise BadFile(
            f"{len(items_without_truth)} of {len(items)} cases have no reference standard "
            f"({quoted(items_without_truth[0])} is the first): "
            "iMRMC requires one. Analyse agreement from the bundle."
        )
    first: dict[_Key, Mapping[str, Any]] = {}
    for row in tables["readings.csv"]:
        if row.get("repeat") == 1:  # models have no repeat
            first[row["rater_id"], row["condition"], row["item_id"]] = row
    pairs_begun = {(rater, condition) for rater, condition, _ in first}
    raters = {rater for rater, _ in pairs_begun}
    readers = [row["rater_id"] for row in tables["raters.csv"] if row["rater_id"] in raters]
    if not readers:
        raise BadFile("Nobody has read a case yet: there is nothing to export to iMRMC.")
    return _Design(
        title=title,
        readers={name: number for number, name in enumerate(readers, start=1)},
        cases={row["item_id"]: number for number, row in enumerate(items, start=1)},
        truths={row["item_id"]: row["truth"] for row in items},
        conditions=conditions,
        begun=frozenset(pairs_begun),
        readings=first,
        incomplete=False,
    )


def _answers(
    design: _Design, *, answered_only: bool
) -> Iterator[tuple[_Key, Mapping[str, Any] | None]]:
    """Yield keys and answers; a missing answer is None, or is left out if `answered_only`."""
    for reader in design.readers:
        for condition in (name for name in design.conditions if (reader, name) in design.begun):
            for item in design.cases:
                key = (reader, condition, item)
                row = design.readings.get(key)
                if row is None and design.incomplete:
                    continue
                answered = row is not None and row["answer"] is not None
                if not answered_only:
                    yield key, row if answered else None
                elif row is not None and answered and not row.get("excluded"):
                    yield key, row


def _percent_correct(design: _Design, *, answered_only: bool) -> list[str]:
    scores = {
        key: float(row is not None and row["answer"] == design.truths[key[2]])
        for key, row in _answers(design, answered_only=answered_only)
    }
    last = len(design.cases)
    artificial_cases = range(last + 1, last + N_ARTIFICIAL_CASES + 1)
    truth = [f"-1,{number},0,1" for number in design.cases.values()]
    truth += [f"-1,{number},0,0" for number in artificial_cases]
    readings_seen = sorted({(design.readers[reader], condition) for reader, condition, _ in scores})
    rows = _rows(design, scores)
    rows += [
        f"{reader},{case},{cond},0.5" for reader, cond in readings_seen for case in artificial_cases
    ]
    measure = "share of right answers as AUC"
    return [
        *_header(design, measure, answered_only, scores, N_ARTIFICIAL_CASES, last),
        *truth,
        *rows,
    ]


def _auc(design: _Design, options: tuple[str, str], *, answered_only: bool) -> list[str]:
    worst = 1 + max((row["confidence"] or 0 for row in design.readings.values()), default=0)
    positive = {item: truth == options[1] for item, truth in design.truths.items()}
    scores = {}
    for key, row in _answers(design, answered_only=answered_only):
        if row is None:
            scores[key] = float(-worst if positive[key[2]] else worst)
        else:
            scores[key] = float(row["confidence"] * (1 if row["answer"] == options[1] else -1))
    truth = [f"-1,{number},0,{int(positive[item])}" for item, number in design.cases.items()]
    n_positive = sum(positive.values())
    measure = f"confidence, positive where the answer is {options[1]}"
    header = _header(design, measure, answered_only, scores, len(positive) - n_positive, n_positive)
    return [*header, *truth, *_rows(design, scores)]


def _two_options(tables: Mapping[str, Rows], design: _Design) -> tuple[str, str] | None:
    """Return the options if all cases have the same two and all readings have a confidence."""
    answered = [row for row in design.readings.values() if row["answer"] is not None]
    letters = sorted(set(design.truths.values()))
    same = len({row["options"] for row in tables["items.csv"]}) == 1
    rated = bool(answered) and all(row["confidence"] is not None for row in answered)
    two = all(row["n_options"] == 2 for row in tables["items.csv"])
    return (letters[0], letters[1]) if rated and same and two and len(letters) == 2 else None


def _header(
    design: _Design, measure: str, answered_only: bool, scores: _Scores, n_without: int, n_with: int
) -> list[str]:
    # iMRMC searches all header lines for "N0:" and the like, so the title must contain no colon.
    title = " ".join(design.title.replace(":", " ").split())
    return [
        f"Reading Room - {title}",
        measure,
        "answers alone, excluded readings left out"
        if answered_only
        else "no answer counts as the worst",
        f"NR: {len({reader for reader, _, _ in scores})}",
        f"N0: {n_without}",
        f"N1: {n_with}",
        f"NM: {len({condition for _, condition, _ in scores})}",
        "",
        "BEGIN DATA:",
    ]


def _rows(design: _Design, scores: _Scores) -> list[str]:
    return [
        f"{design.readers[reader]},{design.cases[item]},{condition},{score:g}"
        for (reader, condition, item), score in scores.items()
    ]
