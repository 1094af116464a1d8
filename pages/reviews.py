"""A person's reviews and scorings: progress, and verdicts that can be changed."""

from collections.abc import Sequence

import streamlit as st

from study.base.translation import t, tn, translated
from study.lifecycle import exposure, judging
from study.lifecycle.judging import KINDS, LABELS, MAX_COMMENT_LENGTH, Assignment, Judged
from study.people.roles import Act
from study.store import judgements
from study.store.judgements import ANSWER, REVIEW, SCORING, JudgingRow
from ui.app.masthead import masthead
from ui.parts import actions
from ui.parts.links import links
from ui.parts.text import plain
from ui.parts.theme import grid, page_title
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.REVIEW)


def _subject_text(row: JudgingRow) -> str:
    if row.kind == REVIEW:
        return t("Question bank: {bank}", bank=plain(row.bank_name))
    return t("Answers in words") if row.kind == ANSWER else t("Explanations")


def _progress_text(row: JudgingRow, n: int, n_waiting: int) -> str:
    judged_cases = (
        tn("You have judged {n} question.", "You have judged {n} questions.", n)
        if row.kind == REVIEW
        else tn("You have judged {n} answer.", "You have judged {n} answers.", n)
    )
    if not n_waiting:
        return judged_cases
    return f"{judged_cases} {tn('{n} is waiting for you.', '{n} are waiting for you.', n_waiting)}"


def _row_labels(case: Judged) -> list[str]:
    """Return the description of a case next to its verdict: its id, and the answer in a scoring."""
    return [case.item_id, *(answer.words for answer in case.answers[:1])]


def _show_assignment(part: Assignment, refusal: str, hidden: str) -> None:
    row, case, n_waiting = part.row, part.judged, len(part.waiting)
    key = f"{row.table}-{row.id}"
    with st.container(border=True, key=key):
        st.subheader(plain(row.name), anchor=False)
        st.caption(_subject_text(row))
        st.write(_progress_text(row, len(case), n_waiting))
        if refusal:
            st.info(refusal)
        elif n_waiting:
            address = f"review?{row.table}={row.id}"
            links(key.replace("-", "_"), {address: t("Continue") if case else t("Start")})
        else:
            st.info(t("More may be assigned to you where two others differ."))
        if hidden:
            st.info(hidden)
        elif case:
            _verdict_list(part, case, key, closed=bool(refusal))


def _verdict_list(part: Assignment, cases: Sequence[Judged], key: str, *, closed: bool) -> None:
    own_verdicts = [case.verdicts[part.judge] for case in cases]
    heads = [t("ID")] if part.row.kind == REVIEW else [t("ID"), t("Words")]
    columns = zip(*map(_row_labels, cases), strict=True)
    with st.expander(t("Your verdicts")):
        if not closed:
            st.caption(t("Select a row to change a verdict."))
        event = grid(
            {
                **{head: list(column) for head, column in zip(heads, columns, strict=True)},
                t("Verdict"): [translated(LABELS[verdict.verdict]) for verdict in own_verdicts],
                t("Comment"): [verdict.comment for verdict in own_verdicts],
            },
            on_select="ignore" if closed else "rerun",
            selection_mode="single-row",
            key=f"verdicts-{key}",
        )
        chosen = [] if closed else event.selection.rows
        if chosen and chosen[0] < len(cases):
            _change_form(part, cases[chosen[0]], key)


def _change_form(part: Assignment, case: Judged, key: str) -> None:
    latest, cells = case.verdicts[part.judge], _row_labels(case)
    verdicts = [verdict.value for verdict in KINDS[case.kind].options]
    with st.form(f"change-{key}-{'-'.join(cells)}", border=False):
        verdict = st.selectbox(
            t("Verdict on {item}", item=plain(cells[-1])),
            verdicts,
            index=verdicts.index(latest.verdict),
            format_func=lambda value: translated(LABELS[value]),
        )
        comment = st.text_input(t("Comment"), latest.comment, max_chars=MAX_COMMENT_LENGTH)

        def save() -> str:
            with store().change() as change:
                judging.judge(
                    change,
                    part.row,
                    judging.Judgement(
                        position=case.position, person=person.id, verdict=verdict, comment=comment
                    ),
                    now=acting(person).now,
                )
            return t("The verdict on {item} was saved.", item=cells[-1])

        actions.button(t("Save"), save, in_form=True, key=f"save-{key}", subject=tuple(cells))


masthead(person)
titles = {
    SCORING: (
        t("Scoring"),
        t(
            "Score each answer in words against the correct answer. You do not see whose it is, "
            "and the other scorers do not see your scores; where two differ, a third decides."
        ),
    ),
    REVIEW: (
        t("Expert review"),
        t(
            "Judge each question with its images, its options and its reference standard. The "
            "other reviewers do not see your verdicts; where two differ, a third decides."
        ),
    ),
}
with store().look() as look:
    assignments = [
        (
            judging.assignment(look, row, person.id),
            judging.refusal(look, row),
            exposure.withheld_reason(look, row.bank),
        )
        for row in judgements.judgings_of_person(look, person.id)
    ]
for table, title in titles.items():
    of_table = [judgement for judgement in assignments if judgement[0].row.table == table]
    if of_table or (table == REVIEW and not assignments):
        page_title(*title)
    for judgement in of_table:
        _show_assignment(*judgement)
if not assignments:
    st.info(t("You have not been asked to review any questions yet."))
if person.several or person.may(Act.MAKE_STUDY):
    links("from_reviews", {".": t("Back")})
