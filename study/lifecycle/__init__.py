"""The lifecycle of studies from draft to closing; previews, judging and teaching."""
