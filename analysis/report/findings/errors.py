"""Where errors are everybody's, and where they are the readers' or the models' alone."""

from __future__ import annotations

from collections import Counter

from analysis.figures.drawing.names import conditions_of
from analysis.figures.kappa_matrix import pairs_in_condition
from analysis.report.findings.finding import MOST_CONDITIONS, Finding, Theme
from analysis.report.wording.numbers import in_a_row, models, readers, sentences
from analysis.report.wording.rows import Row, conditions_in, number, rows_of, under
from analysis.results import Results
from analysis.statistics.agreement.pairs.pairing import PairKind
from analysis.translation import t, tn

READERS_MISSED = "all readers missed it, a model did not"
MODELS_MISSED = "all models missed it, a reader did not"
EVERYBODY_MISSED = "everybody missed it"
EVERYBODY_RIGHT = "everybody had it right"


def error_findings(results: Results) -> list[Finding]:
    """Count the items by who missed them, and the wrong options that two raters share."""
    texts = []
    for condition in conditions_in(results, "item_difficulty")[:MOST_CONDITIONS]:
        texts += _items(results, condition)
    for condition in conditions_of(results.tables["accuracy"])[:MOST_CONDITIONS]:
        texts += _same_wrong(results, condition)
    return [Finding(theme=Theme.ERRORS, text=text) for text in texts]


def _items(results: Results, condition: str) -> list[str]:
    rows = rows_of(results, "item_difficulty", condition=condition)
    notes = Counter(str(row["note"]) for row in rows)
    total = sum(1 for row in rows if number(row, "n_readers") + number(row, "n_models") > 0)
    if not total:
        return []
    both = any(number(row, "n_models") > 0 for row in rows) and any(
        number(row, "n_readers") > 0 for row in rows
    )
    parts = [t("{n} missed by everybody", n=notes[EVERYBODY_MISSED])]
    if both:
        parts += [
            t("{n} missed by all readers but not by all models", n=notes[READERS_MISSED]),
            t("{n} missed by all models but not by all readers", n=notes[MODELS_MISSED]),
        ]
    parts.append(t("{n} answered correctly by everybody", n=notes[EVERYBODY_RIGHT]))
    first = tn(
        "Of {n} case{where}: {counts}.",
        "Of {n} cases{where}: {counts}.",
        total,
        where=under(results, condition),
        counts=in_a_row(parts),
    )
    return [sentences([first, _few(rows), _numbers(rows) if both else ""])]


def _few(rows: list[Row]) -> str:
    """Say how many items fewer readers have read than the others: they count by those alone."""
    most = max(number(row, "n_readers") for row in rows)
    few = sum(1 for row in rows if 0 < number(row, "n_readers") < most)
    if not few:
        return ""
    return tn(
        "{n} was read by fewer than {readers}, and counts for those alone.",
        "{n} were read by fewer than {readers}, and count for those alone.",
        few,
        readers=readers(int(most)),
    )


def _numbers(rows: list[Row]) -> str:
    """Say why the two counts do not compare: of many, one is right more easily."""
    n_readers, n_models = (
        int(max(number(row, column) for row in rows)) for column in ("n_readers", "n_models")
    )
    if n_readers == n_models:
        return ""
    return t(
        "With {readers} and {models}, the larger group is more likely to include one who is"
        " correct.",
        readers=readers(n_readers),
        models=models(n_models),
    )


def _same_wrong(results: Results, condition: str) -> list[str]:
    table = results.tables["agreement_pairs"]
    wanted = table.loc[(table["scope"] == "all") & (table["measure"] == "same_wrong")]
    rows = pairs_in_condition(wanted, condition)
    options = results.bundle.items["n_options"].dropna()
    if len(options) and options.max() < 3:
        # Where there is one wrong option, all who are wrong choose it.
        return []
    parts = []
    for kind in PairKind:
        shares = rows.loc[rows["pair_kind"] == kind, "estimate"].dropna()
        if len(shares):
            parts.append(_shared(kind, f"{100 * float(shares.median()):.0f}", len(shares)))
    if not parts:
        return []
    told = {"where": under(results, condition), "shares": in_a_row(parts)}
    known = options.unique()
    if len(known) != 1 or known[0] < 3:
        return [
            t(
                "Where both raters were incorrect{where}, the same option was chosen in {shares}.",
                **told,
            )
        ]
    # What picking among the wrong options would give, where all items have as many.
    wrong = int(known[0]) - 1
    return [
        t(
            "Where both raters were incorrect{where}, the same option was chosen in {shares};"
            " choosing any of the {n} incorrect options at random would give {percent} %.",
            **told,
            n=str(wrong),
            percent=f"{100 / wrong:.0f}",
        )
    ]


def _shared(kind: PairKind, percent: str, n: int) -> str:
    told = {"percent": percent}
    if n == 1:
        if kind is PairKind.READERS:
            return t("{percent} % of cases by two readers", **told)
        if kind is PairKind.MODELS:
            return t("{percent} % of cases by two models", **told)
        return t("{percent} % of cases by a reader and a model", **told)
    if kind is PairKind.READERS:
        return t("{percent} % of cases by two readers (median of {n} pairs)", **told, n=n)
    if kind is PairKind.MODELS:
        return t("{percent} % of cases by two models (median of {n} pairs)", **told, n=n)
    return t("{percent} % of cases by a reader and a model (median of {n} pairs)", **told, n=n)
