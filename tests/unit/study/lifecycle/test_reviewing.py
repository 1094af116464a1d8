"""Experts' review of a bank: assignment, verdicts, their use, and access."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.bank.importing import import_bank
from study.bank.managing import remove_bank
from study.base.actor import Acting, By
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow, StudyError
from study.base.translation import translated
from study.cli import main
from study.lifecycle import judging, reviewing
from study.lifecycle.judging import LABELS, MIXED, ItemVerdict, judging_order, settled_verdict
from study.lifecycle.judging_desk import reviewers_desk
from study.lifecycle.studies import close
from study.people.codes import new_code
from study.people.persons import Newcomer, grant_role
from study.people.roles import Act, Role
from study.people.signing_in import Person, sign_in
from study.reading.desk import Acknowledgement
from study.store import Store, bank_contents, judgements
from study.store import studies as studies_stored
from study.store.judgements import REVIEW
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import ACTING, NOW, entropy_from, presentation, reading, tamper, write_bank

_LETTER = dict(zip(ItemVerdict, "ABCDE", strict=True))


_FAULT = ItemVerdict.WRONG_STANDARD


def _judge_as_sound(_: str) -> ItemVerdict:
    return ItemVerdict.SOUND


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_each_ordered_pair_of_judges_starts_equally_often(n: int) -> None:
    """The pair (A, B) differs from (B, A)."""
    pairs = Counter(judging_order(place, n)[:2] for place in range(n * (n - 1)))
    assert set(pairs.values()) == {1}
    assert len(pairs) == n * (n - 1)


@pytest.mark.parametrize(
    ("verdicts", "result"),
    [
        ([], None),
        (["sound"], None),
        (["sound", "sound"], "sound"),
        (["ambiguous", "sound"], None),
        (["ambiguous", "sound", "sound"], "sound"),
        (["ambiguous", "hallucinated finding", "sound"], MIXED),
    ],
)
def test_a_third_judge_decides_if_two_differ(verdicts: list[str], result: str | None) -> None:
    """Of three different verdicts, at most one can be "sound"."""
    assert settled_verdict(REVIEW, verdicts) == result


def reviewers(store: Store, n: int = 3) -> list[Person]:
    """Create `n` people with the role of a reviewer."""
    people = []
    for number in range(n):
        code = new_code(entropy_from(50 + number))
        grant_role(
            store,
            Newcomer(handle=f"expert-{number + 1}", role=Role.REVIEWER),
            study="",
            code=code,
            acting=Acting(by=By(name="admin", role="administrator", everywhere=True), now=NOW),
        )
        people.append(sign_in(store, code.text, entropy=entropy_from(60 + number), now=NOW).person)
    return people


def run_command_in_process(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Run a command in this process; return its status and both outputs."""
    before = sys.stdout
    status = main(words)
    if sys.stdout is not before:  # a refused command closes its output
        sys.stdout.close()
        sys.stdout = before
    return status, *capsys.readouterr()


def _open(store: Store, people: list[Person], n: int = 12) -> int:
    with store.look() as look:
        item_ids = reviewing.sample_items(look, "bank", n, seed=1)
    return reviewing.open_review(
        store,
        "bank",
        name="first look",
        item_ids=item_ids,
        reviewers=[reviewer.id for reviewer in people],
        acting=ACTING,
    )


def _judge(
    store: Store,
    person: Person,
    review: int,
    verdict_of: Callable[[str], ItemVerdict],
    **changed: Any,
) -> Acknowledgement:
    """Judge the next question by its text."""
    case = reviewers_desk.desk(store, person, review).cases[0]
    record = reading(case.case, _LETTER[verdict_of(case.question)], **changed)
    record["id"] = f"{person.id:016x}{case.case[:16]}"
    return reviewers_desk.take_records(
        store, person, review, [presentation(case.case), record], now=NOW
    )


def _judge_all(
    store: Store,
    person: Person,
    review: int,
    verdict_of: Callable[[str], ItemVerdict] = _judge_as_sound,
) -> int:
    n = 0
    while reviewers_desk.desk(store, person, review).cases:
        assert not _judge(store, person, review, verdict_of).refused
        n += 1
    return n


def test_faulty_questions_of_a_review_are_not_drawn_again(tmp_path: Path, store: Store) -> None:
    """Two people judge each question; here they always differ, so a third judges it too."""
    folder = tmp_path / "thirty"
    import_bank(store, write_bank(folder, 15), name="bank", images=folder, acting=ACTING)
    first, second, third = reviewers(store)
    review = _open(store, [first, second, third], 30)

    def by_chance(question: str) -> ItemVerdict:
        return (
            ItemVerdict.AMBIGUOUS
            if len(question) % 3 == 0 or "3" in question
            else ItemVerdict.SOUND
        )

    assert (
        _judge_all(store, first, review) == 20
    )  # each person judges two thirds of the questions at first
    assert _judge_all(store, second, review, lambda _: ItemVerdict.AMBIGUOUS) == 20
    assert _judge_all(store, third, review, by_chance) == 30
    second_turn = _judge_all(store, first, review) + _judge_all(
        store, second, review, lambda _: ItemVerdict.AMBIGUOUS
    )
    with store.look() as look:
        row = judging.judging_row(look, REVIEW, review)
        assert not any(item.waits_for for item in judging.everything_judged(look, row))
        with pytest.raises(NotNow, match="Close the review first"):
            reviewing.faulty_items(look, review)
    judging.close(store, REVIEW, review, acting=ACTING)
    with store.look() as look:
        faulty = reviewing.faulty_items(look, review)
        rows = reviewing.verdict_table(look, review)
    decisive = {row[0]: row[5] for row in rows if row[3] == third.name}
    assert len(decisive) == 30
    assert faulty == {item: verdict for item, verdict in decisive.items() if verdict != "sound"}
    assert 0 < len(faulty) < 30
    assert len(rows) == 70 + second_turn
    assert reviewing.strike_faulty(store, review, acting=ACTING) == len(faulty)
    assert reviewing.strike_faulty(store, review, acting=ACTING) == 0
    with store.look() as look:
        struck = bank_contents.listed(look, bank_contents.struck_items(look, 1))
        assert len(reviewing.sample_items(look, "bank", 30 - len(faulty), seed=2)) == 30 - len(
            faulty
        )
        with pytest.raises(BadInput, match=f"between 1 and {30 - len(faulty)}"):
            reviewing.sample_items(look, "bank", 30, seed=2)
    assert {item.item_id for item in struck} == set(faulty)
    assert struck[0].struck == "Expert review first look: Ambiguous"
    assert verify(store) == []


def test_a_reviewer_sees_the_reference_standard_but_no_verdicts(banked: Store) -> None:
    """The question contains the reference standard; the options are the verdicts."""
    first, second, _ = reviewers(banked)
    review = _open(banked, [first, second], 4)
    before = reviewers_desk.desk(banked, first, review)
    case = before.cases[0]
    assert "(reference standard)" in case.question
    assert [text for _, text in case.options] == [
        translated(LABELS[verdict]) for verdict in ItemVerdict
    ]
    _judge_all(banked, second, review, lambda _: ItemVerdict.HALLUCINATED)
    after = reviewers_desk.desk(banked, first, review)
    assert after.cases == before.cases
    film = reviewers_desk.film(banked, first, review, case.case, 1)
    assert film is not None
    # The address of the film belongs to the first reviewer.
    assert reviewers_desk.film(banked, second, review, case.case, 1) is None


def test_the_last_verdict_counts_and_repeats_are_ignored(banked: Store) -> None:
    """A message sent again after an interruption has no effect."""
    people = reviewers(banked, 2)
    review = _open(banked, people, 2)
    case = reviewers_desk.desk(banked, people[0], review).cases[0].case
    for option in ("A", "A", "B", "B"):
        record = reading(case, option, comment="two answers are right")
        receipt = reviewers_desk.take_records(banked, people[0], review, [record], now=NOW)
        assert not receipt.refused
    with banked.look() as look:
        row = judging.judging_row(look, REVIEW, review)
        assert len(judgements.every_verdict(look, row)) == 2
        (verdict,) = judgements.verdicts(look, row)
    assert (verdict.verdict, verdict.comment) == ("ambiguous", "two answers are right")


def test_only_reviewers_of_a_review_judge_its_questions(banked: Store) -> None:
    """Other people, unknown questions and invalid verdicts are refused."""
    first, second, third = reviewers(banked)
    review = _open(banked, [first, second], 2)
    with pytest.raises(NotAllowed, match="not a reviewer in this review"):
        reviewers_desk.desk(banked, third, review)
    with pytest.raises(NotFound, match="no such review"):
        reviewers_desk.desk(banked, first, 99)
    case = reviewers_desk.desk(banked, first, review).cases[0].case
    sent = [reading("0" * 32, "A"), reading(case, "F"), reading(case, None, status="skipped")]
    receipt = reviewers_desk.take_records(banked, first, review, sent, now=NOW)
    assert len(receipt.refused) == 3
    assert first.may(Act.REVIEW)
    assert not any(first.may(act) for act in (Act.MAKE_STUDY, Act.RESULTS, Act.READ))


def test_a_bank_is_not_reviewed_while_a_study_reads_it(
    opened: Callable[..., Store], banked: Store
) -> None:
    """The reference standard stays confidential until the study is closed."""
    people = reviewers(banked, 2)
    review = _open(banked, people, 2)
    opened()
    with pytest.raises(NotAllowed, match="are being read in a study"):
        reviewers_desk.desk(banked, people[0], review)
    with pytest.raises(NotNow, match="once that study is closed"):
        reviewing.open_review(
            banked, "bank", name="2", item_ids=["x"], reviewers=[1, 2], acting=ACTING
        )
    close(banked, study="trial", reason="enough", acting=ACTING)
    _judge_all(banked, people[0], review, lambda _: ItemVerdict.WRONG_STANDARD)
    _judge_all(banked, people[1], review, lambda _: ItemVerdict.WRONG_STANDARD)
    with banked.look() as look:
        study = study_row(look, "trial").id
        assert reviewing.faulty_cases(look, study) == []
    judging.close(banked, REVIEW, review, acting=ACTING)
    with banked.look() as look:
        cases = {case.item_id for case in studies_stored.cases(look, study)}
        faulty = reviewing.faulty_items(look, review)
        assert reviewing.faulty_cases(look, study) == sorted(cases & set(faulty))


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"reviewers": [1]}, BadInput, "at least two reviewers"),
        ({"reviewers": [1, 1]}, BadInput, "at least two reviewers"),
        ({"item_ids": []}, BadInput, "List the questions"),
        ({"item_ids": ["p00-q0", "p00-q0"]}, BadInput, "each once"),
        ({"item_ids": ["nothing"]}, NotFound, "no question with this ID.*\n  “nothing”"),
        ({"item_ids": ["x", "y"]}, NotFound, "these 2 IDs.*\n  “x”\n  “y”$"),
        ({"name": " "}, BadInput, "review"),
        ({"name": "first look"}, NotNow, "already has a review named"),
    ],
)
def test_an_invalid_review_is_refused_with_a_reason(
    banked: Store, changed: dict[str, Any], error: type[StudyError], message: str
) -> None:
    """No part of the review is stored."""
    people = reviewers(banked, 2)
    _open(banked, people, 2)
    with banked.look() as look:
        (item,) = reviewing.sample_items(look, "bank", 1, seed=1)
    values: dict[str, Any] = {
        "name": "second",
        "item_ids": [item],
        "reviewers": [reviewer.id for reviewer in people],
    }
    with pytest.raises(error, match=message):
        reviewing.open_review(banked, "bank", **{**values, **changed}, acting=ACTING)
    with banked.look() as look:
        assert len(judgements.every_review(look)) == 1


def test_a_closed_review_accepts_no_verdicts(banked: Store) -> None:
    """Verification reports a verdict altered in the file."""
    people = reviewers(banked, 2)
    review = _open(banked, people, 2)
    for person in people:
        _judge_all(banked, person, review)
    judging.close(banked, REVIEW, review, acting=ACTING)
    with pytest.raises(NotNow, match="closed"):
        judging.close(banked, REVIEW, review, acting=ACTING)
    with pytest.raises(NotAllowed, match="closed"):
        reviewers_desk.desk(banked, people[0], review)
    assert verify(banked) == []
    tamper(
        banked,
        "UPDATE review_verdicts SET verdict = 'ambiguous' WHERE id = 1",
    )
    assert any("its verdicts were altered" in breach for breach in verify(banked))


def test_a_bank_is_removed_with_its_reviews(banked: Store) -> None:
    """A review is removed only with its bank."""
    _open(banked, reviewers(banked, 2), 2)
    remove_bank(banked, "bank", acting=ACTING)
    with banked.look() as look:
        assert judgements.every_review(look) == []
    assert verify(banked) == []


def test_the_role_of_a_reviewer_belongs_to_the_server_and_not_to_a_study(banked: Store) -> None:
    """Reviewers see what readers must not."""
    with pytest.raises(BadInput, match="for the whole server"):
        grant_role(
            banked,
            Newcomer(handle="expert", role=Role.REVIEWER),
            study="trial",
            code=new_code(entropy_from(1)),
            acting=Acting(by=By(name="admin", role="administrator", everywhere=True), now=NOW),
        )


def test_a_review_can_be_run_by_commands(
    banked: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands open, show, close and use a review as the page does."""
    people = reviewers(banked, 2)

    def run(*words: str) -> tuple[int, str, str]:
        return run_command_in_process(
            capsys, "review", *words, "--db", str(banked.path), "--bank", "bank"
        )

    review_arguments = ("--review", "first look")
    judge_arguments = [word for reviewer in people for word in ("--reviewer", reviewer.name)]
    assert run("open", *review_arguments, *judge_arguments)[0] == 2
    status, _, reason = run("open", *review_arguments, "--reviewer", "nobody", "--items", "4")
    assert (status, "No reviewer is called “nobody”" in reason) == (1, True)
    (tmp_path / "ids.txt").write_text("q0001\nq0002\n")
    item_arguments = ("--list", str(tmp_path / "ids.txt"))
    assert run("open", *review_arguments, *judge_arguments, *item_arguments)[:2] == (
        0,
        "Opened: review “first look” of bank “bank”, 2 items.\n",
    )
    for person in people:
        _judge_all(
            banked,
            person,
            1,
            lambda question: _FAULT if "film 1" in question else _judge_as_sound(""),
        )
    assert run("strike", *review_arguments)[0] == 1
    assert "2 judged, 0 waiting" in run("show", *review_arguments)[1]
    assert run("close", *review_arguments)[0] == 0
    assert "q0001,wrong reference standard\nq0002,sound" in run("show", *review_arguments)[1]
    table = run("verdicts", *review_arguments)[1].splitlines()
    assert table[0] == "item_id,patient_id,task,reviewer,place,verdict,comment,at_utc"
    assert len(table) == 5
    assert run("strike", *review_arguments)[1] == "Items struck off bank “bank”: 1.\n"
    assert run("show", "--review", "second")[0] == 1
