"""A person's reviews and scorings: progress, and verdicts that can be changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from study.base.translation import said, t, tn
from study.lifecycle import exposure, reviewing, scoring
from study.lifecycle.judging import LONGEST_COMMENT, Judged
from study.lifecycle.reviewing import VERDICTS, ItemVerdict
from study.lifecycle.scoring import SCORES, Score
from study.people.roles import Act
from study.store import Transaction, judgements
from study.store.judgements import ANSWER, ReviewRow, ScoringRow
from ui.app.masthead import masthead
from ui.parts import actions
from ui.parts.links import links
from ui.parts.text import plain
from ui.parts.theme import grid, page_title
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.REVIEW)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A review or scoring that a person was asked to do.

    Parameters
    ----------
    me
        The number they go by among its judges.
    heads, cells
        Columns that describe each case next to its verdict.
    judged
        Returns a message with the number judged.
    judge
        Saves a changed verdict.
    """

    key: str
    name: str
    caption: str
    address: str
    me: int
    every: Sequence[Judged]
    why_not: str
    hidden: str
    heads: Sequence[str]
    cells: Callable[[Any], Sequence[str]]
    judged: Callable[[int], str]
    words: Mapping[Any, str]
    judge: Callable[..., None]

    @property
    def mine(self) -> list[Judged]:
        return [judged for judged in self.every if self.me in judged.given]


def _of_review(look: Transaction, row: ReviewRow) -> _Asked:
    def judge(entry: Any, verdict: str, comment: str) -> None:
        with store().change() as change:
            reviewing.judge(
                change,
                row,
                entry.item.item,
                person=person.id,
                verdict=ItemVerdict(verdict),
                comment=comment,
                now=acting(person)["now"],
            )

    return _Asked(
        key=f"review-{row.id}",
        name=row.name,
        caption=t("Question bank: {bank}", bank=plain(row.bank_name)),
        address=f"review?review={row.id}",
        me=person.id,
        every=reviewing.item_reviews(look, row.id),
        why_not=reviewing.refusal(look, row),
        hidden=exposure.withheld(look, row.bank),
        heads=[t("ID")],
        cells=lambda entry: [entry.item.item_id],
        judged=lambda n: tn("You have judged {n} question.", "You have judged {n} questions.", n),
        words={verdict: VERDICTS[verdict] for verdict in ItemVerdict},
        judge=judge,
    )


def _of_scoring(look: Transaction, row: ScoringRow) -> _Asked:
    place = scoring.place_of(look, row.id, person.id) or 0

    def judge(entry: Any, verdict: str, comment: str) -> None:
        with store().change() as change:
            scoring.judge(
                change,
                row,
                entry.position,
                scorer=place,
                score=Score(verdict),
                comment=comment,
                now=acting(person)["now"],
            )

    answers = t("Answers in words") if row.kind == ANSWER else t("Explanations")
    return _Asked(
        key=f"scoring-{row.id}",
        name=row.study_name,
        caption=answers,
        address=f"review?scoring={row.id}",
        me=place,
        every=scoring.order_of(row, place, scoring.words_of(look, row.id)),
        why_not=scoring.refusal(look, row),
        hidden=exposure.withheld(look, row.bank),
        heads=[t("ID"), t("Words")],
        cells=lambda entry: [entry.answers[0].item_id, entry.answers[0].words],
        judged=lambda n: tn("You have judged {n} answer.", "You have judged {n} answers.", n),
        words=SCORES,
        judge=judge,
    )


def _show(asked: _Asked) -> None:
    mine = asked.mine
    n_waiting = sum(asked.me in judged.waits_for for judged in asked.every)
    with st.container(border=True, key=asked.key):
        st.subheader(plain(asked.name), anchor=False)
        st.caption(asked.caption)
        st.write(_how_far(asked.judged(len(mine)), n_waiting))
        if asked.why_not:
            st.info(asked.why_not)
        elif n_waiting:
            begin = t("Continue") if mine else t("Start")
            links(asked.key.replace("-", "_"), {asked.address: begin})
        else:
            st.info(t("More may still come to you where two others differ."))
        if asked.hidden:
            st.info(asked.hidden)
        elif mine:
            _verdicts(asked, mine)


def _how_far(done: str, n_waiting: int) -> str:
    left = tn("{n} is waiting for you.", "{n} are waiting for you.", n_waiting)
    return f"{done} {left}" if n_waiting else done


def _verdicts(asked: _Asked, mine: Sequence[Judged]) -> None:
    own = [entry.given[asked.me] for entry in mine]
    rows = [asked.cells(entry) for entry in mine]
    with st.expander(t("Your verdicts")):
        if not asked.why_not:
            st.caption(t("Select a row to change a verdict."))
        event = grid(
            {
                **{head: [row[i] for row in rows] for i, head in enumerate(asked.heads)},
                t("Verdict"): [said(asked.words[entry.verdict]) for entry in own],
                t("Comment"): [entry.comment for entry in own],
            },
            on_select="ignore" if asked.why_not else "rerun",
            selection_mode="single-row",
            key=f"verdicts-{asked.key}",
        )
        chosen = [] if asked.why_not else event.selection.rows
        if chosen and chosen[0] < len(mine):
            _change(asked, mine[chosen[0]], rows[chosen[0]])


def _change(asked: _Asked, judged: Judged, cells: Sequence[str]) -> None:
    judgement, verdicts = judged.given[asked.me], list(asked.words)
    with st.form(f"change-{asked.key}-{'-'.join(cells)}", border=False):
        verdict = st.selectbox(
            t("Verdict on {item}", item=plain(cells[-1])),
            verdicts,
            index=verdicts.index(judgement.verdict),
            format_func=lambda value: said(asked.words[value]),
        )
        comment = st.text_input(t("Comment"), judgement.comment, max_chars=LONGEST_COMMENT)

        def save() -> str:
            asked.judge(judged, verdict, comment)
            return t("The verdict on {item} was saved.", item=cells[-1])

        actions.submit(t("Save"), save, key=f"save-{asked.key}", about=tuple(cells))


masthead(person)
with store().look() as look:
    to_review = [_of_review(look, row) for row in judgements.reviews_of_person(look, person.id)]
    to_score = [_of_scoring(look, row) for row in judgements.scorings_of_person(look, person.id)]
if to_score:
    page_title(
        t("Scoring"),
        t(
            "Score each answer in words against the correct answer. You do not see whose it is, "
            "and the other scorers do not see your scores; where two differ, a third decides."
        ),
    )
    for asked in to_score:
        _show(asked)
if to_review or not to_score:
    page_title(
        t("Expert review"),
        t(
            "Judge each question with its images, its options and its reference standard. The "
            "other reviewers do not see your verdicts; where two differ, a third decides."
        ),
    )
    for asked in to_review:
        _show(asked)
if not to_review and not to_score:
    st.info(t("You have not been asked to review any questions yet."))
if person.several or person.may(Act.MAKE_STUDY):
    links("from_reviews", {".": t("Back")})
