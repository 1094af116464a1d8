"""Write the files of the report: HTML, PDF, tables, figures and files for a paper."""
