"""The rules a question bank is checked by, each with the code that the documentation knows."""

from collections.abc import Mapping
from enum import StrEnum


class Rule(StrEnum):
    """One rule by its code: B1 is structure, which is refused; B2 is content, which is told."""

    FILE = "B100"
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
    NO_PRIOR = "B134"
    TWO_PATIENTS = "B140"
    ANSWERED = "B201"
    LONGEST = "B202"
    LETTER = "B203"
    VIEW_TELLS = "B204"
    ALIKE = "B205"
    OPTIONS_ALIKE = "B206"
    NOT_SHOWN = "B207"
    PATIENT_SPLIT = "B208"
    EXAMINATION_SPLIT = "B209"


TITLES: Mapping[Rule, str] = {
    Rule.FILE: "The file can be read as a whole",
    Rule.RECORD: "Every record is an item with fields",
    Rule.NO_ID: "Every item has an id",
    Rule.SAME_ID: "No two items have the same id",
    Rule.KEYS_TWICE: "No key is given twice in an item",
    Rule.TOO_LONG: "No text is longer than is taken",
    Rule.NOT_TEXT: "What should be text is text",
    Rule.NO_QUESTION: "Every item has a question",
    Rule.OPTIONS: "The options can be understood",
    Rule.N_OPTIONS: "Every item has 2 to 8 options",
    Rule.EMPTY_OPTION: "No option is empty",
    Rule.SAME_OPTION: "No option is given twice",
    Rule.OPTION_LETTERS: "The options' letters are in order",
    Rule.NO_TRUTH: "Every item, or none, has a correct answer",
    Rule.TRUTH: "The correct answer is one of the options",
    Rule.TRUTHS_DIFFER: "The correct answer is given one way only",
    Rule.NO_IMAGE: "Every item names its images",
    Rule.IMAGE_MISSING: "Every image is there",
    Rule.IMAGE_OUTSIDE: "Every image lies in the images folder",
    Rule.IMAGE_UNREADABLE: "Every image can be shown in full",
    Rule.NO_PRIOR: "Every prior image is another image, made earlier",
    Rule.TWO_PATIENTS: "Every examination is of one patient",
    Rule.ANSWERED: "No question holds its own answer",
    Rule.LONGEST: "The longest option is correct no more often than by chance",
    Rule.LETTER: "Every letter is correct as often as the others",
    Rule.VIEW_TELLS: "The name of a view does not tell the answer",
    Rule.ALIKE: "No examination is asked the same twice",
    Rule.OPTIONS_ALIKE: "No option repeats another but for case and punctuation",
    Rule.NOT_SHOWN: "Every question is about what its views show",
    Rule.PATIENT_SPLIT: "Every patient is in one split",
    Rule.EXAMINATION_SPLIT: "Every examination is in one split",
}
"""What each rule asks for."""
