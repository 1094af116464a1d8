"""The seam between Streamlit and the domain: sign-in, routes, the reading component."""
