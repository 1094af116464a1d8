"""A study's end and the store's files: closing, exports, bundles, backups, question banks."""
