"""The words a model is asked with: a versioned template, filled from an item as it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from study.base.bank_model import LETTERS
from study.base.errors import BadInput
from study.base.translation import t
from study.models.model_protocol import ModelProtocol, Shown
from study.models.paper import PaperItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A prompt's template; of its lines stand those that apply to an item."""

    system: str
    with_views: str
    view: str
    without_views: str
    patient: str
    question: str
    answer: str
    explained: str
    prior: str = ""

    def printed(self, protocol: ModelProtocol) -> str:
        """Return it in words for a report, with its blanks as `{name}`."""
        blind = protocol.condition == Shown.IMAGE_ABSENT
        return "\n\n".join(
            (
                self.system if protocol.system is None else protocol.system,
                self.without_views if blind else f"{self.with_views} {self.prior}".rstrip(),
                self.patient,
                self.question,
                self.explained if protocol.explanation else self.answer,
            )
        ).strip()


_FIRST = Template(
    system="You are an experienced radiologist. You answer multiple-choice questions about "
    "radiographs. Each question has exactly one best answer.",
    with_views="Images, in order: {views}.",
    view="{number}: {label}",
    without_views="No image is shown.",
    patient="Patient: {context}.",
    question="Question: {question}\n{options}",
    answer="Reply with the letter of the best option and nothing else.",
    explained='Explain briefly what you see, then end with a line "Answer: " and the letter of '
    "the best option.",
)
TEMPLATES: Mapping[str, Template] = {
    "1": _FIRST,
    "2": replace(
        _FIRST,
        prior="Images called prior are of an earlier examination of the same patient, for "
        "comparison.",
    ),
}
"""Never changed once released: answers are stored under the version. A better one is a new one.

Where prior films are shown, the second takes the place of the first, which has no words for them.
"""

OPEN_TEMPLATES: Mapping[str, Template] = {
    version: replace(
        template,
        system="You are an experienced radiologist. You answer questions about radiographs.",
        question="Question: {question}",
        answer="Answer in a few words, as you would in a report, and do not explain.",
        explained='Explain briefly what you see, then end with a line "Answer: " and your answer '
        "in a few words.",
    )
    for version, template in TEMPLATES.items()
}
"""The same for what is asked open-ended: without options, and without a letter to reply with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is asked: the system prompt, empty for none, and the words after the images."""

    system: str
    text: str


def template_of(protocol: ModelProtocol) -> Template:
    """Return the template a protocol names.

    Raises
    ------
    BadInput
        There is no such version.
    """
    known = OPEN_TEMPLATES if protocol.condition == Shown.OPEN_ENDED else TEMPLATES
    if protocol.template not in known:
        raise BadInput(
            t(
                "There is no prompt template {version!r}. Available: {known}.",
                version=protocol.template,
                known=", ".join(known),
            )
        )
    return known[protocol.template]


def prompt_of(item: PaperItem, protocol: ModelProtocol) -> Prompt:
    """Return the prompt for an item; the item's films are handed over before its text, in order.

    Raises
    ------
    BadInput
        There is no such template.
    """
    template = template_of(protocol)
    options = zip(LETTERS, item.options, strict=False)
    told = ", ".join(f"{key} {words}" for key, words in item.context)
    parts = (
        _views(template, item),
        template.patient.format(context=told) if told else "",
        template.question.format(
            question=item.question,
            options="\n".join(f"{letter}. {text}" for letter, text in options),
        ),
        template.explained if protocol.explanation else template.answer,
    )
    system = template.system if protocol.system is None else protocol.system
    return Prompt(system=system, text="\n\n".join(part for part in parts if part))


def _views(template: Template, item: PaperItem) -> str:
    if not item.films:
        return template.without_views
    if not any(film.name for film in item.films):
        return ""
    prior = any(film.prior for film in item.films)
    named = (
        template.view.format(number=number, label=film.name or "view not stated")
        for number, film in enumerate(item.films, start=1)
    )
    told = template.with_views.format(views=("; " if prior else ", ").join(named))
    return f"{told} {template.prior}" if prior else told
