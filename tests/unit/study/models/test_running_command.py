"""Models asked by the command, of servers that behave and misbehave, and killed at any moment."""

import asyncio
import gc
import json
import os
import random
import signal
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import model_server
from benchmarks.model_server import ANSWER, Behaviour, ModelServer, serving
from study.models.models import models_of, read_model, withdraw_model
from study.models.running import answers_in
from study.models.running_askers import Asker, Provider, Request, asker_for
from study.models.running_exam import JOURNAL_COLUMNS, run_folder
from study.store import Store, events, models
from study.trail.verification import verify
from tests import processes
from tests.conftest import NOW, collect_garbage

N_CASES = 20
KEY = "sk-a-key-nobody-may-see"
needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None,
    reason="the packages of requirements-models.txt are not installed",
)


@pytest.fixture
def trial(opened: Callable[..., Store]) -> Store:
    """Return a store with an open study of twenty cases."""
    return opened(cases=N_CASES, one_question_per="item")


def answer(item: dict[str, str], images: list[Any]) -> str:
    """Ask the server of the test, as somebody's own function would."""
    assert [image.mode for image in images] == ["L", "L"]
    said = {"messages": [{"role": "user", "content": item["prompt"]}]}
    url = os.environ["MODEL_SERVER"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(said).encode(), method="POST")
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["choices"][0]["message"]["content"])


def _line(store: Store, *more: str) -> list[str]:
    return ["models", "run", "--db", str(store.path), "--study", "trial", "--model", "M", *more]


def _python(store: Store, *more: str) -> list[str]:
    entry = ("--provider", "python", "--entry", f"{__name__}:answer")
    return _line(store, *entry, "--max-connections", "4", *more)


def _inspect(store: Store, server: ModelServer, *more: str) -> list[str]:
    return _line(store, "--provider", "openai-api", "--base-url", server.url, *more)


def _kept(store: Store) -> dict[tuple[str, int], models.PredictionRow]:
    with store.look() as look:
        (model,) = models.of_study(look, 1)
        return {(row.item_id, row.repeat): row for row in models.predictions(look, model.id)}


def _answers(store: Store) -> list[dict[str, Any]]:
    path = run_folder(store, study="trial", model_id="M") / "answers.jsonl"
    return list(answers_in(path)) if path.exists() else []


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Return a server that takes its time."""
    with serving(ModelServer(seconds=0.05)) as server:
        monkeypatch.setenv("MODEL_SERVER", server.url)
        yield server


@pytest.mark.slow
def test_a_finished_run_is_a_model_with_all_its_circumstances(
    trial: Store, slow: ModelServer
) -> None:
    """Its answers are kept with protocol, server, date and time taken; its trail holds."""
    done = processes.run("study", *_python(trial, "--runs", "2", "--seed", "5"))
    assert done.returncode == 0, done.stderr
    assert "M: 40 of 40 questions answered." in done.stdout
    kept = _kept(trial)
    assert len(kept) == 40
    one = json.loads(kept[next(iter(kept))].detail)
    assert one["server"] == "python"
    assert one["model"] == f"{__name__}:answer"
    assert one["latency_ms"] > 40
    with trial.look() as look:
        chain = events.study_chain("trial")
        (asked,) = events.of_kind(look, chain, "model asked")
        (added,) = events.of_kind(look, chain, "model added")
    assert asked["model_protocol"]["seeds"] == [5, 6]
    assert asked["model_protocol_sha256"] == added["model_protocol_sha256"]
    assert not verify(trial)
    again = processes.run("study", *_python(trial, "--runs", "2", "--seed", "5"))
    assert (again.returncode, "all was answered before" in again.stdout) == (0, True)
    other = processes.run("study", *_python(trial))
    assert (other.returncode, "already a model" in other.stderr) == (1, True)
    assert len(slow.asked) == 40


@pytest.mark.slow
def test_another_protocol_is_another_run(trial: Store, slow: ModelServer) -> None:
    """A trial of three goes on as the whole; at another resolution only once it is withdrawn."""
    assert processes.run("study", *_python(trial, "--limit", "3")).returncode == 0
    assert not models_of(trial, "trial")[0]
    other = processes.run("study", *_python(trial, "--resolution", "quarter"))
    assert other.returncode == 1
    assert "resolution: 'full', not 'quarter'" in other.stderr
    assert processes.run("study", *_python(trial)).returncode == 0
    assert max(Counter(slow.asked).values()) == 1
    withdraw_model(trial, study="trial", model_id="M", reason="Wrong films", now=NOW)
    assert processes.run("study", *_python(trial, "--resolution", "quarter")).returncode == 0


def test_a_journal_is_a_file_of_predictions_too(trial: Store, slow: ModelServer) -> None:
    """`models add` reads it, should anybody rather add it by hand."""
    processes.run("study", *_python(trial, "--limit", "5"))
    path = run_folder(trial, study="trial", model_id="M") / "answers.jsonl"
    assert (
        len(read_model(trial, path, study="trial", column_roles=JOURNAL_COLUMNS).file.predictions)
        == 5
    )
    assert len(read_model(trial, path, study="trial").file.predictions) == 5


def test_a_dry_run_asks_nobody(trial: Store, slow: ModelServer) -> None:
    """It prints one whole prompt, and its films stand beside it."""
    shown = processes.run("study", *_python(trial, "--dry-run"))
    assert shown.returncode == 0
    assert "Reply with the letter" in shown.stdout
    folder = run_folder(trial, study="trial", model_id="M") / "dry-run"
    assert sorted(path.name for path in folder.iterdir()) == ["film-1.png", "film-2.png"]
    assert not slow.asked


def _until_asked(server: ModelServer, times: int, process: BaseProcess) -> None:
    while len(server.asked) < times and process.is_alive():
        process.join(0.005)


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_is_killed_asks_nothing_twice(
    seed: int, trial: Store, slow: ModelServer, tmp_path: Path
) -> None:
    """The command is killed outright, twice; what it was told, or was about to be, counts."""
    moments = sorted(random.Random(seed).sample(range(1, N_CASES), 2))
    for moment in moments:
        process = processes.start("study", _python(trial), out=tmp_path / "out")
        _until_asked(slow, moment, process)
        process.kill()
        process.join()
    assert processes.run("study", *_python(trial)).returncode == 0
    assert Counter(slow.asked) == Counter(set(slow.asked))
    assert len(slow.asked) == N_CASES
    assert sorted(row.raw_answer for row in _kept(trial).values()) == sorted(
        words for _, words in slow.told
    )


@pytest.mark.parametrize("seed", range(4))
def test_not_even_a_lost_machine_loses_an_answer(
    seed: int, trial: Store, slow: ModelServer, tmp_path: Path
) -> None:
    """Both processes are killed at once: what was written down stands, and is not asked again."""
    moment = random.Random(seed).randrange(1, N_CASES)
    process = processes.start("study", _python(trial), out=tmp_path / "out")
    _until_asked(slow, moment, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in (process.pid, *map(int, children)):
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    process.join()
    before = {one["item_id"]: one["output"] for one in _answers(trial)}
    assert processes.run("study", *_python(trial)).returncode == 0
    kept = {item_id: row.raw_answer for (item_id, _), row in _kept(trial).items()}
    assert before.items() <= kept.items()
    assert N_CASES <= len(slow.asked) <= N_CASES + 4
    assert set(kept.values()) <= {words for _, words in slow.told}


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a key into the environment."""
    monkeypatch.setenv("LOCAL_API_KEY", KEY)


def _misbehaving() -> Behaviour:
    """Answer every third time, and the other times do everything that a server can do wrong."""
    wrongs = [model_server.CUT, model_server.LIMIT, model_server.GARBLED]
    return lambda number, _: wrongs[number // 3 % 3] if number % 3 else ANSWER


@needs_inspect
@pytest.mark.usefixtures("keyed")
def test_a_server_that_misbehaves_is_asked_until_all_is_answered(trial: Store) -> None:
    """What was answered once is not asked for again; the key stands in the request alone."""
    with serving(ModelServer(_misbehaving())) as server:
        for _ in range(20):
            done = processes.run("study", *_inspect(trial, server, "--retries", "2"))
            if done.returncode == 0:
                break
        assert done.returncode == 0, done.stderr
        assert Counter(text for text, _ in server.told) == Counter(set(server.asked))
        assert set(server.keys) == {f"Bearer {KEY}"}
    assert len(server.told) == N_CASES
    assert server.most_at_once <= 16
    folder = run_folder(trial, study="trial", model_id="M").parent
    for path in (*folder.rglob("*.json*"), trial.path):
        assert KEY.encode() not in path.read_bytes()


@needs_inspect
@pytest.mark.usefixtures("keyed")
def test_a_refused_key_is_told_without_the_key(trial: Store) -> None:
    """Though the server repeats it; and it is not asked for ever."""
    with serving(ModelServer(lambda *_: model_server.ERROR)) as server:
        done = processes.run("study", *_inspect(trial, server))
    assert done.returncode == 1
    assert "incorrect key: Bearer ***" in done.stderr
    assert KEY not in done.stderr + done.stdout
    assert len(server.asked) == N_CASES


@needs_inspect
def test_answers_stream_and_stalls_end(trial: Store) -> None:
    """One question stalls for ever: given up, counted, and kept as not answered where wanted."""
    first: list[str] = []

    def behave(_number: int, text: str) -> str:
        first[:] = first or [text]
        return model_server.STALL if text == first[0] else ANSWER

    with serving(ModelServer(behave)) as server:
        begun = time.monotonic()
        more = ("--stream", "--timeout", "1", "--retries", "0", "--keep-failed")
        done = processes.run("study", *_inspect(trial, server, *more))
        assert time.monotonic() - begun < 30
        assert server.bodies[0]["stream"]
    assert done.returncode == 0, done.stderr
    assert Counter(row.status for row in _kept(trial).values()) == {"answered": 19, "skipped": 1}
    (failed,) = [row for row in _kept(trial).values() if row.status == "skipped"]
    assert "AttemptTimeoutError" in json.loads(failed.detail)["failed"]


@needs_inspect
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Inspect's own
def test_no_image_is_held_longer_than_its_question() -> None:
    """However many are asked, one after the other or at once, in tasks of their own."""
    from inspect_ai.model import ContentImage

    def held() -> int:
        collect_garbage()
        return sum(isinstance(one, ContentImage) for one in gc.get_objects())

    async def ask(asker: Asker, n: int) -> int:
        films = (b"a film",)
        asks = [
            asker.ask(
                Request(
                    item_id="q",
                    system="",
                    text=f"Which, {one}?",
                    films=films,
                    order="AB",
                    condition="image",
                ),
                None,
            )
            for one in range(n)
        ]
        replies = [(await one).words for one in asks[: n // 2]]
        replies += [one.words for one in await asyncio.gather(*asks[n // 2 :])]
        still = held()
        await asker.close()
        assert len(replies) == n
        return still

    counts = []
    for n in (4, 40):
        with serving(ModelServer()) as server:
            asker = asker_for(
                Provider(
                    name="openai-api",
                    model="stand-in",
                    base_url=server.url,
                    settings={},
                    connections=4,
                    retries=0,
                    timeout_s=60,
                )
            )
            counts.append(asyncio.run(ask(asker, n)))
    assert counts[1] <= counts[0] + 2


@needs_inspect
def test_what_a_filter_withheld_is_refused(trial: Store) -> None:
    """Whatever words came with it."""
    with serving(ModelServer(lambda *_: model_server.FILTERED)) as server:
        done = processes.run("study", *_inspect(trial, server))
    assert done.returncode == 0, done.stderr
    assert {row.status for row in _kept(trial).values()} == {"refused"}


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="the packages are installed")
def test_without_its_packages_it_says_what_to_install(trial: Store) -> None:
    """In one sentence."""
    done = processes.run("study", *_line(trial, "--provider", "openai-api"))
    assert done.returncode == 1
    assert done.stderr.strip().endswith("pip install -r requirements-models.txt")
