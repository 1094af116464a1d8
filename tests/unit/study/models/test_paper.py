"""Exam papers: what a model is shown of a study or a bank, and nothing that tells what is right."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from study.base.actor import COMMAND_LINE
from study.base.canonical import stamp
from study.base.errors import NotFound, NotNow
from study.lifecycle import drafts
from study.models import running_exam
from study.models.model_protocol import ModelProtocol, Order, Shown
from study.models.paper import PaperFilm, paper_of_bank, paper_of_study
from study.models.prompting import prompt_of
from study.reading.desk import desk
from study.store import Store, people
from tests.conftest import NOW, SECRETS, person, tamper

Opened = Callable[..., Store]
ASKED = ModelProtocol()


@pytest.fixture
def trial(opened: Opened) -> Store:
    """Return a store with an open study of eight cases, options in orders of their own."""
    return opened(option_order="random")


def test_a_model_is_shown_what_a_reader_is_shown(trial: Store) -> None:
    """Question, options, context and views are word for word those of the readers' desk."""
    paper = paper_of_study(trial, "trial", ASKED)
    by_question = {item.question: item for item in paper.items}
    assert len(paper.items) == 8
    for case in desk(trial, person(trial), now=NOW).cases:
        item = by_question[case.question]
        assert sorted(item.options) == sorted(text for _, text in case.options)
        assert item.context == case.context
        assert [film.label for film in item.films] == [view.label for view in case.views]


def test_options_may_come_as_a_reader_would_see_them(trial: Store) -> None:
    """In the name of a reader they are that reader's very orders; else canonical."""
    with trial.look() as look:
        rows = look.rows(
            "SELECT item_id, shown_order FROM assignments JOIN readers ON readers.id = reader "
            "JOIN cases ON cases.id = case_id JOIN items ON items.id = item WHERE reader_id = 'R1'"
        )
    asked = replace(ASKED, order=Order.READERS)
    own = paper_of_study(trial, "trial", asked, rater="R1").items
    assert {one.item_id: one.shown_order for one in own} == {
        row["item_id"]: row["shown_order"] for row in rows
    }
    first, again = (paper_of_study(trial, "trial", asked, run=run).items for run in (1, 2))
    assert [one.shown_order for one in first] != [one.shown_order for one in again]
    assert {one.shown_order for one in paper_of_study(trial, "trial", ASKED).items} == {"ABCD"}


def test_shuffled_is_shuffled_where_readers_have_the_banks_order(opened: Opened) -> None:
    """The condition of a model, whatever the study deals to its readers."""
    store = opened()
    orders = {
        order: [
            one.shown_order
            for one in paper_of_study(store, "trial", replace(ASKED, order=order)).items
        ]
        for order in Order
    }
    assert set(orders[Order.READERS]) == {"ABCD"}
    assert len(set(orders[Order.SHUFFLED])) > 2


def test_conditions_change_the_films_alone(trial: Store) -> None:
    """None, or those of another item; the words about the item stay."""
    shown = {
        condition: paper_of_study(trial, "trial", replace(ASKED, condition=condition)).items
        for condition in (Shown.IMAGE, Shown.IMAGE_ABSENT, Shown.WRONG_IMAGE)
    }
    for own, absent, wrong in zip(*shown.values(), strict=True):
        assert own.question == absent.question == wrong.question
        assert absent.films == ()
        assert "No image is shown" in prompt_of(absent, ASKED).text
        assert not {film.sha256 for film in own.films} & {film.sha256 for film in wrong.films}
        assert len(wrong.films) == 2


def test_a_bank_or_a_split_is_a_paper_too(banked: Store) -> None:
    """All of its items; an unknown split is refused."""
    paper = paper_of_bank(banked, "bank", ASKED)
    assert len(paper.items) == 24
    assert paper.protocol_sha256 == ""
    assert [one.item_id for one in paper.items] != sorted(one.item_id for one in paper.items)
    with pytest.raises(NotFound, match="no items of the split 'test'"):
        paper_of_bank(banked, "bank", ASKED, split="test")


def test_the_truth_changes_nothing(trial: Store) -> None:
    """Neither what is right, nor a report, an explanation or an attribute is in it by a bit."""
    before = paper_of_study(trial, "trial", ASKED)
    words = json.dumps(before.as_json())
    assert not [secret for secret in SECRETS if secret in words]
    tamper(
        trial,
        "UPDATE reference_standard SET truth = 'D'",
        "UPDATE report_texts SET words = 'other'",
        "UPDATE explanations SET words = 'other'",
        "UPDATE items SET task = 'other', category = 'other', subcategory = 'other'",
    )
    after = paper_of_study(trial, "trial", ASKED)
    assert after.sha256 == before.sha256
    assert after == before


def test_a_draft_has_no_paper(banked: Store) -> None:
    """Its cases are not drawn: refused in one sentence; a name never heard of is not found."""
    with banked.change() as change:
        maker = people.add(change, handle="ada", made_at_utc=stamp(NOW))
    drafts.begin(banked, name="plan", maker=maker, bank="bank", by=COMMAND_LINE, now=NOW)
    with pytest.raises(NotNow, match=r"'plan' is still a draft\. Draw its cases first"):
        paper_of_study(banked, "plan", ASKED)
    with pytest.raises(NotFound, match="no study named 'nowhere'"):
        paper_of_study(banked, "nowhere", ASKED)


def test_a_film_is_made_once_for_all_runs_and_only_the_latest_are_kept(
    trial: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory does not grow with the paper: beyond a bound the film not asked for longest goes."""
    paper = paper_of_study(trial, "trial", ASKED)
    n_films = len({film.sha256 for item in paper.items for film in item.films})
    made: list[str] = []
    png = PaperFilm.png

    def counted(film: PaperFilm, resolution: str | int = "full") -> bytes:
        made.append(film.sha256)
        return png(film, resolution)

    monkeypatch.setattr(PaperFilm, "png", counted)
    exam = running_exam.PaperExam(paper=paper)
    twice = [[exam.question(one) for one in exam.item_ids] for _ in range(2)]
    assert twice[0] == twice[1]
    assert len(made) == len(set(made)) == n_films
    monkeypatch.setattr(running_exam, "_KEPT_BYTES", 3 * max(map(len, exam._kept.values())))
    few = running_exam.PaperExam(paper=paper)
    assert [few.question(one) for one in few.item_ids] == twice[0]
    assert sum(map(len, few._kept.values())) == few._kept_bytes <= running_exam._KEPT_BYTES
    assert list(few._kept)[-1] == paper.items[-1].films[-1].sha256
