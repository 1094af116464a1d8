"""The description of a statistic, from which its files, report and docs are generated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from analysis.figures.drawing.chart import Chart
from analysis.presentation.table import ReportTable
from analysis.results import Results
from analysis.statistics.study import Study

TEXT = "text"


class Column(NamedTuple):
    """A column of a table.

    Parameters
    ----------
    name : str
        The column's name in the file.
    meaning : str
        Meaning of a cell, for the data dictionary.
    unit : str, default "text"
        `text`, `yes or no`, or the unit of its numbers: `count`, `proportion`, `ms` ...
    """

    name: str
    meaning: str
    unit: str = TEXT


class Source(NamedTuple):
    """A publication that is the source of a method.

    Parameters
    ----------
    method : str
        Name of the method.
    text : str
        `Authors. Title. Journal year;volume:pages.`, the authors as `Name AB, Name C`. The citation
        key (`wilson1927`) and the BibTeX entry are derived from it.
    doi : str
        Without `doi:`.
    """

    method: str
    text: str
    doi: str


class Method(NamedTuple):
    """A part of the methods text, in English.

    Parameters
    ----------
    title : str
        The paragraph it belongs to; parts with the same title form one paragraph.
    text : str, or function of Results that returns str
        Whole sentences, sources as `[@key; @key]`. A function if the sentences depend on the run;
        it may return an empty string.
    """

    title: str
    text: str | Callable[[Results], str]


class Figure(NamedTuple):
    """A figure of the report, which is omitted if it has no chart.

    Parameters
    ----------
    section : str
        A key of `analysis.report.content.SECTION_TITLES`.
    name : str
        Name of its files.
    title, caption : str
        In the language of the report.
    chart : Chart or None
        The chart.
    """

    section: str
    name: str
    title: str
    caption: str
    chart: Chart | None


def always(_: Study) -> bool:
    """Return True: every study has the table."""
    return True


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistic:
    """A table of the results, with its description.

    The keys of `methods`, `tables` and `figures` are places: the report shows all parts of a kind
    in order of place. Places have gaps, so that a new part fits between any two.

    Parameters
    ----------
    name : str
        Name of the file without `.csv`.
    meaning : str
        What a row is, for the data dictionary.
    columns : tuple of Column
        In the order of the file.
    compute : function of Study that returns DataFrame
        Computes the table.
    applies : function of Study that returns bool, optional
        Whether a study has this table; by default every study has it, possibly without rows.
    methods : mapping of int to Method
        The parts of the methods text if the table has rows.
    sources : tuple of Source
        Publications that only this statistic cites; others are in `sources.csv`.
    tables : mapping of int to function of Results that yields ReportTable
        The tables of the report.
    figures : mapping of int to function of Results and condition that yields Figure
        The figures of the report, for each condition of the readers; called if there are rows.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    compute: Callable[[Study], pd.DataFrame]
    applies: Callable[[Study], bool] = always
    methods: Mapping[int, Method] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    tables: Mapping[int, Callable[[Results], Iterator[ReportTable]]] = field(default_factory=dict)
    figures: Mapping[int, Callable[[Results, str], Iterator[Figure]]] = field(default_factory=dict)

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


def shared_columns(names: str) -> tuple[Column, ...]:
    """Return the columns of `SHARED_COLUMNS` with these names, which are separated by spaces.

    Examples
    --------
    >>> [column.unit for column in shared_columns("rater_id n")]
    ['text', 'count']
    """
    return tuple(SHARED_COLUMNS[name] for name in names.split())


def columns_like(
    columns: Iterable[Column],
    *,
    after: Mapping[str, tuple[Column, ...]],
    redefined: Iterable[Column] = (),
) -> tuple[Column, ...]:
    """Return the columns of a similar table.

    Parameters
    ----------
    columns : iterable of Column
        The columns of the other table.
    after : mapping of str to tuple of Column
        Further columns, by the name of the column that they follow.
    redefined : iterable of Column
        Columns that have another meaning in this table.

    Examples
    --------
    >>> p = Column("p_adjusted", "Adjusted p-value.")
    >>> [column.name for column in columns_like(shared_columns("n p note"), after={"p": (p,)})]
    ['n', 'p', 'p_adjusted', 'note']
    """
    own_columns = {column.name: column for column in redefined}
    return tuple(
        each
        for column in columns
        for each in (own_columns.get(column.name, column), *after.get(column.name, ()))
    )


_UNIT_OF_ESTIMATE = "that of the estimate"
SHARED_COLUMNS = {
    column.name: column
    for column in (
        Column("rater_id", "Rater."),
        Column("rater_kind", "`reader` or `model`."),
        Column("model_id", "Model."),
        Column("rater_a", "First rater: the reader in a pair with a model, otherwise by id."),
        Column("rater_b", "Second rater."),
        Column("pair_kind", "`reader-reader`, `reader-model` or `model-model`."),
        Column("item_id", "Item."),
        Column("task", "Task of the item."),
        Column("category", "Category of the item."),
        Column("subcategory", "Subcategory of the item."),
        Column("examination_id", "Examination of the item."),
        Column("condition_a", "First condition."),
        Column("condition_b", "Second condition."),
        Column("condition", "Condition of the readings; empty where the bundle has none."),
        Column("by", "Grouping: `overall`, `task`, `category` or `subcategory`."),
        Column("group", "The group; for `overall` `micro` (by case) or `macro` (mean of tasks)."),
        Column("scope", "The items: `all`, `task=NAME`, `category=NAME` or `option_set=NAME`."),
        Column("measure", "Measure that the row contains."),
        Column("metric", "`accuracy` or `auc`."),
        Column("claim", "`these readers` (readers fixed) or `readers like these` (random)."),
        Column("n", "Items that are counted.", "count"),
        Column("n_readers", "Readers.", "count"),
        Column("n_models", "Models.", "count"),
        Column("n_items", "Items.", "count"),
        Column("n_readings", "Readings.", "count"),
        Column("accuracy", "Share of correct answers.", "proportion"),
        Column("estimate", "Estimate of the measure.", "that of the measure"),
        Column("difference", "First value minus the second.", "that of the metric"),
        Column("se", "Standard error.", _UNIT_OF_ESTIMATE),
        Column("df", "Degrees of freedom.", "number"),
        Column("ci_low", "Lower limit of the confidence interval.", _UNIT_OF_ESTIMATE),
        Column("ci_high", "Upper limit of the confidence interval.", _UNIT_OF_ESTIMATE),
        Column("ci_method", "Method of the interval."),
        Column(
            "cluster_ci_low",
            "Lower limit over patients; empty without clusters.",
            _UNIT_OF_ESTIMATE,
        ),
        Column(
            "cluster_ci_high",
            "Upper limit over patients; empty without clusters.",
            _UNIT_OF_ESTIMATE,
        ),
        Column("p", "Two-sided p-value of a test for no difference.", "probability"),
        Column("p_adjusted", "`p` adjusted by Holm's method over the family.", "probability"),
        Column("family", "Tests that are adjusted together; empty if not adjusted."),
        Column("method", "How the estimate and the interval are computed."),
        Column("note", "Remarks needed to interpret the row."),
        Column("undefined_because", "Reason for empty cells, if there are any."),
    )
}
"""Columns that many tables have, by name."""
