"""The embedded demo question bank and the generator that makes it."""
