"""What a question bank is made of, and what reading one gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from study.base.bank_rules import Rule

LETTERS = "ABCDEFGH"
"""The letters of options, as many as an item may have."""

REPORT_SECTIONS = ("indication", "comparison", "findings", "impression")
"""The sections of a report that a bank may have."""

VIEW_CLASSES: Mapping[str, Sequence[str]] = {
    "frontal": ("PA", "AP", "FRONTAL", "AP AXIAL", "LORDOTIC", "ERECT", "SUPINE"),
    "lateral": ("LATERAL", "LEFT LATERAL", "RIGHT LATERAL"),
    "oblique": ("OBLIQUE", "LEFT OBLIQUE", "RIGHT OBLIQUE", "LAO", "RAO", "LPO", "RPO"),
    "decubitus": ("DECUBITUS", "LEFT DECUBITUS", "RIGHT DECUBITUS"),
}
"""Every name of a view (`study.bank.terms.VIEW_LABELS`) by what kind of view it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One film of an item, by name.

    Attributes
    ----------
    path : str
        Where the film is: with forward slashes, relative to the images folder and inside it.
    label : str
        The projection, one of `study.bank.terms.VIEW_LABELS`; empty if none of them was given.
    said : str
        What the file called it, where that is something else; for nobody who reads.
    """

    path: str
    label: str
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior(View):
    """A film of an earlier examination of the patient, shown only where a protocol asks for it.

    Attributes
    ----------
    days : int or None
        How many days before the current films it was made; None where nobody said.
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
        Two to eight texts in canonical order, without their letters.
    truth : str or None
        Letter of the correct option; None in a bank without reference standard.
    task, category, subcategory : str
        Empty if none.
    examination_id : str
        Where the bank gives none, the path of the first film: items on one film are one
        examination.
    patient_id : str
        Empty if none.
    age : str
        In words, such as `60 years` or `50 to 60 years`; empty if none.
    sex : str
        `female`, `male`, `other`, or empty.
    views : tuple of View
        At least one.
    report : mapping of str to str
        Report text by section: `indication`, `comparison`, `findings`, `impression`; those given.
        Never to be shown to a reader or a model.
    explanation : str
        Why the correct option is correct; never to be shown while reading.
    attributes : mapping of str to str
        Everything else that the file says of it, such as `split` and `class`, by its own names.
        Never to be shown to a reader or a model: it may tell the answer.
    origin : str
        The bank it was joined from; empty in a bank that was imported.
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


class Asked(NamedTuple):
    """A question that has a reference standard, as it bears on guessing.

    Attributes
    ----------
    options : sequence of str
        The texts in canonical order.
    truth : str
        The letter of the right one.
    view : str
        What its films' views are called, together; empty where they have no name.
    item_id : str
        Its id in the bank.
    """

    options: Sequence[str]
    truth: str
    view: str
    item_id: str = ""

    @property
    def place(self) -> int:
        """Return the place of the right option, counted from 0."""
        return LETTERS.index(self.truth)


class Question(NamedTuple):
    """An item as the rules of content look at it.

    `labels` are the names of its views, empty where one has none; `truth` a letter or None;
    `has_prior` whether it has a film of an earlier examination.
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
        Of the file's bytes, in hexadecimal.
    width, height : int
        In pixels, as displayed.
    bits : int
        8 or 16.
    low, high : int
        Smallest and largest sample.
    n_bytes : int
        Size of the file.
    spacing_mm : float or None
        Millimetres of the detector to one (square) pixel; None where it is not known.
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
    """One thing wrong with one item.

    Attributes
    ----------
    key : str
        The item's id, or its place in the file where it has none (`line 12`, `entry 3`).
    what : str
        What is wrong.
    remedy : str
        What to do about it.
    rule : Rule
        The rule it breaks; `docs/bank-rules.md` has all of them.
    """

    key: str
    what: str
    remedy: str
    rule: Rule = Rule.RECORD

    def __str__(self) -> str:
        """Return the fault as one line for a person."""
        return f"{self.key}: {self.what}; {self.remedy}"
