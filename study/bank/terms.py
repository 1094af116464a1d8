"""Age, sex and projection as a reader sees them, from the codes that files use."""

import re

_UNITS = {"Y": "year", "M": "month", "W": "week", "D": "day"}
_CODED_AGE = re.compile(r"(\d{1,3})\s*([YMWD]?)", re.IGNORECASE)
_AGE_RANGE = re.compile(r"(\d{1,3})\s*(?:-|\u2013|to)\s*(\d{1,3})\s*(?:y|years)?", re.IGNORECASE)
_WORDED_AGE = re.compile(r"\d{1,3} (?:years?|months?|weeks?|days?)|\d+ to \d+ years")

_SEXES = {
    "f": "female",
    "female": "female",
    "w": "female",
    "woman": "female",
    "m": "male",
    "male": "male",
    "man": "male",
    "o": "other",
    "other": "other",
}
_NO_SEX = frozenset({"", "u", "unknown", "n/a", "none", "nan"})

_LABELS = {
    "PA": "PA",
    "POSTERO ANTERIOR": "PA",
    "POSTEROANTERIOR": "PA",
    "PA ERECT": "PA",
    "AP": "AP",
    "AP PORTABLE": "AP",
    "PORTABLE AP": "AP",
    "PORTABLE": "AP",
    "AP SUPINE": "AP",
    "AP ERECT": "AP",
    "ANTERO POSTERIOR": "AP",
    "ANTEROPOSTERIOR": "AP",
    "LAT": "LATERAL",
    "LATERAL": "LATERAL",
    "LL": "LATERAL",
    "LEFT LATERAL": "LEFT LATERAL",
    "LATERAL LEFT": "LEFT LATERAL",
    "L LATERAL": "LEFT LATERAL",
    "LLAT": "LEFT LATERAL",
    "RIGHT LATERAL": "RIGHT LATERAL",
    "LATERAL RIGHT": "RIGHT LATERAL",
    "R LATERAL": "RIGHT LATERAL",
    "RLAT": "RIGHT LATERAL",
    "RL": "RIGHT LATERAL",
    "FRONTAL": "FRONTAL",
}
_NO_LABEL = frozenset({"", "UNKNOWN", "NONE", "NAN", "N/A"})

# A dot ends the short parts and not the texts, which hold dots themselves.
_CONTEXT_PART = re.compile(
    r"\b(age|gender|sex|indication|comparison|findings|impression)\s*:", re.IGNORECASE
)


def age_in_words(text: str) -> tuple[str, bool]:
    """Return an age in words and whether it was understood.

    Parameters
    ----------
    text : str
        `060Y`, `006M`, `60`, `50-60`, or words already.

    Returns
    -------
    tuple of str and bool
        Such as `60 years`; what was not understood comes back as given.

    Examples
    --------
    >>> age_in_words("060Y"), age_in_words("50-60"), age_in_words("001D")
    (('60 years', True), ('50 to 60 years', True), ('1 day', True))
    """
    if coded := _CODED_AGE.fullmatch(text):
        number, unit = int(coded[1]), _UNITS[(coded[2] or "Y").upper()]
        return f"{number} {unit}{'' if number == 1 else 's'}", True
    if between := _AGE_RANGE.fullmatch(text):
        return f"{int(between[1])} to {int(between[2])} years", True
    return text, not text or _WORDED_AGE.fullmatch(text) is not None


def sex_in_words(text: str) -> tuple[str, bool]:
    """Return `female`, `male`, `other` or nothing, and whether the text was understood.

    Examples
    --------
    >>> sex_in_words("F"), sex_in_words("U"), sex_in_words("7")
    (('female', True), ('', True), ('', False))
    """
    plain = text.strip().lower()
    return _SEXES.get(plain, ""), plain in _SEXES or plain in _NO_SEX


def view_label(text: str) -> tuple[str, bool]:
    """Return the projection's usual name and whether it was understood.

    Unknown names come back as given. `LL` is taken as a plain lateral, as the data set uses it.

    Examples
    --------
    >>> view_label("POSTERO_ANTERIOR"), view_label("left lateral"), view_label("Lordotic")
    (('PA', True), ('LEFT LATERAL', True), ('Lordotic', False))
    """
    plain = " ".join(re.split(r"[\s_-]+", text.strip().upper()))
    if plain in _NO_LABEL:
        return "", True
    return _LABELS.get(plain, text.strip()), plain in _LABELS


def context_parts(text: str) -> dict[str, str]:
    """Take the leaderboard's context apart.

    Parameters
    ----------
    text : str
        Such as `<context>Age:50-60.Gender:M.Indication: Cough.</context>`.

    Returns
    -------
    dict of str to str
        Of `age`, `sex`, `indication`, `comparison`, `findings` and `impression`, those found; the
        first of each name.

    Examples
    --------
    >>> context_parts("<context>Age:50-60.Gender:M.Indication: Cough. Fever.</context>")
    {'age': '50-60', 'sex': 'M', 'indication': 'Cough. Fever.'}
    """
    inner = re.sub(r"</?context>", " ", text, flags=re.IGNORECASE)
    marks = list(_CONTEXT_PART.finditer(inner))
    ends = [mark.start() for mark in marks[1:]] + [len(inner)]
    parts: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=False):
        name = "sex" if mark[1].lower() == "gender" else mark[1].lower()
        value = inner[mark.end() : end].strip()
        if name in ("age", "sex"):
            value = value.rstrip(". ,;")
        if value:
            parts.setdefault(name, value)
    return parts
