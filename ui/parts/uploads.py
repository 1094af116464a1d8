"""Files people hand in through a page: asked for, written to a folder of their own, gone again."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

import streamlit as st

from study.base.errors import BadFile
from study.base.translation import t

MOST_MB = 500
"""What the server takes at most: `maxUploadSize` in .streamlit/config.toml."""

# Streamlit's own words on its uploader are English in every language: ours are shown instead. Its
# button keeps its word unseen, for a name made by a style is none to a screen reader.
_OURS = """<style>
[data-testid="stFileUploaderDropzoneInstructions"] { display: none; }
[data-testid="stFileUploaderDropzone"] button:has([data-testid="stIconMaterial"])
  [data-testid="stMarkdownContainer"] {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%%); }
[data-testid="stFileUploaderDropzone"] button:has([data-testid="stMarkdownContainer"])::after {
  content: %s; margin-inline-start: .5rem; }
</style>"""


def upload(label: str, *, types: Sequence[str], key: str, most_mb: int = MOST_MB) -> Any:
    """Ask for a file, saying which kinds are taken and how large it may be; None until given."""
    st.html(_OURS % json.dumps(t("Choose a file"), ensure_ascii=False))
    kinds = ", ".join(one.upper() for one in types)
    told = t("{what} ({kinds}, at most {n} MB)", what=label, kinds=kinds, n=most_mb)
    return st.file_uploader(told, type=list(types), key=key, max_upload_size=most_mb)


@contextmanager
def on_disk(name: str, content: bytes) -> Iterator[Path]:
    """Lay a file in a folder that lasts for the block; refusals name it as it was handed in."""
    own = PurePath(name.replace("\\", "/")).name or "file"
    with tempfile.TemporaryDirectory(prefix="reading-room-") as folder:
        path = Path(folder) / own[-100:]
        path.write_bytes(content)
        try:
            yield path
        except BadFile as error:
            raise BadFile(str(error).replace(f"{path.parent}/", "")) from error
