"""The people of a study or the deployment: tables, forms, and access codes."""
