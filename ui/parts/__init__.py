"""Small parts that several pages show: theme, text, links, forms, uploads, asking back."""
