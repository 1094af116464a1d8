"""Chooses the images of another patient that each case shows in the condition wrong-image."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from study.base.canonical import shuffled
from study.base.errors import BadInput
from study.base.translation import t
from study.store.draws import CaseImages


def wrong_images(cases: Sequence[CaseImages], *, seed: int) -> dict[str, str]:
    """Return for each case the case whose images are shown instead.

    This is the next case of another patient that has the same views and no image in common, in the
    order of the hashes of ``seed/wrong image/ITEM_ID``. If there is none, views of the same kind
    count as equal.

    Raises
    ------
    BadInput
        There is no such other case for some cases; the message states how many.
    """
    chosen: dict[str, str] = {}
    for views in (_view_labels, _view_kinds):
        groups = _group_by_views(cases, views, seed)
        for group in groups:
            for place, case in enumerate(group):
                others = (*group[place + 1 :], *group[:place])
                partner = next((other for other in others if _differ(case, other)), None)
                if partner is not None:
                    chosen.setdefault(case.item_id, partner.item_id)
    other_cases = [case for case in cases if case.item_id not in chosen]
    if other_cases:
        raise BadInput(
            t(
                'conditions has "wrong-image", but {n} cases have views that no case of another '
                "patient has, such as {example}: {views}. Set required_views or only_items so that "
                'cases have the same views, or remove "wrong-image".',
                n=len(other_cases),
                example=other_cases[0].item_id,
                views="+".join(other_cases[0].labels) or t("none"),
            )
        )
    return chosen


def _view_labels(case: CaseImages) -> Hashable:
    return case.labels


def _view_kinds(case: CaseImages) -> Hashable:
    return case.kinds


def _group_by_views(
    cases: Sequence[CaseImages], views: Callable[[CaseImages], Hashable], seed: int
) -> list[list[CaseImages]]:
    groups: dict[Hashable, dict[str, CaseImages]] = defaultdict(dict)
    for case in cases:
        groups[views(case)][case.item_id] = case
    return [
        [group[item_id] for item_id in shuffled(group, seed=seed, purpose="wrong image")]
        for group in groups.values()
    ]


def _differ(case: CaseImages, other: CaseImages) -> bool:
    return case.patient != other.patient and case.images.isdisjoint(other.images)
