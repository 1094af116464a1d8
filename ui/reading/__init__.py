"""The reader's routes: desk, films, preview and score card."""
