"""The embedded demo question bank, and the generator that made it."""
