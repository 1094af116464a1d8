"""Converts codes in files to the age, sex and projection that readers see."""

import re
from functools import lru_cache

_UNITS = {"Y": "year", "M": "month", "W": "week", "D": "day"}
_UNITS_PER_YEAR = {"year": 1, "month": 12, "week": 52.18, "day": 365.25}
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

_SPELLINGS_OF_VIEWS = {
    "PA": ("POSTERO ANTERIOR", "POSTEROANTERIOR", "PA ERECT", "PA UPRIGHT"),
    "AP": (
        "ANTERO POSTERIOR",
        "ANTEROPOSTERIOR",
        "AP PORTABLE",
        "PORTABLE AP",
        "PORTABLE",
        "AP SUPINE",
        "AP ERECT",
        "AP UPRIGHT",
        "AP (KUB)",
    ),
    "FRONTAL": (),
    "LATERAL": ("LAT", "LL"),
    "LEFT LATERAL": ("LATERAL LEFT", "L LATERAL", "LLAT"),
    "RIGHT LATERAL": ("LATERAL RIGHT", "R LATERAL", "RLAT", "RL"),
    "DECUBITUS": ("LATERAL DECUBITUS",),
    "LEFT DECUBITUS": ("LEFT LATERAL DECUBITUS",),
    "RIGHT DECUBITUS": ("RIGHT LATERAL DECUBITUS",),
    "OBLIQUE": (),
    "LEFT OBLIQUE": (),
    "RIGHT OBLIQUE": (),
    "LAO": ("LEFT ANTERIOR OBLIQUE",),
    "RAO": ("RIGHT ANTERIOR OBLIQUE",),
    "LPO": ("LEFT POSTERIOR OBLIQUE",),
    "RPO": ("RIGHT POSTERIOR OBLIQUE",),
    "AP AXIAL": (),
    "LORDOTIC": ("AP LORDOTIC", "PA LORDOTIC", "APICAL LORDOTIC"),
    "SUPINE": (),
    "ERECT": ("UPRIGHT",),
}
VIEW_LABELS = frozenset(_SPELLINGS_OF_VIEWS)
"""The view names that readers may see with a film; none of them reveals an answer."""

_LABEL_BY_SPELLING = {
    each: label for label, others in _SPELLINGS_OF_VIEWS.items() for each in (label, *others)
}
_NO_LABEL = frozenset({"", "UNKNOWN", "NONE", "NAN", "N/A", "OTHER"})

# A full stop ends age and sex, but not the texts, which may contain full stops.
_CONTEXT_PART = re.compile(
    r"\b(age|gender|sex|indication|comparison|findings|impression)\s*:", re.IGNORECASE
)


@lru_cache
def age_in_words(text: str) -> tuple[str, bool]:
    """Return an age in words and whether it was understood.

    Parameters
    ----------
    text : str
        `060Y`, `006M`, `60`, `50-60`, or an age that is already in words.

    Returns
    -------
    tuple of str and bool
        For example `60 years`; text that was not understood is returned unchanged.

    Examples
    --------
    >>> age_in_words("060Y"), age_in_words("50-60"), age_in_words("001D")
    (('60 years', True), ('50 to 60 years', True), ('1 day', True))
    """
    if coded := _CODED_AGE.fullmatch(text):
        number, unit = int(coded[1]), _UNITS[(coded[2] or "Y").upper()]
        return f"{number} {unit}{'' if number == 1 else 's'}", True
    if range_match := _AGE_RANGE.fullmatch(text):
        return f"{int(range_match[1])} to {int(range_match[2])} years", True
    return text, not text or _WORDED_AGE.fullmatch(text) is not None


def age_in_years(words: str) -> tuple[int, int] | None:
    """Return the range of an age in words, in completed years, or None if it is not understood.

    Examples
    --------
    >>> age_in_years("60 years"), age_in_years("50 to 60 years"), age_in_years("18 months")
    ((60, 60), (50, 60), (1, 1))
    """
    if range_match := re.fullmatch(r"(\d+) to (\d+) years", words):
        return int(range_match[1]), int(range_match[2])
    if age := re.fullmatch(r"(\d+) (year|month|week|day)s?", words):
        years = int(int(age[1]) / _UNITS_PER_YEAR[age[2]])
        return years, years
    return None


@lru_cache
def sex_in_words(text: str) -> tuple[str, bool]:
    """Return `female`, `male`, `other` or an empty string, and whether the text was understood.

    Examples
    --------
    >>> sex_in_words("F"), sex_in_words("U"), sex_in_words("7")
    (('female', True), ('', True), ('', False))
    """
    plain = text.strip().lower()
    return _SEXES.get(plain, ""), plain in _SEXES or plain in _NO_SEX


@lru_cache
def view_label(text: str) -> tuple[str, bool]:
    """Return one of `VIEW_LABELS` or an empty string, and whether the text was understood.

    Any other text may name a finding (`PICC LINE`) and is not shown. `LL` counts as a lateral view,
    as in the data set; a number after the name is dropped.

    Examples
    --------
    >>> view_label("POSTERO_ANTERIOR"), view_label("left lateral"), view_label("PICC LINE")
    (('PA', True), ('LEFT LATERAL', True), ('', False))
    """
    plain = re.sub(r" \d+$", "", " ".join(re.split(r"[\s_-]+", text.strip().upper())))
    return _LABEL_BY_SPELLING.get(plain, ""), plain in _LABEL_BY_SPELLING or plain in _NO_LABEL


def context_parts(text: str) -> dict[str, str]:
    """Parse the `context` field of the leaderboard's files.

    Parameters
    ----------
    text : str
        For example `<context>Age:50-60.Gender:M.Indication: Cough.</context>`.

    Returns
    -------
    dict of str to str
        The first value of each of `age`, `sex`, `indication`, `comparison`, `findings` and
        `impression` that occurs.

    Examples
    --------
    >>> context_parts("<context>Age:50-60.Gender:M.Indication: Cough. Fever.</context>")
    {'age': '50-60', 'sex': 'M', 'indication': 'Cough. Fever.'}
    """
    inner = re.sub(r"</?context>", " ", text, flags=re.IGNORECASE)
    names = list(_CONTEXT_PART.finditer(inner))
    ends = [name_match.start() for name_match in names[1:]] + [len(inner)]
    parts: dict[str, str] = {}
    for name_match, end in zip(names, ends, strict=False):
        name = "sex" if name_match[1].lower() == "gender" else name_match[1].lower()
        value = inner[name_match.end() : end].strip()
        if name in ("age", "sex"):
            value = value.rstrip(". ,;")
        if value:
            parts.setdefault(name, value)
    return parts
