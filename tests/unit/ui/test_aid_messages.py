"""The desk of an aided study as JSON: the fields of the reading page, and no others."""

import json
from pathlib import Path
from typing import Any

from study.lifecycle import studies
from study.models.synthetic import add_synthetic
from study.reading import desk
from study.store import Store
from tests.conftest import ACTING, NOW, draw_trial, invite, person, presentation, reading
from ui.reading.desk import desk_json


def _open(store: Store, **values: Any) -> None:
    draw_trial(
        store,
        {
            "cases": 3,
            "one_question_per": "item",
            "conditions": ["aided"],
            "aid_model": "m",
            **values,
        },
    )
    invite(store, "R1")
    add_synthetic(store, study="trial", model_id="m", accuracy=1, seed=1, acting=ACTING)
    studies.open_study(store, study="trial", acting=ACTING)


def _json(store: Store) -> dict[str, Any]:
    read = desk.desk(store, person(store), now=NOW)
    result: dict[str, Any] = json.loads(json.dumps(desk_json(read, lambda film: film.film)))
    return result


def test_only_aided_cases_have_an_aid(banked: Store, tmp_path: Path) -> None:
    """The introduction is rendered; fields that the protocol hides are null."""
    _open(banked, aid_text="Output of an **AI** model.", conditions=["aided", "unaided"])
    first, second, _ = _json(banked)["cases"]
    assert first["aid"] == {
        "when": "first",
        "html": "<p>Output of an <strong>AI</strong> model.</p>\n",
        "content": {
            "missing": False,
            "answer": first["aid"]["content"]["answer"],
            "confidence": None,
            "explanation": None,
            "boxes": [],
            "map": [],
        },
    }
    assert second["aid"]["content"] is None
    assert not {"stage", "before"} & first.keys()
    for _ in range(3):
        case = desk.desk(banked, person(banked), now=NOW).cases[0].case
        desk.take_records(banked, person(banked), [presentation(case), reading(case)], now=NOW)
    assert all("aid" not in case for case in _json(banked)["cases"])


def test_the_stages_of_sequential_reading_share_position_and_images(banked: Store) -> None:
    """Stage 2 contains the reader's answer of stage 1; the debriefing follows at the end."""
    _open(banked, aid="after", aid_errors=1)
    shown = _json(banked)
    first, second = shown["cases"][:2]
    assert (shown["total"], first["stage"], second["stage"], second["before"]) == (3, 1, 2, None)
    assert first["position"] == second["position"] == 1
    assert "aid" not in first
    assert second["aid"]["content"] is None
    assert first["views"] == second["views"] != []
    assert "debriefing" not in shown
    for number in range(6):
        case = desk.desk(banked, person(banked), now=NOW).cases[0].case
        desk.take_records(banked, person(banked), [presentation(case), reading(case, "B")], now=NOW)
        if number == 0:
            revealed = _json(banked)["cases"][0]
            assert revealed["before"] == {"option": "B", "confidence": None}
            assert revealed["aid"]["content"]["answer"] in "ABCD"
    result = _json(banked)
    assert (result["finished"], result["read"]) == (True, 3)
    assert "deliberately replaced by wrong ones" in result["debriefing"]
