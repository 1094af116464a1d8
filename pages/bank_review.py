"""The expert review of a question bank: start it, follow it, close it and use its results."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from study.base.errors import BadFile, BadInput
from study.base.translation import t, tn, translated
from study.lifecycle import exposure, judging, reviewing
from study.lifecycle.judging import LABELS, ItemVerdict, Judged
from study.people.roles import Act
from study.protocol.checks import ids_in
from study.store import banks, judgements
from study.store.banks import BankRow
from study.store.judgements import REVIEW, JudgingRow
from ui.app.masthead import masthead
from ui.banks import verdicts
from ui.parts import actions
from ui.parts.actions import Question, Report
from ui.parts.forms import TABLE_TYPES, required, upload
from ui.parts.links import links
from ui.parts.text import number, plain
from ui.parts.theme import error_line, facts, grid, page_title, state_badge
from ui.people import handout
from ui.people.judging import (
    choose_judges,
    close_button,
    judge_section,
    pause_reason,
    progress_table,
)
from ui.server.access import acting, guard
from ui.server.deployment import store
from ui.server.file_jobs import begin_job, read_ids, save_upload
from ui.server.job_view import outcome_of

person = guard(Act.MAKE_STUDY)


def _bank() -> BankRow | None:
    bank_number = number(str(st.query_params.get("bank", "")))
    with store().look() as look:
        return next((row for row in banks.listed(look) if row.id == bank_number), None)


def _show_review(row: JudgingRow) -> None:
    with store().look() as look:
        items = judging.everything_judged(look, row)
        reviewers = judgements.judges(look, row)
        hidden, paused = exposure.withheld_reason(look, row.bank), pause_reason(look, row)
        review_facts = [] if hidden else verdicts.facts_of(look, row.id)
    with st.container(border=True, key=f"review-{row.id}"):
        name, state = st.columns([5, 1], vertical_alignment="center")
        name.subheader(plain(row.name), anchor=False)
        with state:
            state_badge("closed" if row.ended_at_utc else "open")
        for reason in filter(None, (paused, hidden)):
            st.info(reason)
        n_settled = sum(item.result is not None for item in items)
        st.write(t("{n} of {total} questions settled.", n=n_settled, total=len(items)))
        if review_facts:
            facts(review_facts)
        progress_table(row, items, reviewers)
        if not hidden:
            _show_faulty_questions(row, items, [reviewer.handle for reviewer in reviewers])
            links(
                f"verdicts_{row.id}",
                {verdicts.address(row.id): t("All verdicts (CSV)")},
                download=True,
            )
        _closing_controls(row, hidden=bool(hidden))


def _show_faulty_questions(row: JudgingRow, items: list[Judged], handles: list[str]) -> None:
    faulty = [item for item in items if item.result not in (None, ItemVerdict.SOUND)]
    if not faulty:
        return
    st.markdown(f"**{tn('{n} faulty question', '{n} faulty questions', len(faulty))}**")
    comments = [
        "; ".join(
            f"{handles[judge]}: {verdict.comment}"
            for judge, verdict in item.verdicts.items()
            if verdict.comment
        )
        for item in faulty
    ]
    grid(
        {
            t("ID"): [item.item_id for item in faulty],
            t("Finding"): [translated(LABELS[item.result or ""]) for item in faulty],
            t("Comments"): comments,
        },
        key=f"faults-{row.id}",
    )


def _closing_controls(row: JudgingRow, *, hidden: bool) -> None:
    if not row.ended_at_utc:
        close_button(
            person,
            row,
            t("Close the review"),
            question=t(
                "Close {review}? Nobody can judge any more; questions that are not settled keep no "
                "finding.",
                review=row.name,
            ),
            closed=t("The review is closed."),
        )
        return
    actions.show_last_report(f"close-{row.id}")
    st.caption(
        t(
            "Studies that have these cases leave the faulty ones out of a sensitivity "
            "analysis. To keep them out of new studies, strike them off."
        )
    )
    actions.button(
        t("Strike off the faulty questions"),
        lambda: _strike(row),
        key=f"strike-{row.id}",
        disabled=hidden,
    )


def _strike(row: JudgingRow) -> Question:
    def strike() -> str | Report:
        n = reviewing.strike_faulty(store(), row.id, acting=acting(person))
        if n:
            return tn(
                "{n} faulty question was struck off.", "{n} faulty questions were struck off.", n
            )
        return Report(
            text=t(
                "Nothing was changed: the review found no faulty question that is not struck off "
                "already."
            ),
            kind="info",
        )

    return Question(
        text=t(
            "Strike off the questions that {review} found faulty? No study draws them from now "
            "on; studies that have drawn them keep them.",
            review=row.name,
        ),
        do=strike,
    )


def _new_review_form(bank: BankRow, n_reviews: int, below: DeltaGenerator) -> None:
    with st.form(f"new-review-{n_reviews}", border=False):
        name = st.text_input(t("Name of the review"), max_chars=100)
        chosen = choose_judges(
            person,
            t("Reviewers"),
            help=t("Two reviewers judge each question without seeing each other's verdict."),
        )
        n_column, seed_column = st.columns(2)
        n = n_column.number_input(
            t("Questions, drawn at random"), 1, bank.n_items, min(30, bank.n_items)
        )
        seed = seed_column.number_input(t("Random seed"), 0, 2**31, 1)
        typed_ids = st.text_area(
            t("or these questions only (IDs, one per line)"),
            help=t("Leave empty to draw at random. The cases of a study can be pasted here."),
        )
        file = upload(
            t("or a file with these IDs"),
            types=("txt", *TABLE_TYPES),
            key=f"review-ids-{n_reviews}",
            max_mb=20,
        )

        def start() -> str:
            title = required(t("Name of the review"), name)
            ids = _ids(typed_ids, file)
            with store().look() as look:
                item_ids = ids or reviewing.sample_items(look, bank.name, n, seed=seed)
            reviewing.open_review(
                store(),
                bank.name,
                name=title,
                item_ids=item_ids,
                reviewers=chosen,
                acting=acting(person),
            )
            return tn(
                "The review {name} has started: {n} question.",
                "The review {name} has started: {n} questions.",
                len(item_ids),
                name=title,
            )

        actions.button(
            t("Start the review"),
            start,
            in_form=True,
            key="start-review",
            below=below,
            type="primary",
        )


def _ids(typed_ids: str, file: UploadedFile | None) -> list[str]:
    """Return the IDs that were entered or uploaded; empty for a random sample."""
    if file is None:
        return ids_in(typed_ids)
    if typed_ids.strip():
        raise BadInput(
            t(
                "IDs were entered and the file {file} was chosen too. Empty the field or remove "
                "the file.",
                file=file.name,
            )
        )
    ids = outcome_of(
        "start-review",
        lambda: begin_job(read_ids, save_upload(file.name, file)),
        t("Reading {file}", file=file.name),
    )
    if not ids:
        raise BadFile(t("{file} contains no IDs.", file=file.name))
    return ids


def _page(bank: BankRow) -> None:
    page_title(
        t("Expert review of {bank}", bank=plain(bank.name)),
        t(
            "Have experts judge a bank's questions before anyone reads them, or after a study is "
            "closed. Two reviewers judge each question; if they differ, a third decides."
        ),
    )
    with store().look() as look:
        reviews_of_bank = judgements.reviews_of_bank(look, bank.id)
        own_judgings = [
            row for row in judgements.judgings_of_person(look, person.id) if row.kind == REVIEW
        ]
    with st.container():
        for row in reviews_of_bank:
            _show_review(row)
    with st.expander(t("Reviewers and their access codes")):
        judge_section(person)
    new, below = st.expander(t("New review"), expanded=not reviews_of_bank), st.container()
    with new:
        _new_review_form(bank, len(reviews_of_bank), below)
    if own_judgings:
        links("to_reviews", {"reviews": t("Go to your own reviews")})


masthead(person)
with handout.page(""), error_line():
    bank = _bank()
    if bank is None:
        st.info(t("Choose a bank on the page of question banks."))
    else:
        _page(bank)
links("from_bank_review", {"banks": t("Back to the question banks")})
