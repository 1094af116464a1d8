"""How numbers, rows, claims and conditions are put into words."""
