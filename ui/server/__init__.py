"""What stands around every request, and what the server does by itself."""
