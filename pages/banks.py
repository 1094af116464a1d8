"""The question banks of the server: a list, teaching, removal, and the forms that import one."""

import streamlit as st

from study.bank.managing import remove_bank
from study.base.translation import t
from study.lifecycle.teaching import set_availability
from study.people.roles import Act
from study.store import banks
from study.store import teaching as teaching_banks
from ui.app.masthead import masthead
from ui.banks import import_forms, importing
from ui.parts import actions
from ui.parts.actions import Question
from ui.parts.links import links
from ui.parts.text import table_time
from ui.parts.theme import error_line, grid
from ui.server import bank_import
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.MAKE_STUDY)
masthead(person)


def _show_banks() -> None:
    with store().look() as look:
        bank_rows = banks.listed(look)
    if not bank_rows:
        job = bank_import.current(store())
        if job is None or job.is_done():
            st.info(
                t(
                    "There is no bank yet. Import one below; the demo bank is enough to try "
                    "things out."
                )
            )
        return
    grid(
        {
            t("Bank"): [row.name for row in bank_rows],
            t("Questions"): [row.n_items for row in bank_rows],
            t("Images"): [row.n_films for row in bank_rows],
            t("Simulated"): [t("simulated") if row.simulated else "" for row in bank_rows],
            t("Imported (UTC)"): [table_time(row.imported_at_utc) for row in bank_rows],
            t("Source"): [row.source_name for row in bank_rows],
            t("Licence"): [row.licence for row in bank_rows],
        }
    )
    links(
        "to_drafts",
        {
            "new-study": t("Draft a study"),
            **{
                f"explore?bank={row.id}": t("Questions of {bank}", bank=row.name)
                for row in bank_rows
            },
            **{
                f"bank-review?bank={row.id}": t("Expert review of {bank}", bank=row.name)
                for row in bank_rows
            },
        },
    )
    _teaching_form([row.name for row in bank_rows])
    _removal_form([row.name for row in bank_rows])


def _teaching_form(names: list[str]) -> None:
    """Show which banks may be used for teaching, and let coordinators change this."""
    with store().look() as look:
        taught = [row.name for row in teaching_banks.taught(look)]
    with st.expander(t("Teaching")):
        st.caption(
            t(
                "Anyone with an account here can practise with these banks, and sees the answers. "
                "A bank cannot be practised with while its cases are being read in a study; "
                "readers wait until their own study is closed."
            )
        )
        chosen = st.multiselect(t("Banks open for teaching"), names, taught, key="taught")

        def save() -> str:
            for name in set(taught) ^ set(chosen):
                set_availability(store(), name, taught=name in chosen, acting=acting(person))
            return (
                t("Saved. Open for teaching: {banks}.", banks=", ".join(chosen))
                if chosen
                else t("Saved. No bank is open for teaching.")
            )

        actions.button(t("Save"), save, key="save-taught")
        if taught:
            links("to_teaching", {"teaching": t("See the teaching page")})


def _removal_form(names: list[str]) -> None:
    with st.expander(t("Remove a bank")):
        st.caption(
            t(
                "A bank that no study and no draft uses can be removed from the database. Its "
                "image files stay where they are."
            )
        )
        name = st.selectbox(t("Bank"), names, key="bank-to-remove")

        def remove() -> str:
            remove_bank(store(), name, acting=acting(person))
            return t("{bank} was removed.", bank=name)

        question = t("Remove {bank}? This cannot be undone.", bank=name)
        actions.button(t("Remove"), lambda: Question(text=question, do=remove), key="remove-bank")


st.title(t("Question banks"), anchor=False)
st.write(
    t("A bank is a checked set of questions with their images. Studies draw their cases from it.")
)
with error_line():
    importing.finish_import()
    # In containers, because tabs below a growing element would return to the first tab.
    with st.container():
        _show_banks()
    st.subheader(t("Import a bank"), anchor=False)
    with st.container():
        importing.show_import("")
    zipped, from_folder, demo = st.tabs([t("Upload"), t("From the server"), t("Demo bank")])
    with zipped:
        import_forms.upload_form(person)
    with from_folder:
        import_forms.folder_form(person)
    with demo:
        import_forms.demo_button(person)
