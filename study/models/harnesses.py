"""What each harness of the field writes of a model's answers, recognised by its content.

Each shape turns one record of a file into what the model said, once a run. Nothing here knows of
items or options: only of where a harness puts ids and words, and how it says that a request failed.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from study.models.answer_columns import is_medevalkit
from study.models.files import ID_KEYS, Meant, Records, beside, first_of
from study.models.finish_reasons import finish_reason
from study.tables.columns import plain_key
from study.tables.source import Record
from study.tables.values import missing

FILTERED = "content_filter"
"""Why an output ended where the provider's filter declined it."""

_LOOKED_AT = 200
_FAILED_WORDS = "failed to obtain answer via api"  # VLMEvalKit's, in the place of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutput:
    """What a file says that a model said of an item, once.

    Attributes
    ----------
    place : str
        Where it stands; of a harness's file whoever reads it says so.
    ids : mapping of str to object
        What may be the item's id, by its name in the file; the surest first.
    words : object
        The model's words; None where nothing was said.
    has_words : bool
        Whether there is a place for them.
    beside : mapping of str to object
        What else is said, by the names that columns can have (`study.models.files.ROLES`).
    failed : str
        Why there is no answer, where the harness says so.
    refused : bool
        Whether the provider says that the model, or its filter, declined.
    """

    place: str = ""
    ids: Mapping[str, object]
    words: object = None
    has_words: bool = True
    beside: Mapping[str, object] = field(default_factory=dict)
    failed: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A shape that files of the field have: its name, and how one of its records is read."""

    name: str
    read: Callable[[Mapping[str, Any]], Iterator[ModelOutput]]


def shape_of(found: Records) -> Shape | None:
    """Return the harness that wrote a file; None for records with columns of a plain kind."""
    if found.format == "inspect":
        return Shape(name="Inspect log", read=_inspect)
    keys: Counter[str] = Counter()
    for record in found.records[:_LOOKED_AT]:
        if isinstance(record.value, dict):
            keys.update(list(record.value))
            if isinstance(record.value.get("response"), dict):
                keys.update(f"response.{key}" for key in record.value["response"])
    if "custom_id" in keys and "result" in keys:
        return Shape(name="Anthropic batch output", read=_anthropic)
    if "response.candidates" in keys or ("key" in keys and "response" in keys):
        return Shape(name="Gemini batch output", read=_gemini)
    if "custom_id" in keys and ("response" in keys or "error" in keys):
        return Shape(name="OpenAI batch output", read=_openai)
    if "doc_id" in keys and ("resps" in keys or "filtered_resps" in keys):
        # The multimodal fork writes an input beside the document, and neither filters nor hashes.
        lmms = "filter" not in keys and ("input" in keys or "submission" in keys)
        return Shape(name="lmms-eval samples" if lmms else "lm-eval samples", read=_samples)
    return None


def name_of(found: Records) -> str:
    """Return what records of a plain kind are called."""
    keys = {plain_key(one) for one in found.columns}
    if {"index", "prediction"} <= keys and ("question" in keys or "a" in keys):
        return f"VLMEvalKit {found.dress}" if found.dress != "JSON" else "VLMEvalKit JSON"
    if is_medevalkit(keys):
        return "MedEvalKit results"
    if found.format == "json" and "modelprediction" in keys:
        return "leaderboard submission"
    return found.dress


def plain(record: Record, words: Sequence[str]) -> ModelOutput:
    """Read a record whose keys have the usual names, or that is nothing but an answer."""
    value = record.value
    if not isinstance(value, dict):
        return ModelOutput(
            place=record.place, ids={"key": record.key} if record.key else {}, words=value
        )
    has_words, said = first_of(value, words)
    failed = isinstance(said, str) and said.strip().lower().startswith(_FAILED_WORDS)
    return ModelOutput(
        place=record.place,
        ids=_ids(record, value),
        words=said,
        has_words=has_words,
        beside=beside(value, None),
        failed="no answer from the server" if failed else "",
    )


def _ids(record: Record, value: Mapping[str, Any]) -> dict[str, object]:
    if record.key:
        return {"key": record.key}
    of = {plain_key(key): (key, one) for key, one in value.items()}
    found = [of[plain_key(key)] for key in ID_KEYS if plain_key(key) in of]
    return {key: one for key, one in found if not missing(one)}


def named(record: Record, meant: Meant) -> ModelOutput:
    """Read a record by the columns that were named."""
    value = record.value
    if not isinstance(value, dict):
        return ModelOutput(place=record.place, ids={}, has_words=False)
    found = beside(value, meant)
    given = found.get("id") if "id" in meant else record.key
    answer, output = found.get("answer"), found.get("output")
    words = output if missing(answer) else answer
    if not missing(answer) and not missing(output) and missing(found.get("explanation")):
        found["explanation"] = output
    return ModelOutput(
        place=record.place,
        ids={meant.get("id", "key"): given},
        words=words,
        has_words=answer is not None or output is not None,
        beside=found,
    )


def _texts(parts: object) -> str | None:
    """Return a message's text, whether it is plain or in parts; thoughts are no part of it."""
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list):
        return None
    said = [
        part if isinstance(part, str) else part.get("text") or part.get("refusal")
        for part in parts
        if isinstance(part, str) or (isinstance(part, dict) and not _is_thought(part))
    ]
    return "".join(one for one in said if isinstance(one, str)) if parts else None


def _is_thought(part: Mapping[str, Any]) -> bool:
    return bool(part.get("thought")) or part.get("type") in ("thinking", "reasoning", "tool_use")


def _at(value: object, *path: str | int) -> Any:
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step in range(len(value)):
            value = value[int(step)]
        else:
            return None
    return value


def _why(error: object) -> str:
    """Return what a provider says went wrong, in a few words."""
    if isinstance(error, Mapping):
        inner = error.get("error")
        for said in (inner, error.get("code"), error.get("type"), error.get("message")):
            if isinstance(said, Mapping):
                return _why(said)
            if not missing(said):
                return str(said)[:60]
    return str(error)[:60]


def _choices(ids: Mapping[str, object], choices: object) -> Iterator[ModelOutput]:
    """Read the choices of a chat completion: several of them are several runs."""
    if not isinstance(choices, list) or not choices:
        yield ModelOutput(ids=ids, failed="no choices")
        return
    for n, choice in enumerate(choices, 1):
        message = _at(choice, "message")
        words = _texts(_at(message, "content"))
        refusal = _at(message, "refusal")
        filtered = _at(choice, "finish_reason") == FILTERED
        if missing(words):
            words = refusal if isinstance(refusal, str) else _at(choice, "text")
        yield ModelOutput(
            ids=ids,
            words=words,
            beside=_runs(n, choices) | {"finish": _at(choice, "finish_reason")},
            refused=not missing(refusal) or (filtered and missing(words)),
        )


def _runs(n: int, several: Sequence[object]) -> dict[str, object]:
    return {"run": n} if len(several) > 1 else {}


def _openai(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    ids = {"custom_id": value.get("custom_id")}
    body, status = _at(value, "response", "body"), _at(value, "response", "status_code")
    error = value.get("error") or _at(body, "error")
    if error or (isinstance(status, int) and status >= 400):
        yield ModelOutput(ids=ids, failed=_why(error or f"status {status}"))
    elif _at(body, "output") is not None:  # the Responses API
        parts = [
            part
            for one in body["output"]
            if _at(one, "type") == "message"
            for part in _at(one, "content") or []
        ]
        refused = any(_at(part, "type") == "refusal" for part in parts)
        why = _at(body, "incomplete_details", "reason")
        finish = why or (body.get("status") if isinstance(body, Mapping) else None)
        refused = refused or why == FILTERED
        yield ModelOutput(ids=ids, words=_texts(parts), beside={"finish": finish}, refused=refused)
    else:
        yield from _choices(ids, _at(body, "choices"))


def _anthropic(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    ids = {"custom_id": value.get("custom_id")}
    result = value.get("result")
    if _at(result, "type") != "succeeded":
        why = _why(_at(result, "error") or _at(result, "type"))
        yield ModelOutput(ids=ids, failed=why)
        return
    stop = _at(result, "message", "stop_reason")
    yield ModelOutput(
        ids=ids,
        words=_texts(_at(result, "message", "content")),
        beside={"finish": stop},
        refused=stop == "refusal",
    )


def _gemini(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    of = ("key", "custom_id", *ID_KEYS)
    ids = {key: value[key] for key in of if not missing(value.get(key))}
    error = value.get("error") or value.get("status")
    candidates = _at(value, "response", "candidates")
    blocked = _at(value, "response", "promptFeedback", "blockReason")
    if blocked:
        yield ModelOutput(ids=ids, refused=True)
    elif error or not candidates:
        yield ModelOutput(ids=ids, failed=_why(error or "no candidates"))
    else:
        for n, one in enumerate(candidates, 1):
            words = _texts(_at(one, "content", "parts"))
            finish = _at(one, "finishReason") or _at(one, "finish_reason")
            safety = finish in ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST")
            yield ModelOutput(
                ids=ids,
                words=words,
                beside=_runs(n, candidates) | {"finish": "MAX_TOKENS" if finish == 2 else finish},
                refused=safety and missing(words),
            )


def _inspect(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    """Read a sample of Inspect: an epoch is a run."""
    about = {f"metadata.{key}": _at(value, "metadata", key) for key in ID_KEYS[:2]}
    ids = {key: one for key, one in about.items() if not missing(one)} | {"id": value.get("id")}
    output, error = value.get("output"), value.get("error")
    words = _at(output, "completion")
    if missing(words):
        words = _texts(_at(output, "choices", 0, "message", "content"))
    stop = _at(output, "stop_reason") or _at(output, "choices", 0, "stop_reason")
    error = error or _at(output, "error")
    yield ModelOutput(
        ids=ids,
        words=words,
        beside={
            "run": value.get("epoch"),
            "condition": _at(value, "metadata", "condition"),
            "order": _at(value, "metadata", "shown_order"),
            "finish": "length" if _at(value, "limit", "type") == "token" else stop,
        },
        failed=_why(error) if error and missing(words) else "",
        refused=stop == FILTERED and missing(words),
    )


def _samples(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    """Read a sample of lm-eval or of lmms-eval: what was said, or how likely each option was."""
    doc = value.get("doc")
    inside = {f"doc.{key}": _at(doc, key) for key in ID_KEYS[:4]}
    ids = {key: one for key, one in inside.items() if not missing(one)}
    ids["doc_id"] = value.get("doc_id")
    told = {
        "condition": _at(doc, "condition"),
        "order": _at(doc, "shown_order"),
        "filter": value.get("filter"),
        "finish": finish_reason({key: one for key, one in value.items() if key != "doc"}),
    }
    given = value.get("resps")
    if missing(given):
        given = value.get("filtered_resps")
    likely = _likelihoods(given)
    if likely:
        yield ModelOutput(ids=ids, has_words=False, beside={**told, "probabilities": likely})
        return
    runs = given[0] if isinstance(given, list) and given else given
    several = runs if isinstance(runs, list) else [runs]
    for n, words in enumerate(several or [None], 1):
        beside_it = {**told, "run": n} if len(several) > 1 else told
        yield ModelOutput(ids=ids, words=words, beside=beside_it)


def _likelihoods(given: object) -> list[float] | None:
    """Return the options' probabilities, from the log-likelihoods that stand in for words."""
    if not isinstance(given, list) or len(given) < 2:
        return None
    found: list[float] = []
    for one in given:
        while isinstance(one, list) and len(one) == 1:
            one = one[0]
        if not (isinstance(one, list) and len(one) == 2):
            return None
        try:
            found.append(float(one[0]))
        except (TypeError, ValueError):
            return None
    weights = [math.exp(value - max(found)) for value in found]
    return [weight / math.fsum(weights) for weight in weights]
