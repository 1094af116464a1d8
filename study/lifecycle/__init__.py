"""Studies from draft to closing: drawing, opening, amending; previews, judging and teaching."""
