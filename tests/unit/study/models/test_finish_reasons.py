"""Outputs that were cut off at a token limit are unparsed, for the formats of all harnesses."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from study.models.finish_reasons import is_cut_off
from study.models.predictions import predict, read_predictions

OPTIONS = ("Pneumothorax", "Pleural effusion", "Cardiomegaly", "No acute finding")
ITEMS = {"q1": OPTIONS}


def _openai_record(reason: object) -> dict[str, Any]:
    choice = {"message": {"content": "Answer: B"}, "finish_reason": reason}
    return {"custom_id": "q1", "response": {"status_code": 200, "body": {"choices": [choice]}}}


def _openai_responses_record(status: str, reason: str | None) -> dict[str, Any]:
    body = {
        "status": status,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Answer: B"}]}],
    }
    return {"custom_id": "q1", "response": {"status_code": 200, "body": body}}


def _anthropic_record(reason: str) -> dict[str, Any]:
    message = {"content": [{"type": "text", "text": "Answer: B"}], "stop_reason": reason}
    return {"custom_id": "q1", "result": {"type": "succeeded", "message": message}}


def _gemini_record(reason: object) -> dict[str, Any]:
    candidate = {"content": {"parts": [{"text": "Answer: B"}]}, "finishReason": reason}
    return {"key": "q1", "response": {"candidates": [candidate]}}


def _lm_eval_record(**more: object) -> dict[str, Any]:
    return {
        "doc_id": 0,
        "doc": {"item_id": "q1"},
        "resps": [["Answer: B"]],
        "filter": "none",
        **more,
    }


def _inspect_record(reason: str, **more: object) -> dict[str, Any]:
    output = {"completion": "Answer: B", "stop_reason": reason}
    sample = {"id": "q1", "epoch": 1, "output": output, **more}
    return {"version": 2, "status": "success", "samples": [sample]}


def _plain_record(**more: object) -> dict[str, Any]:
    return {"item_id": "q1", "output": "Answer: B", **more}


LIMIT_REACHED = {"max_new_tokens": 16, "usage": {"output_tokens": 16}}
LIMIT_NOT_REACHED = {"max_new_tokens": 16, "usage": {"output_tokens": 15}}

CUT_OFF = {
    "OpenAI chat": _openai_record("length"),
    "OpenAI responses": _openai_responses_record("incomplete", "max_output_tokens"),
    "OpenAI responses without a reason": _openai_responses_record("incomplete", None),
    "Anthropic": _anthropic_record("max_tokens"),
    "Anthropic context window": _anthropic_record("model_context_window_exceeded"),
    "stopped by a filter": _plain_record(finish_reason="content_filter"),
    "Gemini": _gemini_record("MAX_TOKENS"),
    "Gemini as a number": _gemini_record(2),
    "Gemini with its prefix": _gemini_record("FinishReason.MAX_TOKENS"),
    "Inspect": _inspect_record("max_tokens"),
    "Inspect context": _inspect_record("model_length"),
    "Inspect sample limit": _inspect_record("stop", limit={"type": "token", "limit": 100}),
    "lm-eval": _lm_eval_record(finish_reason="length"),
    "lmms-eval": _lm_eval_record(input="x", token_counts=[{"output_tokens": 8}], max_new_tokens=8),
    "VLMEvalKit": {
        "index": "q1",
        "question": "?",
        "prediction": "Answer: B",
        "finish_reason": "length",
    },
    "vLLM": _plain_record(finish_reason="length", stop_reason=None),
    "our run": _plain_record(stop="max_tokens"),
    "a word before": _plain_record(finish_reason="stop: length"),
    "Hugging Face": _plain_record(details={"finish_reason": "length"}),
    "SGLang": _plain_record(meta_info={"finish_reason": {"type": "length", "length": 16}}),
    "Ollama": _plain_record(done_reason="length"),
    "Mistral": _plain_record(finish_reason="model_length"),
    "vLLM list of reasons": _plain_record(finish_reasons=["length"]),
    "one reason in a list": _plain_record(finish_reason=["stop", "length"]),
    "OpenAI finish details": _plain_record(finish_details={"type": "max_tokens"}),
    "OpenAI incomplete details": _plain_record(incomplete_details={"reason": "max_output_tokens"}),
    "a flag": _plain_record(truncated=True),
    "incomplete": _plain_record(finish_reason="incomplete"),
    **{
        f"{key} {value}": _plain_record(**{key: value})
        for key, value in [
            *[("status", "incomplete"), ("status", "max_tokens"), ("eos", False), ("eos", "false")],
            *[("finished", False), ("is_finished", "no"), ("complete", False), ("done", False)],
            *[("finish_reason", 2), ("finishReason", "2"), ("truncated", 1), ("truncated", "1")],
            *[("was_truncated", True), ("output_truncated", "yes"), ("incomplete", True)],
            *[("hit_limit", True), ("hit_max_tokens", True), ("reached_max_length", True)],
            *[("max_tokens_reached", "True"), ("eos_reached", False), ("hit_eos", 0)],
            *[("finish_reason", "exceeded token budget"), ("finish_reason", "too_long")],
            *[("finish_reason", "limit_reached"), ("finish_reason", "abort")],
            *[("finish_reason", "timeout"), ("stop_reason", "error")],
        ]
    },
    "tokens at the limit": _plain_record(**LIMIT_REACHED),
}
FINISHED = {
    "OpenAI chat": _openai_record("stop"),
    "no reason": _openai_record(None),
    "OpenAI responses": _openai_responses_record("completed", None),
    "Anthropic": _anthropic_record("end_turn"),
    "Anthropic stop sequence": _anthropic_record("stop_sequence"),
    "Gemini": _gemini_record("STOP"),
    "Inspect": _inspect_record("stop"),
    "lm-eval": _lm_eval_record(),
    "plain": _plain_record(finish_reason="stop"),
    "list of reasons": _plain_record(finish_reasons=["stop"]),
    "OpenAI finish details": _plain_record(
        finish_details={"type": "stop", "stop_tokens": [100260]}
    ),
    "list of stop sequences": _plain_record(stop=["\n"]),
    **{
        f"{key} {value}": _plain_record(**{key: value})
        for key, value in [
            *[("truncated", False), ("truncated", "0"), ("eos", True), ("finished", 1)],
            *[("status", "success"), ("status", "completed"), ("finish_reason", 1)],
            *[("finish_reason", "1"), ("finish_reason", "eos_token"), ("done", "yes")],
            *[("hit_limit", False), ("stopped_eos", False), ("n_done", 0)],
        ]
    },
    "tokens below the limit": _plain_record(**LIMIT_NOT_REACHED),
    "finished at the limit": _plain_record(finish_reason="stop", **LIMIT_REACHED),
}


def _status(tmp_path: Path, record: Mapping[str, Any]) -> tuple[str | None, str, str | None]:
    path = tmp_path / ("log.json" if "samples" in record else "answers.jsonl")
    path.write_text(json.dumps(record) + "\n")
    (prediction,) = read_predictions(path, options=ITEMS).predictions
    return prediction.answer, prediction.status, prediction.detail.get("reason")


@pytest.mark.parametrize("harness", CUT_OFF)
def test_a_cut_off_output_is_unparsed_even_if_it_names_a_letter(
    tmp_path: Path, harness: str
) -> None:
    assert _status(tmp_path, CUT_OFF[harness]) == (None, "unparsed", "cut off")


@pytest.mark.parametrize("harness", FINISHED)
def test_a_finished_output_is_read(tmp_path: Path, harness: str) -> None:
    assert _status(tmp_path, FINISHED[harness]) == ("B", "answered", None)


def test_the_column_of_the_finish_reason_can_be_specified(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("case,reply,why\nq1,Answer: B,length\n")
    column_roles = {"id": "case", "output": "reply", "finish": "why"}
    (prediction,) = read_predictions(path, options=ITEMS, column_roles=column_roles).predictions
    assert (prediction.status, prediction.detail["reason"]) == ("unparsed", "cut off")


def test_a_note_states_the_number_of_cut_off_outputs(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record = _plain_record(finish_reason="length")
    path.write_text(json.dumps(record) + "\n")
    notes = read_predictions(path, options=ITEMS).notes
    assert "1 output was cut off and is unparsed" in notes
    path.write_text("".join(json.dumps({**record, "run": run}) + "\n" for run in (1, 2)))
    notes = read_predictions(path, options=ITEMS).notes
    assert "2 outputs were cut off and are unparsed" in notes


@pytest.mark.parametrize("empty", ["", " \n", None])
def test_an_empty_output_with_a_finish_reason_is_unparsed(empty: str | None) -> None:
    """Without a finish reason, an empty output counts as skipped."""
    finished = predict("q1", empty, OPTIONS, finish="stop")
    assert (finished.status, finished.detail["reason"]) == ("unparsed", "empty output")
    assert predict("q1", empty, OPTIONS).status == "skipped"
    assert predict("q1", empty, OPTIONS, finish="length").detail["reason"] == "cut off"


def test_reasoning_that_does_not_end_counts_as_cut_off() -> None:
    unfinished = predict("q1", "<think>The answer is B. Let me", OPTIONS)
    assert (unfinished.status, unfinished.detail["reason"]) == ("unparsed", "cut off")


@pytest.mark.parametrize("reason", ["stop", "end_turn", "STOP", "eos", "", None, 1, True, {}, []])
def test_outputs_with_other_finish_reasons_do_not_count_as_cut_off(reason: object) -> None:
    assert not is_cut_off(reason)
