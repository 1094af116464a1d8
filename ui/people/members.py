"""The people of a study or of the server: a table, the invitation forms, and the actions."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from study.base import translation
from study.base.actor import Acting
from study.base.canonical import stamp
from study.base.errors import BadInput, NotAllowed
from study.base.translation import t, tn
from study.lifecycle import studies
from study.people import persons, second_factor, single_sign_on
from study.people.codes import Code, end_of_day, new_code
from study.people.invitations import Invitation, parse_invitations
from study.people.persons import CodeState, Member, Newcomer
from study.people.roles import Act, Role, granting_act, role_title
from study.people.signing_in import Person
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.forms import TABLE_TYPES, required, upload
from ui.parts.links import links
from ui.parts.text import browser_zone, plain
from ui.people import handout
from ui.server.access import acting
from ui.server.deployment import store
from ui.server.file_jobs import begin_job, read_reader_list, save_upload
from ui.server.job_view import outcome_of
from ui.server.new_codes import Card, new_codes

EXPIRIES = (7, 30, 90, 365, 0)
"""Validity of a new code in days; 0 means unlimited."""

_CodeArguments = dict[str, Any]
_Recipients = tuple[Sequence[str], Sequence[str]]
"""People who received new codes, and people who keep an earlier code."""

_MAX_LIST_MB = 1
_COLUMN_WIDTHS = (2.2, 2.2, 2.6, 2.6, 1.4, 1.4)
_SEARCH_FROM = 12
_PEOPLE_PER_PAGE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The roles that a page manages: those of a study, or of the deployment for an empty name."""

    person: Person
    study: str

    @property
    def is_administrator(self) -> bool:
        """Return whether the user is an administrator of the deployment."""
        return self.person.may(Act.DEPLOYMENT)

    def may(self, role: Role) -> bool:
        """Return whether the user may give and revoke a role here."""
        return self.person.may(granting_act(role, self.study))


def key(name: str) -> str:
    """Return the key of a field; it changes after each action, so that the field is empty again."""
    return f"{name}-{new_codes().n_actions}"


def expiry_choice(name: str) -> int:
    """Show the field for the validity of new codes; return it in days (0: unlimited)."""
    return st.selectbox(
        t("New codes are valid for"),
        EXPIRIES,
        index=1,
        format_func=lambda days: tn("{n} day", "{n} days", days) if days else t("no expiry"),
        key=key(name),
    )


def members_of(scope: Scope) -> list[Member]:
    """Return the people who have or had a role in the scope."""
    now = datetime.now(UTC)
    if scope.study:
        return persons.members_of_study(store(), scope.study, now=now)
    return persons.members_of_deployment(store(), now=now)


def _invite(scope: Scope, invitations: Sequence[Invitation], days: int, key: str) -> Report:
    """Invite readers and add their codes to the sheet."""

    def issue(codes: list[Code], code_options: _CodeArguments) -> _Recipients:
        known = studies.invite(store(), invitations=invitations, codes=codes, **code_options)
        return [invitation.reader_id for invitation in invitations], known

    n = len(invitations)
    message = tn("{n} reader was invited.", "{n} readers were invited.", n)
    _issue_codes(scope, Role.READER, n, days, issue, key)
    return Report(text=message, followed_by="handout")


def _give_role(scope: Scope, newcomer: Newcomer, days: int, key: str) -> Report:
    """Give a person a role and add their code to the sheet."""

    def issue(codes: list[Code], code_options: _CodeArguments) -> _Recipients:
        return [persons.grant_role(store(), newcomer, code=codes[0], **code_options)], ()

    message = t("{who} has been given the role.", who=newcomer.handle)
    _issue_codes(scope, newcomer.role, 1, days, issue, key)
    return Report(text=message, followed_by="handout")


def _new_code_for(scope: Scope, member: Member, days: int, key: str) -> Report:
    """Create a new code, and restore a revoked role with it."""
    renew = persons.restore_role if member.revoked else persons.replace_code

    def issue(codes: list[Code], code_options: _CodeArguments) -> _Recipients:
        renew(store(), grant=member.grant, code=codes[0], **code_options)
        return [member.who], ()

    message = t("{who} has a new access code; any earlier one no longer works.", who=member.who)
    _issue_codes(scope, member.role, 1, days, issue, key)
    return Report(text=message, followed_by="handout")


def _issue_codes(
    scope: Scope,
    role: Role,
    n: int,
    days: int,
    issue_codes: Callable[[list[Code], _CodeArguments], _Recipients],
    key: str,
) -> None:
    """Issue `n` new codes, valid for `days` days, and add them to the sheet."""
    sheet = new_codes()
    zone = browser_zone()

    def work(acting: Acting) -> None:
        expires = end_of_day(acting.now, days, zone) if days else None
        codes = [new_code(secrets.token_bytes, expires) for _ in range(n)]
        entries, known = issue_codes(codes, {"study": scope.study, "acting": acting})
        expiry = stamp(expires) if expires else ""
        cards = tuple(
            Card(who=person, code=code.text, expires_at_utc=expiry)
            for person, code in zip(entries, codes, strict=True)
            if person not in known
        )
        sheet.add(scope.study, cards, tuple(known), key)

    run_permitted(scope, role, work)


def run_permitted(scope: Scope, role: Role, work: Callable[[Acting], object]) -> None:
    """Run an action on a person with a role, if permitted, and count it."""
    codes = new_codes()
    if not scope.may(role):
        raise NotAllowed(t("Your role here does not allow this."))
    work(acting(scope.person))
    codes.n_actions += 1


def invitation_form(scope: Scope, days: int) -> None:
    """Show the form that invites one reader."""
    with st.form(key("invite-one")):
        first, second, third, fourth = st.columns(4)
        reader_id = first.text_input(
            t("Reader ID"),
            key=key("reader-id"),
            placeholder="R1",
            help=t("The reader's permanent ID in this study. Do not use their name."),
        )
        level = second.text_input(t("Level"), key=key("level"), placeholder="resident")
        years = third.text_input(t("Years"), key=key("years"))
        site = fourth.text_input(t("Site"), key=key("site"))
        name, email = _name_and_email("reader")

        def invite() -> Report:
            invitation = Invitation(
                reader_id=required(t("Reader ID"), reader_id),
                level=level.strip(),
                years=years.strip(),
                site=site.strip(),
                name=name.strip(),
                email=email.strip(),
            )
            return _invite(scope, [invitation], days, "invite")

        actions.button(
            t("Invite"),
            invite,
            in_form=True,
            key="invite",
            type="primary",
        )
    handout.show(scope.study, "invite")


def invitation_list_form(scope: Scope, days: int) -> None:
    """Show the form that invites a list of readers, pasted or from a file."""
    below = st.container()
    with below, st.form(key("invite-list")):
        st.caption(
            t(
                "A header row and one row per reader: reader_id and, optionally, level, years, "
                "site, name, email; separated by commas, semicolons or tabs, as copied from a "
                "spreadsheet."
            )
        )
        links("list_example", {"example/readers.csv": t("Example file (CSV)")}, download=True)
        pasted = st.text_area(
            t("Paste the list"), key=key("list"), placeholder="reader_id,level\nR1,resident"
        )
        file = upload(
            t("or choose a file"), types=TABLE_TYPES, key=key("list-file"), max_mb=_MAX_LIST_MB
        )

        def invite() -> Report:
            invitations = _invitations(pasted, file)
            return _invite(scope, invitations, days, "invite-all")

        actions.button(
            t("Invite all"),
            invite,
            in_form=True,
            key="invite-all",
            below=below,
            type="primary",
        )
    handout.show(scope.study, "invite-all")


def _invitations(pasted: str, file: UploadedFile | None) -> list[Invitation]:
    """Read the list that was pasted or uploaded, but refuse both at once."""
    if file and pasted.strip():
        raise BadInput(
            t(
                "There is a pasted list and also the file {file}. Empty “Paste the list” or "
                "remove the file, then invite again.",
                file=file.name,
            )
        )
    if file:
        return _read_list(file)
    if not pasted.strip():
        raise BadInput(t("Paste a list or choose a file first."))
    return parse_invitations(pasted, source=t("The list"))


def _read_list(file: UploadedFile) -> list[Invitation]:
    return outcome_of(
        "invite-all",
        lambda: begin_job(read_reader_list, save_upload(file.name, file)),
        t("Reading {file}", file=file.name),
    )


def role_form(scope: Scope, roles: tuple[Role, ...], days: int) -> None:
    """Show the form for assigning one of the roles that the user may assign."""
    offered = [role for role in roles if scope.may(role)]
    if not offered:
        return
    with st.form(key("give-role")):
        first, second = st.columns(2)
        handle = first.text_input(
            t("Short name"),
            key=key("handle"),
            help=t(
                "Recorded permanently in the audit trail: use initials or a job title, not a full "
                "name."
            ),
        )
        role = second.selectbox(t("Role"), offered, format_func=role_title, key=key("role"))
        name, email = _name_and_email("staff")

        def assign() -> Report:
            newcomer = Newcomer(
                handle=required(t("Short name"), handle), role=role, name=name, email=email
            )
            return _give_role(scope, newcomer, days, "assign-role")

        actions.button(
            t("Assign role"),
            assign,
            in_form=True,
            key="assign-role",
            type="primary",
        )
    handout.show(scope.study, "assign-role")


def _name_and_email(whose: str) -> tuple[str, str]:
    first, second = st.columns(2)
    name = first.text_input(
        t("Name (optional)"),
        key=key(f"{whose}-name"),
        help=t("Stored separately from the study, never exported, erased on request."),
    )
    email = second.text_input(
        t("Email (optional)"),
        key=key(f"{whose}-email"),
        help=t(
            "Stored with the name; used to recognise people who sign in through their institution."
        ),
    )
    return name, email


def member_rows(scope: Scope, members: Sequence[Member], days: int, *, name: str) -> None:
    """Show people as rows, with search and pages if there are many.

    Parameters
    ----------
    days
        Validity of codes created here.
    name
        Part of the keys of this table's widgets.
    """
    if len(members) > _SEARCH_FROM:
        search_text = st.text_input(t("Search"), key=f"look-for-{name}").strip().casefold()
        members = [member for member in members if search_text in _searchable_text(member)]
    pages = -(-len(members) // _PEOPLE_PER_PAGE)
    place = st.empty()
    page = st.pagination(pages, key=f"page-of-{name}-{pages}") if pages > 1 else 1
    shown = members[_PEOPLE_PER_PAGE * (page - 1) : _PEOPLE_PER_PAGE * page]
    with place.container(key=f"rows-{name}"):
        _show_rows(scope, shown, days)


def _show_rows(scope: Scope, members: Sequence[Member], days: int) -> None:
    headings = (t("Person"), t("Details"), t("Name, email"), t("Access code"))
    for column, heading in zip(st.columns(_COLUMN_WIDTHS), headings, strict=False):
        column.caption(heading)
    for member in members:
        _member_row(scope, member, days)


def _searchable_text(member: Member) -> str:
    return f"{member.who} {member.about} {member.name} {member.email}".casefold()


def _member_row(scope: Scope, member: Member, days: int) -> None:
    name_column, details, named, code, first, second = st.columns(
        _COLUMN_WIDTHS, vertical_alignment="center"
    )
    simulated = t("(simulated)") if member.simulated else ""
    name_column.markdown(f"**{plain(member.who)}** {simulated}")
    details.markdown(plain(member.about) or role_title(member.role))
    named.text(", ".join(entry for entry in (member.name, member.email) if entry) or "–")
    code.markdown(_code_state_text(member))
    if not scope.may(member.role):
        return
    if member.elsewhere and not scope.is_administrator:
        with second.popover(t("More"), key=f"more-{member.grant}"):
            st.caption(
                t(
                    "This person also has a role outside this study: only an administrator of "
                    "this server can issue codes and manage the name."
                )
            )
            _revoke_form(scope, member)
        return
    below = st.container()
    _new_code_button(scope, member, days, first, below)
    with second.popover(t("More"), key=f"more-{member.grant}", width="stretch"):
        _member_details(scope, member)


def _new_code_button(
    scope: Scope, member: Member, days: int, place: DeltaGenerator, below: DeltaGenerator
) -> None:
    name = f"code-{member.grant}"
    actions.button(
        t("Restore") if member.revoked else t("New code"),
        lambda: _new_code_for(scope, member, days, name),
        key=name,
        place=place,
        below=below,
        width="stretch",
    )
    with below:
        handout.show(scope.study, name)


def _member_details(scope: Scope, member: Member) -> None:
    st.markdown(f"**{plain(member.who)}**")
    with st.form(key(f"name-{member.grant}"), border=False):
        name = st.text_input(t("Name"), member.name, key=key(f"name-text-{member.grant}"))
        email = st.text_input(t("Email"), member.email, key=key(f"email-{member.grant}"))

        def save() -> str:
            _run_on_role(scope, member, persons.change_name, name=name, email=email)
            return t("Name and email saved.")

        actions.button(
            t("Save name and email"),
            save,
            in_form=True,
            key=f"save-name-{member.grant}",
        )

    def erase() -> str:
        _run_on_role(scope, member, persons.erase_name)
        return t("Name and email erased.")

    if member.name or member.email:
        st.caption(
            t("Readings and the audit trail contain no names; erasing does not change them.")
        )
        actions.button(
            t("Erase name and email"),
            erase,
            key=f"erase-{member.grant}",
        )
    else:
        actions.show_last_report(f"erase-{member.grant}")
    _account_section(scope, member)
    _revoke_form(scope, member)


def _account_section(scope: Scope, member: Member) -> None:
    """Show the sign-in account and second factor, which administrators of the server can remove."""
    if member.account is not None:
        _removal_form(
            scope,
            member,
            t("Sign-in account: {provider}", provider=plain(member.account or t("erased"))),
            _Removal(
                name="release",
                label=t("Release the sign-in account"),
                refused=t("Only an administrator of this server can release the sign-in account."),
                do=single_sign_on.release_account,
                done=t("The sign-in account of {who} was released.", who=member.who),
            ),
        )
    else:
        actions.show_last_report(f"release-{member.grant}")
    if member.has_second_factor:
        _removal_form(
            scope,
            member,
            t("Signs in with a second factor."),
            _Removal(
                name="remove-factor",
                label=t("Remove the second factor"),
                refused=t("Only an administrator of this server can remove a second factor."),
                do=second_factor.remove,
                done=t("The second factor of {who} was removed.", who=member.who),
            ),
        )
    else:
        actions.show_last_report(f"remove-factor-{member.grant}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Removal:
    """A button that removes a person's account or second factor, and its report."""

    name: str
    label: str
    refused: str
    do: Callable[..., None]
    done: str


def _removal_form(scope: Scope, member: Member, details: str, removal: _Removal) -> None:
    if not scope.is_administrator:
        st.caption(removal.refused)
        return
    st.caption(details)
    name = f"{removal.name}-{member.grant}"
    with st.form(key(name), border=False):
        reason = st.text_input(t("Reason"), key=key(f"{removal.name}-reason-{member.grant}"))

        def remove() -> str:
            _run_on_role(scope, member, removal.do, reason=reason)
            return removal.done

        actions.button(removal.label, remove, in_form=True, key=name)


def _revoke_form(scope: Scope, member: Member) -> None:
    name = f"revoke-{member.grant}"
    if member.revoked or member.person == scope.person.id:
        actions.show_last_report(name)
        return
    with st.form(key(name), border=False):
        reason = st.text_input(t("Reason"), key=key(f"reason-{member.grant}"))

        def revoke() -> str:
            codes = new_codes()
            _run_on_role(scope, member, persons.revoke_role, reason=reason)
            codes.drop(scope.study, member.who)
            return t("{who} no longer has access here.", who=member.who)

        actions.button(t("Revoke now"), revoke, in_form=True, key=name)


def _run_on_role(scope: Scope, member: Member, do: Callable[..., object], **arguments: Any) -> None:
    """Run an action on a person's role."""
    key = {"study": scope.study, "grant": member.grant}
    run_permitted(scope, member.role, lambda acting: do(store(), **key, **arguments, acting=acting))


def _code_state_text(member: Member) -> str:
    zone = browser_zone()

    def time(of: Callable[[str, tzinfo], str], at_utc: str | None) -> str:
        return of(at_utc, zone) if at_utc else ""

    expiry = time(translation.period_end, member.expires_at_utc)
    states = {
        CodeState.NONE: t("none"),
        CodeState.NEVER_USED: t("never used"),
        CodeState.USED: t(
            "last used {time}", time=time(translation.date_and_time, member.seen_at_utc)
        ),
        CodeState.EXPIRED: t("expired; was valid until {moment}", moment=expiry),
        CodeState.GUESSED: t("someone is trying incorrect codes; issue a new code to stop this"),
        CodeState.REVOKED: t("revoked"),
    }
    text = states[member.code]
    if expiry and member.code in (CodeState.NEVER_USED, CodeState.USED):
        text = t("{state}; valid until {moment}", state=text, moment=expiry)
    return plain(text)
