"""The question banks of the deployment, and how one is brought in by browser."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from study.bank import uploads
from study.bank.importing import FaultyBank, Imported
from study.bank.layout import SeveralBanks, banks_folder, splits
from study.bank.managing import remove_bank
from study.bank.reading import MissingImages
from study.base.errors import BadInput, StudyError
from study.base.provenance import LONGEST, Provenance
from study.base.translation import t, tn
from study.lifecycle.teaching import mark
from study.people.roles import Act
from study.store import banks
from study.store import teaching as teaching_banks
from ui.app.masthead import masthead
from ui.parts import actions
from ui.parts.actions import SHOWN_BELOW, Question, Report
from ui.parts.forms import required, upload
from ui.parts.links import links
from ui.parts.text import instant, plain, time_left
from ui.parts.theme import error_line, grid
from ui.server import bank_import, worker
from ui.server.access import acting, guard
from ui.server.deployment import store

person = guard(Act.MAKE_STUDY)
masthead(person)

_BEGUN, _SETTLED = "import-begun", "import-settled"


def _banks_listed() -> None:
    with store().look() as look:
        listed = banks.listed(look)
    if not listed:
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
            t("Bank"): [row.name for row in listed],
            t("Questions"): [row.n_items for row in listed],
            t("Images"): [row.n_films for row in listed],
            t("Simulated"): [t("simulated") if row.simulated else "" for row in listed],
            t("Imported (UTC)"): [instant(row.imported_at_utc) for row in listed],
            t("Source"): [row.source_name for row in listed],
            t("Licence"): [row.licence for row in listed],
        }
    )
    links(
        "to_drafts",
        {
            "new-study": t("Draft a study"),
            **{f"explore?bank={row.id}": t("Questions of {bank}", bank=row.name) for row in listed},
            **{
                f"bank-review?bank={row.id}": t("Expert review of {bank}", bank=row.name)
                for row in listed
            },
        },
    )
    _teaching([row.name for row in listed])
    _removal([row.name for row in listed])


def _teaching(names: list[str]) -> None:
    """Let coordinators say which banks may be practised with."""
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
                mark(store(), name, taught=name in chosen, **acting(person))
            return (
                t("Saved. Open for teaching: {banks}.", banks=", ".join(chosen))
                if chosen
                else t("Saved. No bank is open for teaching.")
            )

        actions.button(t("Save"), save, key="save-taught")
        if taught:
            links("to_teaching", {"teaching": t("See the teaching page")})


def _removal(names: list[str]) -> None:
    with st.expander(t("Remove a bank")):
        st.caption(
            t(
                "A bank that no study and no draft uses can be removed from the database. Its "
                "image files stay where they are."
            )
        )
        name = st.selectbox(t("Bank"), names, key="bank-to-remove")

        def remove() -> str:
            remove_bank(store(), name, **acting(person))
            return t("{bank} was removed.", bank=name)

        question = t("Remove {bank}? This cannot be undone.", bank=name)
        actions.button(t("Remove"), lambda: Question(text=question, do=remove), key="remove-bank")


def _begin(
    which: str,
    name: str,
    arrive: Callable[[], uploads.Arrived],
    terms: Mapping[str, str],
    **what: Any,
) -> Report:
    """Begin an import in the background; its progress is shown below the form."""
    title = required(t("Bank name"), name)
    provenance = Provenance(**terms)
    job = bank_import.begin(
        store(), arrive(), provenance=provenance, name=title, **what, **acting(person)
    )
    st.session_state[_BEGUN] = (actions.visit(), which)
    job.is_done(worker.AT_ONCE_S)
    return SHOWN_BELOW


def _begun_with() -> str:
    """Return which form of this window began the import; empty after a visit to another page."""
    visit, which = st.session_state.get(_BEGUN, (0, ""))
    return str(which) if visit == actions.visit() else ""


def _settle() -> None:
    """Note that an import has ended: its form is emptied, or asks which file is the bank."""
    job = bank_import.current(store())
    if job is None or not job.is_done() or st.session_state.get(_SETTLED) == id(job):
        return
    st.session_state[_SETTLED] = id(job)
    which = _begun_with()
    try:
        job.outcome()
    except SeveralBanks as several:
        st.session_state[f"{which}-choices"] = several.names
        st.session_state["several"] = st.session_state.get("several", 0) + 1
        bank_import.put_away(store())
    except StudyError:
        return
    else:
        if which:
            st.session_state["banks-brought"] = st.session_state.get("banks-brought", 0) + 1
            st.session_state.pop(f"{which}-choices", None)


def _import_of(which: str) -> None:
    """Show the import that a form began, or where it is empty another window, and its result."""
    job = bank_import.current(store())
    if job is None or _begun_with() != which:
        return
    if not job.is_done():
        _under_way()
        return
    report = _outcome(job)
    with actions.attention(f"report-import-{id(job)}", report.text):
        actions.tell(report)
        actions.turn(t("Hide this message"), lambda: bank_import.put_away(store()), key="put-away")


@st.fragment(run_every=1.0)
def _under_way() -> None:
    guard(Act.MAKE_STUDY)
    job = bank_import.current(store())
    if job is None or job.is_done():
        st.rerun()
    words = t("Importing {bank}", bank=job.name)
    with st.container(border=True), actions.attention(f"report-importing-{id(job)}", words):
        st.markdown(f"**{plain(words)}**")
        progress = job.progress
        st.progress(progress.share, _how_far(progress))
        actions.button(t("Cancel the import"), partial(_cancel, job), key="cancel-import")


def _cancel(job: bank_import.ImportJob) -> Report:
    job.cancel()
    job.is_done(worker.AT_ONCE_S)
    return SHOWN_BELOW


def _how_far(progress: worker.Progress) -> str:
    if progress.step == "films":
        words = t(
            "Checking the images: {done} of {total}, {rate} per second",
            done=round(progress.done),
            total=round(progress.total),
            rate=round(progress.rate),
        )
        left = progress.left_s
        return words if left is None else f"{words} · {time_left(left)}"
    return t("Storing the bank ...") if progress.step == "store" else t("Reading the questions ...")


def _outcome(job: bank_import.ImportJob) -> Report:
    """Return the result of an import."""
    try:
        return _imported(job.outcome())
    except FaultyBank as faulty:
        return _faults(faulty)
    except StudyError as error:
        return Report(text=str(error), kind="error")


def _faults(faulty: FaultyBank) -> Report:
    sentences = []
    if faulty.n_faulty:
        sentences.append(
            tn(
                "Nothing was imported: {n} question has errors, listed below. Correct the "
                "file, or tick “Leave out questions with errors, and list them”.",
                "Nothing was imported: {n} questions have errors, listed below. Correct the "
                "file, or tick “Leave out questions with errors, and list them”.",
                faulty.n_faulty,
            )
        )
    if faulty.missing.n_items:
        sentences.append(
            tn(
                "Nothing was imported: {n} image is missing. Add it, or choose what to do with "
                "its questions under “If images are missing”.",
                "Nothing was imported: {n} images are missing. Add them, or choose what to do "
                "with their questions under “If images are missing”.",
                faulty.missing.n_films,
            )
        )
    faults = (*(faulty.faults if faulty.n_faulty else ()), *faulty.missing.examples)
    return Report(text=" ".join(sentences), kind="error", lines=tuple(map(str, faults)))


def _key(name: str) -> str:
    """Return the key of a field, another one after each import: the form begins empty again."""
    return f"{name}-{st.session_state.get('banks-brought', 0)}"


def _choice(which: str) -> tuple[str, ...]:
    """Ask which file is the bank, where several could be."""
    names = st.session_state.get(f"{which}-choices")
    if not names:
        return ()
    words = t("Several files could be the bank. Choose one, then import again.")
    with actions.attention(f"report-several-{st.session_state.get('several')}", words):
        st.warning(words)
        return (str(st.radio(t("Bank file"), names, key=_key(f"{which}-choice"))),)


def _imported(done: Imported) -> Report:
    if not done.is_new:
        return Report(
            text=t(
                "{bank} was imported from these very files before. Nothing was changed.",
                bank=done.bank,
            ),
            kind="info",
        )
    warnings = [*done.guessable]
    if done.n_left_out:
        warnings.append(
            tn("{n} question was left out.", "{n} questions were left out.", done.n_left_out)
        )
    if done.missing.n_shortened:
        warnings.append(
            tn(
                "{n} question is shown without an image that is missing.",
                "{n} questions are shown without an image that is missing.",
                done.missing.n_shortened,
            )
        )
    left_out = (*done.left_out, *done.missing.examples) if done.n_left_out else ()
    return Report(
        text=t(
            "Imported {bank}: {items}, {films}.",
            bank=done.bank,
            items=tn("{n} question", "{n} questions", done.n_items),
            films=tn("{n} image", "{n} images", done.n_films),
        ),
        warnings=tuple(warnings),
        lines=(*done.notes, *map(str, left_out)),
    )


def _faulty(which: str) -> dict[str, Any]:
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
        key=_key(f"{which}-missing"),
    )
    skip = st.checkbox(
        t("Leave out questions with errors, and list them"), key=_key(f"{which}-skip")
    )
    allow = st.checkbox(
        t("Allow possible identifiers in texts"),
        key=_key(f"{which}-allow"),
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


def _terms(which: str) -> dict[str, str]:
    names = {
        "version": t("Version"),
        "licence": t("Licence"),
        "source_url": t("Web address"),
        "citation": t("Citation"),
    }
    with st.expander(t("Version, licence and source (optional)")):
        st.caption(t("Every export of a study states them."))
        columns = st.columns(2)
        return {
            name: columns[place % 2]
            .text_input(label, max_chars=LONGEST, key=_key(f"{which}-{name}"))
            .strip()
            for place, (name, label) in enumerate(names.items())
        }


def _upload() -> None:
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
        name = st.text_input(t("Bank name"), max_chars=100, key=_key("zip-name"))
        archive = upload(t("ZIP file"), types=["zip"], key=_key("zip-file"))
        faulty = _faulty("zip")
        simulated = st.checkbox(
            t("The images are simulated; say so wherever they are shown"), key=_key("zip-simulated")
        )
        terms = _terms("zip")
        chosen = _choice("zip")

        def begin() -> Report:
            if archive is None:
                raise BadInput(t("Choose a ZIP file first."))
            return _begin(
                "zip",
                name,
                lambda: uploads.receive(store(), archive, name=name.strip()),
                terms,
                simulated=simulated,
                chosen=chosen,
                **faulty,
            )

        actions.submit(
            t("Import"),
            begin,
            key="import-zip",
            busy=t("Unpacking ..."),
            type="primary",
            icon=":material/upload:",
        )
    _import_of("zip")


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
    folder = st.selectbox(t("Folder"), there)
    of_release = list(splits(banks_folder(store()) / folder))
    with st.form("folder", border=False):
        name = st.text_input(t("Bank name"), max_chars=100, key=_key("folder-name"))
        chosen = _choice("folder")
        if of_release:
            chosen = tuple(
                st.multiselect(
                    t("Splits of the release"), of_release, of_release, key=_key("folder-splits")
                )
            )
        faulty = _faulty("folder")
        terms = _terms("folder")

        def begin() -> Report:
            if of_release and not chosen:
                raise BadInput(t("Choose at least one split."))
            return _begin(
                "folder",
                name,
                lambda: uploads.arrived(store(), folder),
                terms,
                chosen=chosen,
                **faulty,
            )

        actions.submit(t("Import"), begin, key="import-folder", type="primary")
    _import_of("folder")


def _demo() -> None:
    st.caption(
        t("Simulated radiographs supplied with the program: for trying it out, never for data.")
    )
    actions.button(
        t("Import the demo bank"),
        lambda: _imported(uploads.import_demo(store(), **acting(person))),
        key="demo",
        busy=t("Reading the bank and checking every image ..."),
        type="primary",
    )


st.title(t("Question banks"), anchor=False)
st.write(
    t("A bank is a checked set of questions with their images. Studies draw their cases from it.")
)
with error_line():
    _settle()
    # In containers, because tabs below what grows would begin anew with the first of them.
    with st.container():
        _banks_listed()
    st.subheader(t("Import a bank"), anchor=False)
    with st.container():
        _import_of("")
    zipped, from_folder, demo = st.tabs([t("Upload"), t("From the server"), t("Demo bank")])
    with zipped:
        _upload()
    with from_folder:
        _folder()
    with demo:
        _demo()
