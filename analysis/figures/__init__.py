"""Charts made from tables, and their drawing with plotly and for print."""
