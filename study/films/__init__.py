"""Reads image files ("films") and prepares their grey levels for the browser.

A film is one image file. It is decoded during the import, to check that it can be read, and again
before it is sent. Only pixels are sent: text chunks, profiles and EXIF are dropped, because they
may name the patient or contain the answer.

`decoding` reads files and checks that they have not changed since the import; `dicom` reads DICOM
files, with `dicom_attributes`, `dicom_pixels` and `dicom_geometry`; `packing` compresses a film for
the browser and makes thumbnails; `shelf` keeps compressed films on disk.
"""

from study.films.decoding import (
    MAX_BYTES,
    BadFilm,
    Grey,
    grey_levels,
    imported_bytes,
    initial_window,
    inspect,
)
from study.films.packing import CONTENT_ENCODING, MEDIA_TYPE, VERSION, pack_film, preview

__all__ = [
    "CONTENT_ENCODING",
    "MAX_BYTES",
    "MEDIA_TYPE",
    "VERSION",
    "BadFilm",
    "Grey",
    "grey_levels",
    "imported_bytes",
    "initial_window",
    "inspect",
    "pack_film",
    "preview",
]
