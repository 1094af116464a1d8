"""Takes studies from draft to closing; also provides previews, judging and teaching."""
