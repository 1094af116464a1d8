"""The rules a question bank is checked by, each with the code that the documentation knows."""

from enum import StrEnum


class Rule(StrEnum):
    """One rule by its code: B1 is structure, which is refused; B2 is content, which is told."""

    RECORD = "B101"
    NO_ID = "B102"
    SAME_ID = "B103"
    KEYS_TWICE = "B104"
    TOO_LONG = "B105"
    NOT_TEXT = "B106"
    NO_QUESTION = "B107"
    OPTIONS = "B110"
    N_OPTIONS = "B111"
    EMPTY_OPTION = "B112"
    SAME_OPTION = "B113"
    OPTION_LETTERS = "B114"
    NO_TRUTH = "B120"
    TRUTH = "B121"
    TRUTHS_DIFFER = "B122"
    NO_IMAGE = "B130"
    IMAGE_MISSING = "B131"
    IMAGE_OUTSIDE = "B132"
    IMAGE_UNREADABLE = "B133"
    TWO_PATIENTS = "B140"
