"""Counts the flow of readers through a study, and draws it as CONSORT-AI requires."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from study.monitoring.progress import ReaderCounts, Stage
from study.protocol.protocol import stored_protocol
from study.store import Transaction, people
from study.store.studies import StudyRow

_WIDTH, _GAP, _LINE_HEIGHT, _MARGIN = 220, 32, 20, 8
_MAX_NAME_LENGTH = 26
"""Maximum length of an arm's name in a box, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFlow:
    """The flow of a group of readers, which is an arm or all readers.

    Parameters
    ----------
    arm
        Name of the arm; empty for all readers.
    started
        Number of readers who have read a case.
    completed
        Number of readers who have read every assigned case.
    analysed
        Number of readers with a reading in the primary analysis.
    """

    arm: str
    readers: int
    randomised: int
    started: int
    completed: int
    withdrawn: int
    analysed: int


def flow_of_readers(
    look: Transaction, study: StudyRow, readers: Sequence[ReaderCounts]
) -> list[GroupFlow]:
    """Return the flow of all readers, followed by the flow of each arm."""
    protocol = stored_protocol(study)
    arm_of = {row.reader_id: row.arm for row in people.readers(look, study.id)}
    without_excluded = protocol.exclusions == "primary"
    groups = {"": list(readers)} | {
        arm.name: [row for row in readers if arm_of[row.reader_id] == arm.name]
        for arm in protocol.arms
    }
    return [
        GroupFlow(
            arm=arm,
            readers=len(group),
            randomised=sum(bool(arm_of[row.reader_id]) for row in group),
            started=sum(row.counts.n_read > 0 for row in group),
            completed=sum(row.stage is Stage.FINISHED for row in group),
            withdrawn=sum(row.stage is Stage.WITHDRAWN for row in group),
            analysed=sum(
                row.counts.n_read > row.counts.n_excluded * without_excluded for row in group
            ),
        )
        for arm, group in groups.items()
    ]


def flow_diagram(groups: Sequence[GroupFlow]) -> str:
    """Return the flow of readers as SVG: the enrolment, and from allocation to analysis by arm.

    Parameters
    ----------
    groups
        The result of `flow_of_readers`.
    """
    everyone, *arms = groups
    columns = arms or [everyone]
    enrolment = [f"Invited: {everyone.readers}"]
    if arms:
        enrolment.append(f"Randomised: {everyone.randomised}")
    width = len(columns) * (_WIDTH + _GAP) - _GAP + 2 * _MARGIN
    top = _MARGIN + _height(enrolment)
    middle = width / 2
    parts = [_box(middle - _WIDTH / 2, _MARGIN, enrolment)]
    bottom = top
    for place, group in enumerate(columns):
        x = _MARGIN + place * (_WIDTH + _GAP)
        parts.append(_branch(middle, x + _WIDTH / 2, top))
        y = top + _GAP
        for number, lines in enumerate(_steps(group)):
            if number:
                parts.append(_line(x + _WIDTH / 2, y, y + _GAP))
                y += _GAP
            parts.append(_box(x, y, lines))
            y += _height(lines)
        bottom = max(bottom, y)
    return (
        f'<svg class="flow" role="img" aria-label="Flow of readers" width="{width}" '
        f'viewBox="0 0 {width} {bottom + _MARGIN}">'
        f"{''.join(parts)}</svg>\n"
    )


def _steps(group: GroupFlow) -> list[list[str]]:
    """Return the lines in each box of a column, from top to bottom."""
    unfinished = group.readers - group.completed - group.withdrawn
    allocation = [f"Started: {group.started}", f"Did not start: {group.readers - group.started}"]
    if group.arm:
        name = (
            group.arm
            if len(group.arm) <= _MAX_NAME_LENGTH
            else f"{group.arm[: _MAX_NAME_LENGTH - 1]}…"
        )
        allocation = [name, f"Allocated: {group.readers}", *allocation]
    return [
        allocation,
        [
            f"Completed: {group.completed}",
            f"Withdrawn: {group.withdrawn}",
            f"Not completed: {unfinished}",
        ],
        [f"Analysed: {group.analysed}", f"Not analysed: {group.readers - group.analysed}"],
    ]


def _height(lines: Sequence[str]) -> int:
    return len(lines) * _LINE_HEIGHT + 12


def _box(x: float, y: float, lines: Sequence[str]) -> str:
    words = "".join(
        f'<text x="{x + 12:g}" y="{y + _LINE_HEIGHT * number + 20:g}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    return f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_height(lines)}"/>{words}'


def _line(x: float, top: float, bottom: float) -> str:
    return f'<path d="M{x:g} {top:g}V{bottom:g}"/>'


def _branch(start: float, end: float, top: float) -> str:
    return f'<path d="M{start:g} {top:g}v{_GAP / 2:g}H{end:g}v{_GAP / 2:g}"/>'
