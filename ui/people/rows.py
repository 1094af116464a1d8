"""The people of a study, or of the deployment: a row each, with what can be done about them."""

from collections.abc import Sequence

import streamlit as st

from study.base import translation
from study.base.translation import t
from study.people import persons
from study.people.persons import CodeState, Member
from ui.app.masthead import role_word
from ui.parts.text import plain
from ui.people import acts as people_acts
from ui.people.acts import Scope, key
from ui.server.deployment import store

_WIDTHS = (2.2, 2.2, 2.6, 2.6, 1.4, 1.4)
_MANY = 12
_ON_A_PAGE = 20


def rows(scope: Scope, members: Sequence[Member], days: int, *, name: str) -> None:
    """Show people, a row each; of many, those that match what is looked for, page by page.

    Parameters
    ----------
    days
        How long codes made here are good for.
    name
        Tells this table's widgets from another's on the page.
    """
    if len(members) > _MANY:
        wanted = st.text_input(t("Search"), key=f"look-for-{name}").strip().casefold()
        members = [one for one in members if wanted in _all_of(one)]
    pages = -(-len(members) // _ON_A_PAGE)
    place = st.empty()
    page = st.pagination(pages, key=f"page-of-{name}-{pages}") if pages > 1 else 1
    shown = members[_ON_A_PAGE * (page - 1) : _ON_A_PAGE * page]
    with place.container(key=f"rows-{name}"):
        _rows(scope, shown, days)


def _rows(scope: Scope, members: Sequence[Member], days: int) -> None:
    heads = (t("Person"), t("Details"), t("Name, email"), t("Access code"))
    for column, head in zip(st.columns(_WIDTHS), heads, strict=False):
        column.caption(head)
    for member in members:
        _row(scope, member, days)


def _all_of(member: Member) -> str:
    return f"{member.who} {member.about} {member.name} {member.email}".casefold()


def _row(scope: Scope, member: Member, days: int) -> None:
    who, about, named, code, first, second = st.columns(_WIDTHS, vertical_alignment="center")
    simulated = t("(simulated)") if member.simulated else ""
    who.markdown(f"**{plain(member.who)}** {simulated}")
    about.markdown(plain(member.about) or role_word(member.role))
    named.text(", ".join(one for one in (member.name, member.email) if one) or "–")
    code.markdown(_code(member))
    if not scope.may(member.role):
        return
    if member.elsewhere and not scope.everywhere:
        with second.popover(t("More"), key=f"more-{member.grant}"):
            st.caption(
                t(
                    "This person also has a role outside this study: only an administrator of "
                    "this server can issue codes and manage the name."
                )
            )
            _revoke(scope, member)
        return
    label = t("Restore") if member.revoked else t("New code")
    if first.button(label, key=key(f"code-{member.grant}"), width="stretch"):
        people_acts.new_code_for(scope, member, days)
    with second.popover(t("More"), key=f"more-{member.grant}", width="stretch"):
        _more(scope, member)


def _more(scope: Scope, member: Member) -> None:
    st.markdown(f"**{plain(member.who)}**")
    with st.form(key(f"name-{member.grant}"), border=False):
        name = st.text_input(t("Name"), member.name, key=key(f"name-text-{member.grant}"))
        email = st.text_input(t("Email"), member.email, key=key(f"email-{member.grant}"))
        if st.form_submit_button(t("Save name and email")):
            people_acts.act(
                scope,
                member.role,
                lambda acting: persons.change_name(
                    store(),
                    study=scope.study,
                    grant=member.grant,
                    name=name,
                    email=email,
                    everywhere=scope.everywhere,
                    **acting,
                ),
            )
    if member.name or member.email:
        st.caption(
            t("Readings and the audit trail contain no names; erasing does not change them.")
        )
        if st.button(t("Erase name and email"), key=key(f"erase-{member.grant}")):
            people_acts.act(
                scope,
                member.role,
                lambda acting: persons.erase_name(
                    store(),
                    study=scope.study,
                    grant=member.grant,
                    everywhere=scope.everywhere,
                    **acting,
                ),
            )
    _revoke(scope, member)


def _revoke(scope: Scope, member: Member) -> None:
    if member.revoked or member.person == scope.person.id:
        return
    with st.form(key(f"revoke-{member.grant}"), border=False):
        reason = st.text_input(t("Reason"), key=key(f"reason-{member.grant}"))
        if st.form_submit_button(t("Revoke now")):
            people_acts.act(
                scope,
                member.role,
                lambda acting: persons.revoke(
                    store(), study=scope.study, grant=member.grant, reason=reason, **acting
                ),
            )


def _code(member: Member) -> str:
    seen = _day(member.seen_at_utc)
    states = {
        CodeState.NONE: t("none"),
        CodeState.NEVER_USED: t("never used"),
        CodeState.USED: t("last used on {day}", day=seen),
        CodeState.EXPIRED: t("expired on {day}", day=_day(member.expires_at_utc)),
        CodeState.GUESSED: t("someone is trying incorrect codes; issue a new code to stop this"),
        CodeState.REVOKED: t("revoked"),
    }
    text = states[member.code]
    if member.expires_at_utc and member.code in (CodeState.NEVER_USED, CodeState.USED):
        text = t("{state}; expires on {day}", state=text, day=_day(member.expires_at_utc))
    return plain(text)


def _day(moment: str | None) -> str:
    return translation.day(moment) if moment else ""
