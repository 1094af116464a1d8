"""The question banks of the deployment, and how one is brought in by browser."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from study.bank import uploads
from study.bank.importing import FaultyBank, Imported
from study.bank.layout import SeveralBanks
from study.bank.removing import remove_bank
from study.base.errors import StudyError
from study.base.translation import t, tn
from study.people.roles import Act
from study.store import banks
from ui.app.masthead import masthead
from ui.parts.confirming import answer, ask
from ui.parts.links import links
from ui.parts.look import grid, listed, refused
from ui.parts.text import minute, plain
from ui.parts.uploads import upload
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.MAKE_STUDY)
masthead(person)


def _there() -> None:
    with store().look() as look:
        found = banks.listed(look)
    if not found:
        st.info(
            t("There is no bank yet. Import one below; the demo bank is enough to try things out.")
        )
        return
    grid(
        pd.DataFrame(
            {
                t("Bank"): [row.name for row in found],
                t("Questions"): [row.n_items for row in found],
                t("Images"): [row.n_films for row in found],
                t("Simulated"): [t("simulated") if row.simulated else "" for row in found],
                t("Imported (UTC)"): [minute(row.imported_at_utc) for row in found],
                t("Source"): [row.source_name for row in found],
            }
        ),
    )
    links("to_drafts", {"new-study": t("Draft a study")})
    _removal([row.name for row in found])


def _removal(names: list[str]) -> None:
    with st.expander(t("Remove a bank")):
        st.caption(
            t(
                "A bank that no study and no draft uses can be removed from the database. Its "
                "image files stay where they are."
            )
        )
        name = st.selectbox(t("Bank"), names, key="bank-to-remove")
        if st.button(t("Remove"), key="remove-bank"):
            ask(
                "removal",
                about="banks",
                question=t("Remove bank {bank}? This cannot be undone.", bank=name),
                do=lambda acting: remove_bank(store(), name, **acting),
                done=t("{bank} was removed.", bank=name),
            )
        answer("removal", acting(person), about="banks")


def _try(which: str, bring: Callable[[], Imported]) -> None:
    """Import a bank and say what came of it, at the top of the page; every fault is listed."""
    st.session_state.pop(f"{which}-choices", None)
    try:
        with said, st.spinner(t("Reading the bank and checking every image ...")):
            done = bring()
    except SeveralBanks as several:
        st.session_state[f"{which}-choices"] = several.names
        st.rerun()
    except FaultyBank as faulty:
        with said:
            st.error(
                tn(
                    "Nothing was imported: {n} question has errors, listed below. Correct the "
                    "file, or tick “Leave out questions with errors, and list them”.",
                    "Nothing was imported: {n} questions have errors, listed below. Correct the "
                    "file, or tick “Leave out questions with errors, and list them”.",
                    faulty.n_faulty,
                )
            )
            listed([str(fault) for fault in faulty.faults])
        return
    except StudyError as error:
        with said:
            refused(str(error))
        return
    st.session_state["bank-imported"] = done
    st.session_state["banks-brought"] = st.session_state.get("banks-brought", 0) + 1
    st.rerun()


def _key(name: str) -> str:
    """Return the key of a field, another one after each import: the form begins empty again."""
    return f"{name}-{st.session_state.get('banks-brought', 0)}"


def _choice(which: str) -> tuple[str, ...]:
    """Ask which file is the bank, where several could be."""
    names = st.session_state.get(f"{which}-choices")
    if not names:
        return ()
    said.warning(t("Several files could be the bank. Choose one below, then import again."))
    return (str(st.radio(t("Bank file"), names, key=_key(f"{which}-choice"))),)


def _done() -> None:
    done = st.session_state.pop("bank-imported", None)
    if done is None:
        return
    st.success(
        t(
            "Imported {bank}: {items}, {films}.",
            bank=done.bank,
            items=tn("{n} question", "{n} questions", done.n_items),
            films=tn("{n} image", "{n} images", done.n_films),
        )
    )
    for sentence in done.guessable:
        st.warning(plain(sentence))
    for note in done.notes:
        st.caption(note)
    if done.n_left_out:
        st.warning(
            tn("{n} question was left out.", "{n} questions were left out.", done.n_left_out)
        )
        listed([str(fault) for fault in done.left_out])


def _skip(which: str) -> bool:
    return st.checkbox(
        t("Leave out questions with errors, and list them"), key=_key(f"{which}-skip")
    )


def _upload() -> None:
    st.caption(
        t(
            "A ZIP file with the bank file (JSON in the ReXVQA format, or CSV) and the images, in "
            "the same folder or in folders of their own."
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
        name = st.text_input(t("Bank name"), max_chars=100, key=_key("zip-name"))
        archive = upload(t("ZIP file"), types=["zip"], key=_key("zip-file"))
        skip = st.checkbox(
            t("Leave out questions with errors, and list them"), key=_key("zip-skip")
        )
        simulated = st.checkbox(
            t("The images are simulated; say so wherever they are shown"),
            key=_key("zip-simulated"),
        )
        chosen = _choice("zip")
        sent = st.form_submit_button(t("Import"), type="primary", icon=":material/upload:")
    if sent and archive is None:
        said.warning(t("Choose a ZIP file first."))
    elif sent and archive is not None:
        _try(
            "zip",
            lambda: uploads.import_zip(
                store(),
                archive,
                name=name.strip(),
                skip_faulty=skip,
                simulated=simulated,
                chosen=chosen,
                **acting(person),
            ),
        )


def _folder() -> None:
    there = uploads.folders(store())
    st.caption(
        t(
            "For banks too large to upload: the server administrator places the folder in the "
            "folder banks, next to the database. It is imported from there without being copied."
        )
    )
    if not there:
        st.write(t("This folder does not exist at present."))
        return
    with st.form("folder", border=False):
        folder = st.selectbox(t("Folder"), there)
        name = st.text_input(t("Bank name"), max_chars=100, key=_key("folder-name"))
        skip = st.checkbox(
            t("Leave out questions with errors, and list them"), key=_key("folder-skip")
        )
        chosen = _choice("folder")
        if not st.form_submit_button(t("Import"), type="primary"):
            return
    _try(
        "folder",
        lambda: uploads.import_folder(
            store(), folder, name=name.strip(), skip_faulty=skip, chosen=chosen, **acting(person)
        ),
    )


def _demo() -> None:
    st.caption(
        t("Simulated radiographs supplied with the program: for trying it out, never for data.")
    )
    if st.button(t("Import the demo bank"), type="primary", key="demo"):
        _try("demo", lambda: uploads.import_demo(store(), **acting(person)))


st.title(t("Question banks"), anchor=False)
st.write(
    t("A bank is a checked set of questions with their images. Studies draw their cases from it.")
)
said = st.container()
try:
    with said:
        _done()
    _there()
    st.subheader(t("Import a bank"), anchor=False)
    zipped, folder, demo = st.tabs([t("Upload"), t("From the server"), t("Demo bank")])
    with zipped:
        _upload()
    with folder:
        _folder()
    with demo:
        _demo()
except StudyError as error:
    st.error(str(error))
