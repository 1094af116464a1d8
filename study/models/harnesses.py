"""Reads the output files of evaluation harnesses, recognised by their content.

A `Shape` converts one record of a file into the model's outputs, one per run. It knows where a
harness stores IDs and outputs and how it records failed requests, but not items or options.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from study.models.answer_columns import is_medevalkit
from study.models.files import ID_KEYS, ColumnRoles, Records, extras_of, first_of
from study.models.finish_reasons import finish_reason
from study.tables.columns import plain_key
from study.tables.source import Record
from study.tables.values import is_missing

FILTERED = "content_filter"
"""Finish reason of an output that the provider's filter declined."""

_N_SAMPLED = 200
_FAILED_WORDS = "failed to obtain answer via api"  # written by VLMEvalKit instead of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutput:
    """A model's output for an item in one run, as it is in a file.

    Attributes
    ----------
    place : str
        The position in the file; set by the caller for a harness's file.
    ids : mapping of str to object
        Possible IDs of the item by the name of their field, the most certain first.
    words : object
        The model's text; None if there is none.
    has_words : bool
        Whether the record has a field for the text.
    extras : mapping of str to object
        Other values by role (`study.models.files.ROLES`).
    failed : str
        The reason for a failed request, if recorded.
    refused : bool
        Whether the provider reports that the model, or its filter, declined.
    """

    place: str = ""
    ids: Mapping[str, object]
    words: object = None
    has_words: bool = True
    extras: Mapping[str, object] = field(default_factory=dict)
    failed: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The format of a harness's files: its name, and a function that reads one record."""

    name: str
    read: Callable[[Mapping[str, Any]], Iterator[ModelOutput]]


def shape_of(source: Records) -> Shape | None:
    """Return the shape of a harness's file, or None for a plain table or list of records."""
    if source.format == "inspect":
        return Shape(name="Inspect log", read=_read_inspect)
    keys: Counter[str] = Counter()
    for record in source.records[:_N_SAMPLED]:
        if isinstance(record.value, dict):
            keys.update(list(record.value))
            if isinstance(record.value.get("response"), dict):
                keys.update(f"response.{key}" for key in record.value["response"])
    if "custom_id" in keys and "result" in keys:
        return Shape(name="Anthropic batch output", read=_read_anthropic)
    if "response.candidates" in keys or ("key" in keys and "response" in keys):
        return Shape(name="Gemini batch output", read=_read_gemini)
    if "custom_id" in keys and ("response" in keys or "error" in keys):
        return Shape(name="OpenAI batch output", read=_read_openai)
    if "doc_id" in keys and ("resps" in keys or "filtered_resps" in keys):
        # lmms-eval writes an input next to the document, but no filters or hashes.
        is_lmms = "filter" not in keys and ("input" in keys or "submission" in keys)
        return Shape(name="lmms-eval samples" if is_lmms else "lm-eval samples", read=_read_samples)
    return None


def format_name(source: Records) -> str:
    """Return the name of a plain file's format."""
    keys = {plain_key(column) for column in source.columns}
    if {"index", "prediction"} <= keys and ("question" in keys or "a" in keys):
        return f"VLMEvalKit {source.kind}" if source.kind != "JSON" else "VLMEvalKit JSON"
    if is_medevalkit(keys):
        return "MedEvalKit results"
    if source.format == "json" and "modelprediction" in keys:
        return "leaderboard submission"
    return source.kind


def read_plain(record: Record, words: Sequence[str]) -> ModelOutput:
    """Read a record with usual column names, or a record that is only an answer."""
    value = record.value
    if not isinstance(value, dict):
        return ModelOutput(
            place=record.place, ids={"key": record.key} if record.key else {}, words=value
        )
    has_words, answer = first_of(value, words)
    failed = isinstance(answer, str) and answer.strip().lower().startswith(_FAILED_WORDS)
    return ModelOutput(
        place=record.place,
        ids=_ids(record, value),
        words=answer,
        has_words=has_words,
        extras=extras_of(value, None),
        failed="no answer from the server" if failed else "",
    )


def _ids(record: Record, value: Mapping[str, Any]) -> dict[str, object]:
    if record.key:
        return {"key": record.key}
    by_plain_key = {plain_key(key): (key, field_value) for key, field_value in value.items()}
    fields = [by_plain_key[plain_key(key)] for key in ID_KEYS if plain_key(key) in by_plain_key]
    return {key: field_value for key, field_value in fields if not is_missing(field_value)}


def read_by_roles(record: Record, column_roles: ColumnRoles) -> ModelOutput:
    """Read a record by the roles that the user gave its columns."""
    value = record.value
    if not isinstance(value, dict):
        return ModelOutput(place=record.place, ids={}, has_words=False)
    extras = extras_of(value, column_roles)
    item_id = extras.get("id") if "id" in column_roles else record.key
    answer, output = extras.get("answer"), extras.get("output")
    words = output if is_missing(answer) else answer
    if not is_missing(answer) and not is_missing(output) and is_missing(extras.get("explanation")):
        extras["explanation"] = output
    return ModelOutput(
        place=record.place,
        ids={column_roles.get("id", "key"): item_id},
        words=words,
        has_words=answer is not None or output is not None,
        extras=extras,
    )


def _text_of(parts: object) -> str | None:
    """Return the text of a message, which may be in several parts, without the reasoning."""
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list):
        return None
    texts = [
        part if isinstance(part, str) else part.get("text") or part.get("refusal")
        for part in parts
        if isinstance(part, str) or (isinstance(part, dict) and not _is_thought(part))
    ]
    return "".join(text for text in texts if isinstance(text, str)) if parts else None


def _is_thought(part: Mapping[str, Any]) -> bool:
    return bool(part.get("thought")) or part.get("type") in ("thinking", "reasoning", "tool_use")


def _value_at(value: object, *path: str | int) -> Any:
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step in range(len(value)):
            value = value[int(step)]
        else:
            return None
    return value


def _error_text(error: object) -> str:
    """Return a provider's error in a few words."""
    if isinstance(error, Mapping):
        inner = error.get("error")
        for detail in (inner, error.get("code"), error.get("type"), error.get("message")):
            if isinstance(detail, Mapping):
                return _error_text(detail)
            if not is_missing(detail):
                return str(detail)[:60]
    return str(error)[:60]


def _read_choices(ids: Mapping[str, object], choices: object) -> Iterator[ModelOutput]:
    """Read the choices of a chat completion; each choice is a run."""
    if not isinstance(choices, list) or not choices:
        yield ModelOutput(ids=ids, failed="no choices")
        return
    for n, choice in enumerate(choices, 1):
        message = _value_at(choice, "message")
        words = _text_of(_value_at(message, "content"))
        refusal = _value_at(message, "refusal")
        is_filtered = _value_at(choice, "finish_reason") == FILTERED
        if is_missing(words):
            words = refusal if isinstance(refusal, str) else _value_at(choice, "text")
        yield ModelOutput(
            ids=ids,
            words=words,
            extras=_run_number(n, choices) | {"finish": _value_at(choice, "finish_reason")},
            refused=not is_missing(refusal) or (is_filtered and is_missing(words)),
        )


def _run_number(n: int, candidates: Sequence[object]) -> dict[str, object]:
    return {"run": n} if len(candidates) > 1 else {}


def _read_openai(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    ids = {"custom_id": value.get("custom_id")}
    body, status = _value_at(value, "response", "body"), _value_at(value, "response", "status_code")
    error = value.get("error") or _value_at(body, "error")
    if error or (isinstance(status, int) and status >= 400):
        yield ModelOutput(ids=ids, failed=_error_text(error or f"status {status}"))
    elif _value_at(body, "output") is not None:  # the Responses API
        parts = [
            part
            for output in body["output"]
            if _value_at(output, "type") == "message"
            for part in _value_at(output, "content") or []
        ]
        refused = any(_value_at(part, "type") == "refusal" for part in parts)
        reason = _value_at(body, "incomplete_details", "reason")
        finish = reason or (body.get("status") if isinstance(body, Mapping) else None)
        refused = refused or reason == FILTERED
        yield ModelOutput(
            ids=ids, words=_text_of(parts), extras={"finish": finish}, refused=refused
        )
    else:
        yield from _read_choices(ids, _value_at(body, "choices"))


def _read_anthropic(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    ids = {"custom_id": value.get("custom_id")}
    result = value.get("result")
    if _value_at(result, "type") != "succeeded":
        reason = _error_text(_value_at(result, "error") or _value_at(result, "type"))
        yield ModelOutput(ids=ids, failed=reason)
        return
    stop = _value_at(result, "message", "stop_reason")
    yield ModelOutput(
        ids=ids,
        words=_text_of(_value_at(result, "message", "content")),
        extras={"finish": stop},
        refused=stop == "refusal",
    )


def _read_gemini(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    id_keys = ("key", "custom_id", *ID_KEYS)
    ids = {key: value[key] for key in id_keys if not is_missing(value.get(key))}
    error = value.get("error") or value.get("status")
    candidates = _value_at(value, "response", "candidates")
    block_reason = _value_at(value, "response", "promptFeedback", "blockReason")
    if block_reason:
        yield ModelOutput(ids=ids, refused=True)
    elif error or not candidates:
        yield ModelOutput(ids=ids, failed=_error_text(error or "no candidates"))
    else:
        for n, candidate in enumerate(candidates, 1):
            words = _text_of(_value_at(candidate, "content", "parts"))
            finish = _value_at(candidate, "finishReason") or _value_at(candidate, "finish_reason")
            is_filtered = finish in ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST")
            yield ModelOutput(
                ids=ids,
                words=words,
                extras=_run_number(n, candidates)
                | {"finish": "MAX_TOKENS" if finish == 2 else finish},
                refused=is_filtered and is_missing(words),
            )


def _read_inspect(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    """Read a sample of an Inspect log; an epoch is a run."""
    metadata = {f"metadata.{key}": _value_at(value, "metadata", key) for key in ID_KEYS[:2]}
    ids = {
        key: field_value for key, field_value in metadata.items() if not is_missing(field_value)
    } | {"id": value.get("id")}
    output, error = value.get("output"), value.get("error")
    words = _value_at(output, "completion")
    if is_missing(words):
        words = _text_of(_value_at(output, "choices", 0, "message", "content"))
    stop = _value_at(output, "stop_reason") or _value_at(output, "choices", 0, "stop_reason")
    error = error or _value_at(output, "error")
    yield ModelOutput(
        ids=ids,
        words=words,
        extras={
            "run": value.get("epoch"),
            "condition": _value_at(value, "metadata", "condition"),
            "order": _value_at(value, "metadata", "shown_order"),
            "finish": "length" if _value_at(value, "limit", "type") == "token" else stop,
        },
        failed=_error_text(error) if error and is_missing(words) else "",
        refused=stop == FILTERED and is_missing(words),
    )


def _read_samples(value: Mapping[str, Any]) -> Iterator[ModelOutput]:
    """Read a sample of lm-eval or lmms-eval: texts, or the options' log-likelihoods."""
    doc = value.get("doc")
    doc_ids = {f"doc.{key}": _value_at(doc, key) for key in ID_KEYS[:4]}
    ids = {key: field_value for key, field_value in doc_ids.items() if not is_missing(field_value)}
    ids["doc_id"] = value.get("doc_id")
    extras = {
        "condition": _value_at(doc, "condition"),
        "order": _value_at(doc, "shown_order"),
        "filter": value.get("filter"),
        "finish": finish_reason(
            {key: field_value for key, field_value in value.items() if key != "doc"}
        ),
    }
    responses = value.get("resps")
    if is_missing(responses):
        responses = value.get("filtered_resps")
    probabilities = _probabilities_of(responses)
    if probabilities:
        yield ModelOutput(
            ids=ids, has_words=False, extras={**extras, "probabilities": probabilities}
        )
        return
    runs = responses[0] if isinstance(responses, list) and responses else responses
    texts = runs if isinstance(runs, list) else [runs]
    for n, words in enumerate(texts or [None], 1):
        run_extras = {**extras, "run": n} if len(texts) > 1 else extras
        yield ModelOutput(ids=ids, words=words, extras=run_extras)


def _probabilities_of(responses: object) -> list[float] | None:
    """Return the options' probabilities if the responses are log-likelihoods, otherwise None."""
    if not isinstance(responses, list) or len(responses) < 2:
        return None
    log_likelihoods: list[float] = []
    for response in responses:
        while isinstance(response, list) and len(response) == 1:
            response = response[0]
        if not (isinstance(response, list) and len(response) == 2):
            return None
        try:
            log_likelihoods.append(float(response[0]))
        except (TypeError, ValueError):
            return None
    weights = [math.exp(value - max(log_likelihoods)) for value in log_likelihoods]
    return [weight / math.fsum(weights) for weight in weights]
