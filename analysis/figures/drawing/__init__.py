"""Charts, which are independent of tables, and their drawing with plotly and for print."""
