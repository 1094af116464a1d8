"""Access control, background tasks and limits of the server."""
