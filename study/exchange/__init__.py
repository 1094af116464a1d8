"""A study going out and coming in: bundle, archive and its forms, backups, restoring, merging."""
