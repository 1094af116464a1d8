"""Films as numbers and as bytes for a browser: decoded in full, true grey levels, nothing else.

A film is one image file. It is decoded once at import to prove that it can be read, and again when
it is handed out. What leaves here is pixels alone: text chunks, profiles and EXIF stay behind, for
they may name the patient or hold the answer.

`decoding` reads files, and checks them against their import; `dicom` reads DICOM files, with
`dicom_attributes`, `dicom_pixels` and `dicom_geometry`; `packing` makes a film small for the way to
a browser, and small pictures for pages about cases; `shelf` keeps what is packed.
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
