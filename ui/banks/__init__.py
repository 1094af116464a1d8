"""Question banks on pages: their contents, and single questions with films."""
