"""The report of a study: findings in sentences, figures, tables, methods and provenance."""
