"""Read a bundle: its files, their tables as text, and the checked tables."""

from analysis.bundle.model import Bundle
from analysis.bundle.read import bundle_from_tables, read_bundle

__all__ = ["Bundle", "bundle_from_tables", "read_bundle"]
