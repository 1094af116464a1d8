"""Makes synthetic models: predictions with a given accuracy, chosen by a seed."""

import json
from collections.abc import Mapping

from study.base.actor import Acting
from study.base.bank_model import LETTERS
from study.base.canonical import random_key, sha256_of, shuffled
from study.base.errors import BadInput
from study.base.translation import t
from study.models.models import StudyPredictions, keep_model
from study.models.predictions import Prediction, PredictionFile
from study.protocol.blocks import by_stratum, divide_by_weight
from study.store import Store, banks, studies
from study.store.studies import CaseRow, study_row

SOURCE = "synthetic"


def add_synthetic(
    store: Store, *, study: str, model_id: str, accuracy: float, seed: int, acting: Acting
) -> int:
    """Add a model with synthetic predictions to a study, and return the number of correct ones.

    The proportion `accuracy` of the cases with a reference standard, rounded, is correct,
    distributed over strata. The seed determines the correct cases and the wrong options. Confidence
    is higher for correct answers, with overlap.

    Raises
    ------
    BadInput
        `accuracy` is not between 0 and 1, or the name is not valid.
    NotNow
        The study has a model or a reader of that name.
    """
    if not 0 <= accuracy <= 1:
        raise BadInput(t("accuracy = {value}: must be from 0 to 1.", value=accuracy))
    with store.look() as look:
        row = study_row(look, study)
        cases = studies.cases(look, row.id)
        truths = {item.item_id: item.truth for item in banks.items_of_study(look, row.id)}
    strata = {case.item_id: case.stratum for case in cases if truths[case.item_id]}
    correct = _correct_items(strata, accuracy, seed)
    predictions = tuple(
        _prediction(case, truths[case.item_id], correct=case.item_id in correct, seed=seed)
        for case in cases
    )
    model = StudyPredictions(
        study=study,
        source_name=SOURCE,
        file=PredictionFile(
            shape=SOURCE,
            n_rows=len(predictions),
            columns=(),
            sha256=sha256_of(
                [
                    [prediction.item_id, prediction.answer, prediction.confidence]
                    for prediction in predictions
                ]
            ),
            predictions=predictions,
            unknown_ids=(),
            notes=(),
        ),
        options={case.item_id: tuple(json.loads(case.options)) for case in cases},
    )
    keep_model(
        store,
        model,
        model_id=model_id,
        model_version=f"synthetic, accuracy {accuracy:g}, seed {seed}",
        simulated=True,
        synthetic=True,
        acting=acting,
    )
    return len(correct)


def _correct_items(strata: Mapping[str, str], accuracy: float, seed: int) -> set[str]:
    """Choose the items to be answered correctly, in proportion to the size of each stratum."""
    groups = by_stratum(strata)
    sizes = {name: len(items) for name, items in groups.items()}
    if not sizes:
        return set()
    n_correct = divide_by_weight(
        sizes, round(accuracy * len(strata)), seed=seed, purpose="synthetic share"
    )
    return {
        item_id
        for name, items in groups.items()
        for item_id in shuffled(items, seed=seed, purpose="synthetic")[: n_correct[name]]
    }


def _prediction(case: CaseRow, truth: str | None, *, correct: bool, seed: int) -> Prediction:
    letters = LETTERS[: len(json.loads(case.options))]
    others = [letter for letter in letters if letter != truth]
    wrong = min(
        others,
        key=lambda letter: random_key(f"{case.item_id}/{letter}", seed=seed, purpose="wrong"),
    )
    answer = truth if correct and truth else wrong
    uniform = int(random_key(case.item_id, seed=seed, purpose="confidence")[:8], 16) / 16**8
    return Prediction(
        item_id=case.item_id,
        answer=answer,
        status="answered",
        raw_answer=answer,
        confidence=round((0.55 if correct else 0.35) + 0.4 * uniform, 2),
    )
