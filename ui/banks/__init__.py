"""Question banks on screen: what is in one, and any of its questions with its films."""
