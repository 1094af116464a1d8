"""Question banks on pages: import, contents, and single questions with films."""
