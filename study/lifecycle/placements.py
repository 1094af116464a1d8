"""Assigns arms and lists to readers in designs with arms, blocks, an aid or wrong images.

See `docs/designs.md`. In other designs, a reader's list follows from their study code.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from study.base.canonical import shuffled
from study.base.errors import NotNow
from study.base.text import text_key
from study.base.translation import t, tn
from study.protocol import blocks
from study.protocol.arms import AllocatedReader, next_arm
from study.protocol.designs import ListPlace
from study.protocol.protocol import Protocol, stored_protocol
from study.store import Transaction, events, people, readings
from study.store.events import EventKind
from study.store.people import ReaderRow
from study.store.studies import StudyRow


def refuse_impossible(protocol: Protocol, readers: Sequence[ReaderRow]) -> None:
    """Refuse to open a study that its readers cannot read as designed.

    Raises
    ------
    NotNow
        An arm has no readers, or too few for its cases.
    """
    if not protocol.has_new_design:
        return
    arms = _arms_of(protocol, readers)
    sizes = Counter(arms.values())
    empty = [name for name in protocol.by_arm if not sizes[name]]
    if empty:
        raise NotNow(
            t(
                "arms: no reader would be in the arm {arm}. Invite more readers, or remove the "
                "arm.",
                arm=empty[0],
            )
        )
    for name in protocol.by_arm:
        n_readers, reads = sizes[name], protocol.reads_per_case
        scope = t("the arm {arm}", arm=name) if name else t("the study")
        if n_readers < reads and not protocol.cases_per_reader:
            raise NotNow(
                t(
                    "reads_per_case = {reads}, but {where} has only {n}. Invite more readers, or "
                    "reduce reads_per_case.",
                    reads=reads,
                    where=scope,
                    n=tn("{n} reader", "{n} readers", n_readers),
                )
            )
        _refuse_short_lists(protocol.of_arm(name), scope, n_readers)


def _refuse_short_lists(protocol: Protocol, scope: str, n_readers: int) -> None:
    if not protocol.is_incomplete:
        return
    lists = blocks.n_lists(protocol, n_readers)
    shortest = protocol.anchor + min(
        blocks.list_size(protocol, number, lists) for number in range(1, lists + 1)
    )
    needed = max(1, protocol.case_blocks, protocol.hidden_repeats)
    if shortest < needed:
        raise NotNow(
            t(
                "reads_per_case = {reads} gives a reader in {where} only {n} of the {needed} cases "
                "that conditions and hidden_repeats require. Increase cases or reads_per_case, or "
                "invite fewer readers.",
                reads=protocol.reads_per_case,
                where=scope,
                n=shortest,
                needed=needed,
            )
        )


def place_all(
    change: Transaction, protocol: Protocol, readers: Sequence[ReaderRow]
) -> dict[int, ListPlace]:
    """Assign an arm and a list to each reader of a study that is being opened.

    Returns
    -------
    dict of int to ListPlace
        The lists by the number of the reader; empty in designs without arms and lists.
    """
    if not protocol.has_new_design:
        return {}
    arms = _arms_of(protocol, readers)
    places = {}
    for name in protocol.by_arm:
        members = [reader for reader in readers if arms[reader.id] == name]
        lists = blocks.n_lists(protocol, len(members))
        for number, reader in enumerate(_by_site(protocol, members), start=1):
            places[reader.id] = _store_place(
                change, reader, ListPlace(arm=name, number=number, lists=lists)
            )
    return places


def count_lists(places: Iterable[ListPlace]) -> dict[str, int]:
    """Return the number of lists in each arm, for the opening event."""
    return {place.arm: place.lists for place in places}


def place_late(
    change: Transaction, study: StudyRow, readers: Sequence[ReaderRow]
) -> ListPlace | int:
    """Assign an arm and a list to the last of a study's readers, invited after the study is opened.

    Returns
    -------
    ListPlace or int
        In designs without lists, the number of the reader.
    """
    protocol, reader = stored_protocol(study), readers[-1]
    if not protocol.has_new_design:
        return len(readers) - 1
    earlier = readers[:-1]
    (opened,) = events.of_kind(change, events.study_chain(study.name), EventKind.STUDY_OPENED)
    free = _free_list(change, study, earlier, reader)
    if free is not None:
        arm, number = free
    else:
        arm = (
            next_arm(
                protocol.arms,
                _randomised_readers(earlier),
                _allocated_reader(reader),
                protocol.seed,
            )
            if protocol.arms
            else ""
        )
        number = max((other.list or 0 for other in earlier if other.arm == arm), default=0) + 1
    return _store_place(
        change, reader, ListPlace(arm=arm, number=number, lists=opened["lists"].get(arm, 1))
    )


def _arms_of(protocol: Protocol, readers: Iterable[ReaderRow]) -> dict[int, str]:
    """Return the arm of each reader, randomised in the order of their invitation.

    The reader of a preview already has an arm.
    """
    allocated_before: list[AllocatedReader] = []
    arms = {}
    for reader in readers:
        allocated = _allocated_reader(reader)
        arm = reader.arm
        if protocol.arms and not arm:
            arm = next_arm(protocol.arms, allocated_before, allocated, protocol.seed)
        arms[reader.id] = arm
        allocated_before.append(_allocated_reader(reader, arm))
    return arms


def _by_site(protocol: Protocol, readers: Sequence[ReaderRow]) -> list[ReaderRow]:
    """Sort readers by site and level, so that similar readers get successive lists."""
    order = shuffled((reader.reader_id for reader in readers), seed=protocol.seed, purpose="list")
    rank = {reader_id: place for place, reader_id in enumerate(order)}
    return sorted(
        readers,
        key=lambda reader: (text_key(reader.site), text_key(reader.level), rank[reader.reader_id]),
    )


def _store_place(change: Transaction, reader: ReaderRow, place: ListPlace) -> ListPlace:
    people.assign_list(change, reader.id, place.arm, place.number)
    return place


def _allocated_reader(reader: ReaderRow, arm: str = "") -> AllocatedReader:
    return AllocatedReader(
        reader_id=reader.reader_id, level=reader.level, site=reader.site, arm=arm
    )


def _randomised_readers(readers: Iterable[ReaderRow]) -> list[AllocatedReader]:
    """Return the readers who were randomised, without those who replaced a withdrawn reader."""
    first: dict[tuple[str, int | None], ReaderRow] = {}
    for reader in readers:
        first.setdefault((reader.arm, reader.list), reader)
    return [_allocated_reader(reader, reader.arm) for reader in first.values()]


def _free_list(
    look: Transaction, study: StudyRow, earlier: Sequence[ReaderRow], reader: ReaderRow
) -> tuple[str, int] | None:
    """Return the arm and list of a withdrawn reader that have not been reassigned, or None.

    If there are several, the list of a reader with the same level and site is preferred.
    """
    withdrawn = {
        step.reader_id for step in readings.interventions(look, study.id) if step.kind == "withdraw"
    }
    taken_lists = {(row.arm, row.list) for row in earlier if row.reader_id not in withdrawn}
    free = [
        row for row in earlier if (row.arm, row.list) not in taken_lists and row.list is not None
    ]
    own_stratum = _allocated_reader(reader).stratum
    chosen = min(
        free, key=lambda row: (_allocated_reader(row).stratum != own_stratum, row.id), default=None
    )
    return None if chosen is None or chosen.list is None else (chosen.arm, chosen.list)
