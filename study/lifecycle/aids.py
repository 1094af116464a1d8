"""Prepares the aid of a study when it is opened: the model's answers as readers will see them.

Some correct answers may be replaced by wrong ones (planted errors). See `docs/designs.md`.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from study.base.bank_model import LETTERS
from study.base.canonical import canonical_json, random_key, sha256_of, shuffled
from study.base.errors import NotNow
from study.base.text import did_you_mean
from study.base.translation import t, tn
from study.protocol.blocks import divide_by_weight
from study.protocol.protocol import Protocol, stored_protocol
from study.store import Transaction, aids, banks, models, studies
from study.store.aids import AidRow
from study.store.models import ModelRow, PredictionRow
from study.store.studies import CaseRow, StudyRow


def planned_aids(look: Transaction, study: StudyRow) -> list[AidRow]:
    """Return the aids of a study as they will be shown; empty if no condition is aided.

    Raises
    ------
    NotNow
        The study cannot be opened: the model or some of its answers are missing, or too few of them
        are correct for the planted errors.
    """
    protocol = stored_protocol(study)
    if not protocol.is_aided:
        return []
    model = aid_model(look, study, protocol)
    answers = models.primary_answers(look, model.id)
    cases = studies.cases(look, study.id)
    _refuse_missing(cases, answers, protocol)
    wrong = _planted_errors(look, study, cases, answers, protocol)
    return [
        _shown_aid(case, answers[case.item_id], wrong.get(case.item_id), protocol)
        for case in cases
        if case.item_id in answers
    ]


def aid_model(look: Transaction, study: StudyRow, protocol: Protocol) -> ModelRow:
    """Return the model whose answers are shown, or refuse the opening."""
    known = {row.model_id: row for row in models.of_study(look, study.id)}
    row = known.get(protocol.aid_model)
    if row is None:
        raise NotNow(
            t(
                "aid_model = {model}, but the study {study} has no such model. Add its predictions "
                "before the opening, on the page Models or with: python -m study models add.",
                model=protocol.aid_model,
                study=study.name,
            )
            + did_you_mean(protocol.aid_model, list(known))
        )
    return row


def opening_facts(look: Transaction, study: StudyRow) -> dict[str, Any]:
    """Return what the opening event records about the model; empty without a model."""
    name = stored_protocol(study).aid_model
    rows = [row for row in models.of_study(look, study.id) if row.model_id == name]
    return {"aid_model": {"model_id": name, "edition": rows[0].edition}} if rows else {}


def example_aids(look: Transaction, study: StudyRow) -> list[AidRow]:
    """Return example aids for the preview of a study; empty if no condition is aided."""
    protocol = stored_protocol(study)
    if not protocol.is_aided:
        return []
    words = t("This is an example; in the study the model's own words are shown here.")
    box = {"view": 0, "x": 0.3, "y": 0.3, "width": 0.2, "height": 0.2, "label": t("example")}
    example = PredictionRow(
        item_id="",
        answer="A",
        status="answered",
        raw_answer="",
        condition="",
        run="",
        repeat=1,
        confidence=0.5,
        detail=canonical_json({"explanation": words, "boxes": [box]}),
    )
    return [_shown_aid(case, example, None, protocol) for case in studies.cases(look, study.id)]


def sealed_hashes(look: Transaction, study: int, salt: str) -> dict[str, str]:
    """Return the hashes of a study's aids and wrong images, if it has any."""
    rows = {
        "aids_sha256": [[item_id, *row[1:]] for item_id, row in aids.of_study(look, study)],
        "wrong_images_sha256": studies.wrong_images(look, study),
    }
    return {name: sha256_of([salt, contents]) for name, contents in rows.items() if contents}


def _refuse_missing(
    cases: Sequence[CaseRow], answers: Mapping[str, PredictionRow], protocol: Protocol
) -> None:
    missing = [case.item_id for case in cases if case.item_id not in answers]
    if missing and protocol.aid_missing == "refuse":
        raise NotNow(
            tn(
                "aid_model = {model} has no answer for {n} case ({examples}). Add its predictions "
                'again with all cases, or draw the study with aid_missing = "say".',
                "aid_model = {model} has no answer for {n} cases, such as {examples}. Add its "
                'predictions again with all cases, or draw the study with aid_missing = "say".',
                len(missing),
                model=protocol.aid_model,
                examples=", ".join(missing[:3]),
            )
        )


def _planted_errors(
    look: Transaction,
    study: StudyRow,
    cases: Sequence[CaseRow],
    answers: Mapping[str, PredictionRow],
    protocol: Protocol,
) -> dict[str, str]:
    """Return the wrong answers that replace correct ones, by item, in proportion to the strata."""
    if not protocol.aid_errors:
        return {}
    truths = {row.item_id: row.truth for row in banks.items_of_study(look, study.id)}
    correct: dict[str, list[str]] = {}
    n_options = {case.item_id: len(json.loads(case.options)) for case in cases}
    for case in cases:
        answer = answers.get(case.item_id)
        if answer is not None and answer.answer == truths.get(case.item_id):
            correct.setdefault(case.stratum, []).append(case.item_id)
    sizes = Counter({stratum: len(items) for stratum, items in correct.items()})
    if sizes.total() < protocol.aid_errors:
        raise NotNow(
            t(
                "aid_errors = {n}, but aid_model = {model} has only {correct} correct answers. "
                "Draw the study with fewer aid_errors.",
                n=protocol.aid_errors,
                model=protocol.aid_model,
                correct=sizes.total(),
            )
        )
    seed = protocol.seed
    parts = divide_by_weight(sizes, protocol.aid_errors, seed=seed, purpose="aid error share")
    return {
        item_id: min(
            (letter for letter in LETTERS[: n_options[item_id]] if letter != truths[item_id]),
            key=lambda letter: random_key(f"{item_id}/{letter}", seed=seed, purpose="wrong aid"),
        )
        for stratum, items in correct.items()
        for item_id in shuffled(items, seed=seed, purpose="aid error")[: parts[stratum]]
    }


def _shown_aid(
    case: CaseRow, prediction: PredictionRow, wrong: str | None, protocol: Protocol
) -> AidRow:
    """Return the parts of an answer that the protocol shows."""
    shows, detail = protocol.aid_shows, json.loads(prediction.detail)
    return AidRow(
        case_id=case.id,
        answer=wrong or prediction.answer if "answer" in shows else None,
        confidence=prediction.confidence if "confidence" in shows else None,
        explanation=detail.get("explanation", "") if "explanation" in shows else "",
        boxes=canonical_json(detail.get("boxes", []) if "boxes" in shows else []),
        map=canonical_json(detail.get("map", []) if "map" in shows else []),
        planted=int(wrong is not None),
    )
