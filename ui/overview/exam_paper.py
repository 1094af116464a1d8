"""The exam paper of a study for models: its section on the models page, and its download."""

import shutil
import tempfile
from pathlib import Path

import streamlit as st
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from study.base.translation import later, said, t
from study.exchange.exam_papers import FORMATS, hand_out
from study.models.model_protocol import ModelProtocol, Shown
from study.models.paper import paper_of_study
from study.people.roles import Act
from study.people.signing_in import Person
from study.protocol.protocol import Condition, stored_protocol
from study.store.studies import study_row
from ui.parts.downloads import attachment
from ui.parts.links import links
from ui.parts.look import section
from ui.server.access import acting, answer
from ui.server.deployment import store

_NAMES = {
    "jsonl": later("JSON Lines"),
    "leaderboard": later("ReXVQA leaderboard input"),
    "vlmevalkit": later("VLMEvalKit (TSV)"),
    "datasets": later("Hugging Face datasets (Parquet)"),
    "openai-batch": later("OpenAI batch"),
    "inspect": later("Inspect task"),
}


def routes() -> list[Route]:
    """Return the route of the download."""
    return [Route("/export/exam-paper/{format}.zip", _paper, methods=["GET"])]


def exam_paper(person: Person) -> None:
    """Show the choice of a format, where there are several of how it is asked, and the download."""
    section(
        t("Exam paper"),
        t(
            "The cases of this study for a model: images and questions as readers see them, "
            "without the reference standard. Preparing many large images can take several minutes. "
            "Each download is recorded in the audit trail."
        ),
    )
    chosen = st.selectbox(
        t("Format"), list(_NAMES), format_func=lambda one: said(_NAMES[one]), key="paper-format"
    )
    address = f"export/exam-paper/{chosen}.zip"
    if _asks_words(person) and st.toggle(
        t("Without options: the model answers open-ended, as readers do"), key="paper-open-ended"
    ):
        address += f"?condition={Shown.OPEN_ENDED}"
    links("exam_paper", {address: t("Download the exam paper (ZIP)")}, download=True)


def _asks_words(person: Person) -> bool:
    with store().look() as look:
        protocol = stored_protocol(study_row(look, person.study_name))
    return Condition.OPEN_ENDED in protocol.conditions


async def _paper(request: Request) -> Response:
    def make(person: Person) -> Response:
        wanted = str(request.path_params["format"])
        if wanted not in FORMATS:
            return PlainTextResponse(t("There is no such format."), status_code=404)
        condition = request.query_params.get("condition", str(Shown.IMAGE))
        if condition not in (Shown.IMAGE, Shown.OPEN_ENDED):
            return PlainTextResponse(t("There is no such condition."), status_code=404)
        return _sent(person, wanted, Shown(condition))

    return await answer(request, Act.MODELS, make, t("Sign in to see this page."))


def _sent(person: Person, wanted: str, condition: Shown) -> Response:
    kept = store()
    paper = paper_of_study(kept, person.study_name, ModelProtocol(condition=condition))
    folder = Path(tempfile.mkdtemp(dir=kept.path.parent, prefix=".exam-paper-"))
    path = folder / f"exam-paper-{wanted}.zip"
    try:
        hand_out(kept, paper, path, formats=[wanted], **acting(person))
    except BaseException:
        shutil.rmtree(folder)
        raise
    return FileResponse(
        path,
        media_type="application/zip",
        headers=attachment(path.name),
        background=BackgroundTask(shutil.rmtree, folder),
    )
