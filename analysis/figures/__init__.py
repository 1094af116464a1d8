"""Charts of the tables, and their drawing with plotly and for print."""
