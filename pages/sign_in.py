"""The sign-in page: a description, the access code field, and single sign-on if configured."""

from pathlib import Path

import streamlit as st

from study.base.translation import t
from ui.parts.forms import second_factor_form, sign_in_form
from ui.parts.theme import show_lost_connection
from ui.server.access import refusal_text
from ui.server.single_sign_on import show_sign_on

show_lost_connection()
_, middle, _ = st.columns([1, 1.1, 1])
with middle:
    st.title(t("Reading Room"), anchor=False)
    refusal_code = str(st.query_params.get("refused", ""))
    refused = refusal_text(refusal_code)
    if refused:
        st.error(refused)
    if refusal_code in ("second-factor", "factor", "factor-wait"):
        st.write(
            t("Enter the six-digit code of your authenticator app, or one of your recovery codes.")
        )
        second_factor_form()
        st.page_link(Path(__file__), label=t("Start again with the access code"))
    else:
        st.write(
            t("Radiologist reader studies: sign in with the access code your coordinator gave you.")
        )
        show_sign_on(refused=bool(refused), signed_out="signed-out" in st.query_params)
        sign_in_form()
    st.caption(t("For research only. Not a medical device; nothing shown here is for diagnosis."))
