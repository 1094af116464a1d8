"""The kinds of acts in words of whoever looks; what is stored stays English."""

from study.base.translation import later, said
from study.store.events import EventKind

LABELS = {
    EventKind.ADMINISTRATOR_GIVEN_ACCESS: later("administrator given access"),
    EventKind.BACKUP_FAILED: later("backup failed"),
    EventKind.BACKUP_MADE: later("backup made"),
    EventKind.BACKUP_REMOVED: later("backup removed"),
    EventKind.BACKUP_RESTORED: later("backup restored"),
    EventKind.BACKUPS_SCHEDULED: later("backups scheduled"),
    EventKind.BANK_IMPORTED: later("bank imported"),
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
    EventKind.LOSS_ACCEPTED: later("data loss accepted"),
    EventKind.MODEL_ADDED: later("model added"),
    EventKind.MODEL_WITHDRAWN: later("model withdrawn"),
    EventKind.NAME_ENTERED: later("name entered"),
    EventKind.NAME_ERASED: later("name erased"),
    EventKind.OTHER_STUDY_AMENDED: later("other study amended"),
    EventKind.OTHER_STUDY_CLOSED: later("other study closed"),
    EventKind.OTHER_STUDY_OPENED: later("other study opened"),
    EventKind.PRACTICE_CASE_READ: later("practice case read"),
    EventKind.PREPARATION_DONE: later("preparation done"),
    EventKind.PREVIEW_OPENED: later("preview opened"),
    EventKind.PROTOCOL_AMENDED: later("protocol amended"),
    EventKind.READER_ASSIGNED: later("reader assigned"),
    EventKind.READER_GIVEN_NEW_CODE: later("new access code issued to reader"),
    EventKind.READER_INVITED: later("reader invited"),
    EventKind.READER_SIMULATED: later("reader simulated"),
    EventKind.READER_WITHDRAWN: later("reader withdrawn"),
    EventKind.READING_EXCLUDED: later("reading excluded"),
    EventKind.READING_FINISHED: later("reading finished"),
    EventKind.READING_PAUSED: later("reading paused"),
    EventKind.READING_REINSTATED: later("reading reinstated"),
    EventKind.READING_RESUMED: later("reading resumed"),
    EventKind.REMINDER_SENT: later("reminder sent"),
    EventKind.ROLE_GIVEN: later("role assigned"),
    EventKind.ROLE_REVOKED: later("role revoked"),
    EventKind.SESSION_EXTENDED: later("session extended"),
    EventKind.SESSION_RELEASED: later("session deadline removed"),
    EventKind.SIGNED_IN: later("signed in"),
    EventKind.SIGNED_OUT: later("signed out"),
    EventKind.SITE_MERGED: later("site merged"),
    EventKind.STORE_WENT_BACK: later("database went back"),
    EventKind.STUDY_CLOSED: later("study closed"),
    EventKind.STUDY_COPIED: later("study copied"),
    EventKind.STUDY_DISCARDED: later("study discarded"),
    EventKind.STUDY_DRAWN: later("sample drawn"),
    EventKind.STUDY_OPENED: later("study opened"),
    EventKind.STUDY_RESTORED: later("study restored"),
}


def kind_in_words(kind: str) -> str:
    """Return a kind of event in the language in use; one that is not known here as it stands."""
    return said(LABELS[EventKind(kind)]) if kind in LABELS else kind


def kinds_called(text: str) -> tuple[str, ...]:
    """Return the kinds of event whose words, in the language in use, hold a text.

    >>> [str(kind) for kind in kinds_called("Sample drawn")]
    ['study drawn']
    """
    wanted = " ".join(text.split()).casefold()
    return tuple(kind for kind in LABELS if wanted and wanted in kind_in_words(kind).casefold())
