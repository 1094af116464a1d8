"""The contents of question banks, and the rules by which banks are checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Rule(StrEnum):
    """A rule by its code: violations of B1 (structure) are refused, of B2 (content) reported."""

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
    IDENTIFIES = "B141"
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
    Rule.KEYS_TWICE: "No key occurs twice in an item",
    Rule.TOO_LONG: "No text exceeds the maximum length",
    Rule.NOT_TEXT: "Text fields contain text",
    Rule.NO_QUESTION: "Every item has a question",
    Rule.OPTIONS: "The options can be understood",
    Rule.N_OPTIONS: "Every item has 2 to 8 options",
    Rule.EMPTY_OPTION: "No option is empty",
    Rule.SAME_OPTION: "No option occurs twice",
    Rule.OPTION_LETTERS: "The options' letters are in order",
    Rule.NO_TRUTH: "Every item, or none, has a correct answer",
    Rule.TRUTH: "The correct answer is one of the options",
    Rule.TRUTHS_DIFFER: "The correct answer is unambiguous",
    Rule.NO_IMAGE: "Every item names its images",
    Rule.IMAGE_MISSING: "Every image exists",
    Rule.IMAGE_OUTSIDE: "Every image is in the images folder",
    Rule.IMAGE_UNREADABLE: "Every image can be shown in full",
    Rule.NO_PRIOR: "Every prior image is another image, made earlier",
    Rule.TWO_PATIENTS: "Every examination belongs to one patient",
    Rule.IDENTIFIES: "No text identifies a patient",
    Rule.ANSWERED: "No question contains its own answer",
    Rule.LONGEST: "The longest option is correct no more often than by chance",
    Rule.LETTER: "Every letter is correct as often as the others",
    Rule.VIEW_TELLS: "The name of a view does not reveal the answer",
    Rule.ALIKE: "No question is asked twice about an examination",
    Rule.OPTIONS_ALIKE: "No two options differ only in case and punctuation",
    Rule.NOT_SHOWN: "Every question can be answered from its views",
    Rule.PATIENT_SPLIT: "Every patient is in one split",
    Rule.EXAMINATION_SPLIT: "Every examination is in one split",
}
"""The requirement of each rule."""

FINDINGS: Mapping[Rule, str] = {
    Rule.FILE: "The file cannot be read as a whole",
    Rule.RECORD: "Records are not items with fields",
    Rule.NO_ID: "Items have no valid id",
    Rule.SAME_ID: "Items have the same id",
    Rule.KEYS_TWICE: "Keys occur twice in an item",
    Rule.TOO_LONG: "Texts exceed the maximum length",
    Rule.NOT_TEXT: "Values that should be text are not",
    Rule.NO_QUESTION: "Items have no question",
    Rule.OPTIONS: "Options cannot be understood",
    Rule.N_OPTIONS: "Items have fewer than 2 or more than 8 options",
    Rule.EMPTY_OPTION: "Options are empty",
    Rule.SAME_OPTION: "Options are given twice",
    Rule.OPTION_LETTERS: "The options' letters are out of order",
    Rule.NO_TRUTH: "Some items have no correct answer",
    Rule.TRUTH: "Correct answers are not among the options",
    Rule.TRUTHS_DIFFER: "Two keys give different correct answers",
    Rule.NO_IMAGE: "Items name no images",
    Rule.IMAGE_MISSING: "Images are missing",
    Rule.IMAGE_OUTSIDE: "Images are outside the images folder",
    Rule.IMAGE_UNREADABLE: "Images cannot be shown in full",
    Rule.NO_PRIOR: "Prior images are not separate images, made earlier",
    Rule.TWO_PATIENTS: "Examinations have more than one patient",
    Rule.IDENTIFIES: "Texts identify a patient",
    Rule.ANSWERED: "Questions contain their own answer",
    Rule.LONGEST: "The longest option is correct more often than by chance",
    Rule.LETTER: "Some letters are correct more often than others",
    Rule.VIEW_TELLS: "The name of a view predicts the answer",
    Rule.ALIKE: "Questions about an examination are asked more than once",
    Rule.OPTIONS_ALIKE: "Options differ in case and punctuation only",
    Rule.NOT_SHOWN: "Questions cannot be answered from their views",
    Rule.PATIENT_SPLIT: "Patients are in more than one split",
    Rule.EXAMINATION_SPLIT: "Examinations are in more than one split",
}
"""The finding that is reported if a rule is broken."""


LETTERS = "ABCDEFGH"
"""The letters of options; an item may have as many options as there are letters."""

REPORT_SECTIONS = ("indication", "comparison", "findings", "impression")
"""The sections of a radiology report that a bank may contain."""

VIEW_CLASSES: Mapping[str, Sequence[str]] = {
    "frontal": ("PA", "AP", "FRONTAL", "AP AXIAL", "LORDOTIC", "ERECT", "SUPINE"),
    "lateral": ("LATERAL", "LEFT LATERAL", "RIGHT LATERAL"),
    "oblique": ("OBLIQUE", "LEFT OBLIQUE", "RIGHT OBLIQUE", "LAO", "RAO", "LPO", "RPO"),
    "decubitus": ("DECUBITUS", "LEFT DECUBITUS", "RIGHT DECUBITUS"),
}
"""The names of views (`study.bank.terms.VIEW_LABELS`) by class of view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A film of an item, identified by its path.

    Attributes
    ----------
    path : str
        Path of the film with forward slashes, relative to the images folder and inside it.
    label : str
        The projection, one of `study.bank.terms.VIEW_LABELS`; empty if unknown.
    original : str
        The label in the bank file, if it differs; never shown to readers.
    """

    path: str
    label: str
    original: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior(View):
    """A film of an earlier examination of the patient, shown only if the protocol includes it.

    Attributes
    ----------
    days : int or None
        Days from this film to the current films; None if unknown.
    """

    days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question about one examination.

    Attributes
    ----------
    item_id, question : str
        Never empty.
    options : tuple of str
        Two to eight options in canonical order, without their letters.
    truth : str or None
        Letter of the correct option; None in a bank without reference standard.
    task, category, subcategory : str
        Empty if not given.
    examination_id : str
        If the bank gives none, the path of the first film: items with the same film belong to the
        same examination.
    patient_id : str
        Empty if not given.
    age : str
        In words, such as `60 years` or `50 to 60 years`; empty if not given.
    sex : str
        `female`, `male`, `other`, or empty.
    views : tuple of View
        At least one.
    report : mapping of str to str
        Report text by section, if given: `indication`, `comparison`, `findings`, `impression`. It
        must not be shown to a reader or a model.
    explanation : str
        Why the correct option is correct; it must not be shown while reading.
    attributes : mapping of str to str
        All other fields of the file, such as `split` and `class`, by their names in the file. They
        must not be shown to a reader or a model, because they may reveal the answer.
    origin : str
        The source bank of an item in a joined bank; otherwise empty.
    priors : tuple of Prior
        Films of earlier examinations, in the order given; none of them is among the views.
    """

    item_id: str
    question: str
    options: tuple[str, ...]
    truth: str | None
    task: str
    category: str
    subcategory: str
    examination_id: str
    patient_id: str
    age: str
    sex: str
    views: tuple[View, ...]
    report: Mapping[str, str]
    explanation: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    priors: tuple[Prior, ...] = ()


class GuessableQuestion(NamedTuple):
    """The properties of a question that could help to guess its answer.

    Attributes
    ----------
    options : sequence of str
        The options in canonical order.
    truth : str
        The letter of the correct option.
    view : str
        The names of its views, joined; empty if they have none.
    item_id : str
        The item's ID in the bank.
    """

    options: Sequence[str]
    truth: str
    view: str
    item_id: str = ""

    @property
    def place(self) -> int:
        """Return the position of the correct option, from 0."""
        return LETTERS.index(self.truth)


class Question(NamedTuple):
    """The properties of an item that the content rules check.

    `labels` are the names of its views, with an empty string for a view without a name. `truth` is
    a letter or None. `has_prior` states whether it has a film of an earlier examination.
    """

    item_id: str
    question: str
    options: tuple[str, ...]
    truth: str | None
    examination_id: str
    patient_id: str
    labels: tuple[str, ...]
    split: str
    has_prior: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """One image file, read and decoded.

    Attributes
    ----------
    path : str
        As in `View.path`.
    sha256 : str
        Hash of the file's bytes, in hexadecimal.
    width, height : int
        In pixels, as displayed.
    bits : int
        8 or 16.
    low, high : int
        Smallest and largest sample.
    n_bytes : int
        Size of the file.
    spacing_mm : float or None
        Size of a (square) pixel at the detector in mm; None if unknown.
    """

    path: str
    sha256: str
    width: int
    height: int
    bits: int
    low: int
    high: int
    n_bytes: int
    spacing_mm: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of an item.

    Attributes
    ----------
    key : str
        The item's ID, or its position in the file if it has none (`line 12`, `entry 3`).
    what : str
        What is wrong.
    remedy : str
        How to correct it.
    rule : Rule
        The broken rule; see `docs/bank-rules.md`.
    """

    key: str
    what: str
    remedy: str
    rule: Rule = Rule.RECORD

    def __str__(self) -> str:
        """Return the fault as one line of text."""
        return f"{self.key}: {self.what}; {self.remedy}"
