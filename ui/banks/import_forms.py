"""The forms that import a question bank: an upload, a folder on the server, the demo bank."""

from typing import Any

import streamlit as st

from study.bank import uploads
from study.bank.layout import banks_folder, files_by_split
from study.bank.reading import MissingImages
from study.base.errors import BadInput
from study.base.provenance import LONGEST_TEXT, Provenance
from study.base.translation import t
from study.people.signing_in import Person
from ui.banks import importing
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.forms import upload
from ui.parts.links import links
from ui.server.access import acting
from ui.server.deployment import store


def upload_form(person: Person) -> None:
    """Import a bank from an uploaded ZIP file."""
    st.caption(
        t(
            "A ZIP file with the bank file (JSON in the ReXVQA format, or CSV) and the images, in "
            "the same folder or in folders of their own; or DICOM images with their questions as "
            "CSV or Excel."
        )
    )
    links(
        "bank_example",
        {
            "example/bank.zip": t("Example (ZIP)"),
            "example/bank-format.txt": t("Description of the format"),
        },
        download=True,
    )
    with st.form("upload", border=False):
        name = st.text_input(t("Bank name"), max_chars=100, key=_field_key("zip-name"))
        archive = upload(t("ZIP file"), types=["zip"], key=_field_key("zip-file"))
        faulty = _error_options("zip")
        simulated = st.checkbox(
            t("The images are simulated; say so wherever they are shown"),
            key=_field_key("zip-simulated"),
        )
        terms = _provenance_form("zip")
        chosen = _bank_file_choice("zip")

        def act() -> Report:
            if archive is None:
                raise BadInput(t("Choose a ZIP file first."))
            return importing.begin(
                person,
                "zip",
                name,
                lambda: uploads.receive_archive(store(), archive, name=name.strip()),
                chosen=chosen,
                simulated=simulated,
                provenance=terms,
                **faulty,
            )

        actions.button(
            t("Import"),
            act,
            in_form=True,
            key="import-zip",
            busy=t("Unpacking ..."),
            type="primary",
            icon=":material/upload:",
        )
    importing.show_import("zip")


def folder_form(person: Person) -> None:
    """Import a bank from a folder on the server."""
    folders = uploads.importable_folders(store())
    st.caption(
        t(
            "For banks too large to upload: the server administrator places the folder in the "
            "folder banks, next to the database. It is imported from there without being copied."
        )
    )
    if not folders:
        st.write(t("This folder does not exist at present."))
        return
    folder = st.selectbox(t("Folder"), folders)
    release_splits = list(files_by_split(banks_folder(store()) / folder))
    with st.form("folder", border=False):
        name = st.text_input(t("Bank name"), max_chars=100, key=_field_key("folder-name"))
        chosen = _bank_file_choice("folder")
        if release_splits:
            chosen = tuple(
                st.multiselect(
                    t("Splits of the release"),
                    release_splits,
                    release_splits,
                    key=_field_key("folder-splits"),
                )
            )
        faulty = _error_options("folder")
        terms = _provenance_form("folder")

        def act() -> Report:
            if release_splits and not chosen:
                raise BadInput(t("Choose at least one split."))
            return importing.begin(
                person,
                "folder",
                name,
                lambda: uploads.folder_on_server(store(), folder),
                chosen=chosen,
                provenance=terms,
                **faulty,
            )

        actions.button(t("Import"), act, in_form=True, key="import-folder", type="primary")
    importing.show_import("folder")


def demo_button(person: Person) -> None:
    """Import the demo bank included in the program."""
    st.caption(
        t("Simulated radiographs supplied with the program: for trying it out, never for data.")
    )
    actions.button(
        t("Import the demo bank"),
        lambda: importing.success_report(uploads.import_demo(store(), acting=acting(person))),
        key="demo",
        busy=t("Reading the bank and checking every image ..."),
        type="primary",
    )


def _error_options(form_name: str) -> dict[str, Any]:
    """Ask how to treat questions that lack an image or have errors."""
    names: dict[MissingImages, str] = {
        "refuse": t("Import nothing"),
        "drop": t("Leave out these questions"),
        "frontal": t("Keep those with a frontal image"),
    }
    missing = st.selectbox(
        t("If images are missing"),
        list(names),
        format_func=names.__getitem__,
        key=_field_key(f"{form_name}-missing"),
    )
    skip = st.checkbox(
        t("Leave out questions with errors, and list them"), key=_field_key(f"{form_name}-skip")
    )
    allow = st.checkbox(
        t("Allow possible identifiers in texts"),
        key=_field_key(f"{form_name}-allow"),
        help=t(
            "For DICOM images. A text that contains a full name, an id or a date of the image's "
            "DICOM data is always rejected. A text with a word that may be part of a name, such "
            "as Rose or Klein, is rejected unless you allow it here; each such text is listed."
        ),
    )
    return {
        "missing_images": missing,
        "skip_faulty": skip,
        "allow_possible_identifiers": allow,
    }


def _provenance_form(form_name: str) -> Provenance:
    names = {
        "version": t("Version"),
        "licence": t("Licence"),
        "source_url": t("Web address"),
        "citation": t("Citation"),
    }
    with st.expander(t("Version, licence and source (optional)")):
        st.caption(t("Every export of a study states them."))
        columns = st.columns(2)
        values = {
            name: columns[place % 2]
            .text_input(label, max_chars=LONGEST_TEXT, key=_field_key(f"{form_name}-{name}"))
            .strip()
            for place, (name, label) in enumerate(names.items())
        }
    return Provenance(**values)


def _bank_file_choice(form_name: str) -> tuple[str, ...]:
    """Ask which file is the bank if there are several candidates."""
    names = st.session_state.get(f"{form_name}-choices")
    if not names:
        return ()
    words = t("Several files could be the bank. Choose one, then import again.")
    with actions.attention(f"report-several-{st.session_state.get('several')}", words):
        st.warning(words)
        return (str(st.radio(t("Bank file"), names, key=_field_key(f"{form_name}-choice"))),)


def _field_key(name: str) -> str:
    """Return the key of a field; it changes after each import, so that the form is empty again."""
    return f"{name}-{st.session_state.get('banks-brought', 0)}"
