"""The readings as arrays: who read what, which belong together, and what is drawn again."""
