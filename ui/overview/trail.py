"""The audit trail on a page: search, pages, CSV download, and the head of its chain.

The head can be printed, photographed, or sent to a person outside the deployment.
"""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from html import escape
from typing import Any
from urllib.parse import urlencode

import segno
import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from study.base.canonical import moment
from study.base.translation import t, tn
from study.people.roles import Act
from study.people.signing_in import Person
from study.store.studies import study_row
from study.trail import losses, trails
from study.trail.heads import current_head_line, deposit_of
from study.trail.trails import Search, record_export
from study.trail.verification import Verification, verify_study
from ui.parts import actions
from ui.parts.actions import Report
from ui.parts.event_kinds import event_words, kind_in_words, kinds_matching
from ui.parts.links import attachment
from ui.parts.text import browser_zone, date_field_format, minute, plain, table_time
from ui.parts.theme import Columns, grid_px, pick, section, table
from ui.server.access import acting, answer
from ui.server.deployment import store

PAGE_SIZE = 50


def routes() -> list[Route]:
    """Return the downloads of a study's trail and of the deployment's."""
    return [_route("trail.csv", Act.TRAIL), _route("deployment-trail.csv", Act.DEPLOYMENT)]


def trail_section(study: str) -> None:
    """Show the trail of a study, or of the deployment if `study` is empty."""
    query = _search_fields(study)
    n_pages_key = f"trail-page-{study}"
    results = trails.search(store(), study, query, page=0, size=PAGE_SIZE)
    n_pages = max(1, -(-results.n_found // PAGE_SIZE))
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.write(tn("{n} event found.", "{n} events found.", results.n_found))
    page = 1
    if n_pages > 1:
        page = int(
            right.number_input(
                t("Page (of {n})", n=n_pages), min_value=1, max_value=n_pages, key=n_pages_key
            )
        )
    if page > 1:
        results = trails.search(store(), study, query, page=page - 1, size=PAGE_SIZE)
    st.caption(t("Select a row to open its details."))
    key, every_px = f"trail-list-{study}-{page}", grid_px(results.rows)
    picked = pick(results.rows, _trail_columns(results.rows), key=key, height=every_px)
    if picked:
        table([t("What"), t("Value")], _details(picked), caption=t("Event details"))
    address = "export/trail.csv" if study else "export/deployment-trail.csv"
    st.link_button(t("Download search results (CSV)"), f"{address}?{_query_string(query)}")


def verify_button(study: str) -> None:
    """Show a button that verifies the study now."""
    st.caption(
        t(
            "Each event is chained to the previous one. Verification checks the whole chain "
            "and compares every reading, assignment, reader, model and decision with it."
        )
    )
    actions.button(
        t("Verify now"),
        lambda: _verification_report(verify_study(store(), study)),
        key=f"verify-{study}",
        busy=t("Verifying the chain ..."),
    )


def _verification_report(verification: Verification) -> Report:
    if verification.breaches:
        first, *others = verification.breaches[:20]
        words = t("Verification failed: {first}", first=first)
        return Report(text=words, kind="error", lines=tuple(others))
    return Report(
        text=tn(
            "Verified: {n} event, and all the data it covers.",
            "Verified: {n} events, and all the data they cover.",
            verification.n_events,
        )
    )


def _search_fields(study: str) -> Search:
    first = st.columns([2, 2, 2, 2, 2], vertical_alignment="bottom")
    text = first[0].text_input(t("Search text"), key=f"trail-text-{study}", max_chars=200)
    kinds = ["", *trails.event_kinds(store(), study)]
    kind = first[1].selectbox(
        t("What"),
        kinds,
        format_func=lambda kind: kind_in_words(kind) if kind else t("any event"),
        key=f"trail-kind-{study}",
    )
    actors = ["", *trails.actors(store(), study)]
    actor = first[2].selectbox(
        t("By"), actors, format_func=lambda actor: actor or t("anyone"), key=f"trail-actor-{study}"
    )
    first_day = first[3].date_input(
        t("From (UTC)"), value=None, format=date_field_format(), key=f"trail-since-{study}"
    )
    last_day = first[4].date_input(
        t("To, inclusive (UTC)"), value=None, format=date_field_format(), key=f"trail-until-{study}"
    )
    readings = st.checkbox(t("Include case-by-case reader events"), key=f"trail-readings-{study}")
    return Search(
        text=text,
        labelled_kinds=kinds_matching(text),
        kind=kind,
        actor=actor,
        since=_midnight(first_day),
        until=_midnight(last_day, days=1),
        with_readings=readings,
    )


def _midnight(day: Any, days: int = 0) -> datetime | None:
    if not isinstance(day, date) or day.year > 9000:
        return None
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=days)


def _trail_columns(rows: tuple[trails.TrailRow, ...]) -> Columns:
    zone = browser_zone()
    return {
        t("When ({zone})", zone=str(zone)): [
            table_time(_local(row.at_utc, zone), to="s") for row in rows
        ],
        t("Event"): [_sentence(row) for row in rows],
        t("Reason"): [row.reason for row in rows],
        t("Site"): [row.site for row in rows],
    }


def _sentence(row: trails.TrailRow) -> str:
    texts = {"old": row.old, "new": row.new, "reason": row.reason}
    return event_words(
        row.kind, row.actor, {**(json.loads(row.about) if row.about else {}), **texts}
    )


def _details(row: trails.TrailRow) -> list[tuple[str, str]]:
    """Return the complete detail of an event, as stored."""
    fields = {
        t("No."): str(row.number),
        t("When (UTC)"): row.at_utc,
        t("What"): kind_in_words(row.kind),
        t("By"): row.actor,
        t("Role"): row.role,
        t("Origin"): row.place,
        t("Old"): row.old,
        t("New"): row.new,
        t("Reason"): row.reason,
        t("Details"): _details_text(row.about),
        t("Site"): row.site,
        t("Hash"): row.hash,
    }
    return [(name, value) for name, value in fields.items() if value]


def _local(at_utc: str, zone: tzinfo) -> str:
    try:
        return moment(at_utc).astimezone(zone).replace(tzinfo=None).isoformat()
    except (ValueError, OverflowError):
        return ""


def _details_text(details: str) -> str:
    """Return the other details of an event, without JSON punctuation."""
    values: Mapping[str, Any] = json.loads(details) if details else {}
    return ", ".join(
        f"{key} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in values.items()
        if value not in ("", None)
    )


def _query_string(query: Search) -> str:
    return urlencode(
        {
            "text": query.text,
            "kind": query.kind,
            "actor": query.actor,
            "since": query.since.date().isoformat() if query.since else "",
            "until": query.until.date().isoformat() if query.until else "",
            "readings": "1" if query.with_readings else "",
        }
    )


def _route(name: str, act: Act) -> Route:
    async def download(request: Request) -> Response:
        refused = t("Sign in with an account that can see the audit trail.")
        return await answer(request, act, lambda person: _csv(person, request, act, name), refused)

    return Route(f"/export/{name}", download, methods=["GET"])


def _csv(person: Person, request: Request, act: Act, name: str) -> Response:
    study = person.study_name if act is Act.TRAIL else ""
    try:
        query = _search_from(request.query_params)
    except ValueError:
        return PlainTextResponse(t("This is not a valid audit trail search."), status_code=400)
    record_export(store(), study=study, file=name, acting=acting(person))
    lines = trails.trail_csv(store(), study, query)
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=attachment(name))


def _search_from(query: Mapping[str, str]) -> Search:
    def day(name: str) -> datetime | None:
        text = query.get(name, "")
        return _midnight(date.fromisoformat(text)) if text else None

    text = query.get("text", "")[:200]
    return Search(
        text=text,
        labelled_kinds=kinds_matching(text),
        kind=query.get("kind", "")[:100],
        actor=query.get("actor", "")[:200],
        since=day("since"),
        until=day("until"),
        with_readings=query.get("readings") == "1",
    )


def head_section(study: str) -> None:
    """Show the head of the chain as text and as a QR code, and its recipients."""
    section(
        t("Proof of integrity"),
        t(
            "Each event is chained to the previous one, and this line contains the latest hash. "
            'Print it, or give it to someone outside the study: with it, the command "verify" '
            "can show later whether anything before it was changed, even by the person running "
            "the server. Each reader gets their own receipt."
        ),
    )
    with store().look() as look:
        line = current_head_line(look, study, now=datetime.now(UTC))
    text_column, code_column = st.columns([5, 1], vertical_alignment="center")
    text_column.code(line, language=None, wrap_lines=True)
    qr_code = segno.make(line, micro=False).svg_data_uri(border=2, light="#fff", scale=3)
    code_column.html(
        f'<img src="{escape(qr_code)}" alt="{escape(t("The same line as a QR code"))}">'
    )
    show_head_recipient(study)


def show_head_recipient(study: str) -> None:
    """Show the recipient of the head of a study's chain, and whether sending succeeded."""
    with store().look() as look:
        deposit = deposit_of(look, study_row(look, study))
    if not deposit.to:
        st.caption(t("This line is not sent to anyone: print it or send it yourself."))
        return
    st.caption(
        t(
            "Sent to {to} when the study opens, once a day and when it closes. Last sent: {when}.",
            to=plain(deposit.to),
            when=minute(deposit.sent_at_utc) or t("never"),
        )
    )
    if deposit.why_not:
        st.warning(t("It could not be sent: {why}", why=plain(deposit.why_not)))


def warn_of_lost_records(person: Person) -> None:
    """Warn the people responsible for the study or the server that stored records are missing."""
    if not (person.may(Act.SET_UP) or person.may(Act.DEPLOYMENT)):
        return
    with store().look() as look:
        loss = losses.unaccepted_loss(look, person.study_name)
        damage = losses.damage_noted(look)
    if damage:
        st.error(
            t(
                "**The witness file is damaged:** {finding}. It can no longer show whether the "
                "database has lost anything. Find out why before you continue: see "
                "docs/backups.md on the server.",
                finding=plain(damage),
            ),
            icon=":material/history:",
        )
    if loss is None:
        return
    st.error(
        t(
            "**The database has gone back to an earlier state.** On {when} it ended at event "
            "{ends}, although event {number} had been saved. Find out why before you continue: "
            "see docs/backups.md on the server. Readers can keep reading, and their pages resend "
            "the answers they still hold.",
            when=minute(loss.noted_at_utc),
            ends=loss.ends,
            number=loss.lost.number,
        )
        + " "
        + tn(
            "{n} answer has been resent so far.",
            "{n} answers have been resent so far.",
            loss.n_again,
        ),
        icon=":material/history:",
    )
