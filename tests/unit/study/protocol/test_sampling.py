"""The draw: strata, units, and refusals that tell what is short."""

from collections import Counter

import pytest

from study.base.errors import BadInput
from study.protocol.protocol import Protocol
from tests.drawable import Drawable, draw_from

REXVQA_MIX = {
    "Presence Assessment": 361,
    "Negation Assessment": 365,
    "Differential Diagnosis": 209,
    "Location and Distribution Assessment": 61,
    "Geometric Information Assessment": 4,
}


def _candidates(mix: dict[str, int], per_patient: int = 1) -> list[Drawable]:
    tasks = [task for task, n in mix.items() for _ in range(n)]
    return [
        Drawable(
            item_id=f"q{i}",
            examination_id=f"e{i // per_patient}",
            patient_id=f"p{i // per_patient}",
            strata={"task": task, "sex": "male" if i % 3 else "female"},
        )
        for i, task in enumerate(tasks)
    ]


def _protocol(**values: object) -> Protocol:
    return Protocol.from_json({"cases": 200, **values})


def test_proportional_allocation_of_the_rexvqa_mix_adds_up() -> None:
    """Largest remainders: 200 of 36.1, 36.5, 20.9, 6.1 and 0.4 % are 72, 73, 42, 12 and 1."""
    drawn = draw_from(_candidates(REXVQA_MIX), _protocol())
    assert [stratum.n_drawn for stratum in drawn.strata] == [42, 1, 12, 73, 72]
    assert len(drawn.cases) == len({item for item, _ in drawn.cases}) == 200


def test_no_patient_gives_two_questions() -> None:
    """One question per patient holds over all strata together."""
    candidates = _candidates(REXVQA_MIX, per_patient=4)
    patient = {one.item_id: one.patient_id for one in candidates}
    drawn = draw_from(candidates, _protocol())
    assert max(Counter(patient[item] for item, _ in drawn.cases).values()) == 1


def test_a_draw_is_found_wherever_one_exists() -> None:
    """Two patients serve both strata, one serves one only: all three are needed, and found."""
    candidates = [
        Drawable(
            item_id=f"{patient}-{task}",
            examination_id="",
            patient_id=patient,
            strata={"task": task},
        )
        for patient, tasks in {"p1": "ab", "p2": "ab", "p3": "a"}.items()
        for task in tasks
    ]
    for seed in range(40):
        protocol = _protocol(cases=3, seed=seed, allocation={"a": 1, "b": 2})
        assert {stratum for _, stratum in draw_from(candidates, protocol).cases} == {"a", "b"}


def test_the_same_seed_draws_the_same_cases_whatever_the_order_of_the_file() -> None:
    """The draw depends on ids and seed alone; another seed draws others."""
    candidates = _candidates(REXVQA_MIX)
    first = draw_from(candidates, _protocol())
    assert draw_from(candidates[::-1], _protocol()) == first
    assert draw_from(candidates, _protocol(seed=1)).cases != first.cases


def test_equal_allocation_refuses_what_the_bank_cannot_give() -> None:
    """The refusal names the stratum, what was asked for and what is there."""
    with pytest.raises(BadInput, match="Geometric Information Assessment: 40 asked for, 4 there"):
        draw_from(_candidates(REXVQA_MIX), _protocol(allocation="equal"))


def test_too_few_patients_are_refused_with_the_number() -> None:
    """Strata that are each rich enough may still compete for the same patients."""
    candidates = _candidates({"a": 30, "b": 30}, per_patient=1)
    shared = [
        Drawable(item_id=one.item_id, examination_id="", patient_id=f"p{i % 30}", strata=one.strata)
        for i, one in enumerate(candidates)
    ]
    with pytest.raises(BadInput, match="beside the other strata"):
        draw_from(shared, _protocol(cases=40))


def test_strata_may_cross_and_name_their_allocation() -> None:
    """Two fields make crossed strata, named with a slash."""
    allocation = {"a / female": 2, "b / male": 3}
    protocol = _protocol(cases=5, stratify_by=["task", "sex"], allocation=allocation)
    drawn = draw_from(_candidates({"a": 30, "b": 30}), protocol)
    assert Counter(stratum for _, stratum in drawn.cases) == allocation


def test_an_unknown_stratum_in_the_allocation_is_refused() -> None:
    """A misspelt stratum is named beside those there are."""
    with pytest.raises(BadInput, match=r"does not have: c\. It has: a, b"):
        draw_from(_candidates({"a": 9, "b": 9}), _protocol(cases=3, allocation={"c": 3}))


def test_the_numbering_of_cases_does_not_follow_the_strata() -> None:
    """Fixed order must not show a block of one task after another."""
    drawn = draw_from(_candidates({"a": 50, "b": 50}), _protocol(cases=40))
    changes = sum(x != y for (_, x), (_, y) in zip(drawn.cases, drawn.cases[1:], strict=False))
    assert changes > 8
