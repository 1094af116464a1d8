"""Checks that every word around an answer is known, so that unknown wordings are rejected.

The vocabulary of image findings is unlimited; the vocabulary for stating an answer is small.
Reasons and findings may contain any word. Every other word around an answer must be in a table of
`answer_words.toml`.
"""

import re
from collections.abc import Sequence

from study.models.answer_clauses import Sentence, clauses
from study.models.answer_mentions import LABEL, LETTER, TEXT
from study.models.answer_words import MENTION, cue, pattern

_KNOWN_WORDS = pattern(
    r"{right}|{affirmed}|{forced}|{leads}|{conclude}|{shows}|{choose}|{fits}|{second_thought}"
    r"|{retraction}|{filler}|{noun}|{modifier}|{be}|{plain}|{yes}"
)
_OTHER_SCRIPT = re.compile(
    r"[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
    r"(?:[A-Z]{2,5}(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]))?"
)
"""Words in Cyrillic, Chinese, Japanese or Korean, and an abbreviation such as CT among them."""
_WORD = re.compile(r"[^\W_\ue000-\ue0ff]")
_OWN_TEXT = re.compile(f"{TEXT}|{LABEL}")
_EVIDENCE = pattern(r"{leads}|{shows}|\bwould be\b")
_LEADS = pattern(r"{leads}")
_DEFINITE = cue("definite")
_NO_FINDING = cue("not_a_finding")
_REASON = cue("reason_begins")
_HYPOTHETICAL = pattern(r"\bwould\b|\b(?:i|it|that|he|she)'d\b")
_CIRCUMSTANCE = cue("circumstance")
_FITS = pattern(r"\A\W*(?:[\w']+ly\W+|would\W+)?(?:(?:best|most \w+|better)\W+)?{fits}")
_IS_SEEN = cue("is_seen")
_LIKELY_CAUSE = cue("likely_cause")
_PLACE = cue("place")
_BE = pattern(r"\W*(?:[\w()-]+\W+)?{be}")
_IMAGE_VERB = pattern(r"\A\W*(?:{image_noun}\W+)?(?:{image_verb}|shows? an?\b)")
_VERB_AFTER = pattern(r"\W*(?:[\w()-]+\W+){0,2}?(?:{fits}|{shows})")
_HEADING = cue("heading")
_LABEL = re.compile(LABEL)
_PREPOSITION_AT_END = re.compile(
    r"\b(?:in|at|within|on|over|behind)\W+(?:the\W+)?\Z", re.IGNORECASE
)
_ABOUT_IMAGE = re.compile(
    r"\W*(?:in|on (?:this|these|the (?:image|film|x-?ray))|for|given|based|of|that|which|from"
    r"|considering|here|seen|shown)\b",
    re.I,
)
_NO_ADJECTIVES = cue("no_adjectives")
_OBJECT = re.compile(r"\b(?:the|this|these|all|both|here)\b", re.IGNORECASE)
_FITS_OBJECT = cue("fits_object")
_INTRANSITIVE = re.compile(r"\W*(?:wins|holds|stands|applies|prevails|it)\b", re.IGNORECASE)
_OPENS_TOPIC = cue("opens_topic")
_IS_A = cue("is_a")
_FITTING = cue("fitting")
_ARTICLE = re.compile(r"(?<!\u00e9 )\ban?\s+\Z", re.IGNORECASE)
_DEFINED = cue("defined")
_DEFINES = cue("defines_option")
_ONLY_IN = re.compile(r"\W*(?:only|just)\b", re.IGNORECASE)
_PURPOSE = re.compile(
    r"(?<!like )(?<!want )(?<!need )(?<!have )(?<!had )(?<!going )\bto\W+\Z", re.IGNORECASE
)
_UNJUDGED = cue("unjudged")
_ALL_BUT = cue("all_but")
_OTHERS_ANSWER = cue("others_answer")
_SPILL = cue("spill")
_CONDITION = pattern(r"{condition}")
_TURNS = cue("turns")
_OPTIONS_FOLLOW = pattern(r":\s*{M}")
_RETRACTS = cue("retracts")
_COMMENT = cue("comment")
_KNOWN_COMMENT = cue("known_comment")
_DESCRIBES = cue("describes")
_SOURCE_OF_ANSWER = cue("source_of_answer")
_ABOUT_ANSWER = cue("about_answer")


def is_plain(parts: Sequence[Sentence], n: int, place: int) -> bool:
    """Return whether all words around the mention at a position state it as the answer.

    Parameters
    ----------
    parts : sequence of Sentence
        The sentences of the text.
    n : int
        Index of the sentence that mentions the option.
    place : int
        Position of the mention in the marked text.
    """
    part, previous = parts[n], parts[n - 1].text if n else ""
    at = place - part.place
    rest = part.text[at + 1 :]
    if (_SPILL.match(part.text) and _CONDITION.search(previous)) or (
        rest.startswith(":") and is_unknown_comment(rest[1:])
    ):
        return False
    if _OTHERS_ANSWER.search(part.text[:at]):
        return False
    if _OWN_TEXT.match(part.text[at:]) and _UNJUDGED.search(part.text):
        return False
    for clause in clauses(part):
        end = clause.place + len(clause.text)
        if end <= at:
            first = part.text[: clause.place].rstrip()[-1:] != ","
            if first and _CIRCUMSTANCE.match(clause.text) and has_unknown_words(clause.text):
                return False
        elif clause.place > at:
            heads = _OPTIONS_FOLLOW.match(part.text, end) is not None
            if (_TURNS.match(clause.text) and not heads) or _RETRACTS.match(clause.text):
                return False
        elif not _is_heading(clause.lead) or not _is_plain_clause(clause.text, at - clause.place):
            return False
    return True


def _is_plain_clause(text: str, at: int) -> bool:
    before, after = text[:at], text[at:]
    if _ALL_BUT.search(before):
        return True
    if (
        _DEFINES.match(after)
        or _DEFINED.search(before)
        or _OPENS_TOPIC.match(before)
        or _ONLY_IN.match(after[1:])
    ):
        return False
    if re.match(TEXT, after):
        return _is_finding(before, after[1:])
    return _is_known(before, after) or (
        re.match(LABEL, after) is not None and _is_finding(before, after[1:])
    )


def _is_heading(lead: str) -> bool:
    """Return whether the words before a colon announce the answer to this question."""
    noun = _HEADING.search(lead)
    if not noun or lead.rstrip()[-1:] == ",":
        return True
    rest = lead[noun.end() :]
    return not has_unknown_words(lead[: noun.start()]) and (
        not has_unknown_words(rest) or _ABOUT_IMAGE.match(rest) is not None
    )


def _is_known(before: str, after: str) -> bool:
    """Return whether every word around a letter is known, apart from evidence and reasons."""
    mention, after = after[0], _LABEL.split(after[1:], maxsplit=1)[0]
    before = "" if re.match(LABEL, mention) and _LABEL.search(before) else before
    if _IS_A.match(after) or (re.match(LETTER, mention) and _ARTICLE.search(before)):
        return False
    if (fitting := _FITTING.match(before)) and not _ABOUT_ANSWER.search(fitting["finding"]):
        before = before[fitting.end() :]
    elif evidence := _LEADS.search(before):
        if _PURPOSE.search(before[: evidence.start()]):
            return False
        before = before[evidence.start() :]
    if (fits := _FITS.match(after)) and not _INTRANSITIVE.match(after):
        if not _FITS_OBJECT.match(after[fits.end() :]):
            return False
        after = after[: fits.end()]
    elif not _HYPOTHETICAL.search(before + after):
        after = _REASON.split(after, maxsplit=1)[0]
    return not has_unknown_words(before + mention + after)


def _is_finding(before: str, after: str) -> bool:
    """Return whether a clause states that an option applies to this image, not in general."""
    if _LIKELY_CAUSE.match(after) and not has_unknown_words(before):
        return True
    if _NO_FINDING.search(before + " " + after):
        return False
    if not has_unknown_words(before + after):
        return True
    verbs = list(_EVIDENCE.finditer(before))
    if not verbs and not _PLACE.match(after):
        return _is_predicate(after)
    if not verbs:
        nouns = _PREPOSITION_AT_END.sub("", before)
        return not has_unknown_words(nouns) or not _NO_ADJECTIVES.search(nouns)
    subject, verb = before[: verbs[0].start()], verbs[0]
    if _HEADING.fullmatch(verb[0]):
        return _is_heading(before)
    return not has_unknown_words(subject) or _DEFINITE.search(subject) is not None


def _is_predicate(after: str) -> bool:
    """Return whether the words after an option's text state that this image shows it."""
    if _IS_SEEN.match(after) or _IMAGE_VERB.match(after):
        return True
    if _BE.match(after):
        return not has_unknown_words(_REASON.split(after, maxsplit=1)[0])
    return _VERB_AFTER.match(after) is not None and _OBJECT.search(after) is not None


def has_unknown_words(text: str) -> bool:
    """Return whether a text contains a word that is in no table; other scripts are ignored."""
    known = _KNOWN_WORDS.sub(" ", _OTHER_SCRIPT.sub(" ", text))
    return _WORD.search(re.sub(MENTION, " ", known)) is not None


def is_unknown_comment(text: str) -> bool:
    """Return whether a sentence after an answer comments on it in unknown words."""
    if not _COMMENT.match(text):
        return False
    if _KNOWN_COMMENT.match(text):
        return _SOURCE_OF_ANSWER.search(text) is not None
    return not _DESCRIBES.match(text) or _ABOUT_ANSWER.search(text) is not None
