"""Searches the audit trail, and verifies all data that it covers."""
