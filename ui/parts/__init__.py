"""Small parts that several pages show: look, text, links, forms, uploads, asking back."""
