"""The errors a person can do something about.

StudyError
├── BadFile          a file that cannot be taken as it is
│   ├── BeyondBudget a file that takes more to read than any file may
│   └── BadFilm      an image file that cannot be shown truly (in `study.films`)
├── BadProtocol      a protocol file with faults
├── NotFound         a bank, study or reader of that name is not there
├── BadInput         a value somebody gave is not what it has to be, or asks for what is not there
├── NotNow           right request, wrong moment: the study's state forbids it
│   └── SavedElsewhere   somebody else saved the draft meanwhile (in `study.lifecycle.drafts`)
├── NotAllowed       this person may not do that
│   └── SignInRefused    nobody is signed in, and why (in `study.people.signing_in`)
├── Busy             somebody else is writing to the store; in a moment it will do
├── Undelivered      a letter did not go out
└── BrokenStore      the store is not one of ours, or its chain does not hold

A message says what, which one, and what to do. Pages and the command line catch `StudyError` and
nothing wider.
"""


class StudyError(Exception):
    """Root of everything the domain refuses; its text is meant for a person."""


class BadFile(StudyError):
    """A file cannot be taken as it is; the text lists every fault found."""


class BeyondBudget(BadFile):
    """Reading a file takes more than the budget allows; the text names the limit and a remedy."""


class BadProtocol(StudyError):
    """A protocol has faults; the text lists every one."""


class NotFound(StudyError):
    """What was named is not in the store."""


class BadInput(StudyError):
    """A value that was given is not what it has to be; the text says what would do."""


class NotNow(StudyError):
    """The study's state does not allow this at present."""


class NotAllowed(StudyError):
    """The person signed in may not do this."""


class Busy(StudyError):
    """Others are writing to the store: the same again in a moment."""


class Undelivered(StudyError):
    """A letter did not go out: no mail server, or it refused."""


class BrokenStore(StudyError):
    """The store is not a Reading Room store, or what it holds was altered."""
