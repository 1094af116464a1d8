"""Exports and imports studies as bundles, archives and exam papers, and makes backups."""
