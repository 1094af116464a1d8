"""The expert reviews somebody judges questions in: how far they are, and their own verdicts."""

from functools import partial

import pandas as pd
import streamlit as st

from study.base.errors import StudyError
from study.base.translation import said, t, tn
from study.lifecycle import reviewing
from study.lifecycle.reviewing import VERDICTS, ItemReview, Verdict
from study.people.roles import Act
from study.store import reviews
from study.store.reviews import ReviewRow
from ui.app.masthead import masthead
from ui.parts.links import links
from ui.parts.look import grid, page_title, refused
from ui.parts.text import plain
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.REVIEW)


def _review(row: ReviewRow) -> None:
    with store().look() as look:
        items = reviewing.item_reviews(look, row.id)
        why_not = reviewing.refusal(look, row)
    mine = [one for one in items if person.id in one.given]
    n_waiting = sum(person.id in one.waits_for for one in items)
    with st.container(border=True, key=f"review-{row.id}"):
        st.subheader(plain(row.name), anchor=False)
        st.caption(t("Question bank: {bank}", bank=plain(row.bank_name)))
        st.write(_how_far(len(mine), n_waiting))
        if why_not:
            st.info(why_not)
        elif n_waiting:
            begin = t("Continue") if mine else t("Start")
            links(f"review_{row.id}", {f"review?review={row.id}": begin})
        else:
            st.info(
                t("You may still be asked about a question on which two other reviewers disagree.")
            )
        if mine:
            _verdicts(row, mine, open_still=not why_not)


def _how_far(n_given: int, n_waiting: int) -> str:
    done = tn("You have judged {n} question.", "You have judged {n} questions.", n_given)
    left = tn("{n} is waiting for you.", "{n} are waiting for you.", n_waiting)
    return f"{done} {left}" if n_waiting else done


def _verdicts(row: ReviewRow, mine: list[ItemReview], *, open_still: bool) -> None:
    own = [one.given[person.id] for one in mine]
    with st.expander(t("Your verdicts")):
        if open_still:
            st.caption(t("Select a row to change a verdict."))
        event = grid(
            pd.DataFrame(
                {
                    t("ID"): [one.item.item_id for one in mine],
                    t("Verdict"): [said(VERDICTS[one.verdict]) for one in own],
                    t("Comment"): [one.comment for one in own],
                }
            ),
            on_select="rerun" if open_still else "ignore",
            selection_mode="single-row",
            key=f"verdicts-{row.id}",
        )
        chosen = event.selection.rows if open_still else []
        if chosen and chosen[0] < len(mine):
            _change(row, mine[chosen[0]])


def _change(row: ReviewRow, one: ItemReview) -> None:
    given, verdicts = one.given[person.id], list(Verdict)
    with st.form(f"change-{row.id}-{one.item.item}", border=False):
        verdict: Verdict = st.selectbox(
            t("Verdict on {item}", item=plain(one.item.item_id)),
            verdicts,
            index=verdicts.index(Verdict(given.verdict)),
            format_func=lambda value: said(VERDICTS[value]),
        )
        comment = st.text_input(t("Comment"), given.comment, max_chars=reviewing.LONGEST_COMMENT)
        sent = st.form_submit_button(t("Save"))
    if sent:
        act = acting(person)
        judge = partial(reviewing.judge, person=person.id, verdict=verdict, comment=comment)
        try:
            with store().change() as change:
                judge(change, row, one.item.item, now=act["now"])
        except StudyError as error:
            refused(str(error))
        else:
            st.rerun()


masthead(person)
page_title(
    t("Expert review"),
    t(
        "Judge each question with its images, its options and its reference standard. The other "
        "reviewers do not see your verdicts; where two differ, a third decides."
    ),
)
with store().look() as look:
    found = reviews.of_person(look, person.id)
for review in found:
    _review(review)
if not found:
    st.info(t("You have not been asked to review any questions yet."))
if person.several or person.may(Act.MAKE_STUDY):
    links("from_reviews", {".": t("Back")})
