"""Closing, exports, bundles and backups of studies."""
