"""Reads image files ("films") and prepares their grey levels for the browser.

A film is one image file. It is decoded at import, to check that it can be read, and again before
it is sent. Only pixels are sent: text chunks, profiles and EXIF are dropped, because they may name
the patient or contain the answer.

`decoding` reads files, and checks them against their import; `dicom` reads DICOM files, with
`dicom_attributes`, `dicom_pixels` and `dicom_geometry`; `packing` compresses a film for the
browser and makes thumbnails; `shelf` keeps compressed films on disk.
"""

from study.films.decoding import MAX_BYTES, BadFilm, Grey, grey, imported_bytes, inspect, window
from study.films.packing import CONTENT_ENCODING, MEDIA_TYPE, VERSION, packed, preview

__all__ = [
    "CONTENT_ENCODING",
    "MAX_BYTES",
    "MEDIA_TYPE",
    "VERSION",
    "BadFilm",
    "Grey",
    "grey",
    "imported_bytes",
    "inspect",
    "packed",
    "preview",
    "window",
]
