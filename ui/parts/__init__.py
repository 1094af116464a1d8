"""Small parts of several pages: theme, text, links, forms, uploads and confirmations."""
