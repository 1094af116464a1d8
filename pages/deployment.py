"""Administration: administrators, backups, bundles to restore, removal, the audit trail."""

import streamlit as st

from study.base.translation import t
from study.people.roles import Act, staff_roles
from ui.app.masthead import masthead
from ui.archive import backups, exports, removal
from ui.overview.trail import trail_section
from ui.parts.theme import error_line, page_title, section
from ui.people import handout, second_factor
from ui.people.members import Scope, expiry_choice, member_rows, members_of, role_form
from ui.server.access import guard

person = guard(Act.DEPLOYMENT)


def _administrators() -> None:
    scope = Scope(person=person, study="")
    section(
        t("Administrators and server coordinators"),
        t(
            "Administrators have access to every study. Server coordinators can set up studies. "
            "Neither can read in them."
        ),
    )
    with st.columns([1, 3])[0]:
        days = expiry_choice("expiry")
    with st.container():
        member_rows(scope, members_of(scope), days, name="deployment")
    with st.expander(t("Assign a role on this server")):
        role_form(scope, staff_roles(""), days)


masthead(person)
page_title(t("Administration"))
with handout.page(""), error_line():
    _administrators()
    second_factor.policy_form(person)
    st.subheader(t("Backups"))
    backups.section(person)
    st.subheader(t("Restore a study from its bundle"))
    exports.restore_section(person)
    st.subheader(t("Remove studies and predictions"))
    removal.section(person)
    st.subheader(t("Server activity"))
    trail_section("")
