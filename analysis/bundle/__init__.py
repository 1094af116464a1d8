"""Read a bundle: its files, then their tables as text, then the checked tables."""

from analysis.bundle.model import Bundle
from analysis.bundle.read import bundle_from_tables, read_bundle

__all__ = ["Bundle", "bundle_from_tables", "read_bundle"]
