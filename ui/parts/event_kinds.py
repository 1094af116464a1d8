"""Describes events in the user's language; stored events are in English."""

from collections.abc import Mapping
from string import Formatter
from typing import Any

from study.base.translation import decimal, later, t, translated
from study.people.roles import TITLES
from study.store.events import EventKind

LABELS = {
    EventKind.ADMINISTRATOR_GIVEN_ACCESS: later("administrator given access"),
    EventKind.AID_REQUESTED: later("model's answer requested"),
    EventKind.BACKUP_FAILED: later("backup failed"),
    EventKind.BACKUP_MADE: later("backup made"),
    EventKind.BACKUP_REMOVED: later("backup removed"),
    EventKind.BACKUP_RESTORED: later("backup restored"),
    EventKind.BACKUPS_SCHEDULED: later("backups scheduled"),
    EventKind.BANK_IMPORTED: later("bank imported"),
    EventKind.BANK_REMOVED: later("bank removed"),
    EventKind.ITEM_STRUCK: later("question struck off"),
    EventKind.ITEM_TAKEN_BACK: later("question reinstated"),
    EventKind.TRUTH_SHOWN: later("reference standard shown"),
    EventKind.TEACHING_OPENED: later("teaching opened"),
    EventKind.TEACHING_ENDED: later("teaching ended"),
    EventKind.REVIEW_OPENED: later("expert review opened"),
    EventKind.REVIEW_CLOSED: later("expert review closed"),
    EventKind.BANK_RESTORED: later("bank restored"),
    EventKind.CASE_PRESENTED: later("case presented"),
    EventKind.CASE_READ: later("case read"),
    EventKind.CLOCK_WENT_BACK: later("server clock went back"),
    EventKind.CODE_GIVEN: later("access code issued"),
    EventKind.CODE_GUESSED_AT: later("incorrect access code entered"),
    EventKind.CODES_GUESSED_AT: later("repeated incorrect access codes"),
    EventKind.COORDINATOR_GIVEN_ACCESS: later("coordinator given access"),
    EventKind.DEPLOYMENT_MADE: later("server set up"),
    EventKind.DOWNLOADED: later("downloaded"),
    EventKind.DRAFT_BEGUN: later("draft started"),
    EventKind.DRAFT_THROWN_AWAY: later("draft deleted"),
    EventKind.HEAD_DEPOSITED: later("chain head sent"),
    EventKind.HEAD_WITNESS_NAMED: later("chain head recipient named"),
    EventKind.IDENTITY_BOUND: later("sign-in account linked"),
    EventKind.IDENTITY_RELEASED: later("sign-in account released"),
    EventKind.LOSS_ACCEPTED: later("data loss accepted"),
    EventKind.MODEL_ADDED: later("model added"),
    EventKind.MODEL_ASKED: later("model asked"),
    EventKind.MODEL_DATA_REMOVED: later("model data removed"),
    EventKind.MODEL_DESCRIBED: later("model card written"),
    EventKind.MODEL_WITHDRAWN: later("model withdrawn"),
    EventKind.NAME_ENTERED: later("name entered"),
    EventKind.NAME_ERASED: later("name erased"),
    EventKind.OTHER_STUDY_AMENDED: later("other study amended"),
    EventKind.OTHER_STUDY_CLOSED: later("other study closed"),
    EventKind.OTHER_STUDY_OPENED: later("other study opened"),
    EventKind.PRACTICE_CASE_READ: later("practice case read"),
    EventKind.PREPARATION_DONE: later("preparation done"),
    EventKind.PREVIEW_OPENED: later("preview opened"),
    EventKind.SCORING_OPENED: later("scoring opened"),
    EventKind.SCORING_CLOSED: later("scoring closed"),
    EventKind.PROTOCOL_AMENDED: later("protocol amended"),
    EventKind.READER_ASSIGNED: later("reader assigned"),
    EventKind.READER_GIVEN_NEW_CODE: later("new access code issued to reader"),
    EventKind.READER_INVITED: later("reader invited"),
    EventKind.READER_SIMULATED: later("reader simulated"),
    EventKind.READER_WITHDRAWN: later("reader withdrawn"),
    EventKind.READING_EXCLUDED: later("reading excluded"),
    EventKind.READING_FINISHED: later("reading finished"),
    EventKind.SESSION_FEEDBACK_SHOWN: later("feedback on a session shown"),
    EventKind.READING_PAUSED: later("reading paused"),
    EventKind.READING_REINSTATED: later("reading reinstated"),
    EventKind.READING_RESUMED: later("reading resumed"),
    EventKind.REMINDER_SENT: later("reminder sent"),
    EventKind.REMINDERS_SCHEDULED: later("reminders scheduled"),
    EventKind.ROLE_GIVEN: later("role assigned"),
    EventKind.ROLE_REVOKED: later("role revoked"),
    EventKind.SECOND_FACTOR_ADDED: later("second factor added"),
    EventKind.SECOND_FACTOR_POLICY: later("second factor setting changed"),
    EventKind.SECOND_FACTOR_REMOVED: later("second factor removed"),
    EventKind.SESSION_EXTENDED: later("session extended"),
    EventKind.SESSION_RELEASED: later("session deadline removed"),
    EventKind.SIGNED_IN: later("signed in"),
    EventKind.SIGNED_OUT: later("signed out"),
    EventKind.SITE_MERGED: later("site merged"),
    EventKind.STORE_WENT_BACK: later("database reverted"),
    EventKind.STUDY_CLOSED: later("study closed"),
    EventKind.STUDY_COPIED: later("study copied"),
    EventKind.STUDY_DISCARDED: later("study discarded"),
    EventKind.STUDY_DRAWN: later("sample drawn"),
    EventKind.STUDY_OPENED: later("study opened"),
    EventKind.STUDY_REMOVED: later("study removed"),
    EventKind.STUDY_RESTORED: later("study restored"),
    EventKind.STUDY_RETURNED_TO_DRAFT: later("study returned to draft"),
    EventKind.WITNESS_DAMAGED: later("witness file damaged"),
    EventKind.WITNESS_ACCEPTED: later("witness file damage accepted"),
}

SENTENCES = {
    EventKind.ADMINISTRATOR_GIVEN_ACCESS: later("{who} gave administrator {name} an access code"),
    EventKind.AID_REQUESTED: later("model's answer requested"),
    EventKind.BACKUP_FAILED: later("A backup failed: {reason}"),
    EventKind.BACKUP_MADE: later("{who} made backup {file}"),
    EventKind.BACKUP_REMOVED: later("{who} removed backup {file}"),
    EventKind.BACKUP_RESTORED: later("{who} restored backup {file}"),
    EventKind.BACKUPS_SCHEDULED: later("{who} changed the backup schedule"),
    EventKind.BANK_IMPORTED: later("{who} imported bank {bank}: {n_items} items"),
    EventKind.BANK_REMOVED: later("{who} removed bank {bank}: {n_items} items"),
    EventKind.ITEM_STRUCK: later("{who} struck question {item} off bank {bank}: {reason}"),
    EventKind.ITEM_TAKEN_BACK: later("{who} reinstated question {item} of bank {bank}: {reason}"),
    EventKind.TRUTH_SHOWN: later("{who} displayed the reference standard of bank {bank}"),
    EventKind.TEACHING_OPENED: later("{who} opened bank {bank} for teaching"),
    EventKind.TEACHING_ENDED: later("{who} ended teaching on bank {bank}"),
    EventKind.REVIEW_OPENED: later("{who} opened the expert review {review} of bank {bank}"),
    EventKind.REVIEW_CLOSED: later("{who} closed the expert review {review} of bank {bank}"),
    EventKind.BANK_RESTORED: later("{who} restored bank {bank}: {n_items} items"),
    EventKind.CASE_PRESENTED: later("A case was shown to {who}"),
    EventKind.CASE_READ: later("{who} read case {position}"),
    EventKind.CLOCK_WENT_BACK: later("The server clock went back from {old} to {new}"),
    EventKind.CODE_GIVEN: later("{who} issued {whose} a new access code"),
    EventKind.CODE_GUESSED_AT: later("{failures} incorrect access codes were entered for {whose}"),
    EventKind.CODES_GUESSED_AT: later(
        "{failures} incorrect access codes were entered from one address"
    ),
    EventKind.COORDINATOR_GIVEN_ACCESS: later("{who} gave coordinator {name} an access code"),
    EventKind.DEPLOYMENT_MADE: later("{who} set up the server"),
    EventKind.DOWNLOADED: later("{who} downloaded {what}"),
    EventKind.DRAFT_BEGUN: later("{who} started draft {draft}"),
    EventKind.DRAFT_THROWN_AWAY: later("{who} deleted draft {draft}"),
    EventKind.HEAD_DEPOSITED: later("The chain head of study {study} was sent"),
    EventKind.HEAD_WITNESS_NAMED: later("{who} changed who receives the chain head"),
    EventKind.IDENTITY_BOUND: later("{whose} linked a sign-in account"),
    EventKind.IDENTITY_RELEASED: later("{who} released the sign-in account of {whose}: {reason}"),
    EventKind.LOSS_ACCEPTED: later("{who} accepted a loss of data"),
    EventKind.MODEL_ADDED: later("{who} added model {model_id}: {n_predictions} predictions"),
    EventKind.MODEL_ASKED: later("{who} started asking model {model_id}"),
    EventKind.MODEL_DATA_REMOVED: later("{who} removed the predictions of model {model_id}"),
    EventKind.MODEL_DESCRIBED: later("{who} wrote the card of model {model_id}"),
    EventKind.MODEL_WITHDRAWN: later("{who} withdrew model {model_id}"),
    EventKind.NAME_ENTERED: later("{who} entered the name of {whose}"),
    EventKind.NAME_ERASED: later("{who} erased the name of {whose}"),
    EventKind.OTHER_STUDY_AMENDED: later(
        "Study {study}, which shares cases with this one, was amended"
    ),
    EventKind.OTHER_STUDY_CLOSED: later(
        "Study {study}, which shares cases with this one, was closed"
    ),
    EventKind.OTHER_STUDY_OPENED: later(
        "Study {study}, which shares cases with this one, was opened"
    ),
    EventKind.PRACTICE_CASE_READ: later("{who} read practice case {position}"),
    EventKind.PREPARATION_DONE: later("{who} completed a step before reading: {step}"),
    EventKind.PREVIEW_OPENED: later("{who} opened a preview"),
    EventKind.SCORING_OPENED: later("{who} opened the scoring of {n} answers in words"),
    EventKind.SCORING_CLOSED: later("{who} closed the scoring of answers in words"),
    EventKind.PROTOCOL_AMENDED: later("{who} made amendment {number} to the protocol"),
    EventKind.READER_ASSIGNED: later("{reader_id} was assigned {n_assigned} cases"),
    EventKind.READER_GIVEN_NEW_CODE: later("{who} issued reader {reader_id} a new access code"),
    EventKind.READER_INVITED: later("{who} invited reader {reader_id}"),
    EventKind.READER_SIMULATED: later("The readings of {reader_id} are simulated"),
    EventKind.READER_WITHDRAWN: later("{who} withdrew reader {reader_id}"),
    EventKind.READING_EXCLUDED: later("{who} excluded {reader_id}’s reading of case {position}"),
    EventKind.READING_FINISHED: later("{who} finished reading"),
    EventKind.SESSION_FEEDBACK_SHOWN: later("{who} was shown feedback on session {session}"),
    EventKind.READING_PAUSED: later("{who} paused reading for {reader_id}"),
    EventKind.READING_REINSTATED: later(
        "{who} reinstated {reader_id}’s reading of case {position}"
    ),
    EventKind.READING_RESUMED: later("{who} resumed reading for {reader_id}"),
    EventKind.REMINDER_SENT: later("{who} reminded {reader_id}"),
    EventKind.REMINDERS_SCHEDULED: later("{who} set reminders after {days} days without a reading"),
    EventKind.ROLE_GIVEN: later("{who} gave {whose} the role {new}"),
    EventKind.ROLE_REVOKED: later("{who} revoked the role {old} of {whose}"),
    EventKind.SECOND_FACTOR_ADDED: later("{who} added a second factor"),
    EventKind.SECOND_FACTOR_POLICY: later(
        "{who} changed the setting for second factors from {old} to {new}"
    ),
    EventKind.SECOND_FACTOR_REMOVED: later("{who} removed the second factor of {whose}: {reason}"),
    EventKind.SESSION_EXTENDED: later("{who} gave {reader_id} more time for a session"),
    EventKind.SESSION_RELEASED: later("{who} removed a session deadline for {reader_id}"),
    EventKind.SIGNED_IN: later("{who} signed in"),
    EventKind.SIGNED_OUT: later("{who} signed out"),
    EventKind.SITE_MERGED: later("{who} merged the data of another site"),
    EventKind.STORE_WENT_BACK: later("The database reverted to an earlier state"),
    EventKind.STUDY_CLOSED: later("{who} closed the study"),
    EventKind.STUDY_COPIED: later("{who} exported a copy of the study"),
    EventKind.STUDY_DISCARDED: later("{who} discarded the study"),
    EventKind.STUDY_DRAWN: later("{who} drew {n_cases} cases from bank {bank}"),
    EventKind.STUDY_OPENED: later("{who} opened the study"),
    EventKind.STUDY_REMOVED: later("{who} removed study {study}: {reason}"),
    EventKind.STUDY_RESTORED: later("{who} restored the study"),
    EventKind.STUDY_RETURNED_TO_DRAFT: later("{who} returned the study to the draft {draft}"),
    EventKind.WITNESS_DAMAGED: later("The witness file {finding}"),
    EventKind.WITNESS_ACCEPTED: later("{who} accepted that the witness file was damaged: {reason}"),
}

_VALUE_LABELS = {
    "consent": later("consent"),
    "display": later("display check"),
    "instructions": later("instructions"),
    "questionnaire": later("questionnaire"),
    "schedule": later("The server"),
    **TITLES,
}
"""Labels of values in events."""

_PLACEHOLDERS = {name for words in SENTENCES.values() for _, name, _, _ in Formatter().parse(words)}


def kind_in_words(kind: str) -> str:
    """Return a kind of event in the current language; unknown kinds unchanged."""
    return translated(LABELS[EventKind(kind)]) if kind in LABELS else kind


def event_words(kind: str, actor: str, details: Mapping[str, Any]) -> str:
    """Return an event as a sentence in the current language.

    >>> event_words("case read", "R1", {"position": 17})
    'R1 read case 17'
    >>> event_words("reading paused", "c", {})
    'c paused reading for all readers'
    """
    if kind not in SENTENCES:
        return f"{actor}: {kind}"
    texts = {"reader_id": t("all readers"), **details, "who": actor}
    values = {name: _value_text(texts.get(name, "")) for name in _PLACEHOLDERS if name}
    for name in ("who", "old", "new", "step"):
        values[name] = translated(_VALUE_LABELS.get(values[name], "")) or values[name]
    return translated(SENTENCES[EventKind(kind)]).format(**values)


def _value_text(value: Any) -> str:
    return decimal(value) if type(value) is int else str(value)


def kinds_matching(text: str) -> tuple[str, ...]:
    """Return the kinds of event whose label or sentence in the current language contains `text`.

    >>> [str(kind) for kind in kinds_matching("Sample drawn")]
    ['study drawn']
    """
    search_text = " ".join(text.split()).casefold()
    words = {
        kind: f"{kind_in_words(kind)}\n{event_words(kind, '', {})}".casefold() for kind in LABELS
    }
    return tuple(kind for kind in LABELS if search_text and search_text in words[kind])
