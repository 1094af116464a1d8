"""Sends questions to a model through Inspect AI, or to a Python function.

Inspect supports many servers (vLLM, SGLang, llama.cpp, Ollama, LM Studio, hosted models) and
handles connections, rate limits and retries. Only Inspect's model layer is used.
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
from study.base.text import quoted

PYTHON = "python"
_PACKAGES_MISSING = (
    "Asking a model needs packages that are not installed: pip install -r requirements-models.txt"
)
_MAX_SILENCE_S = 60
_LONGEST_REASON = 500
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST_SECRET = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to a model: the text of an item, and its films as PNG files.

    `order` contains the canonical letters of the options in the order shown; `condition` states
    which images are shown.
    """

    item_id: str
    system: str
    text: str
    films: tuple[bytes, ...]
    order: str
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's reply.

    Attributes
    ----------
    words : str
        The model's words, verbatim.
    model : str
        The server's name of the model.
    stop : str
        The stop reason: `stop`, `max_tokens`, `content_filter` or another value of Inspect.
    thinking : str
        The model's reasoning, if the server returns it separately.
    input_tokens, output_tokens : int or None
        Token counts; None if the server does not report them.
    latency_ms : float or None
        Duration of the successful request, without failed attempts.
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
    """A model's provider and settings.

    Attributes
    ----------
    name : str
        `python`, or a provider of Inspect: `openai-api`, `vllm`, `google`, ...
    model : str
        The provider's name of the model; for `python`, `module:function`.
    base_url : str
        The server's address; empty for the provider's default.
    settings : mapping
        Fields of Inspect's `GenerateConfig`, such as `temperature` and `max_tokens`.
    connections, retries : int
        Number of concurrent requests; number of retries after a temporary failure.
    timeout_s : int
        Timeout of an attempt in seconds.
    stream : bool
        Whether the answer is streamed; an attempt then also ends after a minute without data.
    """

    name: str
    model: str
    base_url: str = ""
    settings: Mapping[str, Any]
    connections: int
    retries: int
    timeout_s: int
    stream: bool = False


class RequestFailed(Exception):
    """A request failed; the message gives the reason and contains no secrets."""


class Asker(Protocol):
    """Sends questions to a model."""

    server: str

    async def ask(self, question: Request, seed: int | None) -> Reply:
        """Return the model's answer, or raise `RequestFailed`."""
        ...

    async def close(self) -> None:
        """Close connections and threads."""
        ...


def asker_for(provider: Provider) -> Asker:
    """Return the object that sends questions to a model.

    Raises
    ------
    BadInput
        The provider, model or function does not exist, or the address contains a password.
    StudyError
        A required package or key is missing.
    """
    if urlsplit(provider.base_url).username or urlsplit(provider.base_url).query:
        raise BadInput("--base-url contains a name or a key. Set keys in the environment only.")
    return _FunctionAsker(provider) if provider.name == PYTHON else _InspectAsker(provider)


class _FunctionAsker:
    """A function `answer(item, images) -> str`, called in separate threads."""

    def __init__(self, provider: Provider) -> None:
        self.server = PYTHON
        self._model = provider.model
        self._answer = _import_function(provider.model)
        self._threads = ThreadPoolExecutor(provider.connections, "model")

    async def ask(self, question: Request, seed: int | None) -> Reply:
        started = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            words = await loop.run_in_executor(self._threads, self._call, question, seed)
        except Exception as error:  # a user's function may raise anything
            raise RequestFailed(_reason(error)) from error
        if not isinstance(words, str):
            raise RequestFailed(f"{self._model} returned {type(words).__name__}, not str")
        elapsed_ms = (time.monotonic() - started) * 1000
        return Reply(words=words, model=self._model, latency_ms=round(elapsed_ms, 1))

    def _call(self, question: Request, seed: int | None) -> object:
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


def _import_function(entry: str) -> Callable[..., object]:
    name, colon, function = entry.partition(":")
    if not (colon and name and function):
        raise BadInput(f"--entry {quoted(entry)} is not of the form module:function.")
    sys.path.insert(0, str(Path.cwd()))  # import from the current folder, like `python -m`
    try:
        target = getattr(import_module(name), function, None)
    except ImportError as error:
        raise BadInput(f"--entry {entry}: {error}.") from error
    if not callable(target):
        raise BadInput(f"--entry {entry}: {name} has no function {function}.")
    return target  # type: ignore[no-any-return]


class _InspectAsker:
    """A model through the model layer of Inspect AI, without its tasks, logs or caches."""

    def __init__(self, provider: Provider) -> None:
        try:
            from inspect_ai import model as inspect  # optional, and takes 2 s to import
            from inspect_ai.log._transcript import Transcript, init_transcript
        except ImportError as error:
            raise StudyError(_PACKAGES_MISSING) from error
        self._inspect = inspect
        # By default Inspect keeps all requests in memory, including images.
        transcript = Transcript(log_model_api=False, bounded=True, resident_tail=1)
        self._limit_transcript = partial(init_transcript, transcript)
        try:
            config = inspect.GenerateConfig(
                max_connections=provider.connections,
                max_retries=provider.retries,
                attempt_timeout=provider.timeout_s,
                stream_idle_timeout=_MAX_SILENCE_S if provider.stream else None,
                **provider.settings,
            )
            self._model = inspect.get_model(
                _inspect_name(provider),
                config=config,
                base_url=provider.base_url or None,
                api_key=_dummy_key(provider),
                memoize=False,
            )
        except Exception as error:  # depends on the provider: no key, no package, no such model
            raise StudyError(
                f"{_inspect_name(provider)} cannot be asked: {_reason(error)}"
            ) from error
        self.server = provider.base_url or provider.name

    async def ask(self, question: Request, seed: int | None) -> Reply:
        inspect = self._inspect
        self._limit_transcript()  # the transcript belongs to the task
        started = time.monotonic()
        messages = [inspect.ChatMessageSystem(content=question.system)] if question.system else []
        films = [
            inspect.ContentImage(image=f"data:image/png;base64,{base64.b64encode(film).decode()}")
            for film in question.films
        ]
        question_message = inspect.ChatMessageUser(
            content=[*films, inspect.ContentText(text=question.text)]
        )
        config = inspect.GenerateConfig(seed=seed)
        try:
            output = await self._model.generate([*messages, question_message], config=config)
        except Exception as error:  # depends on the provider; after Inspect's retries
            raise RequestFailed(_reason(error)) from error
        if output.empty or output.stop_reason == "model_length" or output.error:
            words = "an answer without content" if output.empty else output.completion
            raise RequestFailed(_without_secrets(output.error or words))
        elapsed_s = output.time if output.time is not None else time.monotonic() - started
        usage = output.usage
        return Reply(
            words=output.completion,
            model=output.model,
            stop=output.stop_reason,
            thinking=_reasoning_text(output.message.content),
            input_tokens=_input_tokens(usage) if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            latency_ms=round(elapsed_s * 1000, 1),
        )

    async def close(self) -> None:
        await self._model.api.aclose()


def _inspect_name(provider: Provider) -> str:
    """Return Inspect's name of a model; an OpenAI-compatible server is the service `local`."""
    service = "openai-api/local" if provider.name == "openai-api" else provider.name
    return f"{service}/{provider.model}"


def _dummy_key(provider: Provider) -> str | None:
    """Return a dummy key for a local server without authentication.

    Inspect itself reads other keys from the environment.
    """
    is_local = provider.name == "openai-api" and "LOCAL_API_KEY" not in os.environ
    return "none" if is_local else None


def _reasoning_text(content: object) -> str:
    parts = content if isinstance(content, list) else []
    return "\n".join(part.reasoning for part in parts if part.type == "reasoning")


def _input_tokens(usage: Any) -> int:
    cached = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    return int(usage.input_tokens + sum(tokens or 0 for tokens in cached))


def _reason(error: BaseException) -> str:
    last_attempt = getattr(error, "last_attempt", None)  # if all attempts failed
    error = (last_attempt.exception() if last_attempt else None) or error
    return _without_secrets(f"{type(error).__name__}: {error}")


def _without_secrets(reason: str) -> str:
    """Return a reason on one line, without keys from the environment."""
    for name, value in os.environ.items():
        if any(mark in name.upper() for mark in _SECRET_NAMES) and len(value) >= _SHORTEST_SECRET:
            reason = reason.replace(value, "***")
    return " ".join(reason.split())[:_LONGEST_REASON]
