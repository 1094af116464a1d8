"""Agreement within groups of raters: groups, sums, coefficients, standard errors and table."""
