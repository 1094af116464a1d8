"""The application: the router, its menu and bar, and every route of our own."""
