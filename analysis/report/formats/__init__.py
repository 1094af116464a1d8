"""The finished report as files: HTML, PDF, a paper, a workbook, all of them or none."""
