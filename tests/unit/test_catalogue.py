"""Every user-visible message can be translated: it is marked, extracted and in a catalogue."""

import ast
import re
import shutil
import string
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from study.base import translation as words
from ui import catalogue, viewer
from ui.parts.text import date_field_format
from ui.reading import desk
from ui.server import access
from ui.viewer import catalogue as viewer_catalogue

PYTHON = [path for path in catalogue.sources() if path.suffix == ".py"]
LITERAL_ARGUMENTS = {"t": 1, "tn": 2, "later": 1}
NODE = shutil.which("node")
FRENCH_CATALOGUE = r"""
msgid ""
msgstr ""
"Language: fr\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"
"Content-Type: text/plain; charset=utf-8\n"

msgid "Confirm"
msgstr "Confirmer"

msgid "Pause"
msgstr ""

msgid "{n} answer is missing."
msgid_plural "{n} answers are missing."
msgstr[0] "{n} réponse manque."
msgstr[1] "{n} réponses manquent."

msgid "Case {n} of {total}"
msgstr "Cas {n} sur {total}"
"""


@pytest.fixture(scope="module")
def template() -> Catalog:
    """Return every message of the program."""
    return catalogue.template()


@pytest.fixture
def french(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Install a French catalogue as the only one, and return its name."""
    (tmp_path / "fr").mkdir()
    (tmp_path / "fr" / words.CATALOGUE_FILE).write_text(FRENCH_CATALOGUE)
    monkeypatch.setattr(words, "folder", lambda: tmp_path)
    return "fr"


def test_updating_a_catalogue_keeps_translations_and_drops_obsolete_messages(
    french: str, tmp_path: Path
) -> None:
    """New messages are added without translation; source locations are not written."""
    current = Catalog()
    current.add("Confirm", locations=[("page.py", 7)])
    current.add("New message")
    path = tmp_path / french / words.CATALOGUE_FILE
    path.write_bytes(catalogue.updated_po_file(path, current))
    with path.open("rb") as file:
        updated = {message.id: message.string for message in read_po(file) if message.id}
    assert updated == {"Confirm": "Confirmer", "New message": ""}
    assert "page.py" not in path.read_text()


@pytest.mark.parametrize("language", [name for name in words.languages() if name != words.ENGLISH])
def test_a_translation_is_complete_and_contains_all_values(
    template: Catalog, language: str
) -> None:
    """At least 19 of 20 messages are translated, each with the values of the English message."""
    wanted = {message.id: message for message in template if message.id}
    path = words.folder() / language / words.CATALOGUE_FILE
    assert not re.search("^(<<<<<<<|>>>>>>>)", path.read_text(encoding="utf-8"), re.MULTILINE)
    with path.open("rb") as file:
        there = read_po(file)
    translated = {
        entry.id: entry
        for entry in there
        if entry.id in wanted and entry.string and not entry.fuzzy
    }
    assert len(translated) >= 0.95 * len(wanted)
    for key, message in translated.items():
        forms = [message.string] if isinstance(message.string, str) else [*(message.string or ())]
        assert isinstance(key, str) or len(forms) == there.num_plurals, key
        for i, form in enumerate(forms):
            singular, plural = (key, key) if isinstance(key, str) else (key[0], key[-1])
            assert _values(form) == _values(singular if i == 0 and len(forms) > 1 else plural), key


def _values(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_a_message_within_an_f_string_is_collected(tmp_path: Path) -> None:
    """For example, the message is in bold text; both plural forms are collected."""
    file = tmp_path / "page.py"
    file.write_text("""f"**{t('Bold')}**"; f"{tn('{n} case', '{n} cases', 2)}"; t(unknown)""")
    assert list(catalogue.messages(file)) == ["Bold", ("{n} case", "{n} cases")]


def test_the_template_is_a_catalogue(template: Catalog) -> None:
    """The template can be parsed, and has messages of staff pages and of the reading page."""
    messages = {message.id for message in read_po(BytesIO(catalogue.po_file_of(template)))}
    assert {"Sign in", "Next case"} <= messages


def test_every_message_is_written_out_where_it_is_used() -> None:
    """Extraction reads the source code, so a variable or f-string would be missed silently."""
    assert not [place for path in PYTHON for place in _computed_messages(path)]


def _computed_messages(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in LITERAL_ARGUMENTS):
        return
    for call in ast.walk(ast.parse(text)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            for argument in call.args[: LITERAL_ARGUMENTS.get(call.func.id, 0)]:
                if not isinstance(argument, ast.Constant):
                    yield f"{path}:{call.lineno}"


def test_the_reading_page_is_translated(french: str) -> None:
    """The catalogue of the reading page has only the translated messages of that page."""
    module = viewer_catalogue(viewer.MODULES, french)
    assert '"Confirm": "Confirmer"' in module
    assert '"{n} answer is missing.": ["{n} réponse manque.", "{n} réponses manquent."]' in module
    assert "Pause" not in module
    assert "Number((n > 1))" in module


@pytest.mark.skipif(NODE is None, reason="no Node here; install it with: apt-get install nodejs")
def test_the_modules_use_the_catalogue_in_their_folder(french: str, tmp_path: Path) -> None:
    """With another page/catalogue.js, messages are translated, with the plurals of the language."""
    folder = tmp_path / "js"
    shutil.copytree(viewer.MODULES, folder)
    (folder / "page" / "catalogue.js").write_text(viewer_catalogue(viewer.MODULES, french))
    script = """
    import { texts } from "./js/page/texts.js";
    const { labels, position, preparation: { questionnaire: { missing } } } = texts;
    console.log([labels.confirm, labels.pause, missing(0), missing(2), position(1, 6)].join("|"));
    """
    (tmp_path / "say.mjs").write_text(script)
    result = subprocess.run(
        [str(NODE), str(tmp_path / "say.mjs")], capture_output=True, text=True, check=True
    )
    texts = result.stdout.strip().split("|")
    assert texts == [
        "Confirmer",
        "Pause",
        "0 réponse manque.",
        "2 réponses manquent.",
        "Cas 1 sur 6",
    ]


def test_a_plural_rule_that_is_code_is_refused(french: str) -> None:
    """The rule is written into a script of the page, so only gettext's grammar is accepted."""
    path = words.folder() / french / words.CATALOGUE_FILE
    path.write_text(FRENCH_CATALOGUE.replace("(n > 1)", "alert(n)"))
    with pytest.raises(ValueError, match=r"plural|token|expression"):
        words.catalogue_messages(french, {"Confirm"})


@pytest.mark.parametrize(
    ("accept_language", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        ("zh", "zh-Hans"),
        ("zh-Hans-SG", "zh-Hans"),
        ("zh-TW,de;q=0.5", "de"),
        ("de-AT", "de"),
        ("fr-CA", "en"),
        ("*", "en"),
        ("", "en"),
    ],
)
def test_a_browser_gets_its_preferred_language(
    monkeypatch: pytest.MonkeyPatch, accept_language: str, language: str
) -> None:
    """A country determines the script; traditional Chinese is another language."""
    monkeypatch.setattr(access, "languages", lambda: ("en", "de", "zh-Hans"))
    assert access.wanted_language({"Accept-Language": accept_language}) == language


def test_the_address_of_the_modules_contains_the_language(french: str) -> None:
    """A browser that cached the modules in one language requests those in the other."""
    english = viewer.modules_url()
    with words.in_language(french):
        assert viewer.modules_url() == f"{english}fr/"


def test_age_and_sex_are_shown_in_the_readers_language() -> None:
    """The terms in the bank are English; other similar texts are not translated."""
    shown = {("Age", "60 years"), ("Age", "1 day"), ("Age", "50 to 60 years"), ("Sex", "female")}
    assert {(name, desk._context_text(name, value)) for name, value in shown} == shown
    with words.in_language("de"):
        texts = {desk._context_text(name, value) for name, value in shown}
        assert texts == {"60 Jahre", "1 Tag", "50 bis 60 Jahre", "weiblich"}
        assert desk._context_text("Indication", "female") == "female"
        assert desk._context_text("Age", "adult") == "adult"


@pytest.mark.parametrize(
    ("language", "form"), [("en", "DD/MM/YYYY"), ("de", "DD.MM.YYYY"), ("zh-Hans", "YYYY/MM/DD")]
)
def test_a_date_is_entered_in_the_format_of_the_language(language: str, form: str) -> None:
    """The date has the order and the characters of the language."""
    with words.in_language(language):
        assert date_field_format() == form
