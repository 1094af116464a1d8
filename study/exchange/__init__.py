"""Exports and imports studies: bundles, archives, exam papers, backups, restoring and merging."""
