"""The models of a study: exam papers, stored predictions, and how outputs are parsed."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from study.base.text import LONGEST_REASON, checked_reason
from study.base.translation import later, t, tn, translated
from study.exchange.exam_papers import FORMATS, PaperForm, export_paper
from study.lifecycle.studies import shows_accuracy
from study.models.answer_mentions import LETTERS
from study.models.answer_parser import RULES, STANDARD
from study.models.model_protocol import ModelProtocol, Shown
from study.models.models import FIELDS, Withdrawn, cards, describe_model, withdraw_model
from study.models.paper import paper_of_study
from study.models.rereading import ReadOutput, correct_by_rules, keep_reread, outputs_of, reread
from study.people.roles import Act
from study.people.signing_in import Person
from study.protocol.protocol import Condition, stored_protocol
from study.store import Store
from study.store.models import ModelRow
from study.store.studies import study_row
from ui.overview.current_state import chain_head
from ui.overview.model_upload import answer_text
from ui.parts import actions
from ui.parts.actions import Question, Report
from ui.parts.links import attachment, links
from ui.parts.text import table_time
from ui.parts.theme import grid, pick, section, table
from ui.server.access import acting, answer
from ui.server.deployment import store

WITHDRAW = "withdraw-now"
_FORMAT_NAMES = {
    "jsonl": later("JSON Lines"),
    "leaderboard": later("ReXVQA leaderboard input"),
    "vlmevalkit": later("VLMEvalKit (TSV)"),
    "datasets": later("Hugging Face datasets (Parquet)"),
    "openai-batch": later("OpenAI batch"),
    "inspect": later("Inspect task"),
}


def show_models(person: Person, models: list[ModelRow], n: int) -> None:
    """Show a study's models with its number of cases, and the form that withdraws a model."""
    section(t("Models of the study"))
    grid(model_table(models, n), key="models")
    below = st.expander(t("Withdraw a model"))
    with below, st.form("withdraw-model", clear_on_submit=True):
        st.markdown(
            t(
                "A withdrawn model is left out of every table, figure and bundle. Its predictions "
                "remain in the database; the audit trail records who withdrew it, when and why."
            )
        )
        name = st.selectbox(t("Model"), [row.model_id for row in models], key="withdraw-name")
        reason = st.text_area(t("Reason"), max_chars=LONGEST_REASON, key="withdraw-reason")
        actions.button(
            t("Withdraw this model"),
            lambda: _withdraw(person, name, checked_reason(reason)),
            in_form=True,
            key=WITHDRAW,
            below=below,
        )


def card_form(person: Person, models: list[ModelRow]) -> None:
    """Show the form for the card of one of a study's models."""
    with st.expander(t("Model card")):
        st.markdown(
            t("What a reader of the leaderboard should know about the model. All of it is public.")
        )
        name = st.selectbox(t("Model"), [row.model_id for row in models], key="card-name")
        card = cards(store(), person.study_name).get(name, {})
        with st.form("model-card", border=False):
            places = st.columns(2) * len(FIELDS)
            card_values = {
                field: place.text_input(
                    label, card.get(field, ""), max_chars=LONGEST_REASON, key=f"card-{name}-{field}"
                )
                for (field, label), place in zip(_card_labels().items(), places, strict=False)
            }

            def save() -> str:
                describe_model(
                    store(),
                    study=person.study_name,
                    model_id=name,
                    card=card_values,
                    acting=acting(person),
                )
                return t("The card of {model} is saved.", model=name)

            actions.button(t("Save the card"), save, in_form=True, key="card-save", subject=name)


def _card_labels() -> dict[str, str]:
    labels = (
        t("Name on the leaderboard"),
        t("Developed by"),
        t("Web address"),
        t("Date asked"),
        t("Licence"),
        t("Trained on these data?"),
        t("Prompt"),
        t("Hardware"),
        t("Cost"),
    )
    return dict(zip(FIELDS, labels, strict=True))


def show_withdrawn(withdrawals: list[Withdrawn]) -> None:
    """Show the withdrawn models, each with the event of its withdrawal."""
    section(t("Withdrawn"))
    grid(
        {
            t("Model"): [withdrawal.model_id for withdrawal in withdrawals],
            t("Version"): [withdrawal.model_version for withdrawal in withdrawals],
            t("Predictions"): [withdrawal.n_predicted for withdrawal in withdrawals],
            t("When (UTC)"): [table_time(withdrawal.at_utc) for withdrawal in withdrawals],
            t("By"): [withdrawal.actor for withdrawal in withdrawals],
            t("Reason"): [withdrawal.reason for withdrawal in withdrawals],
            t("After closing"): [
                t("yes") if withdrawal.after_closing else "" for withdrawal in withdrawals
            ],
            t("Audit trail event"): [withdrawal.event for withdrawal in withdrawals],
        },
        key="withdrawn-models",
    )


def _label(row: ModelRow) -> str:
    if row.synthetic:
        return t("{model} (synthetic)", model=row.model_id)
    return t("{model} (simulated)", model=row.model_id) if row.simulated else row.model_id


def model_table(models: list[ModelRow], n_cases: int) -> pd.DataFrame:
    """Return a study's models with counts of their predictions, without correctness."""
    return pd.DataFrame(
        {
            t("Model"): [_label(row) for row in models],
            t("Version"): [row.model_version for row in models],
            t("Cases"): [n_cases for _ in models],
            t("Runs"): [row.n_runs for row in models],
            t("Answered"): [row.n_answered for row in models],
            t("Unparsed"): [row.n_unparsed for row in models],
            t("Of these cut off"): [row.n_cut_off for row in models],
            t("Refused"): [row.n_refused for row in models],
            t("Left empty"): [row.n_skipped for row in models],
            t("Absent"): [n_cases - row.n_predicted for row in models],
        }
    )


def _withdraw(person: Person, name: str, reason: str) -> Question:
    def do() -> str:
        withdraw_model(
            store(), study=person.study_name, model_id=name, reason=reason, acting=acting(person)
        )
        return t("{model} was withdrawn.", model=name)

    words = t("Withdraw {model}? Reason: {reason}", model=name, reason=reason)
    return Question(text=words, do=do)


def show_outputs(person: Person, models: list[ModelRow]) -> None:
    """Show a model's outputs with their parsed answers, and offer other parsing rules."""
    study = person.study_name
    with st.expander(t("Model output")):
        left, right = st.columns(2)
        name = left.selectbox(
            t("Model"), [row.model_id for row in models], index=None, key="words-name"
        )
        filter_name = right.selectbox(t("Show"), list(_output_filters()), key="words-which")
        if name is None:
            st.write(t("Choose a model to see its output and how it was interpreted."))
        else:
            output = _outputs_of(store(), chain_head(store(), study), study, name)
            _show_rule_counts(study, output)
            _show_output_list(
                [answer for answer in output if _output_filters()[filter_name](answer)]
            )
            _reread_form(person, name)


@st.cache_resource(max_entries=4, show_spinner=False)
def _outputs_of(_store: Store, at: str, study: str, name: str) -> list[ReadOutput]:
    return outputs_of(_store, study=study, model_id=name)


def _output_filters() -> dict[str, Callable[[ReadOutput], bool]]:
    """Return the filters of outputs, by label."""
    return {
        t("All output"): lambda answer: True,
        t("Output without an answer"): lambda answer: answer.kept not in LETTERS,
        t("Output that depends on the rules"): lambda answer: (
            len(set(answer.by_rules.values())) > 1
        ),
    }


def _rule_names() -> dict[str, str]:
    names = (t("Strict"), t("Standard"), t("Loose"))
    return dict(zip(RULES, names, strict=True))


def _show_rule_counts(study: str, output: list[ReadOutput]) -> None:
    """Show how many answers each set of rules finds and, if permitted, how many are correct."""
    with store().look() as look:
        is_shown = shows_accuracy(study_row(look, study))
    right = correct_by_rules(store(), study=study, outputs=output) if is_shown else {}
    rows = []
    for rules, name in _rule_names().items():
        read = [answer.by_rules[rules] for answer in output]
        answered = sum(answer in LETTERS for answer in read)
        changed = sum(answer.kept != now for answer, now in zip(output, read, strict=True))
        counts = (answered, read.count("unparsed"), read.count("refused"), changed)
        rows.append((name, *counts, *([right[rules]] if is_shown else [])))
    columns = [t("Rules"), t("Answered"), t("Unparsed"), t("Refused"), t("Would change")]
    table(
        [*columns, *([t("Correct")] if is_shown else [])],
        rows,
        caption=t("The same output by each set of rules"),
    )


def _show_output_list(output: list[ReadOutput]) -> None:
    """Show outputs as a table, and the complete output of the selected row below it."""
    if not output:
        st.write(t("There is no such output."))
        return
    frame = pd.DataFrame(
        {
            t("Case"): [answer.item_id for answer in output],
            t("Condition"): [answer.condition for answer in output],
            t("Run"): [answer.run for answer in output],
            t("Model output"): [answer.words for answer in output],
            t("Read as"): [_answer_text(answer, answer.kept) for answer in output],
            **{
                name: [answer_text(answer.by_rules[rules], "") for answer in output]
                for rules, name in _rule_names().items()
            },
        }
    )
    empty = [name for name in (t("Condition"), t("Run")) if not frame[name].any()]
    picked = pick(output, frame.drop(columns=empty), key="words-list")
    if picked:
        st.text(picked.words)


def _answer_text(output: ReadOutput, read: str) -> str:
    return answer_text(read, output.options[LETTERS.index(read)] if read in LETTERS else "")


def _reread_form(person: Person, name: str) -> None:
    below = st.container()
    with below, st.form("read-again", clear_on_submit=True):
        st.markdown(
            t(
                "The model is not asked again: its stored output is read under the rules you "
                "choose and replaces the answers in the study. The audit trail records who did "
                "this and why."
            )
        )
        rules = st.selectbox(
            t("Rules"),
            list(RULES),
            index=list(RULES).index(STANDARD),
            format_func=_rule_names().__getitem__,
            key="read-again-rules",
        )
        reason = st.text_area(t("Reason"), max_chars=LONGEST_REASON, key="read-again-reason")
        actions.button(
            t("Read the output again"),
            lambda: _reread(person, name, rules, checked_reason(reason)),
            in_form=True,
            key="read-again-now",
            subject=name,
            below=below,
        )


def _reread(person: Person, name: str, rules: str, reason: str) -> Report | Question:
    read = reread(store(), study=person.study_name, model_id=name, rules=rules)
    if not read.changed:
        return Report(text=t("Under these rules no answer changes."), kind="info")

    def keep() -> str:
        keep_reread(store(), read, reason=reason, acting=acting(person))
        return t("The output of {model} was read again.", model=name)

    return Question(
        text=tn(
            "{n} answer of {model} changes under the rules “{rules}”. Reason: {reason}",
            "{n} answers of {model} change under the rules “{rules}”. Reason: {reason}",
            read.changed.total(),
            model=name,
            rules=_rule_names()[rules],
            reason=reason,
        ),
        do=keep,
    )


def routes() -> list[Route]:
    """Return the route of the download."""
    return [Route("/export/exam-paper/{format}.zip", _download_paper, methods=["GET"])]


def exam_paper(person: Person) -> None:
    """Show the formats and variants of the exam paper, and the download."""
    section(
        t("Exam paper"),
        t(
            "The cases of this study for a model: images and questions as readers see them, "
            "without the reference standard. Preparing many large images can take several minutes. "
            "Each download is recorded in the audit trail."
        ),
    )
    chosen = st.selectbox(
        t("Format"),
        list(_FORMAT_NAMES),
        format_func=lambda name: translated(_FORMAT_NAMES[name]),
        key="paper-format",
    )
    address = f"export/exam-paper/{chosen}.zip"
    if _has_open_ended_cases(person) and st.toggle(
        t("Without options: the model answers open-ended, as readers do"), key="paper-open-ended"
    ):
        address += f"?condition={Shown.OPEN_ENDED}"
    links("exam_paper", {address: t("Download the exam paper (ZIP)")}, download=True)


def _has_open_ended_cases(person: Person) -> bool:
    with store().look() as look:
        protocol = stored_protocol(study_row(look, person.study_name))
    return Condition.OPEN_ENDED in protocol.conditions


async def _download_paper(request: Request) -> Response:
    def make(person: Person) -> Response:
        format_name = str(request.path_params["format"])
        if format_name not in FORMATS:
            return PlainTextResponse(t("There is no such format."), status_code=404)
        condition = request.query_params.get("condition", str(Shown.IMAGE))
        if condition not in (Shown.IMAGE, Shown.OPEN_ENDED):
            return PlainTextResponse(t("There is no such condition."), status_code=404)
        return _paper_response(person, format_name, Shown(condition))

    return await answer(request, Act.MODELS, make, t("Sign in to see this page."))


def _paper_response(person: Person, format_name: str, condition: Shown) -> Response:
    current_store = store()
    paper = paper_of_study(current_store, person.study_name, ModelProtocol(condition=condition))
    folder = Path(tempfile.mkdtemp(dir=current_store.folder, prefix=".exam-paper-"))
    path = folder / f"exam-paper-{format_name}.zip"
    try:
        export_paper(
            current_store, paper, path, form=PaperForm(formats=[format_name]), acting=acting(person)
        )
    except BaseException:
        shutil.rmtree(folder)
        raise
    return FileResponse(
        path,
        media_type="application/zip",
        headers=attachment(path.name),
        background=BackgroundTask(shutil.rmtree, folder),
    )
