"""The coordinator's command line, ``python -m study``."""
