"""The figures: tables become charts, and a chart is drawn with plotly or for print."""
