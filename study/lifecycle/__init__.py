"""A study's life: drafted, drawn, opened, amended, closed; previews; the deployment it lives in."""
