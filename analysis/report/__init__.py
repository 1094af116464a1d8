"""The report: findings in sentences, figures, tables, methods and provenance on one page."""
