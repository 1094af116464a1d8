"""A chart and how it is drawn, with plotly or for print; nothing here knows a table."""
