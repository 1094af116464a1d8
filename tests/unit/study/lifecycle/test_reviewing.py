"""Experts' review of a bank: who judges what, what is found, used, and what nobody may do."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.bank.importing import import_bank
from study.bank.managing import remove_bank
from study.base.actor import By
from study.base.errors import BadInput, NotAllowed, NotFound, NotNow, StudyError
from study.base.translation import said
from study.cli import main
from study.lifecycle import judging, reviewing
from study.lifecycle.judging import LABELS, MIXED, ItemVerdict, judging_order, settled
from study.lifecycle.judging_desk import reviewers_desk
from study.lifecycle.studies import close
from study.people.codes import new_code
from study.people.persons import Newcomer, give_role
from study.people.roles import Act, Role
from study.people.signing_in import Person, sign_in
from study.reading.desk import Acknowledgement
from study.store import Store, bank_contents, judgements
from study.store import studies as studies_stored
from study.store.judgements import REVIEW
from study.store.studies import study_row
from study.trail.verification import verify
from tests.conftest import NOW, entropy_from, presentation, reading, tamper, write_bank

_LETTER = dict(zip(ItemVerdict, "ABCDE", strict=True))


_FAULT = ItemVerdict.WRONG_STANDARD


def _sound(_: str) -> ItemVerdict:
    return ItemVerdict.SOUND


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_every_pair_begins_equally_often(n: int) -> None:
    """In either order."""
    pairs = Counter(judging_order(place, n)[:2] for place in range(n * (n - 1)))
    assert set(pairs.values()) == {1}
    assert len(pairs) == n * (n - 1)


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ([], None),
        (["sound"], None),
        (["sound", "sound"], "sound"),
        (["ambiguous", "sound"], None),
        (["ambiguous", "sound", "sound"], "sound"),
        (["ambiguous", "hallucinated finding", "sound"], MIXED),
    ],
)
def test_a_third_settles_what_two_differ_on(given: list[str], result: str | None) -> None:
    """Three different verdicts hold at most one of a sound question."""
    assert settled(REVIEW, given) == result


def reviewers(store: Store, n: int = 3) -> list[Person]:
    """Give so many people the role of a reviewer."""
    found = []
    for one in range(n):
        code = new_code(entropy_from(50 + one))
        give_role(
            store,
            Newcomer(handle=f"expert-{one + 1}", role=Role.REVIEWER),
            study="",
            code=code,
            expires=None,
            everywhere=True,
            by=By(name="admin", role="administrator"),
            now=NOW,
        )
        found.append(sign_in(store, code.text, entropy=entropy_from(60 + one), now=NOW).person)
    return found


def _open(store: Store, people: list[Person], n: int = 12) -> int:
    with store.look() as look:
        item_ids = reviewing.sampled(look, "bank", n, seed=1)
    return reviewing.open_review(
        store,
        "bank",
        name="first look",
        item_ids=item_ids,
        reviewers=[one.id for one in people],
        now=NOW,
    )


def _judge(
    store: Store, who: Person, review: int, finds: Callable[[str], ItemVerdict], **changed: Any
) -> Acknowledgement:
    """Judge the question that is next, by its words."""
    case = reviewers_desk.desk(store, who, review).cases[0]
    record = reading(case.case, _LETTER[finds(case.question)], **changed)
    record["id"] = f"{who.id:016x}{case.case[:16]}"
    return reviewers_desk.take_records(
        store, who, review, [presentation(case.case), record], now=NOW
    )


def _all(
    store: Store, who: Person, review: int, finds: Callable[[str], ItemVerdict] = _sound
) -> int:
    n = 0
    while reviewers_desk.desk(store, who, review).cases:
        assert not _judge(store, who, review, finds).refused
        n += 1
    return n


def test_three_review_thirty_questions_and_what_they_found_is_drawn_no_more(
    tmp_path: Path, store: Store
) -> None:
    """Two judge each question, a third where they differ: here the third is always decisive."""
    folder = tmp_path / "thirty"
    import_bank(store, write_bank(folder, 15), name="bank", images=folder, now=NOW)
    first, second, third = reviewers(store)
    review = _open(store, [first, second, third], 30)

    def by_chance(question: str) -> ItemVerdict:
        return (
            ItemVerdict.AMBIGUOUS
            if len(question) % 3 == 0 or "3" in question
            else ItemVerdict.SOUND
        )

    assert _all(store, first, review) == 20  # of the two blind ones everybody is, for two thirds
    assert _all(store, second, review, lambda _: ItemVerdict.AMBIGUOUS) == 20
    assert _all(store, third, review, by_chance) == 30
    again = _all(store, first, review) + _all(
        store, second, review, lambda _: ItemVerdict.AMBIGUOUS
    )
    with store.look() as look:
        row = judging.judging_row(look, REVIEW, review)
        assert not any(item.waits_for for item in judging.everything_judged(look, row))
        with pytest.raises(NotNow, match="Close the review first"):
            reviewing.faulty(look, review)
    judging.close(store, REVIEW, review, now=NOW)
    with store.look() as look:
        found = reviewing.faulty(look, review)
        rows = reviewing.verdict_table(look, review)
    decisive = {row[0]: row[5] for row in rows if row[3] == third.name}
    assert len(decisive) == 30
    assert found == {item: verdict for item, verdict in decisive.items() if verdict != "sound"}
    assert 0 < len(found) < 30
    assert len(rows) == 70 + again
    assert reviewing.strike_faulty(store, review, now=NOW) == len(found)
    assert reviewing.strike_faulty(store, review, now=NOW) == 0
    with store.look() as look:
        struck = bank_contents.listed(look, bank_contents.struck(look, 1))
        assert len(reviewing.sampled(look, "bank", 30 - len(found), seed=2)) == 30 - len(found)
        with pytest.raises(BadInput, match=f"between 1 and {30 - len(found)}"):
            reviewing.sampled(look, "bank", 30, seed=2)
    assert {one.item_id for one in struck} == set(found)
    assert struck[0].struck == "Expert review first look: Ambiguous"
    assert verify(store) == []


def test_a_reviewer_sees_the_truth_and_nobody_elses_verdict(banked: Store) -> None:
    """Options and reference standard stand in the question; the verdicts are what is chosen."""
    first, second, _ = reviewers(banked)
    review = _open(banked, [first, second], 4)
    before = reviewers_desk.desk(banked, first, review)
    case = before.cases[0]
    assert "(reference standard)" in case.question
    assert [text for _, text in case.options] == [said(LABELS[one]) for one in ItemVerdict]
    _all(banked, second, review, lambda _: ItemVerdict.HALLUCINATED)
    after = reviewers_desk.desk(banked, first, review)
    assert after.cases == before.cases
    film = reviewers_desk.film(banked, first, review, case.case, 1)
    assert film is not None
    assert (
        reviewers_desk.film(banked, second, review, case.case, 1) is None
    )  # a name of the first's


def test_the_last_word_counts_and_the_same_one_twice_is_one(banked: Store) -> None:
    """A message sent again after a cut line changes nothing."""
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


def test_only_those_asked_judge_and_only_what_is_theirs(banked: Store) -> None:
    """Others are turned away; so is what no question or verdict is."""
    first, second, third = reviewers(banked)
    review = _open(banked, [first, second], 2)
    for who in (third,):
        with pytest.raises(NotAllowed, match="not a reviewer in this review"):
            reviewers_desk.desk(banked, who, review)
    with pytest.raises(NotFound, match="no such review"):
        reviewers_desk.desk(banked, first, 99)
    case = reviewers_desk.desk(banked, first, review).cases[0].case
    sent = [reading("0" * 32, "A"), reading(case, "F"), reading(case, None, status="skipped")]
    receipt = reviewers_desk.take_records(banked, first, review, sent, now=NOW)
    assert len(receipt.refused) == 3
    assert first.may(Act.REVIEW)
    assert not any(first.may(act) for act in (Act.MAKE_STUDY, Act.RESULTS, Act.READ))


def test_nobody_reviews_while_cases_of_the_bank_are_read(
    opened: Callable[..., Store], banked: Store
) -> None:
    """The reference standard stays where it is until the study is closed."""
    people = reviewers(banked, 2)
    review = _open(banked, people, 2)
    opened()
    with pytest.raises(NotAllowed, match="are being read in a study"):
        reviewers_desk.desk(banked, people[0], review)
    with pytest.raises(NotNow, match="once that study is closed"):
        reviewing.open_review(banked, "bank", name="2", item_ids=["x"], reviewers=[1, 2], now=NOW)
    close(banked, study="trial", reason="enough", now=NOW)
    _all(banked, people[0], review, lambda _: ItemVerdict.WRONG_STANDARD)
    _all(banked, people[1], review, lambda _: ItemVerdict.WRONG_STANDARD)
    with banked.look() as look:
        study = study_row(look, "trial").id
        assert reviewing.faulty_cases(look, study) == []
    judging.close(banked, REVIEW, review, now=NOW)
    with banked.look() as look:
        cases = {one.item_id for one in studies_stored.cases(look, study)}
        found = reviewing.faulty(look, review)
        assert reviewing.faulty_cases(look, study) == sorted(cases & set(found))


@pytest.mark.parametrize(
    ("changed", "error", "why"),
    [
        ({"reviewers": [1]}, BadInput, "at least two reviewers"),
        ({"reviewers": [1, 1]}, BadInput, "at least two reviewers"),
        ({"item_ids": []}, BadInput, "List the questions"),
        ({"item_ids": ["p00-q0", "p00-q0"]}, BadInput, "each once"),
        ({"item_ids": ["nothing"]}, NotFound, "has no question 'nothing'"),
        ({"name": " "}, BadInput, "review"),
        ({"name": "first look"}, NotNow, "already has a review named"),
    ],
)
def test_a_review_that_cannot_be_is_refused_with_a_reason(
    banked: Store, changed: dict[str, Any], error: type[StudyError], why: str
) -> None:
    """And nothing is left of it."""
    people = reviewers(banked, 2)
    _open(banked, people, 2)
    with banked.look() as look:
        (item,) = reviewing.sampled(look, "bank", 1, seed=1)
    given: dict[str, Any] = {
        "name": "second",
        "item_ids": [item],
        "reviewers": [one.id for one in people],
    }
    with pytest.raises(error, match=why):
        reviewing.open_review(banked, "bank", **{**given, **changed}, now=NOW)
    with banked.look() as look:
        assert len(judgements.every_review(look)) == 1


def test_a_closed_review_is_over_and_its_verdicts_are_vouched_for(banked: Store) -> None:
    """Whoever alters one in the file is found out."""
    people = reviewers(banked, 2)
    review = _open(banked, people, 2)
    for who in people:
        _all(banked, who, review)
    judging.close(banked, REVIEW, review, now=NOW)
    with pytest.raises(NotNow, match="closed"):
        judging.close(banked, REVIEW, review, now=NOW)
    with pytest.raises(NotAllowed, match="closed"):
        reviewers_desk.desk(banked, people[0], review)
    assert verify(banked) == []
    tamper(
        banked,
        "UPDATE review_verdicts SET verdict = 'ambiguous' WHERE id = 1",
    )
    assert any("its verdicts were altered" in one for one in verify(banked))


def test_a_bank_is_removed_with_its_reviews(banked: Store) -> None:
    """Nothing else takes one away."""
    _open(banked, reviewers(banked, 2), 2)
    remove_bank(banked, "bank", now=NOW)
    with banked.look() as look:
        assert judgements.every_review(look) == []
    assert verify(banked) == []


def test_a_reviewer_is_of_the_server_and_reads_in_no_study(banked: Store) -> None:
    """They have seen what a reader must not."""
    with pytest.raises(BadInput, match="for the whole server"):
        give_role(
            banked,
            Newcomer(handle="expert", role=Role.REVIEWER),
            study="trial",
            code=new_code(entropy_from(1)),
            expires=None,
            everywhere=True,
            by=By(name="admin", role="administrator"),
            now=NOW,
        )


def test_a_review_by_command(
    banked: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opened, followed, closed and put to use, as on the page."""
    people = reviewers(banked, 2)

    def run(*words: str) -> tuple[int, str, str]:
        before = sys.stdout
        status = main(["review", *words, "--db", str(banked.path), "--bank", "bank"])
        if sys.stdout is not before:  # whoever is refused prints nothing more
            sys.stdout.close()
            sys.stdout = before
        return status, *capsys.readouterr()

    named = ("--review", "first look")
    asked = [word for one in people for word in ("--reviewer", one.name)]
    assert run("open", *named, *asked)[0] == 2
    status, _, why = run("open", *named, "--reviewer", "nobody", "--items", "4")
    assert (status, "No reviewer is called 'nobody'" in why) == (1, True)
    (tmp_path / "ids.txt").write_text("q0001\nq0002\n")
    listed = ("--list", str(tmp_path / "ids.txt"))
    assert run("open", *named, *asked, *listed)[:2] == (
        0,
        "Opened: review 'first look' of bank 'bank', 2 items.\n",
    )
    for who in people:
        _all(banked, who, 1, lambda question: _FAULT if "film 1" in question else _sound(""))
    assert run("strike", *named)[0] == 1
    assert "2 judged, 0 waiting" in run("show", *named)[1]
    assert run("close", *named)[0] == 0
    assert "q0001,wrong reference standard\nq0002,sound" in run("show", *named)[1]
    table = run("verdicts", *named)[1].splitlines()
    assert table[0] == "item_id,patient_id,task,reviewer,place,verdict,comment,at_utc"
    assert len(table) == 5
    assert run("strike", *named)[1] == "Items struck off bank 'bank': 1.\n"
    assert run("show", "--review", "second")[0] == 1
