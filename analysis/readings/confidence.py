"""The meaning of confidence ratings, as stated by the bundle or an option, never inferred."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from analysis.bundle.model import Bundle
from analysis.options import Options
from analysis.translation import later, t, translated


class Meaning(StrEnum):
    """The meaning of a confidence rating."""

    ANSWER = "answer"
    FINDING = "finding"


MEANING_WORDS = {
    Meaning.ANSWER: later("how sure the rater is of the answer"),
    Meaning.FINDING: later("a rating of the finding"),
}
NOT_STATED = later("nothing says what confidence means; --confidence answer changes it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """The assumed meaning of confidence, and where it comes from.

    Parameters
    ----------
    meaning : Meaning
        The meaning.
    origin : str
        The origin of the meaning in words; empty if the bundle states the meaning.
    """

    meaning: Meaning = Meaning.FINDING
    origin: str = NOT_STATED


def confidence_of(options: Options, bundle: Bundle) -> Confidence:
    """Return the meaning of confidence from the options, or else from the bundle.

    If neither states it, confidence is taken to rate the finding, as in studies with ROC curves.

    Parameters
    ----------
    options : Options
        The options of the run.
    bundle : Bundle
        The checked tables.

    Returns
    -------
    Confidence
        The meaning, which does not depend on the values of the ratings.

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
        words = translated(MEANING_WORDS[Meaning(stated)])
        origin = t("chosen at analysis; the bundle says {meaning}", meaning=words)
        return Confidence(meaning=Meaning(options.confidence), origin=origin)
    if stated:
        return Confidence(meaning=Meaning(stated), origin="")
    if options.confidence:
        return Confidence(meaning=Meaning(options.confidence), origin=t("given at analysis"))
    return Confidence()


def meaning_words(confidence: Confidence) -> str:
    """Return the assumed meaning of confidence with its origin, in words."""
    meaning = translated(MEANING_WORDS[confidence.meaning])
    if not confidence.origin:
        return meaning
    return t("{meaning} ({origin})", meaning=meaning, origin=translated(confidence.origin))
