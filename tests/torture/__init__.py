"""The fault suite: readers answer while servers, connections and disks fail.

``make torture`` runs it; see docs/torture.md.
"""
