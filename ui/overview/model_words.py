"""The words of a study's models: how they are read, and reading them again by other rules."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from study.base.actor import Acting
from study.base.text import LONGEST_REASON, checked_reason
from study.base.translation import t, tn
from study.lifecycle.studies import shows_accuracy
from study.models.answer_parser import LETTERS, RULES, STANDARD
from study.models.rereading import WordsRead, correct_by_rules, keep_reread, reread, words_of
from study.people.signing_in import Person
from study.store import Store
from study.store.models import ModelRow
from study.store.studies import study_row
from ui.overview.model_upload import read_as
from ui.overview.now import head
from ui.parts.confirming import answer, ask
from ui.parts.look import error_line, grid, table
from ui.server.access import acting
from ui.server.deployment import store

_KEY = "model-rereading"


def show_words(person: Person, found: list[ModelRow]) -> None:
    """Show what one of a study's models said and how it is read, to be read by other rules."""
    study = person.study_name
    with st.expander(t("Model output")):
        left, right = st.columns(2)
        name = left.selectbox(
            t("Model"), [row.model_id for row in found], index=None, key="words-name"
        )
        which = right.selectbox(t("Show"), list(_kinds()), key="words-which")
        if name is None:
            st.write(t("Choose a model to see its output and how it was interpreted."))
        else:
            said = _said(store(), head(store(), study), study, name)
            _by_rules(study, said)
            _list([one for one in said if _kinds()[which](one)])
            _form(study, name)
    answer(_KEY, acting(person), about=study)


@st.cache_resource(max_entries=4, show_spinner=False)
def _said(_store: Store, at: str, study: str, name: str) -> list[WordsRead]:
    return words_of(_store, study=study, model_id=name)


def _kinds() -> dict[str, Callable[[WordsRead], bool]]:
    """Return which output can be asked for, by its words."""
    return {
        t("All output"): lambda one: True,
        t("Output without an answer"): lambda one: one.kept not in LETTERS,
        t("Output that depends on the rules"): lambda one: len(set(one.by_rules.values())) > 1,
    }


def _named() -> dict[str, str]:
    names = (t("Strict"), t("Standard"), t("Loose"))
    return dict(zip(RULES, names, strict=True))


def _by_rules(study: str, said: list[WordsRead]) -> None:
    """Show how many answers each set of rules finds; how many are correct where that is shown."""
    with store().look() as look:
        seen = shows_accuracy(study_row(look, study))
    right = correct_by_rules(store(), study=study, said=said) if seen else {}
    rows = []
    for rules, name in _named().items():
        read = [one.by_rules[rules] for one in said]
        answered = sum(one in LETTERS for one in read)
        changed = sum(one.kept != now for one, now in zip(said, read, strict=True))
        counts = (answered, read.count("unparsed"), read.count("refused"), changed)
        rows.append((name, *counts, *([right[rules]] if seen else [])))
    columns = [t("Rules"), t("Answered"), t("Unparsed"), t("Refused"), t("Would change")]
    table(
        [*columns, *([t("Correct")] if seen else [])],
        rows,
        caption=t("The same output by each set of rules"),
    )


def _list(said: list[WordsRead]) -> None:
    """Show output as rows to filter and to sort; what is chosen stands in full below."""
    if not said:
        st.write(t("There is no such output."))
        return
    frame = pd.DataFrame(
        {
            t("Case"): [one.item_id for one in said],
            t("Condition"): [one.condition for one in said],
            t("Run"): [one.run for one in said],
            t("Model output"): [one.words for one in said],
            t("Read as"): [_read(one, one.kept) for one in said],
            **{
                name: [read_as(one.by_rules[rules], "") for one in said]
                for rules, name in _named().items()
            },
        }
    )
    empty = [name for name in (t("Condition"), t("Run")) if not frame[name].any()]
    picked = grid(
        frame.drop(columns=empty),
        height=min(38 + 35 * len(said), 318),
        key="words-list",
        on_select="rerun",
        selection_mode="single-row",
    )
    for row in picked["selection"]["rows"]:
        if row < len(said):
            st.text(said[row].words)


def _read(one: WordsRead, read: str) -> str:
    return read_as(read, one.options[LETTERS.index(read)] if read in LETTERS else "")


def _form(study: str, name: str) -> None:
    with st.form("read-again", clear_on_submit=True):
        st.markdown(
            t(
                "The model is not asked again: its stored output is read by the rules you choose "
                "and replaces the answers in the study. The audit trail records who did this and "
                "why."
            )
        )
        rules = st.selectbox(
            t("Rules"),
            list(RULES),
            index=list(RULES).index(STANDARD),
            format_func=_named().__getitem__,
            key="read-again-rules",
        )
        reason = st.text_area(t("Reason"), max_chars=LONGEST_REASON, key="read-again-reason")
        asked = st.form_submit_button(t("Read the output again"), key="read-again-now")
    if asked:
        with error_line():
            _ask(study, name, rules, checked_reason(reason))


def _ask(study: str, name: str, rules: str, reason: str) -> None:
    read = reread(store(), study=study, model_id=name, rules=rules)
    if not read.changed:
        st.info(t("By these rules no answer changes."))
        return

    def keep(acting: Acting) -> None:
        keep_reread(store(), read, reason=reason, **acting)

    ask(
        _KEY,
        about=study,
        question=tn(
            "{n} answer of {model} changes by the rules “{rules}”. Reason: {reason}",
            "{n} answers of {model} change by the rules “{rules}”. Reason: {reason}",
            read.changed.total(),
            model=name,
            rules=_named()[rules],
            reason=reason,
        ),
        do=keep,
        done=t("The output of {model} was read again.", model=name),
    )
