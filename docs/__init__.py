"""Documentation, and the program that makes its pictures."""
