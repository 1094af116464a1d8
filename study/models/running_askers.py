"""Who a question is put to: a model behind Inspect AI, or a function in Python.

Inspect speaks to servers of every kind (vLLM, SGLang, llama.cpp, Ollama, LM Studio, hosted models)
and looks after connections, limits of rate and retries; of it only the layer of models is used.
"""

import asyncio
import base64
import io
import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from study.base.errors import BadInput, StudyError

PYTHON = "python"
_NEEDED = (
    "Asking a model needs packages that are not installed: pip install -r requirements-models.txt"
)
_SILENCE_S = 60
_LONGEST_REASON = 500
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_SECRET = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model is asked of one item: the words, and the films as PNG files.

    `order` is the canonical letters of the options as they are shown, `condition` what is shown of
    the item's images.
    """

    item_id: str
    system: str
    text: str
    films: tuple[bytes, ...]
    order: str
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back.

    Attributes
    ----------
    words : str
        The model's words, verbatim.
    model : str
        The model as the server calls it.
    stop : str
        Why it ended: `stop`, `max_tokens`, `content_filter` or another word of Inspect's.
    thinking : str
        What it said to itself before, where the server tells it apart.
    input_tokens, output_tokens : int or None
        None where the server does not tell.
    latency_ms : float or None
        Of the request that brought the answer, without earlier ones that failed.
    """

    words: str
    model: str
    stop: str = "stop"
    thinking: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Where a model is, and how it is to be asked.

    Attributes
    ----------
    name : str
        `python`, or a provider of Inspect's: `openai-api`, `vllm`, `google`, ...
    model : str
        What the provider calls the model; of `python`, `module:function`.
    base_url : str
        The server's address, where the provider's own is not meant.
    settings : mapping
        Of Inspect's `GenerateConfig`, such as `temperature` and `max_tokens`.
    connections, retries : int
        Requests at once; further tries of one that fails for a passing reason.
    timeout_s : int
        After which a try is given up.
    stream : bool
        Whether the answer comes piece by piece; then a silence of a minute ends a try too.
    """

    name: str
    model: str
    base_url: str = ""
    settings: Mapping[str, Any]
    connections: int
    retries: int
    timeout_s: int
    stream: bool = False


class Failed(Exception):
    """A question brought no answer; the text says why, without anything secret."""


class Asker(Protocol):
    """Puts questions to one model."""

    server: str

    async def ask(self, question: Request, seed: int | None) -> Reply:
        """Return the model's answer, or raise `Failed`."""
        ...

    async def close(self) -> None:
        """Let go of connections and threads."""
        ...


def asker_for(provider: Provider) -> Asker:
    """Return who puts questions to a model.

    Raises
    ------
    BadInput
        There is no such provider, model or function, or the address holds a password.
    StudyError
        Packages or a key it needs are not there.
    """
    if urlsplit(provider.base_url).username or urlsplit(provider.base_url).query:
        raise BadInput("--base-url holds a name or a key. Give keys in the environment only.")
    return _Function(provider) if provider.name == PYTHON else _Inspect(provider)


class _Function:
    """A function `answer(item, images) -> str`, called in threads of its own."""

    def __init__(self, provider: Provider) -> None:
        self.server = PYTHON
        self._model = provider.model
        self._answer = _imported(provider.model)
        self._threads = ThreadPoolExecutor(provider.connections, "model")

    async def ask(self, question: Request, seed: int | None) -> Reply:
        begun = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            words = await loop.run_in_executor(self._threads, self._called, question, seed)
        except Exception as error:  # whatever a stranger's function raises
            raise Failed(_reason(error)) from error
        if not isinstance(words, str):
            raise Failed(f"{self._model} returned {type(words).__name__}, not str")
        took = (time.monotonic() - begun) * 1000
        return Reply(words=words, model=self._model, latency_ms=round(took, 1))

    def _called(self, question: Request, seed: int | None) -> object:
        from PIL import Image

        item = {
            "item_id": question.item_id,
            "system": question.system,
            "prompt": question.text,
            "seed": seed,
        }
        return self._answer(item, [Image.open(io.BytesIO(film)) for film in question.films])

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _imported(entry: str) -> Callable[..., object]:
    name, mark, function = entry.partition(":")
    if not (mark and name and function):
        raise BadInput(f"--entry {entry!r} is not of the form module:function.")
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` does for the module's neighbours
    try:
        found = getattr(import_module(name), function, None)
    except ImportError as error:
        raise BadInput(f"--entry {entry}: {error}.") from error
    if not callable(found):
        raise BadInput(f"--entry {entry}: {name} has no function {function}.")
    return found  # type: ignore[no-any-return]


class _Inspect:
    """A model behind Inspect AI's layer of models; none of its tasks, logs or caches."""

    def __init__(self, provider: Provider) -> None:
        try:
            from inspect_ai import model as inspect  # takes 2 s, and few have it
            from inspect_ai.log._transcript import Transcript, init_transcript
        except ImportError as error:
            raise StudyError(_NEEDED) from error
        self._inspect = inspect
        # Else Inspect keeps all that was ever sent, images too.
        kept = Transcript(log_model_api=False, bounded=True, resident_tail=1)
        self._keep_little = partial(init_transcript, kept)
        try:
            config = inspect.GenerateConfig(
                max_connections=provider.connections,
                max_retries=provider.retries,
                attempt_timeout=provider.timeout_s,
                stream_idle_timeout=_SILENCE_S if provider.stream else None,
                **provider.settings,
            )
            self._model = inspect.get_model(
                _called(provider),
                config=config,
                base_url=provider.base_url or None,
                api_key=_key_for(provider),
                memoize=False,
            )
        except Exception as error:  # each provider's own: no key, no package, no such model
            raise StudyError(f"{_called(provider)} cannot be asked: {_reason(error)}") from error
        self.server = provider.base_url or provider.name

    async def ask(self, question: Request, seed: int | None) -> Reply:
        inspect = self._inspect
        self._keep_little()  # of this task alone
        begun = time.monotonic()
        said = [inspect.ChatMessageSystem(content=question.system)] if question.system else []
        films = [
            inspect.ContentImage(image=f"data:image/png;base64,{base64.b64encode(film).decode()}")
            for film in question.films
        ]
        asked = inspect.ChatMessageUser(content=[*films, inspect.ContentText(text=question.text)])
        config = inspect.GenerateConfig(seed=seed)
        try:
            output = await self._model.generate([*said, asked], config=config)
        except Exception as error:  # each provider's own, after Inspect's retries
            raise Failed(_reason(error)) from error
        if output.empty or output.stop_reason == "model_length" or output.error:
            words = "an answer without content" if output.empty else output.completion
            raise Failed(_cleaned(output.error or words))
        took = output.time if output.time is not None else time.monotonic() - begun
        usage = output.usage
        return Reply(
            words=output.completion,
            model=output.model,
            stop=output.stop_reason,
            thinking=_thinking(output.message.content),
            input_tokens=_all_input(usage) if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            latency_ms=round(took * 1000, 1),
        )

    async def close(self) -> None:
        await self._model.api.aclose()


def _called(provider: Provider) -> str:
    """Return what Inspect calls a model; a server that is nobody's service is called local."""
    service = "openai-api/local" if provider.name == "openai-api" else provider.name
    return f"{service}/{provider.model}"


def _key_for(provider: Provider) -> str | None:
    """Return a key for a server of one's own, which asks for none; others' keys Inspect finds."""
    local = provider.name == "openai-api" and "LOCAL_API_KEY" not in os.environ
    return "none" if local else None


def _thinking(content: object) -> str:
    parts = content if isinstance(content, list) else []
    return "\n".join(part.reasoning for part in parts if part.type == "reasoning")


def _all_input(usage: Any) -> int:
    cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    return int(usage.input_tokens + sum(one or 0 for one in cached))


def _reason(error: BaseException) -> str:
    last = getattr(error, "last_attempt", None)  # of tries that were all in vain
    error = (last.exception() if last else None) or error
    return _cleaned(f"{type(error).__name__}: {error}")


def _cleaned(reason: str) -> str:
    """Return a reason in one line that holds no key of the environment, though a server told it."""
    for name, value in os.environ.items():
        if any(mark in name.upper() for mark in _SECRET_NAMES) and len(value) >= _SHORTEST_SECRET:
            reason = reason.replace(value, "***")
    return " ".join(reason.split())[:_LONGEST_REASON]
