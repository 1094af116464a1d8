"""The command that runs models, with servers that fail and with the process being killed."""

import asyncio
import gc
import json
import os
import random
import signal
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import model_server
from benchmarks.model_server import ANSWER, Behaviour, ModelServer, run_server
from study.models.models import models_of, read_model, withdraw_model
from study.models.running import answers_in
from study.models.running_askers import Asker, Provider, Request, asker_for
from study.models.running_exam import JOURNAL_COLUMNS, run_folder
from study.store import Store, events, models
from study.trail.verification import verify
from tests import processes
from tests.conftest import ACTING, collect_garbage

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
    """Ask the test's server, as a user's function would."""
    assert [image.mode for image in images] == ["L", "L"]
    body = {"messages": [{"role": "user", "content": item["prompt"]}]}
    url = os.environ["MODEL_SERVER"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["choices"][0]["message"]["content"])


def _line(store: Store, *more: str) -> list[str]:
    return ["models", "run", "--db", str(store.path), "--study", "trial", "--model", "M", *more]


def _python(store: Store, *more: str) -> list[str]:
    entry = ("--provider", "python", "--entry", f"{__name__}:answer")
    return _line(store, *entry, "--max-connections", "4", *more)


def _inspect(store: Store, server: ModelServer, *more: str) -> list[str]:
    return _line(store, "--provider", "openai-api", "--base-url", server.url, *more)


def _stored_predictions(store: Store) -> dict[tuple[str, int], models.PredictionRow]:
    with store.look() as look:
        (model,) = models.of_study(look, 1)
        return {(row.item_id, row.repeat): row for row in models.predictions(look, model.id)}


def _answers(store: Store) -> list[dict[str, Any]]:
    path = run_folder(store, study="trial", model_id="M") / "answers.jsonl"
    return list(answers_in(path)) if path.exists() else []


@pytest.fixture
def slow_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Return a server that answers slowly."""
    with run_server(ModelServer(seconds=0.05)) as server:
        monkeypatch.setenv("MODEL_SERVER", server.url)
        yield server


@pytest.mark.thorough
def test_a_finished_run_adds_a_model_with_its_circumstances(
    trial: Store, slow_server: ModelServer
) -> None:
    """The answers have protocol, server, date and latency; the verification finds no breach."""
    result = processes.run("study", *_python(trial, "--runs", "2", "--seed", "5"))
    assert result.returncode == 0, result.stderr
    assert "M: 40 of 40 questions answered." in result.stdout
    stored = _stored_predictions(trial)
    assert len(stored) == 40
    detail = json.loads(stored[next(iter(stored))].detail)
    assert detail["server"] == "python"
    assert detail["model"] == f"{__name__}:answer"
    assert detail["latency_ms"] > 40
    with trial.look() as look:
        chain = events.study_chain("trial")
        (event,) = events.of_kind(look, chain, "model asked")
        (added,) = events.of_kind(look, chain, "model added")
    assert event["model_protocol"]["seeds"] == [5, 6]
    assert event["model_protocol_sha256"] == added["model_protocol_sha256"]
    assert not verify(trial)
    repeated = processes.run("study", *_python(trial, "--runs", "2", "--seed", "5"))
    assert (repeated.returncode, "all questions have been answered" in repeated.stdout) == (
        0,
        True,
    )
    other = processes.run("study", *_python(trial))
    assert (other.returncode, "already a model" in other.stderr) == (1, True)
    assert len(slow_server.asked) == 40


@pytest.mark.thorough
def test_a_run_cannot_be_resumed_with_another_protocol(
    trial: Store, slow_server: ModelServer
) -> None:
    """A run of three questions is resumed; another resolution is refused until the withdrawal."""
    assert processes.run("study", *_python(trial, "--limit", "3")).returncode == 0
    assert not models_of(trial, "trial")[0]
    other = processes.run("study", *_python(trial, "--resolution", "quarter"))
    assert other.returncode == 1
    assert "resolution: “full”, not “quarter”" in other.stderr
    assert processes.run("study", *_python(trial)).returncode == 0
    assert max(Counter(slow_server.asked).values()) == 1
    withdraw_model(trial, study="trial", model_id="M", reason="Wrong films", acting=ACTING)
    assert processes.run("study", *_python(trial, "--resolution", "quarter")).returncode == 0


def test_a_journal_can_be_read_as_a_file_of_predictions(
    trial: Store, slow_server: ModelServer
) -> None:
    """The command `models add` accepts the journal."""
    processes.run("study", *_python(trial, "--limit", "5"))
    path = run_folder(trial, study="trial", model_id="M") / "answers.jsonl"
    assert (
        len(read_model(trial, path, study="trial", column_roles=JOURNAL_COLUMNS).file.predictions)
        == 5
    )
    assert len(read_model(trial, path, study="trial").file.predictions) == 5


def test_a_dry_run_contacts_no_model(trial: Store, slow_server: ModelServer) -> None:
    """The command prints a complete prompt and stores its films."""
    shown = processes.run("study", *_python(trial, "--dry-run"))
    assert shown.returncode == 0
    assert "Reply with the letter" in shown.stdout
    folder = run_folder(trial, study="trial", model_id="M") / "dry-run"
    assert sorted(path.name for path in folder.iterdir()) == ["film-1.png", "film-2.png"]
    assert not slow_server.asked


def _until_asked(server: ModelServer, times: int, process: BaseProcess) -> None:
    while len(server.asked) < times and process.is_alive():
        process.join(0.005)


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_run_asks_no_question_twice(
    seed: int, trial: Store, slow_server: ModelServer, tmp_path: Path
) -> None:
    """The command is killed twice; answers it had received or was receiving count."""
    moments = sorted(random.Random(seed).sample(range(1, N_CASES), 2))
    for moment in moments:
        process = processes.start("study", _python(trial), out=tmp_path / "out")
        _until_asked(slow_server, moment, process)
        process.kill()
        process.join()
    assert processes.run("study", *_python(trial)).returncode == 0
    assert Counter(slow_server.asked) == Counter(set(slow_server.asked))
    assert len(slow_server.asked) == N_CASES
    assert sorted(row.raw_answer for row in _stored_predictions(trial).values()) == sorted(
        words for _, words in slow_server.responses
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_crash_of_all_processes_loses_no_stored_answer(
    seed: int, trial: Store, slow_server: ModelServer, tmp_path: Path
) -> None:
    """Stored answers are not requested again."""
    moment = random.Random(seed).randrange(1, N_CASES)
    process = processes.start("study", _python(trial), out=tmp_path / "out")
    _until_asked(slow_server, moment, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in (process.pid, *map(int, children)):
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    process.join()
    before = {line["item_id"]: line["output"] for line in _answers(trial)}
    assert processes.run("study", *_python(trial)).returncode == 0
    answers_kept = {
        item_id: row.raw_answer for (item_id, _), row in _stored_predictions(trial).items()
    }
    assert before.items() <= answers_kept.items()
    assert N_CASES <= len(slow_server.asked) <= N_CASES + 4
    assert set(answers_kept.values()) <= {words for _, words in slow_server.responses}


@pytest.fixture
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set an API key in the environment."""
    monkeypatch.setenv("LOCAL_API_KEY", KEY)


def _misbehaving() -> Behaviour:
    """Answer every third request, and fail in various ways at the others."""
    wrongs = [model_server.CUT, model_server.LIMIT, model_server.GARBLED]
    return lambda number, _: wrongs[number // 3 % 3] if number % 3 else ANSWER


@needs_inspect
@pytest.mark.usefixtures("api_key")
def test_questions_are_asked_until_a_failing_server_has_answered_all(trial: Store) -> None:
    """Answers are not requested again, and the key is in the requests only."""
    with run_server(ModelServer(_misbehaving())) as server:
        for _ in range(20):
            result = processes.run("study", *_inspect(trial, server, "--retries", "2"))
            if result.returncode == 0:
                break
        assert result.returncode == 0, result.stderr
        assert Counter(text for text, _ in server.responses) == Counter(set(server.asked))
        assert set(server.keys) == {f"Bearer {KEY}"}
    assert len(server.responses) == N_CASES
    assert server.most_at_once <= 16
    folder = run_folder(trial, study="trial", model_id="M").parent
    for path in (*folder.rglob("*.json*"), trial.path):
        assert KEY.encode() not in path.read_bytes()


@needs_inspect
@pytest.mark.usefixtures("api_key")
def test_the_message_of_a_refused_key_does_not_contain_it(trial: Store) -> None:
    """The server repeats the key in its answer; the run ends."""
    with run_server(ModelServer(lambda *_: model_server.ERROR)) as server:
        result = processes.run("study", *_inspect(trial, server))
    assert result.returncode == 1
    assert "incorrect key: Bearer ***" in result.stderr
    assert KEY not in result.stderr + result.stdout
    assert len(server.asked) == N_CASES


@needs_inspect
def test_a_stalled_answer_is_abandoned(trial: Store) -> None:
    """Such an answer is counted, and stored as skipped on request."""
    first: list[str] = []

    def behave(_number: int, text: str) -> str:
        first[:] = first or [text]
        return model_server.STALL if text == first[0] else ANSWER

    with run_server(ModelServer(behave)) as server:
        more = ("--stream", "--timeout", "1", "--retries", "0", "--keep-failed")
        result = processes.run("study", *_inspect(trial, server, *more))
        assert server.bodies[0]["stream"]
    assert result.returncode == 0, result.stderr
    assert Counter(row.status for row in _stored_predictions(trial).values()) == {
        "answered": 19,
        "skipped": 1,
    }
    (failed,) = [row for row in _stored_predictions(trial).values() if row.status == "skipped"]
    assert "AttemptTimeoutError" in json.loads(failed.detail)["failed"]


@needs_inspect
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a warning of Inspect
def test_images_are_released_after_their_question() -> None:
    """The number of questions does not matter, in sequence or at once."""
    from inspect_ai.model import ContentImage

    def held() -> int:
        collect_garbage()
        return sum(isinstance(item, ContentImage) for item in gc.get_objects())

    async def ask(asker: Asker, n: int) -> int:
        films = (b"a film",)
        asks = [
            asker.ask(
                Request(
                    item_id="q",
                    system="",
                    text=f"Which, {number}?",
                    films=films,
                    order="AB",
                    condition="image",
                ),
                None,
            )
            for number in range(n)
        ]
        replies = [(await pending).words for pending in asks[: n // 2]]
        replies += [reply.words for reply in await asyncio.gather(*asks[n // 2 :])]
        still = held()
        await asker.close()
        assert len(replies) == n
        return still

    counts = []
    for n in (4, 40):
        with run_server(ModelServer()) as server:
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
def test_a_filtered_answer_counts_as_refused(trial: Store) -> None:
    """Text that accompanies such an answer is ignored."""
    with run_server(ModelServer(lambda *_: model_server.FILTERED)) as server:
        result = processes.run("study", *_inspect(trial, server))
    assert result.returncode == 0, result.stderr
    assert {row.status for row in _stored_predictions(trial).values()} == {"refused"}


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="the packages are installed")
def test_without_its_packages_the_command_states_what_to_install(trial: Store) -> None:
    """The message is one sentence."""
    result = processes.run("study", *_line(trial, "--provider", "openai-api"))
    assert result.returncode == 1
    assert result.stderr.strip().endswith("pip install -r requirements-models.txt")
