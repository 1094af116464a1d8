"""The draw: strata, units that are drawn only once, and refusals with the missing numbers."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from study.bank.importing import import_bank
from study.bank.terms import VIEW_LABELS
from study.base.bank_model import VIEW_CLASSES
from study.base.errors import BadInput, BadProtocol, NotFound
from study.lifecycle.deployments import init
from study.protocol.protocol import Protocol, faults_of, protocol_from, read_protocol
from study.protocol.sampling import DrawResult, count_drawable, preview_draw
from study.store import Store
from tests.conftest import ACTING, NOW, entropy_from, write_bank
from tests.drawable_items import Drawable, draw_from

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
    """By largest remainders, 36.1, 36.5, 20.9, 6.1 and 0.4 % of 200 are 72, 73, 42, 12 and 1."""
    drawn = draw_from(_candidates(REXVQA_MIX), _protocol())
    assert [stratum.n_drawn for stratum in drawn.strata] == [42, 1, 12, 73, 72]
    assert len(drawn.cases) == len({item for item, _ in drawn.cases}) == 200


def test_no_patient_has_two_questions() -> None:
    """The limit of one question per patient applies to all strata together."""
    candidates = _candidates(REXVQA_MIX, per_patient=4)
    patient = {entry.item_id: entry.patient_id for entry in candidates}
    drawn = draw_from(candidates, _protocol())
    assert max(Counter(patient[item] for item, _ in drawn.cases).values()) == 1


def test_a_possible_draw_is_never_refused() -> None:
    """Two patients have items in both strata and one in a single stratum; all three are needed."""
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


def test_a_draw_does_not_depend_on_the_order_of_the_file() -> None:
    """The draw depends on IDs and seed only; another seed draws other cases."""
    candidates = _candidates(REXVQA_MIX)
    first = draw_from(candidates, _protocol())
    assert draw_from(candidates[::-1], _protocol()) == first
    assert draw_from(candidates, _protocol(seed=1)).cases != first.cases


def test_an_equal_allocation_is_refused_if_a_stratum_is_too_small() -> None:
    """The message has the stratum, the requested number and the available number."""
    with pytest.raises(BadInput, match="Geometric Information Assessment: 40 needed, 4 available"):
        draw_from(_candidates(REXVQA_MIX), _protocol(allocation="equal"))


def test_too_few_patients_are_refused_with_the_number() -> None:
    """Strata that are large enough may share patients."""
    candidates = _candidates({"a": 30, "b": 30}, per_patient=1)
    shared = [
        Drawable(
            item_id=entry.item_id, examination_id="", patient_id=f"p{i % 30}", strata=entry.strata
        )
        for i, entry in enumerate(candidates)
    ]
    with pytest.raises(BadInput, match="together with the other strata"):
        draw_from(shared, _protocol(cases=40))


def test_strata_of_two_fields_can_have_an_allocation() -> None:
    """The names of two fields are separated by a slash."""
    allocation = {"a / female": 2, "b / male": 3}
    protocol = _protocol(cases=5, stratify_by=["task", "sex"], allocation=allocation)
    drawn = draw_from(_candidates({"a": 30, "b": 30}), protocol)
    assert Counter(stratum for _, stratum in drawn.cases) == allocation


def test_an_unknown_stratum_in_the_allocation_is_refused() -> None:
    """The message lists the strata of the bank."""
    with pytest.raises(BadInput, match=r"does not have: c\. It has: a, b"):
        draw_from(_candidates({"a": 9, "b": 9}), _protocol(cases=3, allocation={"c": 3}))


def test_case_numbers_do_not_follow_the_strata() -> None:
    """Otherwise a fixed order would show the tasks in blocks."""
    drawn = draw_from(_candidates({"a": 50, "b": 50}), _protocol(cases=40))
    changes = sum(x != y for (_, x), (_, y) in zip(drawn.cases, drawn.cases[1:], strict=False))
    assert changes > 8


AGES = ("040Y", "006M", "80-90", "", "old")


def _bank(folder: Path, id_step: int = 1, **more: Any) -> Store:
    """Return a store with 24 items of 12 patients, whose fields identify them.

    The patients' ages come from `AGES` in turn. The first two patients have a PA film only; every
    fourth question contains its answer.
    """
    path = write_bank(folder)
    records = list(json.loads(path.read_text()).items())
    for n, (_, record) in enumerate(records):
        patient = int(record["PatientID"][1:])
        record["PatientAge"] = AGES[patient % len(AGES)]
        record["split"] = ("train", "test")[patient % 2]
        record["ImageViewPosition"] = ["ERECT" if patient % 2 else "PA", "LATERAL"]
        if patient < 2:
            record["ImagePath"], record["ImageViewPosition"] = record["ImagePath"][:1], ["AP"]
        if n % 4 == 0:
            letter = record["correct_answer"][0]
            text = next(entry for entry in record["options"] if entry.startswith(letter))[2:].strip(
                ". "
            )
            record["question"] += f" Is it {text}?"
        for key, values in more.items():
            record[key] = values(n, record)
    path.write_text(json.dumps(dict(records[::id_step])))
    store = init(folder / "store.db", entropy=entropy_from(1), now=NOW)
    import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
    return store


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store with the bank."""
    return _bank(tmp_path_factory.mktemp("bank"))


def _protocol_with(**keys: Any) -> Protocol:
    return Protocol.from_json({"cases": 2, "one_question_per": "item", "stratify_by": [], **keys})


def _drawn_cases(store: Store, **keys: Any) -> DrawResult:
    return preview_draw(store, 1, _protocol_with(**keys))


def _ids(store: Store) -> list[str]:
    with store.look() as look:
        return [row["item_id"] for row in look.rows("SELECT item_id FROM items ORDER BY id")]


@pytest.mark.parametrize(
    ("keys", "n_patients"),
    [
        ({}, 12),
        ({"required_views": ["lateral"]}, 10),
        ({"required_views": ["frontal", "lateral"]}, 10),
        ({"required_views": ["frontal"]}, 12),
        ({"age": [18, 60]}, 3),
        ({"age": [18, 60], "unknown_age": True}, 7),
        ({"age": [0, 0]}, 3),
        ({"age": [80, 90]}, 2),
        ({"age": [85, 90]}, 0),
        ({"sex": ["female"]}, 6),
        ({"sex": ["other"]}, 0),
        ({"sex": ["female", "male"], "required_views": ["lateral"], "age": [18, 60]}, 2),
    ],
)
def test_remaining_items_meet_all_conditions(
    bank: Store, keys: dict[str, Any], n_patients: int
) -> None:
    """Items and patients are counted; an age range must lie completely within the limits."""
    assert count_drawable(bank, 1, _protocol_with(one_question_per="patient", **keys)) == (
        2 * n_patients,
        n_patients,
    )


def test_lists_of_ids_include_and_exclude_items(bank: Store) -> None:
    """Practice cases may be outside the list of included items."""
    ids = _ids(bank)
    drawn = _drawn_cases(bank, only_items=ids[:2], practice_cases=2)
    assert sorted(case for case, _ in drawn.cases) == sorted(ids[:2])
    rest = _drawn_cases(bank, cases=4, without_items=ids[:20])
    assert sorted(case for case, _ in rest.cases) == sorted(ids[20:])
    barred = _drawn_cases(bank, only_items=ids[:2], without_items=ids[2:22], practice_cases=1)
    assert set(barred.practice) < set(ids[22:])
    with pytest.raises(BadInput, match="practice"):
        _drawn_cases(bank, only_items=ids[:2], without_items=ids[2:], practice_cases=1)


@pytest.mark.parametrize("key", ["only_items", "without_items"])
def test_ids_missing_from_the_bank_are_refused_with_their_number(bank: Store, key: str) -> None:
    """The message has examples, and nothing is drawn."""
    with pytest.raises(BadInput, match=rf"{key} names 2 questions.*such as nope, nor"):
        _drawn_cases(bank, cases=1, **{key: [_ids(bank)[0], "nor", "nope"]})


def test_flagged_questions_are_excluded(bank: Store) -> None:
    """Only questions that break the selected rules are excluded."""
    flagged = _ids(bank)[::4]
    assert count_drawable(bank, 1, _protocol_with(without_flags=["B201"])) == (18, 18)
    drawn = _drawn_cases(bank, cases=18, without_flags=["B201"])
    assert not {case for case, _ in drawn.cases} & set(flagged)
    assert count_drawable(bank, 1, _protocol_with(without_flags=["B206"])) == (24, 24)


def test_the_sample_does_not_depend_on_the_order_of_the_import(tmp_path: Path) -> None:
    """All options are tested; of similar questions the same one is excluded."""

    def alike(n: int, record: dict[str, Any]) -> str:
        return f"Is there a nodule in film of {record['PatientID']}?"

    def same(_n: int, _record: dict[str, Any]) -> list[str]:
        return ["A. Yes", "B. No", "C. Unclear", "D. Artefact"]

    keys: dict[str, Any] = {
        "cases": 6,
        "stratify_by": ["view_class", "split"],
        "without_flags": ["B201", "B205"],
        "age": [0, 90],
        "unknown_age": True,
        "practice_cases": 2,
    }
    up, down = (
        _drawn_cases(_bank(tmp_path / name, id_step, question=alike, options=same), **keys)
        for name, id_step in (("up", 1), ("down", -1))
    )
    assert up == down
    assert sum(entry.n_items for entry in up.strata) == 12


def test_views_with_several_names_form_one_stratum(bank: Store) -> None:
    """The field `view` has a stratum per spelling, `view_class` a stratum per kind."""
    assert [entry.name for entry in _drawn_cases(bank, stratify_by=["view"], cases=3).strata] == [
        "AP",
        "ERECT+LATERAL",
        "PA+LATERAL",
    ]
    result = _drawn_cases(bank, stratify_by=["view_class", "split"], cases=4).strata
    assert [(entry.name, entry.n_items) for entry in result] == [
        ("frontal / test", 2),
        ("frontal / train", 2),
        ("frontal+lateral / test", 10),
        ("frontal+lateral / train", 10),
    ]
    assert {entry for labels in VIEW_CLASSES.values() for entry in labels} == VIEW_LABELS


def test_a_stratum_that_no_item_has_is_refused(bank: Store) -> None:
    """For example, a bank without sites has no stratum for a site."""
    with pytest.raises(BadInput, match="stratify_by names site, which no question"):
        _drawn_cases(bank, stratify_by=["site"])


@pytest.mark.parametrize(
    ("value", "reveals"),
    [
        (lambda _n, record: record["correct_answer"][0], True),
        (lambda _n, record: {"A": "x", "B": "y", "C": "z"}.get(record["correct_answer"][0]), True),
        (lambda n, _record: f"finding {n % 3}", False),
        (lambda n, _record: f"unique {n}", False),
    ],
)
def test_an_attribute_equal_to_the_reference_standard_is_refused_as_stratum(
    tmp_path: Path, value: Any, reveals: bool
) -> None:
    """Letters and texts of options are recognised."""
    kinds = {
        "correct_answer": lambda n, record: "ABC"[n * 7 % 3 if n % 5 else 0],
        "class": value,
    }
    store = _bank(tmp_path, **kinds)
    if not reveals:
        assert _drawn_cases(store, stratify_by=["class"]).cases
        return
    with pytest.raises(BadInput, match="class, which in this bank reveals"):
        _drawn_cases(store, stratify_by=["class"])


def test_a_list_may_be_stored_next_to_the_protocol_file(tmp_path: Path) -> None:
    """The list has lines or is a table; the protocol contains the IDs."""
    file = tmp_path / "protocol.toml"
    file.write_text('only_items = "ids.csv"\nwithout_items = "out.txt"\ncases = 2\n')
    (tmp_path / "ids.csv").write_text('No,"Item ID"\n1,q2\n2,q1\n3,q1\n')
    (tmp_path / "out.txt").write_text("q9\nq8, q7\n")
    result = read_protocol(file)
    assert result.as_json()["only_items"] == ["q1", "q2"]
    assert result.without_items == ("q7", "q8", "q9")
    (tmp_path / "out.txt").unlink()
    with pytest.raises(NotFound, match=r"out\.txt"):
        read_protocol(file)
    file.write_text('only_items = "../ids.csv"\n')
    with pytest.raises(NotFound, match="must be in the folder"):
        read_protocol(file)
    with pytest.raises(BadProtocol, match="next to the protocol"):
        protocol_from('only_items = "ids.csv"', source="page")


def test_contradictory_conditions_are_refused() -> None:
    """The conditions are a short list, an ID in both lists, and reversed ages."""
    (short,) = faults_of({"cases": 3, "only_items": ["a", "b"]})
    assert "2 questions, fewer than cases = 3" in short
    (both,) = faults_of({"cases": 1, "only_items": ["a", "b"], "without_items": ["b"]})
    assert "both name b (1 in all)" in both
    (ages,) = faults_of({"age": [60, 18]})
    assert "lower age first" in ages


def test_a_protocol_without_conditions_has_no_keys_for_them() -> None:
    """The hash of such a protocol is that of earlier versions."""
    assert not {"age", "sex", "only_items", "without_flags"} & set(Protocol().as_json())
