"""The deployment: its backups, bundles of other deployments to restore, its own trail."""

import streamlit as st

from study.errors import StudyError
from study.roles import Act
from study.words import t
from ui import backups, bundles, trail
from ui.access import guard
from ui.masthead import masthead
from ui.text import plain

person = guard(Act.DEPLOYMENT)

masthead(person)
st.title(t("Deployment"))
try:
    st.subheader(t("Backups"))
    backups.section(person)
    st.subheader(t("Restore a study from its bundle"))
    bundles.restore_section(person)
    st.subheader(t("What was done here"))
    trail.section("")
except StudyError as error:
    st.error(plain(str(error)))
