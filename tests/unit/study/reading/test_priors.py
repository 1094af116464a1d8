"""Prior films at a reader's desk are shown only if the protocol asks for them."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from study.bank.importing import import_bank
from study.base.errors import BadInput
from study.lifecycle import reviewing, studies
from study.lifecycle.amendments import AMENDABLE
from study.lifecycle.deployments import init
from study.lifecycle.judging_desk import reviewers_desk
from study.lifecycle.previews import preview
from study.reading import desk, score_card
from study.store import Store, banks, readings
from study.store.studies import case_films, views_of_case
from study.trail.verification import verify
from tests.conftest import (
    ACTING,
    NOW,
    entropy_from,
    open_trial,
    person,
    presentation,
    reading,
    write_bank,
    write_bank_with_priors,
)
from tests.unit.study.lifecycle.test_previews import coordinator

Make = Callable[..., Store]
N_PATIENTS = 6


@pytest.fixture
def trial(tmp_path: Path) -> Make:
    """Return a function that opens a study with one question per patient and with prior films."""

    def make(
        write: Callable[..., Path] = write_bank_with_priors,
        readers: tuple[str, ...] = ("R1",),
        **values: Any,
    ) -> Store:
        store = init(tmp_path / "store.db", entropy=entropy_from(1), now=NOW)
        path = write(tmp_path / "bank", N_PATIENTS, 1)
        import_bank(store, path, name="bank", images=path.parent, acting=ACTING)
        open_trial(store, {"cases": N_PATIENTS, **values}, *readers)
        return store

    return make


def _priors(store: Store) -> list[list[desk.FilmView]]:
    page = desk.desk(store, person(store), now=NOW)
    return [[film for film in case.views if film.prior] for case in page.cases]


def _served(store: Store, case: str) -> list[str]:
    films = [desk.film(store, person(store), case, view) for view in range(1, 5)]
    return [Path(film.path).name.split("_")[1] for film in films if film]


def test_prior_films_follow_current_films_with_the_interval_in_days(trial: Make) -> None:
    """The last patient has no prior film."""
    store = trial(context=["age", "prior"], case_order="fixed", seed=3)
    for case in desk.desk(store, person(store), now=NOW).cases:
        assert [view.label for view in case.views] in (["PA", "LATERAL"], ["PA", "LATERAL", "AP"])
        assert [name for name, _ in case.context] == ["Age"]
        assert [view.film for view in case.views] == [
            f"{case.case}/{place}" for place in range(1, len(case.views) + 1)
        ]
        wanted = ["pa.png", "lat.png", "before.png"][: len(case.views)]
        assert _served(store, case.case) == wanted
    shown = [(film.label, film.days) for films in _priors(store) for film in films]
    assert shown
    assert set(shown) == {("AP", 91)}


def test_by_default_no_prior_film_is_sent_or_prepared(trial: Make) -> None:
    """The check of the films does not read prior films either."""
    store = trial()
    assert not any(_priors(store))
    for case in desk.desk(store, person(store), now=NOW).cases:
        assert _served(store, case.case) == ["pa.png", "lat.png"]
    with store.look() as look:
        ready = [film.path for film in readings.films_to_read(look)]
        ready += [film.path for film in readings.upcoming_films(look, 1, 9)]
        ready += [film.path for film in case_films(look, 1)]
        ready += [film.path for film in views_of_case(look, 1, "q0001")]
    assert ready
    assert not any("before" in path for path in ready)


def test_prior_films_of_a_case_are_prepared_after_its_current_films(trial: Make) -> None:
    """Films are prepared in the order of reading."""
    store = trial(context=["prior"])
    with store.look() as look:
        ready = [film.path for film in readings.upcoming_films(look, 1, 2)]
        assert len({film.path for film in readings.films_to_read(look)}) == 3 * N_PATIENTS - 1
        assert len(case_films(look, 1)) == 3 * N_PATIENTS - 1
        assert len(views_of_case(look, 1, "q0001")) == 3
    places = [path.split("_")[1] for path in ready]
    assert places[:2] == ["pa.png", "lat.png"]
    assert "before.png" in places
    for place, path in enumerate(ready):
        if "before" in path:
            assert [film.split("_")[0] for film in ready[place - 2 : place]] == [
                path.split("_")[0]
            ] * 2
    assert verify(store) == []


def test_an_image_absent_case_shows_no_prior_film(trial: Make) -> None:
    """The lists of views, films by number and prepared films are empty."""
    store = trial(context=["prior"], conditions=["image-absent"])
    cases = desk.desk(store, person(store), now=NOW).cases
    assert [case.views for case in cases] == [(), (), ()]
    assert [_served(store, case.case) for case in cases] == [[], [], []]
    with store.look() as look:
        assert readings.upcoming_films(look, 1, 9) == []


def test_the_desk_contains_no_path_of_a_prior_film(trial: Make) -> None:
    """Paths of current films are not sent either."""
    store = trial(context=["prior"])
    text = repr(
        [dataclasses.asdict(case) for case in desk.desk(store, person(store), now=NOW).cases]
    )
    assert "before" not in text
    assert ".png" not in text


def test_a_draw_with_priors_from_a_bank_without_them_is_refused(
    tmp_path: Path, trial: Make
) -> None:
    """If the bank has at least one prior film, the draw is accepted."""
    with pytest.raises(BadInput, match="no question in the bank has a prior image"):
        trial(write=write_bank, context=["prior"])


def test_prior_films_in_the_context_cannot_be_amended() -> None:
    """The context is shown with the question."""
    assert "context" not in AMENDABLE


def test_a_preview_shows_prior_films(trial: Make) -> None:
    """The copy of the study for the preview has these films."""
    store = trial(context=["prior"])
    preview_made = preview(store, coordinator(store), entropy=entropy_from(5), now=NOW)
    with preview_made.store.look() as look:
        assert banks.n_with_prior(look, 1) == N_PATIENTS - 1
        assert len(case_films(look, 1)) == 3 * N_PATIENTS - 1


def test_the_score_card_has_the_prior_films(trial: Make) -> None:
    """Each film has a different number."""
    store = trial(context=["prior"], feedback="after study")
    me = person(store)
    while cases := desk.desk(store, me, now=NOW).cases:
        sent = [presentation(cases[0].case), reading(cases[0].case)]
        desk.take_records(store, me, sent, now=NOW)
    studies.close(store, study="trial", reason="Enough.", acting=ACTING)
    card = score_card.score_card(store, me)
    assert sum(film.prior for case in card.cases for film in case.films) == N_PATIENTS - 1
    for case in card.cases:
        for place, film in enumerate(case.films):
            row = score_card.film(store, me, case.position, place)
            assert row is not None
            assert ("before" in row.path) == film.prior


def test_a_reviewer_always_sees_prior_films(trial: Make) -> None:
    """A question may refer to prior films."""
    store = trial(readers=("R1", "R2"))
    with store.look() as look:
        ids = reviewing.sample_items(look, "bank", N_PATIENTS, seed=1)
        judges = [row["id"] for row in look.rows("SELECT id FROM people")]
    judge = dataclasses.replace(person(store), id=judges[0])
    studies.close(store, study="trial", reason="Enough.", acting=ACTING)
    review = reviewing.open_review(
        store, "bank", name="first", item_ids=ids, reviewers=judges, acting=ACTING
    )
    rows = [
        reviewers_desk.film(store, judge, review, case.case, place)
        for case in reviewers_desk.desk(store, judge, review).cases
        for place, _ in enumerate(case.views, 1)
    ]
    assert any("before" in row.path for row in rows if row)
    assert all(rows)
