"""The application: the router, its menus, and all routes of this program."""
