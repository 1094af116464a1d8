"""The layer between Streamlit and the domain: sign-in, routes and the reading component."""
