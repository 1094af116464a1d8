"""Content rules (B2): finds valid items that are poor questions, without refusing them.

Each item is checked by itself, against the other items of its examination, and against its
patient's split. Only one examination and the first split of each patient are in memory at a time.
"""

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby

from study.base.bank_model import FINDINGS, LETTERS, TITLES, VIEW_CLASSES, Question, Rule
from study.base.text import id_key
from study.tables.values import quoted_value

N_EXAMPLES = 20

SIMILARITY_LIMIT = 0.8
"""Two questions with at least this share of common words (Jaccard index) count as alike."""

MAX_COMPARED = 100
"""In an examination with more items, only questions with identical words count as alike."""

DISTINGUISHING_WORDS = frozenset(
    {
        *("left", "right", "upper", "lower", "middle", "apical", "basal", "anterior", "posterior"),
        *("medial", "lateral", "frontal", "pa", "ap", "no", "not", "without", "absent", "present"),
        *("increased", "decreased", "first", "second", "third"),
    }
)
"""Questions that differ in one of these words, or in a number, do not count as alike."""

_UNSPECIFIC_WORDS = frozenset(
    ("yes", "no", "none", "not", "true", "false", "the", "and", "both", "neither", "other", "all")
)

ITEM_RULES = (
    Rule.ANSWERED,
    Rule.ALIKE,
    Rule.OPTIONS_ALIKE,
    Rule.NOT_SHOWN,
    Rule.PATIENT_SPLIT,
    Rule.EXAMINATION_SPLIT,
)
"""Content rules that apply to single items, not to the entire bank."""

_IMAGE_NOUN = r"(?:views?|films?|images?|radiographs?|projections?|x-?rays?)"
_EARLIER_EXAMINATION = "an earlier examination"
QUESTION_SUBJECTS = {
    "a lateral view": (
        rf"\blateral (?:chest )?{_IMAGE_NOUN}|\bretrosternal (?:clear )?(?:air ?)?space"
        r"|\bposterior costophrenic",
        ("LATERAL",),
    ),
    "a frontal view": (
        rf"\b(?:frontal|pa|ap|postero-?anterior|antero-?posterior) (?:chest )?{_IMAGE_NOUN}",
        VIEW_CLASSES["frontal"],
    ),
    "an oblique view": (
        rf"\boblique (?:chest )?{_IMAGE_NOUN}",
        ("OBLIQUE", "LAO", "RAO", "LPO", "RPO"),
    ),
    "a decubitus view": (rf"\bdecubitus (?:chest )?{_IMAGE_NOUN}", ("DECUBITUS",)),
    "a lordotic view": (rf"\blordotic (?:chest )?{_IMAGE_NOUN}", ("LORDOTIC",)),
    _EARLIER_EXAMINATION: (
        rf"\b(?:prior|previous|earlier) (?:chest )?(?:study|studies|exam\w*|{_IMAGE_NOUN})"
        r"|\binterval (?:change|increase|decrease|development|resolution|improvement)",
        (),
    ),
    "another modality": (r"\b(?:on|in) (?:the |this )?(?:ct|mri|ultrasound)\b", ()),
}
"""Subjects of questions: a pattern for the question, and the labels of views that show it.

An earlier examination is shown by a prior image, not by a view.
"""

_SUBJECT_PATTERNS = [
    (what, re.compile(words, re.IGNORECASE), labels)
    for what, (words, labels) in QUESTION_SUBJECTS.items()
]
_SUBJECT_WORDS = frozenset(
    {
        *("lateral", "retrosternal", "costophrenic", "frontal", "pa", "ap", "postero", "antero"),
        *("posteroanterior", "anteroposterior", "oblique", "decubitus", "lordotic", "prior"),
        *("previous", "earlier", "interval", "ct", "mri", "ultrasound"),
    }
)
"""Each pattern of `QUESTION_SUBJECTS` contains one of these words; most questions have none."""

_PUNCTUATION = string.punctuation + string.whitespace
_WORD = re.compile(r"[^\W_]+")
_ASCII_WORDS = bytes(
    ord(char.lower() if _WORD.match(char) else " ") for char in map(chr, range(128))
).ljust(256)
"""Maps each ASCII character to its lower-case letter or digit, or to a space."""


REMEDIES = {
    Rule.ANSWERED: "ask without naming the answer",
    Rule.LONGEST: "make the options equally long",
    Rule.LETTER: "shuffle the options, in the bank or by the protocol's option_order",
    Rule.VIEW_TELLS: "balance the views, or leave their names out of the bank",
    Rule.ALIKE: "keep one of them, or draw one question per examination",
    Rule.OPTIONS_ALIKE: "make each option different",
    Rule.NOT_SHOWN: "add the view, or ask for what is shown",
    Rule.PATIENT_SPLIT: "keep all items of a patient in one split",
    Rule.EXAMINATION_SPLIT: "keep all items of an examination in one split",
}


@dataclass(slots=True, kw_only=True)
class RuleFinding:
    """The violations of one rule: their number, and up to `N_EXAMPLES` as (item or line, text)."""

    rule: Rule
    remedy: str
    n: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, key: str, fault: str) -> None:
        """Count a violation, and keep it as an example if there are fewer than `N_EXAMPLES`."""
        self.n += 1
        if self.n <= N_EXAMPLES:
            self.examples.append((key, fault))

    @property
    def title(self) -> str:
        """Return the rule in words."""
        return TITLES[self.rule]

    @property
    def is_fault(self) -> bool:
        """Return whether an import refuses the item; otherwise the finding is only reported."""
        return self.rule.startswith("B1")

    @property
    def finding(self) -> str:
        """Return the finding in words."""
        return FINDINGS[self.rule]

    def __str__(self) -> str:
        """Return the finding as one line of text."""
        keys = ", ".join(key for key, _ in self.examples[:3])
        return f"{self.rule}: {self.finding}: {self.n:,} ({keys}{' ...' * (self.n > 3)})"


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, casefolded and without punctuation.

    >>> words_of("Left-sided  Effusion.")
    ('left', 'sided', 'effusion')
    """
    if text.isascii():  # almost always; the regular expression takes twice as long
        return tuple(text.encode().translate(_ASCII_WORDS).decode().split())
    return tuple(_WORD.findall(id_key(text).casefold()))


def check_content(items: Iterable[Question]) -> list[RuleFinding]:
    """Return the violations of the content rules, in order of rule code.

    Parameters
    ----------
    items
        Sorted by examination.
    """
    by_rule: dict[Rule, RuleFinding] = {}
    for rule, key, fault in item_violations(items):
        by_rule.setdefault(rule, RuleFinding(rule=rule, remedy=REMEDIES[rule])).add(key, fault)
    return [by_rule[rule] for rule in sorted(by_rule)]


def item_violations(items: Iterable[Question]) -> Iterator[tuple[Rule, str, str]]:
    """Yield each rule of `ITEM_RULES` that an item breaks, with the item's ID and a description.

    Parameters
    ----------
    items
        Sorted by examination. The first of several similar questions, and the first item of a
        patient or examination that is in two splits, is not reported.
    """
    splits: dict[str, str] = {}
    for examination_id, group in groupby(items, key=lambda item: id_key(item.examination_id)):
        questions = [(item, words_of(item.question)) for item in group]
        for item, words in questions:
            for rule, fault in (*_own_violations(item, words), *_split_violations(item, splits)):
                yield rule, item.item_id, fault
        for item, earlier in _repeated_questions(questions):
            fault = f"asks the same about examination {examination_id} as {earlier.item_id}: "
            yield Rule.ALIKE, item.item_id, fault + quoted_value(item.question)


def _own_violations(item: Question, words: Sequence[str]) -> Iterator[tuple[Rule, str]]:
    if item.truth is not None and _contains_answer(item, words, LETTERS.index(item.truth)):
        answer = item.options[LETTERS.index(item.truth)]
        yield Rule.ANSWERED, f"{quoted_value(item.question)} contains {quoted_value(answer)}"
    if repeated := _repeated_option(item.options):
        yield (
            Rule.OPTIONS_ALIKE,
            f"{quoted_value(repeated)} occurs twice, ignoring case and punctuation",
        )
    if missing_view := _missing_subject(item, words):
        yield Rule.NOT_SHOWN, f"{quoted_value(item.question)} asks for {missing_view}"


def _repeated_option(options: Sequence[str]) -> str:
    """Return an option that another option repeats, or an empty string."""
    folded_question = [text.casefold().strip(_PUNCTUATION) for text in options]
    if len({(text[:1], text[-1:]) for text in folded_question}) == len(folded_question):
        return ""
    words = [words_of(text) for text in options]
    return next(
        (text for text, key in zip(options, words, strict=True) if key and words.count(key) > 1), ""
    )


def _contains_answer(item: Question, words: Sequence[str], place: int) -> bool:
    """Return whether the question contains the correct option, word by word, and no other."""
    folded_question = item.question.casefold()
    first_word = _WORD.search(item.options[place].casefold())
    if (
        first_word is None or _stem(first_word[0]) not in folded_question
    ):  # fast exit for most items
        return False
    truth = words_of(item.options[place])
    if not any(len(word) > 2 and word not in _UNSPECIFIC_WORDS for word in truth):
        return False
    if not all(_stem(word) in folded_question for word in truth):
        return False
    text = _stems(words)
    return [n for n, option in enumerate(item.options) if _stems(words_of(option)) in text] == [
        place
    ]


def _stems(words: Sequence[str]) -> str:
    return f" {' '.join(map(_stem, words))} "


def _stem(word: str) -> str:
    """Return a word without its regular plural ending."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _missing_subject(item: Question, words: Sequence[str]) -> str:
    """Return the subject of the question if no view shows it, or an empty string.

    A view without a label may show any subject.
    """
    if _SUBJECT_WORDS.isdisjoint(words):
        return ""
    labels = item.labels
    for what, pattern, needed_labels in _SUBJECT_PATTERNS:
        if not pattern.search(item.question) or (item.has_prior and what == _EARLIER_EXAMINATION):
            continue
        known = not needed_labels or all(
            label and label not in ("ERECT", "SUPINE") for label in labels
        )
        if known and not any(
            view in (label, *label.split()) for label in labels for view in needed_labels
        ):
            return what
    return ""


def _split_violations(item: Question, splits: dict[str, str]) -> Iterator[tuple[Rule, str]]:
    split = item.split
    if not split:
        return
    for rule, kind, name in (
        (Rule.PATIENT_SPLIT, "patient", item.patient_id),
        (Rule.EXAMINATION_SPLIT, "examination", item.examination_id),
    ):
        first = splits.setdefault(f"{kind} {id_key(name)}", split) if name else split
        if first != split:
            yield rule, f"{kind} {name} is in {first} and in {split}"


def _repeated_questions(
    items: Sequence[tuple[Question, Sequence[str]]],
) -> Iterator[tuple[Question, Question]]:
    """Yield each item that repeats an earlier question about the examination, and that question."""
    word_sets = [(item, frozenset(words)) for item, words in items]
    if len(items) > MAX_COMPARED:
        first: dict[frozenset[str], Question] = {}
        pairs = ((item, first.setdefault(words, item)) for item, words in word_sets)
        yield from ((item, other) for item, other in pairs if item is not other)
        return
    reported = set()
    for (other, other_words), (item, words) in combinations(word_sets, 2):
        n_shared = len(other_words & words)
        if item.item_id in reported or n_shared < SIMILARITY_LIMIT * (
            len(other_words) + len(words) - n_shared
        ):
            continue
        different = other_words ^ words
        if different & DISTINGUISHING_WORDS or any(word.isdecimal() for word in different):
            continue
        if not {*map(words_of, other.options)}.isdisjoint(map(words_of, item.options)):
            reported.add(item.item_id)
            yield item, other
