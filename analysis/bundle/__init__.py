"""Reading a bundle: bytes, then text tables, then checks; what comes out can be relied on."""

from analysis.bundle.model import Bundle
from analysis.bundle.read import bundle_from_tables, read_bundle

__all__ = ["Bundle", "bundle_from_tables", "read_bundle"]
