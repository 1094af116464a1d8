"""Searches the audit trail and verifies it against everything it vouches for."""
