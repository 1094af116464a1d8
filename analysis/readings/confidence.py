"""The meaning of a confidence: stated by the bundle or an option, never inferred from numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.translation import later, t, translated


class Meaning(StrEnum):
    """The meaning of a confidence."""

    ANSWER = "answer"
    FINDING = "finding"


WORDS = {
    Meaning.ANSWER: later("how sure the rater is of the answer"),
    Meaning.FINDING: later("a rating of the finding"),
}
NOT_STATED = later("nothing says what confidence means; --confidence answer changes it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """The assumed meaning of confidence.

    Parameters
    ----------
    meaning : Meaning
        The meaning.
    origin : str
        Origin of the meaning as text; empty if the bundle states it.
    """

    meaning: Meaning = Meaning.FINDING
    origin: str = NOT_STATED


def confidence_of(options: Options, bundle: Bundle) -> Confidence:
    """Return the assumed meaning of confidence: that of the options, else that of the bundle.

    Where neither states it, confidence rates the finding, as in studies of ROC curves.

    Parameters
    ----------
    options : Options
        The options of the run.
    bundle : Bundle
        The checked tables.

    Returns
    -------
    Confidence
        It does not depend on the values of the ratings.

    Examples
    --------
    >>> import pandas as pd
    >>> from analysis.bundle import bundle_from_tables
    >>> bundle = bundle_from_tables(
    ...     pd.DataFrame({"item_id": ["q1"]}),
    ...     pd.DataFrame({"rater_id": ["R1"], "item_id": ["q1"], "answer": ["A"]}),
    ... )
    >>> confidence_of(Options(), bundle).meaning.value
    'finding'
    >>> confidence_of(Options(confidence="answer"), bundle)
    Confidence(meaning=<Meaning.ANSWER: 'answer'>, origin='given at analysis')
    """
    stated = bundle.confidence_means
    if options.confidence and stated not in ("", options.confidence):
        words = translated(WORDS[Meaning(stated)])
        origin = t("chosen at analysis; the bundle says {meaning}", meaning=words)
        return Confidence(meaning=Meaning(options.confidence), origin=origin)
    if stated:
        return Confidence(meaning=Meaning(stated), origin="")
    if options.confidence:
        return Confidence(meaning=Meaning(options.confidence), origin=t("given at analysis"))
    return Confidence()


def meaning_words(confidence: Confidence) -> str:
    """Return the assumed meaning of confidence with its origin, in words."""
    meaning = translated(WORDS[confidence.meaning])
    if not confidence.origin:
        return meaning
    return t("{meaning} ({origin})", meaning=meaning, origin=translated(confidence.origin))
