"""The sign-in page: what this is, and one field for the access code."""

import streamlit as st

from study.words import later, said, t
from ui.forms import sign_in_form

_REFUSED = {
    "unknown": later("That access code is not known here. Check it, or ask your coordinator."),
    "later": later("Too many wrong codes from this computer. Wait ten minutes, then try again."),
}

_, middle, _ = st.columns([1, 1.1, 1])
with middle:
    st.title(t("Reading Room"), anchor=False)
    st.write(
        t("Radiologist reader studies: sign in with the access code your coordinator gave you.")
    )
    refused = said(_REFUSED.get(str(st.query_params.get("refused", "")), ""))
    if refused:
        st.error(refused)
    sign_in_form()
    st.caption(t("For research. Not a medical device; nothing shown here is for diagnosis."))
