"""Models that are asked: nothing they said is lost or asked again, whatever becomes of anybody."""

import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from study.base.errors import BadFile, BadInput, NotNow, StudyError
from study.models.running import (
    MOST_FAILURES,
    Limits,
    RunOutcome,
    RunProgress,
    answers_in,
    ask_all,
    folder_of,
    opened_journal,
)
from study.models.running_askers import Provider, Reply, Request, asker_for

PROTOCOL = {"template": "1", "temperature": 0}
ONCE = Limits()
ITEMS = [f"q{n}" for n in range(10)]


class _Exam:
    """Ten questions without films."""

    item_ids: Sequence[str] = ITEMS

    def question(self, item_id: str) -> Request:
        return Request(
            item_id=item_id,
            system="",
            text=f"Which, {item_id}?",
            films=(),
            order="ABCD",
            condition="image",
        )


class _Asker:
    """Answers what it is told to, and remembers what it was asked."""

    server = "here"

    def __init__(self, answer: Callable[[Request, int | None], Reply]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, int | None]] = []

    async def ask(self, question: Request, seed: int | None) -> Reply:
        self.asked.append((question.item_id, seed))
        return self.answer(question, seed)

    async def close(self) -> None:
        pass


def _b(_question: Request, _seed: int | None) -> Reply:
    return Reply(words="B", model="m", input_tokens=1000, output_tokens=10)


def _sit(folder: Path, asker: Any, limits: Limits = ONCE, **more: Any) -> RunOutcome:
    """Ask in a thread of its own: in this one a browser test's loop may be running."""
    with opened_journal(folder, PROTOCOL) as journal, ThreadPoolExecutor(1) as alone:
        return alone.submit(ask_all, _Exam(), asker, journal, limits, **more).result()


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    """A second sitting asks what is missing, also of a last line that was not written whole."""
    first = _Asker(_b)
    assert _sit(tmp_path / "r", first).n_answered == 10
    path = tmp_path / "r" / "answers.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:6]) + lines[6][:20])
    second = _Asker(_b)
    assert _sit(tmp_path / "r", second).n_answered == 4
    assert [item for item, _ in second.asked] == ITEMS[6:]
    assert [one["item_id"] for one in answers_in(path)] == ITEMS
    assert _sit(tmp_path / "r", third := _Asker(_b)).ended == "asked"
    assert not third.asked


def test_every_answer_has_its_circumstances(tmp_path: Path) -> None:
    """Words, model, server, tokens, date and the hash of what was asked stand in one line."""
    _sit(tmp_path / "r", _Asker(_b), Limits(runs=2, seeds=(7, 8)))
    found = list(answers_in(tmp_path / "r" / "answers.jsonl"))
    assert [one["run"] for one in found] == [1] * 10 + [2] * 10
    assert found[0].keys() == {
        *("item_id", "run", "condition", "shown_order", "output", "thinking", "stop", "model"),
        *("server", "at_utc", "input_tokens", "output_tokens", "latency_ms", "prompt_sha256"),
    }
    assert found[0]["prompt_sha256"] == found[10]["prompt_sha256"] != found[1]["prompt_sha256"]


def test_each_run_has_its_seed(tmp_path: Path) -> None:
    """All items are asked with the first seed, then all with the second."""
    asker = _Asker(_b)
    _sit(tmp_path / "r", asker, Limits(runs=2, seeds=(7, 8)))
    assert asker.asked == [(item, 7) for item in ITEMS] + [(item, 8) for item in ITEMS]


def test_a_run_goes_on_under_its_own_protocol_only(tmp_path: Path) -> None:
    """The refusal names what differs; so does a second process while the first one asks."""
    with (
        opened_journal(tmp_path / "r", PROTOCOL),
        pytest.raises(NotNow, match="Another process"),
        opened_journal(tmp_path / "r", PROTOCOL),
    ):
        pass
    other = {**PROTOCOL, "temperature": 1}
    with (
        pytest.raises(NotNow, match="temperature: 0, not 1"),
        opened_journal(tmp_path / "r", other),
    ):
        pass
    with opened_journal(tmp_path / "r", PROTOCOL) as journal:
        assert not journal.done


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    """Only the last line can be torn by a stop; another one was altered, and nobody guesses."""
    _sit(tmp_path / "r", _Asker(_b))
    path = tmp_path / "r" / "answers.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"at_utc"', b'{"at', 1))
    with pytest.raises(BadFile, match=r"line 1, is damaged"), opened_journal(path.parent, PROTOCOL):
        pass


def test_runs_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    """Also where what makes a name a folder's would make two of them one."""
    names = [("a/b", "c", 1), ("a-b", "c", 1), ("a", "b-c", 1), ("a", "b-c", 2), ("..", "..", 1)]
    folders = {folder_of(tmp_path / "s.db", study=s, model=m, edition=e) for s, m, e in names}
    assert len(folders) == len(names)
    assert {one.parent for one in folders} == {tmp_path / "s.db-runs"}


def test_what_failed_is_counted_and_asked_again(tmp_path: Path) -> None:
    """With its reason; a function that fails, and one that returns something else, say so."""
    entry = f"{__name__}:answer_some"
    python = Provider(
        name="python", model=entry, settings={}, connections=4, retries=0, timeout_s=9
    )
    told: list[RunProgress] = []
    asked = _sit(tmp_path / "r", asker_for(python), Limits(connections=4), tell=told.append)
    assert asked.reasons == Counter(
        {"ValueError: no such film": 2, f"{entry} returned int, not str": 1}
    )
    assert (asked.n_answered, told[-1].n_answered, told[-1].n_failed) == (7, 7, 3)
    failures = (tmp_path / "r" / "failures.jsonl").read_text().splitlines()
    assert {json.loads(line)["item_id"] for line in failures} == {"q1", "q2", "q3"}
    again = _Asker(_b)
    assert _sit(tmp_path / "r", again).n_answered == 3
    assert [item for item, _ in again.asked] == ["q1", "q2", "q3"]


def answer_some(item: dict[str, str], images: list[object]) -> object:
    """Answer as a stranger's function might."""
    assert not images
    if item["item_id"] in ("q1", "q2"):
        raise ValueError("no such film")
    return 3 if item["item_id"] == "q3" else f"I see {item['prompt']}: A"


def test_a_server_that_is_gone_is_not_asked_for_ever(tmp_path: Path) -> None:
    """After so many requests in vain the rest is left for another day."""
    entry = f"{__name__}:answer_nothing"
    python = Provider(
        name="python", model=entry, settings={}, connections=2, retries=0, timeout_s=9
    )
    asked = _sit(tmp_path / "r", asker_for(python), Limits(runs=9))
    assert asked.ended == "gone"
    assert MOST_FAILURES <= asked.reasons.total() < MOST_FAILURES + 3


def answer_nothing(*_: object) -> str:
    """Fail."""
    raise ConnectionError


def test_a_budget_is_kept(tmp_path: Path) -> None:
    """To the last cent, over all sittings; a server that tells no tokens is not asked on."""
    price = Limits(connections=8, input_price=10, output_price=100, budget=0.05)  # 0.011 an answer
    asked = _sit(tmp_path / "r", _Asker(_b), price)
    assert (asked.ended, asked.n_answered) == ("budget", 4)
    assert _sit(tmp_path / "r", again := _Asker(_b), price).ended == "budget"
    assert not again.asked
    untold = _Asker(lambda *_: Reply(words="B", model="m"))
    with pytest.raises(StudyError, match="number of tokens"):
        _sit(tmp_path / "s", untold, price)
    assert len(untold.asked) == 1


def test_an_interruption_waits_for_answers_under_way(tmp_path: Path) -> None:
    """SIGINT asks nothing more, and what is being answered is written down."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        asked, n_called = other.submit(sit_until_interrupted, tmp_path / "r").result()
    assert asked.ended == "interrupted"
    assert asked.n_answered == n_called < 50 * len(ITEMS)


_CALLED: list[object] = []


def sit_until_interrupted(folder: Path) -> tuple[RunOutcome, int]:
    """Ask in the main thread of a process of its own, to which signals are delivered."""
    entry = f"{__name__}:answer_while_interrupted"
    python = Provider(
        name="python", model=entry, settings={}, connections=3, retries=0, timeout_s=9
    )
    with opened_journal(folder, PROTOCOL) as journal:
        asked = ask_all(_Exam(), asker_for(python), journal, Limits(connections=3, runs=50))
    return asked, len(_CALLED)


def answer_while_interrupted(*asked: object) -> str:
    """Interrupt the second time."""
    _CALLED.append(asked)
    if len(_CALLED) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return "C"


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        ({"model": "nothing"}, "module:function"),
        ({"model": "no_such_module:answer"}, "no_such_module"),
        ({"model": "json:answer"}, "no function answer"),
        ({"model": "json:loads", "base_url": "http://me:secret@host/v1"}, "environment"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(provider: dict[str, str], words: str) -> None:
    """With what is wrong; a key in an address would be stored with every answer."""
    plain = {"name": "python", "settings": {}, "connections": 1, "retries": 0, "timeout_s": 9}
    with pytest.raises(BadInput, match=words):
        asker_for(Provider(**{**plain, **provider}))  # type: ignore[arg-type]
