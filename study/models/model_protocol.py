"""The protocol under which a model is asked, and the versioned templates of its prompt."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from study.base.canonical import sha256_of
from study.base.errors import BadInput
from study.base.text import quoted
from study.base.translation import t
from study.protocol.protocol import CONTEXTS

VIEWS = ("all", "first")
RESOLUTIONS = ("full", "quarter")
_MAX_WIDTH = 8_192


class Shown(StrEnum):
    """The content shown to a model: images, no images, wrong images, or images without options."""

    IMAGE = "image"
    IMAGE_ABSENT = "image-absent"
    WRONG_IMAGE = "wrong-image"
    OPEN_ENDED = "open-ended"


class Order(StrEnum):
    """The order of an item's options.

    `canonical` is the bank's order. `readers` follows the study's `option_order` and seed, as for
    readers. `shuffled` is random by the same seed, regardless of the study's `option_order`.
    """

    CANONICAL = "canonical"
    READERS = "readers"
    SHUFFLED = "shuffled"


TEMPERATURE, MAX_TOKENS = 0.0, 1024
"""The default settings of a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProtocol:
    """How a model is asked.

    Attributes
    ----------
    template : str
        The version of the prompt's template in `TEMPLATES`, or in `OPEN_TEMPLATES` if the condition
        is open-ended.
    system : str or None
        The system prompt; None for that of the template, empty for no system prompt.
    condition : Shown
        Which parts of an item are shown.
    views : {"all", "first"}
        All views of an item or only the first; likewise for its prior images.
    resolution : {"full", "quarter"} or int
        All pixels, a quarter of each side, or a width in pixels; images are never enlarged.
    context : tuple of str or None
        Information about the patient, as in a study's protocol; None for the study's setting.
    order : Order
        The order of the options.
    explanation : bool
        Whether the model is asked for an explanation before its answer.
    temperature : float or None
        None for the provider's default.
    max_tokens : int or None
        Maximum number of tokens of an answer; None for the provider's default.
    runs : int
        The number of times each item is asked.
    seeds : tuple of int
        The seed of each run; empty for none.

    Raises
    ------
    BadInput
        A value is not allowed.
    """

    template: str = "1"
    system: str | None = None
    condition: Shown = Shown.IMAGE
    views: str = "all"
    resolution: str | int = "full"
    context: tuple[str, ...] | None = None
    order: Order = Order.CANONICAL
    explanation: bool = False
    temperature: float | None = TEMPERATURE
    max_tokens: int | None = MAX_TOKENS
    runs: int = 1
    seeds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        resolution = self.resolution
        for name, is_valid in (
            ("views", self.views in VIEWS),
            (
                "resolution",
                resolution in RESOLUTIONS
                if isinstance(resolution, str)
                else 1 <= resolution <= _MAX_WIDTH,
            ),
            ("context", set(self.context or ()) <= set(CONTEXTS)),
            ("temperature", self.temperature is None or 0 <= self.temperature <= 2),
            ("max_tokens", self.max_tokens is None or self.max_tokens >= 1),
            ("runs", self.runs >= 1),
            ("seeds", len(self.seeds) in (0, self.runs)),
        ):
            if not is_valid:
                value = getattr(self, name)
                raise BadInput(
                    t("A model cannot be asked with {name} = {value}.", name=name, value=value)
                )

    def as_json(self) -> dict[str, Any]:
        """Return the values by name as JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @property
    def sha256(self) -> str:
        """Return the hash of its canonical JSON."""
        return sha256_of(self.as_json())


def resolution_of(text: str) -> str | int:
    """Return a resolution written as `full`, `quarter` or the width in pixels."""
    return int(text) if text.isdecimal() else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A prompt's template; only the lines that apply to an item are used."""

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
        """Return the text for a report, with placeholders such as `{question}`."""
        is_image_absent = protocol.condition == Shown.IMAGE_ABSENT
        return "\n\n".join(
            (
                self.system if protocol.system is None else protocol.system,
                self.without_views
                if is_image_absent
                else f"{self.with_views} {self.prior}".rstrip(),
                self.patient,
                self.question,
                self.explained if protocol.explanation else self.answer,
            )
        ).strip()


_VERSION_1 = Template(
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
    "1": _VERSION_1,
    "2": replace(
        _VERSION_1,
        prior="Images called prior are of an earlier examination of the same patient, for "
        "comparison.",
    ),
}
"""Templates by version. A released version never changes, because answers are stored with it.

If prior films are shown, version 2 replaces version 1, which has no text for them.
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
"""Templates for open-ended questions: without options and letters."""


def template_of(protocol: ModelProtocol) -> Template:
    """Return the template of a protocol.

    Raises
    ------
    BadInput
        There is no such version.
    """
    known = OPEN_TEMPLATES if protocol.condition == Shown.OPEN_ENDED else TEMPLATES
    if protocol.template not in known:
        raise BadInput(
            t(
                "There is no prompt template {version}. Available: {known}.",
                version=quoted(protocol.template),
                known=", ".join(known),
            )
        )
    return known[protocol.template]
