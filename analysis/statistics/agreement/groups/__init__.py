"""Agreement within groups of raters: who belongs, the sums, coefficients, errors, the table."""
