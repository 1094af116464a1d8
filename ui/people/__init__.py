"""The people of a study or the deployment: their rows, the forms, and codes to hand out."""
