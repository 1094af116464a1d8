"""The teaching banks, with the person's progress and the next round."""

from urllib.parse import urlencode

import streamlit as st

from study.base.translation import t, tn
from study.lifecycle import teaching
from study.lifecycle.teaching import Lesson
from study.people.roles import Act
from study.reading.score_card import sum_counts
from ui.app.masthead import masthead
from ui.parts import theme
from ui.parts.links import links
from ui.parts.text import plain
from ui.reading.score_card import count_text
from ui.server.access import guard
from ui.server.deployment import store

person = guard(Act.CHOOSE)


def _show_lesson(lesson: Lesson) -> None:
    with st.container(border=True, key=f"lesson-{lesson.bank}"):
        st.subheader(plain(lesson.name), anchor=False)
        st.write(_progress_text(lesson))
        if lesson.first:
            counts = {t("All cases"): sum_counts(lesson.first), **lesson.first}
            rows = [(task or t("No task"), count_text(count)) for task, count in counts.items()]
            head = [t("Task"), t("Right first time")]
            theme.table(head, rows, caption=t("Your answers when you first saw each case"))
        if lesson.refused:
            st.info(lesson.refused)
        elif not lesson.is_over:
            query = urlencode({"bank": lesson.bank, "round": lesson.round})
            begin = t("Continue") if lesson.is_begun else t("Start a round of 20 cases")
            links(f"lesson_{lesson.bank}", {f"teach?{query}": begin})


def _progress_text(lesson: Lesson) -> str:
    if not lesson.first:
        return t("You have not seen any of these cases yet.")
    if lesson.n_coming_back:
        return tn(
            "{n} case you missed will come back until you know it.",
            "{n} cases you missed will come back until you know them.",
            lesson.n_coming_back,
        )
    if lesson.is_over:
        return t("You have seen every case, and know those you missed at first.")
    return t("You know every case you have seen so far.")


masthead(person)
theme.page_title(
    t("Teaching"),
    t(
        "Practise in rounds of 20 cases. The answer follows each case, and cases you miss come "
        "back. Nothing here counts towards a study."
    ),
)
lessons = teaching.list_lessons(store(), person)
for entry in lessons:
    _show_lesson(entry)
if not lessons:
    st.info(t("No bank is open for teaching at present."))
links("from_teaching", {".": t("Back")})
