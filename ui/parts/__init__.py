"""Parts shared by several pages: theme, text, links, forms, uploads and confirmations."""
