"""Which items are of one examination, and that each examination is of one patient."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from study.bank.fields import SPELLINGS, Notes
from study.bank.items import ItemDraft
from study.bank.source import plain_key
from study.base.bank_rules import Rule


def settle_examinations(drafts: Sequence[ItemDraft], notes: Notes) -> None:
    """Give every draft its examination, and fault those that share one between patients.

    Files give up to four keys for an examination, and it is not known of each whether it is unique
    across patients. The first key under which no examination has two patients is taken; where none
    is, the first key, and its examinations are faulted.

    Parameters
    ----------
    drafts : sequence of ItemDraft
        All drafts of the bank; changed in place.
    notes : Notes
        Takes what was decided.
    """
    key = _trusted_key(drafts, notes)
    for draft in drafts:
        given = draft.examination_ids
        fallback = draft.views[0].path if draft.views else ""
        draft.examination_id = given.get(key) or next(iter(given.values()), fallback)
    for examination_id, group in _grouped(drafts).items():
        _settle(examination_id, group, notes)


def _trusted_key(drafts: Sequence[ItemDraft], notes: Notes) -> str:
    names = {plain_key(name): name for name in SPELLINGS["examination_id"]}
    patients: dict[str, dict[str, set[str]]] = {key: {} for key in names}
    for draft in drafts:
        for key, examination_id in draft.examination_ids.items():
            patients[key].setdefault(examination_id, set()).add(draft.patient_id or "")
    given = [key for key in names if patients[key]]
    trusted = [key for key in given if not _shared(patients[key])]
    if trusted and trusted[0] != given[0]:
        notes.add(
            f"{names[given[0]]} is shared between patients; {names[trusted[0]]} is taken for the"
            " examination",
            drafts[0].key,
        )
    return (trusted or given or [""])[0]


def _shared(patients: Mapping[str, set[str]]) -> bool:
    return any(len(ids - {""}) > 1 for ids in patients.values())


def _grouped(drafts: Iterable[ItemDraft]) -> dict[str, list[ItemDraft]]:
    groups: dict[str, list[ItemDraft]] = {}
    for draft in drafts:
        if draft.examination_id:
            groups.setdefault(draft.examination_id, []).append(draft)
    return groups


def _settle(examination_id: str, group: Sequence[ItemDraft], notes: Notes) -> None:
    patients = sorted({draft.patient_id for draft in group} - {""})
    for draft in group if len(patients) > 1 else ():
        draft.trouble.add(
            f"examination {examination_id} is given to patients {', '.join(patients)}",
            "an examination is of one patient: correct the ids",
            Rule.TWO_PATIENTS,
        )
    patient_id = patients[0] if len(patients) == 1 else ""
    for draft in group:
        if draft.item is None:
            continue
        if patient_id and not draft.patient_id:
            notes.add("patient taken from another item of the same examination", draft.key)
        draft.item = replace(draft.item, examination_id=examination_id, patient_id=patient_id)
    for name in ("age", "sex"):
        if len({getattr(draft.item, name) for draft in group if draft.item} - {""}) > 1:
            notes.add(f"items of one examination differ in {name}", group[0].key)
