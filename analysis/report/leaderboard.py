"""Write a leaderboard of models and studies as a folder of static files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isnan
from os import PathLike
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from analysis.bundle.cells import escape_table
from analysis.bundle.model import Bundle, RaterKind
from analysis.errors import AnalysisError, OutputError, quoted
from analysis.options import Options
from analysis.presentation.wording import (
    case_count,
    format_percent,
    format_range,
    join_clauses,
    join_with_commas,
    model_count,
    reader_count,
)
from analysis.report.formats.folder import OutputPart, replacement_folder
from analysis.report.formats.page import isolate_html
from analysis.statistics.accuracy.leaderboard import leaderboard
from analysis.statistics.support import patients_ranked
from analysis.statistics.verdicts import FEWEST_PATIENTS
from analysis.translation import ENGLISH, current_language, later, t, tn, translated, use_language

_FORMATS = Path(__file__).parent / "formats"
_STYLES = _FORMATS / "leaderboards.css"
SECTIONS_TEMPLATE = "leaderboards.html.jinja"
PAGE, LONG_TABLE, PUBLIC_TABLE = "index.html", "leaderboard.csv", "models.csv"
# A leaderboard's page starts with this text; a page that does may be replaced.
PAGE_PREFIX = "<!doctype html>\n<!-- Reading Room: leaderboard -->"
Row = Mapping[Any, Any]
CARD_COLUMNS = (
    "name",
    "institution",
    "url",
    "date",
    "licence",
    "training",
    "prompt",
    "hardware",
    "cost",
)
"""The columns of a file of model cards, except `model`, which names the model."""
_CARD_LABELS = {
    "name": later("Name"),
    "institution": later("Institution"),
    "url": later("Url"),
    "date": later("Date"),
    "licence": later("Licence"),
    "training": later("Training"),
    "prompt": later("Prompt"),
    "hardware": later("Hardware"),
    "cost": later("Cost"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyBar:
    """An accuracy as text, and with its interval as positions in percent; None if undefined."""

    text: str
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """A rater's row in a leaderboard; `rank` is empty if the rater has too few items for a rank."""

    rater: str
    label: str
    is_model: bool
    simulated: bool
    rank: str
    n: int
    overall: AccuracyBar
    cells: tuple[AccuracyBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The leaderboard of a study and condition, best rater first.

    `readers` are the accuracies of the readers, which are marked in every row.
    """

    title: str
    facts: str
    tasks: tuple[str, ...]
    lines: tuple[BoardRow, ...]
    readers: tuple[float, ...]


def write_leaderboard(
    bundles: Mapping[str, Bundle],
    out: str | PathLike[str],
    options: Options | None = None,
    cards: pd.DataFrame | None = None,
) -> str:
    """Write a page, its numbers as CSV, and the models in the columns of the public leaderboard.

    Parameters
    ----------
    bundles : mapping of str to Bundle
        The studies by the names to display.
    out : str or path
        Folder to write to; created if needed. The files of an earlier leaderboard are replaced.
    options : Options, optional
        Seed, number of resamples and alpha.
    cards : pandas.DataFrame, optional
        One row per model: `model` and any of `CARD_COLUMNS`, as text.

    Returns
    -------
    str
        The leaderboards of the page as HTML, with their styles.

    Raises
    ------
    OutputError
        A file cannot be written; the folder is then unchanged.
    """
    place = Path(out)
    with use_language(ENGLISH):
        tables = {name: leaderboard(bundle, options) for name, bundle in bundles.items()}
    boards = [
        board for name, bundle in bundles.items() for board in _boards(name, bundle, tables[name])
    ]
    known = {} if cards is None else {row["model"]: row for row in cards.to_dict("records")}
    with replacement_folder(
        place, [OutputPart(name=name) for name in (PAGE, LONG_TABLE, PUBLIC_TABLE)]
    ) as folder:
        if (place / PAGE).exists() and not _is_leaderboard_page(place / PAGE):
            raise OutputError(
                f"{place / PAGE}: was not written by an earlier leaderboard. Move it, or give"
                " another folder."
            )
        (folder / PAGE).write_text(_page(boards, known), encoding="utf-8", newline="\n")
        _write_csv(
            pd.concat([_insert_column(t, "study", name) for name, t in tables.items()]),
            folder / LONG_TABLE,
        )
        _write_csv(
            pd.concat(
                [_public_table(name, bundles[name], tables[name], known) for name in bundles]
            ),
            folder / PUBLIC_TABLE,
        )
    styles = f"<style>{_STYLES.read_text('utf-8')}</style>"
    return styles + _render(SECTIONS_TEMPLATE, **_template_values(boards, known))


def read_cards(path: Path) -> pd.DataFrame:
    """Read a CSV file of model cards.

    Raises
    ------
    AnalysisError
        The file cannot be read, lacks the column `model`, has an unknown column, or names a model
        twice.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{path}: cannot be read as CSV ({error}).") from error
    strange = [name for name in table.columns if name not in ("model", *CARD_COLUMNS)]
    if "model" not in table.columns or strange:
        fault = f"has a column {quoted(strange[0])}" if strange else "has no column “model”"
        similar = get_close_matches(strange[0], ("model", *CARD_COLUMNS), n=1) if strange else []
        suggestion = f" Did you mean {similar[0]}?" if similar else ""
        raise AnalysisError(
            f"{path}: {fault}. Columns: model, {', '.join(CARD_COLUMNS)}.{suggestion}"
        )
    repeated = table.loc[table["model"].duplicated(), "model"]
    if len(repeated):
        row = int(repeated.index[0]) + 2
        raise AnalysisError(
            f"{path}, row {row}: the model {quoted(repeated.iloc[0])} has a card already."
        )
    return table


def _is_leaderboard_page(page: Path) -> bool:
    with page.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(PAGE_PREFIX)) == PAGE_PREFIX


def _insert_column(table: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    table.insert(0, column, value)
    return table


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    escape_table(table).to_csv(path, index=False, lineterminator="\n", encoding="utf-8")


def _public_table(
    study: str, bundle: Bundle, table: pd.DataFrame, cards: Mapping[str, Row]
) -> pd.DataFrame:
    """Return the models of a study, best first, in the columns of ReXVQA's public leaderboard.

    There, overall accuracy is the mean over tasks (`macro`). Cells without information are empty.
    """
    models = table[(table["rater_kind"] == RaterKind.MODEL)]
    rows = []
    for (rater, condition), own_rows in models.groupby(["rater_id", "condition"], sort=False):
        card = cards.get(str(rater), {})
        tasks = own_rows[own_rows["by"] == "task"]
        rows.append(
            {
                "Date": card.get("date", ""),
                "Model Name": card.get("name") or bundle.labels[str(rater)],
                "Institution": card.get("institution", ""),
                "Model URL": card.get("url", ""),
                "Overall Accuracy": _overall_accuracy(own_rows, "macro"),
                **dict(sorted(zip(tasks["group"], tasks["accuracy"], strict=True))),
                "Study": study,
                "Condition": condition,
            }
        )
    published = pd.DataFrame(rows)
    if published.empty:
        return published
    published = published.sort_values("Overall Accuracy", ascending=False, kind="stable")
    ranks = published["Overall Accuracy"].rank(method="min", ascending=False)
    published.insert(0, "Rank", ranks.astype("Int64"))
    return published


def _overall_accuracy(own_rows: pd.DataFrame, group: str) -> float:
    return float(
        own_rows.loc[(own_rows["by"] == "overall") & (own_rows["group"] == group), "accuracy"].iloc[
            0
        ]
    )


def _boards(name: str, bundle: Bundle, table: pd.DataFrame) -> Iterator[Board]:
    several = table["condition"].nunique() > 1
    for condition, own_rows in table.groupby("condition", sort=False):
        n_patients = patients_ranked(bundle, str(condition))
        tasks = tuple(dict.fromkeys(own_rows.loc[own_rows["by"] == "task", "group"]))
        lines = _board_rows(bundle, own_rows, tasks)
        n_items = int(own_rows["n"].max())
        n_models = sum(line.is_model for line in lines)
        facts = join_with_commas(
            [case_count(n_items), reader_count(len(lines) - n_models), model_count(n_models)]
        )
        if several and condition:
            facts = t("condition {condition}, {facts}", condition=str(condition), facts=facts)
        if n_patients < FEWEST_PATIENTS:
            reason = tn(
                "{n} patient with answers, too few for a verdict on who is better",
                "{n} patients with answers, too few for a verdict on who is better",
                n_patients,
            )
            facts = join_clauses([facts, reason])
        at = [line.overall.at for line in lines if not line.is_model]
        yield Board(
            title=name,
            facts=facts,
            tasks=tasks,
            lines=tuple(lines),
            readers=tuple(value for value in at if value is not None),
        )


def _board_rows(bundle: Bundle, own_rows: pd.DataFrame, tasks: Sequence[str]) -> list[BoardRow]:
    """Return the rows in order of macro accuracy, or of micro accuracy if macro is undefined."""
    rows: dict[tuple[str, str, str], Row] = {
        (row["rater_id"], row["by"], row["group"]): row
        for row in own_rows.astype(object).to_dict("records")
    }
    overall = own_rows[own_rows["by"] == "overall"]
    defined = overall[overall["accuracy"].notna()]["group"]
    first = "macro" if (defined == "macro").any() else "micro"
    groups = [("overall", "macro"), ("overall", "micro"), *(("task", task) for task in tasks)]
    lines = []
    for rater in overall.loc[overall["group"] == first, "rater_id"]:
        at = rows[rater, "overall", first]
        lines.append(
            BoardRow(
                rater=rater,
                label=bundle.labels[rater],
                is_model=at["rater_kind"] == RaterKind.MODEL,
                simulated=rater in bundle.simulated,
                rank=_rank(at),
                n=int(rows[rater, "overall", "micro"]["n"]),
                overall=_bar(at),
                cells=tuple(_bar(rows[(rater, *group)]) for group in groups),
            )
        )
    return lines


def _rank(row: Row) -> str:
    rank, low, high = (float(row[name]) for name in ("rank", "rank_low", "rank_high"))
    if isnan(rank):
        return ""
    return f"{rank:.0f}" if isnan(low) or low == high else f"{rank:.0f} ({low:.0f}–{high:.0f})"


def _bar(row: Row) -> AccuracyBar:
    at, low, high = (float(row[name]) for name in ("accuracy", "ci_low", "ci_high"))
    if isnan(at):
        return AccuracyBar(text="–", at=None, low=None, high=None)
    if not low < high:
        return AccuracyBar(text=format_percent(at), at=100 * at, low=None, high=None)
    text = f"{format_percent(at)} {format_range(format_percent(low), format_percent(high))}"
    return AccuracyBar(text=text, at=100 * at, low=100 * low, high=100 * high)


def _page(boards: Sequence[Board], cards: Mapping[str, Row]) -> str:
    return _render(
        "leaderboard.html.jinja",
        mark=Markup(PAGE_PREFIX),  # noqa: S704 - a constant
        css=Markup((_FORMATS / "report.css").read_text("utf-8")),  # noqa: S704 - a file of this package
        strip_css=Markup(_STYLES.read_text("utf-8")),  # noqa: S704 - a file of this package
        several=len({board.title for board in boards}) > 1,
        files=(LONG_TABLE, PUBLIC_TABLE),
        **_template_values(boards, cards),
    )


def _template_values(boards: Sequence[Board], cards: Mapping[str, Row]) -> dict[str, Any]:
    shown = {line.rater for board in boards for line in board.lines if line.is_model}
    return {
        "boards": boards,
        "cards": [card for model, card in sorted(cards.items()) if model in shown],
        "card_columns": {name: translated(words) for name, words in _CARD_LABELS.items()},
        "words": _labels(),
        "language": current_language(),
    }


def _labels() -> dict[str, str]:
    """Return the labels of the leaderboards by name, in the language in use."""
    return {
        "leaderboard": t("Leaderboard"),
        "rank": t("Rank"),
        "rater": t("Rater"),
        "strip": t("0 to 100 %"),
        "macro": t("Macro"),
        "micro": t("Micro"),
        "no_task": t("No task"),
        "items": t("Items"),
        "simulated": t("simulated"),
        "reader": t("reader"),
        "models": t("Models"),
        "download": t("Download:"),
        "note": t(
            "Accuracy in percent with its interval; an item without an answer counts as wrong."
            " Raters are ordered by the mean of their tasks (macro); micro weights every question"
            " equally, and its order may differ. In brackets after a rank: the ranks that the data"
            " are compatible with, for each rater separately."
        ),
        "lines": t("Blue lines are the readers."),
        "lines_several": t(
            "Blue lines are the readers; studies have different items, so compare within a study."
        ),
    }


def _render(template: str, **context: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FORMATS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["isolated"] = isolate_html
    return environment.get_template(template).render(**context)
