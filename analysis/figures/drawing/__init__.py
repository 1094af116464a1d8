"""Charts and their drawing with plotly and for print, independent of tables."""
