"""The deployment: its backups, bundles of other deployments to restore, its own trail."""

import streamlit as st

from study.base.translation import t
from study.people.roles import Act
from ui.app.masthead import masthead
from ui.archive import backups, bundles
from ui.overview import trail
from ui.parts.look import error_line
from ui.server.access import guard

person = guard(Act.DEPLOYMENT)

masthead(person)
st.title(t("Deployment"))
with error_line():
    st.subheader(t("Backups"))
    backups.section(person)
    st.subheader(t("Restore a study from its bundle"))
    bundles.restore_section(person)
    st.subheader(t("What was done here"))
    trail.section("")
