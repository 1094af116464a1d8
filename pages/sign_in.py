"""The sign-in page: what this is, and one field for the access code."""

import streamlit as st

from ui.forms import sign_in_form

_REFUSED = {
    "unknown": "That access code is not known here. Check it, or ask your coordinator.",
    "later": "Too many wrong codes from this computer. Wait ten minutes, then try again.",
}

_, middle, _ = st.columns([1, 1.1, 1])
with middle:
    st.title("Reading Room")
    st.write("Radiologist reader studies: sign in with the access code your coordinator gave you.")
    refused = _REFUSED.get(str(st.query_params.get("refused", "")))
    if refused:
        st.error(refused)
    sign_in_form()
    st.caption("For research. Not a medical device; nothing shown here is for diagnosis.")
