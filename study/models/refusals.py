"""Recognises an unmistakable refusal to answer at the start of a model's output."""

import re

from study.models.answer_text import plain_text

_MAX_LENGTH = 1000
"""Maximum number of characters of a refusal."""

_NAMES_AN_OPTION = re.compile(r"\boption\s+[B-Z](?![A-Za-z0-9_]|['-]\w)")
_DETERMINERS = (
    r"(?:(?:a|an|any|the|this|that|your|you|with|such|medical|clinical|definitive|or)\s+)*"
)
_IMAGE_NOUN = r"(?:images?|x-?rays?|pictures?|photos?|films?|radiographs?|scans?|attachments?)"

_REFUSAL = re.compile(
    r"(?:(?:i'm|i am|so)?\s*(?:(?:very|really|so)\s+)?sorry[\s,.;\u2013\u2014-]+(?:but\s+)?"
    r"|(?:i apologi[sz]e|my apologies)[\s,.;]+(?:but\s+)?|unfortunately,?\s+|regrettably,?\s+"
    r"|please consult[^.;]{0,60}[.;]\s+"
    r"|(?:no image (?:was|is|has been) (?:provided|attached)|i (?:don't"
    r"|do not) have access to [^.,]{0,20}),?\s*so\s+"
    r"|(?:i(?:'m| am) (?:designed|programmed)|this is an?|the image is an?"
    r"|while i)\b[^.]{0,60}?(?:[,.]\s*|\band\s+|\bbut\s+)+)*"
    r"(?:as an? [^,.]{0,30}?\b(?:ai|model|assistant)\b[^,.]{0,30}?,?\s*)?"
    r"(?:i(?:'m| am) [^.]{0,40}?\b(?:ai|model|assistant|doctor|professional|physician|radiologist)"
    r"\b[^.]{0,40}?(?:,|\band\b|\bso\b)\s*(?:so\s+|and\s+)?)?"
    r"(?:(?:i\s*)?(?:cannot|can't|can not|won't(?: be able to)?|will not|(?<=i )(?:do not"
    r"|don't)|refuse to"
    r"|(?:do not|don't) have the ability to|(?:must )?(?:respectfully |politely )?decline to"
    r"|(?:am |'m )?(?:unable|not able|not qualified|not allowed|not permitted) to|must refuse to)"
    r"\s+(?:answer|assist|help|comply|fulfil+|diagnose|interpret|analy[sz]e"
    rf"|(?:provide|give|offer|make|render)\s+{_DETERMINERS}(?:answers?|advice|diagnos[ei]s"
    r"|interpretations?|assistance|help|opinions?|assessments?)"
    rf"|(?:see|view|access|open|process|look at|evaluate|read)\s+(?:(?:or|and)\s+\w+\s+)?"
    rf"{_DETERMINERS}{_IMAGE_NOUN})\b"
    r"|it (?:is|would be) (?:not appropriate|inappropriate) for me to\b)"
    r"|(?:(?:es tut mir leid|entschuldigung|leider|lo siento|lamentablemente|d\u00e9sol\u00e9e?"
    r"|je suis d\u00e9sol\u00e9e?|desculpe|mi dispiace)[\s,.]*(?:aber|pero|mais|mas|ma)?\s*)?"
    r"(?:(?:ich kann|kann ich)\b[^.]{0,60}?\b(?:keine|nicht)\b[^.]{0,40}?"
    r"(?:diagnosen?|beantworten|beurteilen|interpretieren|helfen|auswerten|befunden)\b"
    r"|ich bin\s+(?:\w+\s+)?nicht in der lage\b"
    r"|(?:n\u00e3o posso|non posso)\s+(?:fornecer|responder|dar|fornire|rispondere|dare)\b"
    r"|no puedo\s+(?:proporcionar|responder|dar|ofrecer|interpretar|diagnosticar|ayudar|analizar"
    r"|ver)\b"
    r"|je ne peux pas\s+(?:fournir|r\u00e9pondre|donner|interpr\u00e9ter|poser|aider|analyser"
    r"|voir)\b)"
    r"|(?:(?:\u975e\u5e38|\u5f88)?(?:\u62b1\u6b49|\u5bf9\u4e0d\u8d77|\u9057\u61be)[\s,.!]*)?(?:"
    r"\u4f5c\u4e3a[^,.]{1,20}[\s,]*)?"
    r"(?:\u4f46\u662f?)?\u6211?(?:\u65e0\u6cd5|\u4e0d\u80fd|\u4e0d\u53ef\u4ee5)[^,.]{0,6}?"
    r"(?:\u63d0\u4f9b|\u56de\u7b54|\u7ed9\u51fa|\u8fdb\u884c|\u8bca\u65ad|\u89e3\u8bfb|\u5206"
    r"\u6790|\u67e5\u770b)",
    re.IGNORECASE,
)


def is_refusal(raw: str) -> bool:
    """Return whether an output is short and begins with a refusal to answer.

    Parameters
    ----------
    raw : str
        The model's output, in which no answer was found.

    Examples
    --------
    >>> is_refusal("I'm sorry, but I can't interpret medical images.")
    True
    >>> is_refusal("I cannot determine the answer.")
    False
    """
    text = plain_text(raw)
    if _NAMES_AN_OPTION.search(text):
        return False
    return len(text) <= _MAX_LENGTH and _REFUSAL.match(text) is not None
