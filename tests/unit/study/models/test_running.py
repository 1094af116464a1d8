"""Model runs: each answer is requested and stored once, despite interruptions."""

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
ONE_RUN = Limits()
ITEMS = [f"q{n}" for n in range(10)]


class _Exam:
    """An exam of ten questions without films."""

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
    """A model that gives prepared answers and records the questions."""

    server = "here"

    def __init__(self, answer: Callable[[Request, int | None], Reply]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, int | None]] = []

    async def ask(self, question: Request, seed: int | None) -> Reply:
        self.asked.append((question.item_id, seed))
        return self.answer(question, seed)

    async def close(self) -> None:
        pass


def _answer_b(_question: Request, _seed: int | None) -> Reply:
    return Reply(words="B", model="m", input_tokens=1000, output_tokens=10)


def _run(folder: Path, asker: Any, limits: Limits = ONE_RUN, **more: Any) -> RunOutcome:
    """Run the exam in a separate thread: a browser test may use this one for its event loop."""
    with opened_journal(folder, PROTOCOL) as journal, ThreadPoolExecutor(1) as executor:
        return executor.submit(ask_all, _Exam(), asker, journal, limits, **more).result()


def test_answered_questions_are_not_asked_again(tmp_path: Path) -> None:
    """A second run asks the missing questions, including that of an incomplete last line."""
    first = _Asker(_answer_b)
    assert _run(tmp_path / "r", first).n_answered == 10
    path = tmp_path / "r" / "answers.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:6]) + lines[6][:20])
    second = _Asker(_answer_b)
    assert _run(tmp_path / "r", second).n_answered == 4
    assert [item for item, _ in second.asked] == ITEMS[6:]
    assert [answer["item_id"] for answer in answers_in(path)] == ITEMS
    assert _run(tmp_path / "r", third := _Asker(_answer_b)).ended == "asked"
    assert not third.asked


def test_each_answer_is_stored_with_its_circumstances(tmp_path: Path) -> None:
    """Each line has text, model, server, tokens, time and the hash of the prompt."""
    _run(tmp_path / "r", _Asker(_answer_b), Limits(runs=2, seeds=(7, 8)))
    answers = list(answers_in(tmp_path / "r" / "answers.jsonl"))
    assert [answer["run"] for answer in answers] == [1] * 10 + [2] * 10
    assert answers[0].keys() == {
        *("item_id", "run", "condition", "shown_order", "output", "thinking", "stop", "model"),
        *("server", "at_utc", "input_tokens", "output_tokens", "latency_ms", "prompt_sha256"),
    }
    assert (
        answers[0]["prompt_sha256"] == answers[10]["prompt_sha256"] != answers[1]["prompt_sha256"]
    )


def test_each_run_has_its_seed(tmp_path: Path) -> None:
    """All items are asked with the first seed, then all with the second."""
    asker = _Asker(_answer_b)
    _run(tmp_path / "r", asker, Limits(runs=2, seeds=(7, 8)))
    assert asker.asked == [(item, 7) for item in ITEMS] + [(item, 8) for item in ITEMS]


def test_a_run_resumes_with_the_same_protocol_only(tmp_path: Path) -> None:
    """The message names the difference; a second process at the same time is refused too."""
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


def test_the_error_of_a_damaged_line_has_its_number(tmp_path: Path) -> None:
    """An interruption can only damage the last line."""
    _run(tmp_path / "r", _Asker(_answer_b))
    path = tmp_path / "r" / "answers.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"at_utc"', b'{"at', 1))
    with pytest.raises(BadFile, match=r"line 1, is damaged"), opened_journal(path.parent, PROTOCOL):
        pass


def test_each_run_has_a_separate_folder(tmp_path: Path) -> None:
    """Names are distinguished even if they differ only in special characters."""
    names = [("a/b", "c", 1), ("a-b", "c", 1), ("a", "b-c", 1), ("a", "b-c", 2), ("..", "..", 1)]
    folders = {folder_of(tmp_path / "s.db-runs", study=s, model=m, edition=e) for s, m, e in names}
    assert len(folders) == len(names)
    assert {folder.parent for folder in folders} == {tmp_path / "s.db-runs"}


def test_failed_questions_are_counted_and_asked_again(tmp_path: Path) -> None:
    """A question fails because of an exception or a result of the wrong type."""
    entry = f"{__name__}:answer_partly"
    python = Provider(
        name="python", model=entry, settings={}, connections=4, retries=0, timeout_s=9
    )
    reports: list[RunProgress] = []
    outcome = _run(
        tmp_path / "r", asker_for(python), Limits(connections=4), on_progress=reports.append
    )
    assert outcome.reasons == Counter(
        {"ValueError: no such film": 2, f"{entry} returned int, not str": 1}
    )
    assert (outcome.n_answered, reports[-1].n_answered, reports[-1].n_failed) == (7, 7, 3)
    failures = (tmp_path / "r" / "failures.jsonl").read_text().splitlines()
    assert {json.loads(line)["item_id"] for line in failures} == {"q1", "q2", "q3"}
    second = _Asker(_answer_b)
    assert _run(tmp_path / "r", second).n_answered == 3
    assert [item for item, _ in second.asked] == ["q1", "q2", "q3"]


def answer_partly(item: dict[str, str], images: list[object]) -> object:
    """Answer with errors in some cases."""
    assert not images
    if item["item_id"] in ("q1", "q2"):
        raise ValueError("no such film")
    return 3 if item["item_id"] == "q3" else f"I see {item['prompt']}: A"


def test_a_run_ends_after_many_failures_in_a_row(tmp_path: Path) -> None:
    """The remaining questions are left for another run."""
    entry = f"{__name__}:answer_nothing"
    python = Provider(
        name="python", model=entry, settings={}, connections=2, retries=0, timeout_s=9
    )
    outcome = _run(tmp_path / "r", asker_for(python), Limits(runs=9))
    assert outcome.ended == "gone"
    assert MOST_FAILURES <= outcome.reasons.total() < MOST_FAILURES + 3


def answer_nothing(*_: object) -> str:
    """Raise an error."""
    raise ConnectionError


def test_a_run_does_not_exceed_its_budget(tmp_path: Path) -> None:
    """The budget covers all runs; a server that reports no tokens ends the run."""
    price = Limits(connections=8, input_price=10, output_price=100, budget=0.05)  # 0.011 per answer
    outcome = _run(tmp_path / "r", _Asker(_answer_b), price)
    assert (outcome.ended, outcome.n_answered) == ("budget", 4)
    assert _run(tmp_path / "r", second := _Asker(_answer_b), price).ended == "budget"
    assert not second.asked
    unreported = _Asker(lambda *_: Reply(words="B", model="m"))
    with pytest.raises(StudyError, match="number of tokens"):
        _run(tmp_path / "s", unreported, price)
    assert len(unreported.asked) == 1


def test_an_interruption_waits_for_pending_answers(tmp_path: Path) -> None:
    """After SIGINT no further question is sent, and pending answers are stored."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        outcome, n_called = other.submit(run_until_interrupted, tmp_path / "r").result()
    assert outcome.ended == "interrupted"
    assert outcome.n_answered == n_called < 50 * len(ITEMS)


_CALLS: list[object] = []


def run_until_interrupted(folder: Path) -> tuple[RunOutcome, int]:
    """Run the exam in the main thread of a separate process, which receives signals."""
    entry = f"{__name__}:answer_while_interrupted"
    python = Provider(
        name="python", model=entry, settings={}, connections=3, retries=0, timeout_s=9
    )
    with opened_journal(folder, PROTOCOL) as journal:
        outcome = ask_all(_Exam(), asker_for(python), journal, Limits(connections=3, runs=50))
    return outcome, len(_CALLS)


def answer_while_interrupted(*asked: object) -> str:
    """Interrupt the process at the second question."""
    _CALLS.append(asked)
    if len(_CALLS) == 2:
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
def test_an_invalid_provider_is_refused_at_once(provider: dict[str, str], words: str) -> None:
    """A key in an address would be stored with each answer."""
    plain = {"name": "python", "settings": {}, "connections": 1, "retries": 0, "timeout_s": 9}
    with pytest.raises(BadInput, match=words):
        asker_for(Provider(**{**plain, **provider}))  # type: ignore[arg-type]
