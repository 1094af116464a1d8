"""Banks kept: counted, compared, checked without being kept, and removed while nobody uses them."""

import json
from pathlib import Path
from typing import Any

import pytest

from study.bank.checking import check_bank
from study.bank.describing import compared, in_full
from study.bank.importing import import_bank
from study.bank.removing import remove_bank
from study.base.actor import COMMAND_LINE
from study.base.bank_model import TITLES, Rule
from study.base.errors import NotFound, NotNow
from study.films import shelf
from study.lifecycle import drafts
from study.store import Store, banks, draws, events
from study.trail.verification import verify
from tests.conftest import NOW, ROOT, write_bank


def _second(store: Store, **changes: Any) -> None:
    """Import the fixture's bank as `second`, with changes by item; None takes an item out."""
    path = store.path.parent / "bank" / "bank.json"
    items = json.loads(path.read_text())
    for item_id, change in changes.items():
        items[item_id] = change and {**items.get(item_id, {}), **change}
    changed = path.with_name("second.json")
    changed.write_text(json.dumps({key: item for key, item in items.items() if item}))
    import_bank(store, changed, name="second", images=path.parent, now=NOW)


def test_a_bank_is_counted(banked: Store) -> None:
    with banked.look() as look:
        found = in_full(look, "bank")
    assert (found["items"], found["films"], found["examinations"]) == (24, 24, 12)
    assert found["by"]["sex"] == {"female": 12, "male": 12}
    assert found["by"]["view"] == {"PA+LATERAL": 24}
    assert found["by"]["age"] == {"40 to 49 years": 20, "50 to 59 years": 4}
    assert sum(found["by"]["task"].values()) == 24
    _second(banked, q0001={"split": "test"}, q0002={"split": "test"}, q0003={"split": "train"})
    with banked.look() as look:
        assert in_full(look, "second")["by"]["split"] == {"": 21, "test": 2, "train": 1}


def test_banks_are_compared_by_content(banked: Store) -> None:
    """Another question, truth or film is told; so are films that stand under other ids."""
    path = banked.path.parent / "bank" / "bank.json"
    moved = json.loads(path.read_text())["q0006"]
    _second(
        banked,
        q0001={"question": "Else?", "split": "test"},
        q0002={"correct_answer": "A", "ImagePath": ["films/1_pa.png"], "ImageViewPosition": ["PA"]},
        q0006=None,
        q0007=None,
        x=moved,
    )
    with banked.look() as look:
        n_alike, differences = compared(look, "bank", "second")
    assert n_alike == 20
    assert {one.what: (one.n, one.examples) for one in differences} == {
        "only in bank": (2, ["q0006", "q0007"]),
        "only in second": (1, ["x"]),
        "different question": (1, ["q0001"]),
        "different reference standard": (1, ["q0002"]),
        "different films": (1, ["q0002"]),
        "different attributes": (1, ["q0001"]),
        "the same film under other ids": (2, ["q0006 / x", "q0006 / x"]),
    }


def test_a_bank_that_nothing_holds_to_can_be_removed(banked: Store) -> None:
    """Its name may be given again; the other bank is untouched, and prepared films of both stay."""
    with banked.look() as look:
        row = banks.bank_row(look, "bank")
        shared = banks.only_here(look, row.id)
    path = write_bank(banked.path.parent / "more", n_patients=13)
    import_bank(banked, path, name="more", images=path.parent, now=NOW)
    with banked.look() as look:
        own = banks.only_here(look, banks.bank_row(look, "more").id)
    assert len(own) == 2
    kept = shelf.beside(banked.path)
    for sha256 in (own[0], shared[0]):
        kept.put(sha256, b"film")
    assert remove_bank(banked, "more", now=NOW).n_items == 26
    assert (kept.has(own[0]), kept.has(shared[0])) == (False, True)
    assert verify(banked) == []
    with banked.look() as look:
        assert banks.names(look) == ["bank"]
        assert draws.left(look, row.id, "item", draws.Conditions())[0] == 24
        for table in ("item_views", "reference_standard", "report_texts", "explanations"):
            alone = f"SELECT count(*) FROM {table} WHERE item NOT IN (SELECT id FROM items)"
            assert look.value(alone) == 0
        trail = list(events.walk(look, events.DEPLOYMENT))
    assert (trail[-1].kind, trail[-1].detail["n_items"]) == ("bank removed", 26)
    import_bank(banked, path, name="more", images=path.parent, now=NOW)
    assert verify(banked) == []


def test_a_bank_that_is_used_stays(banked: Store, opened: Any) -> None:
    """By a study or by a draft, which are named; and there has to be one."""
    _second(banked)
    with banked.change() as change:
        person = change.value("SELECT id FROM people") or change.insert(
            "people", handle="x", made_at_utc="2026"
        )
    drafts.begin(banked, name="plan", maker=person, bank="second", by=COMMAND_LINE, now=NOW)
    with pytest.raises(NotNow, match=r"'second' is chosen in plan\."):
        remove_bank(banked, "second", now=NOW)
    opened()
    with pytest.raises(NotNow, match=r"'bank' is used by trial"):
        remove_bank(banked, "bank", now=NOW)
    with pytest.raises(NotFound, match="No bank named 'none'"):
        remove_bank(banked, "none", now=NOW)
    assert verify(banked) == []


def test_a_check_reports_rule_by_rule_and_keeps_nothing(tmp_path: Path) -> None:
    path = write_bank(tmp_path)
    sound = check_bank(path, images=None)
    assert (sound.is_sound, sound.letters.n, sound.letters.p) == (True, (6, 6, 6, 6), 1)
    items = json.loads(path.read_text())
    for item in items.values():
        item["correct_answer"] = "Z"
    items["q0003"]["ImagePath"] = "none.png"
    path.write_text(json.dumps(items))
    found = check_bank(tmp_path, images=None)
    assert (found.n_found, found.n_sound, found.is_sound) == (24, 0, False)
    told = [(one.rule, one.n, len(one.examples)) for one in found.findings]
    assert told == [(Rule.TRUTH, 24, 20), (Rule.IMAGE_MISSING, 1, 1)]
    assert found.findings[1].examples[0][0] == "q0003"
    path.write_text("{")
    assert [one.rule for one in check_bank(path, images=None).findings] == [Rule.FILE]


def test_every_rule_is_documented_with_its_code() -> None:
    text = (ROOT / "docs" / "bank-rules.md").read_text()
    told = [line.split(" | ")[:2] for line in text.splitlines() if line.startswith("| B")]
    assert [(code.strip("| "), title) for code, title in told] == [
        (rule.value, TITLES[rule]) for rule in Rule
    ]
