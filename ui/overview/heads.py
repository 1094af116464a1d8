"""The head of a study's chain on a page: to print, to photograph, and to whom it is sent."""

from datetime import UTC, datetime
from html import escape

import segno
import streamlit as st

from study.base.translation import t, tn
from study.people.roles import Act
from study.people.signing_in import Person
from study.store.studies import study_row
from study.trail import losses
from study.trail.heads import deposit_of, line_of
from ui.parts.look import section
from ui.parts.text import minute, plain
from ui.server.deployment import store


def head_section(study: str) -> None:
    """Show where the chain ends now, as text and as a square, and who else has it."""
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
        line = line_of(look, study, now=datetime.now(UTC))
    words, square = st.columns([5, 1], vertical_alignment="center")
    words.code(line, language=None, wrap_lines=True)
    drawn = segno.make(line, micro=False).svg_data_uri(border=2, light="#fff", scale=3)
    square.html(f'<img src="{escape(drawn)}" alt="{escape(t("The same line as a QR code"))}">')
    deposited(study)


def deposited(study: str) -> None:
    """Say to whom the head of a study's chain goes, and whether it went."""
    with store().look() as look:
        found = deposit_of(look, study_row(look, study))
    if not found.to:
        st.caption(t("No recipient for this line was named when the study was opened."))
        return
    st.caption(
        t(
            "Sent to {to} when the study opens, once a day and when it closes. Last sent: {when}.",
            to=plain(found.to),
            when=t("{time} UTC", time=minute(found.sent_at_utc))
            if found.sent_at_utc
            else t("never"),
        )
    )
    if found.why_not:
        st.warning(t("It could not be sent: {why}", why=plain(found.why_not)))


def gone_back(person: Person) -> None:
    """Tell whoever answers for the study, or for all, that what was stored is missing."""
    if not (person.may(Act.SET_UP) or person.may(Act.DEPLOYMENT)):
        return
    with store().look() as look:
        loss = losses.gone_back(look, person.study_name)
    if loss is None:
        return
    st.error(
        t(
            "**The database has gone back to an earlier state.** On {when} UTC it ended at event "
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
