"""The errors that a user can resolve.

StudyError
├── BadFile          a file that cannot be accepted
│   ├── BeyondBudget a file that exceeds the limits for reading
│   └── BadFilm      an image file that cannot be shown correctly (in `study.films`)
├── BadProtocol      a protocol file with faults
├── NotFound         a bank, study or reader of that name does not exist
├── BadInput         an invalid value
├── NotNow           the state of the study does not allow the action
│   └── SavedElsewhere   another person saved the draft in the meantime (`study.lifecycle.drafts`)
├── NotAllowed       the person does not have permission
│   └── SignInRefused    the sign-in was refused (in `study.people.signing_in`)
├── Busy             another process is writing to the store; try again
├── Undelivered      an e-mail message was not sent
└── BrokenStore      the store was not made by Reading Room, or its chain is broken
    └── Upgraded     a newer version of the program has upgraded the store

A message names the fault, the object and the remedy. Pages and the command line catch `StudyError`
and nothing wider.
"""

_LONGEST_LINE = 10_000
_END_LENGTH = 500


class StudyError(Exception):
    """Base class of all errors with a message for users.

    Long lines of the message are shortened, because it may quote an ID of any length from a file.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_shorten_lines(a) if isinstance(a, str) else a for a in arguments))


def _shorten_lines(message: str) -> str:
    """Return a message with the middle of overlong lines removed."""
    if len(message) <= _LONGEST_LINE:
        return message
    return "\n".join(
        line
        if len(line) <= _LONGEST_LINE
        else f"{line[: _LONGEST_LINE - _END_LENGTH]} [...] {line[-_END_LENGTH + 7 :]}"
        for line in message.split("\n")
    )


class BadFile(StudyError):
    """A file cannot be accepted; the message lists all faults."""


class BeyondBudget(BadFile):
    """A file exceeds the limits for reading; the message names the limit and a remedy."""


class BadProtocol(StudyError):
    """A protocol has faults; the message lists all of them."""


class NotFound(StudyError):
    """A named object does not exist in the store."""


class BadInput(StudyError):
    """A value is invalid; the message states which values are valid."""


class NotNow(StudyError):
    """The current state of the study does not allow the action."""


class NotAllowed(StudyError):
    """The signed-in person does not have permission."""


class Busy(StudyError):
    """Another process is writing to the store; try again."""


class Undelivered(StudyError):
    """An e-mail message was not sent: there is no mail server, or it refused."""


class BrokenStore(StudyError):
    """The store was not made by Reading Room, or its contents were altered."""


class Upgraded(BrokenStore):
    """A newer version of the program has upgraded the store since this one opened it."""
