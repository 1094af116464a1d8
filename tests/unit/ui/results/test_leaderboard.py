"""The leaderboard: the listed studies, and the content of the download."""

import io
import zipfile
from collections.abc import Callable

import pytest

from study.base.errors import NotAllowed
from study.models.models import describe_model, models_of
from study.people.signing_in import Person
from tests.conftest import ACTING
from tests.unit.ui.two_studies import Deployment
from ui.results.leaderboard import leaderboard, visible_studies

Enter = Callable[[str], Deployment]


def _person(deployment: Deployment, reader_id: str) -> Person:
    person = deployment.person(reader_id)
    assert person is not None
    return person


def test_studies_are_listed_for_people_who_may_see_their_accuracy(
    enter: Enter,
) -> None:
    """Readers see none; others see closed studies in which they have a role."""
    for state, person, may_see in (
        ("open", "coordinator of amber", []),
        ("closed", "coordinator of amber", ["amber"]),
        ("closed", "statistician of cobalt", ["cobalt"]),
        ("closed", "reader of amber", []),
        ("closed", "deployment administrator", ["amber", "cobalt"]),
    ):
        deployment = enter(state)
        assert visible_studies(deployment.store, _person(deployment, person)) == may_see, person


@pytest.mark.parametrize("asked", [[], ["cobalt"], ["amber", "cobalt"], ["none"]])
def test_other_studies_are_not_listed(enter: Enter, asked: list[str]) -> None:
    """The selection must not be empty either."""
    deployment = enter("closed")
    with pytest.raises(NotAllowed, match="results of these studies"):
        leaderboard(deployment.store, _person(deployment, "coordinator of amber"), asked)


def test_the_download_equals_the_page_and_has_the_models_cards(
    states: dict[str, Deployment], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A card written after closing is included without a new analysis of the study."""
    deployment = states["closed"].copied(tmp_path_factory.mktemp("cards"))
    person = _person(deployment, "coordinator of amber")
    model = models_of(deployment.store, "amber")[0][0].model_id
    for licence in ("CC-BY-4.0", "MIT & more"):
        card = {"licence": licence}
        describe_model(deployment.store, study="amber", model_id=model, card=card, acting=ACTING)
        html, content = leaderboard(deployment.store, person, ["amber"])
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert set(archive.namelist()) == {"index.html", "leaderboard.csv", "models.csv"}
            page = archive.read("index.html").decode()
        assert html.partition("</style>")[2].strip() in page
        assert licence.replace("&", "&amp;") in html
