"""The kinds of acts in words of whoever looks; what is stored stays English."""

from study.words import later, said

_KINDS = frozenset(
    {
        later("administrator given access"),
        later("backup failed"),
        later("backup made"),
        later("backup removed"),
        later("backup restored"),
        later("backups scheduled"),
        later("bank imported"),
        later("bank restored"),
        later("clock went back"),
        later("case presented"),
        later("case read"),
        later("code given"),
        later("code guessed at"),
        later("codes guessed at"),
        later("coordinator given access"),
        later("deployment made"),
        later("downloaded"),
        later("draft begun"),
        later("draft thrown away"),
        later("head deposited"),
        later("head witness named"),
        later("identity bound"),
        later("loss accepted"),
        later("model added"),
        later("model withdrawn"),
        later("name entered"),
        later("name erased"),
        later("practice case read"),
        later("preparation done"),
        later("preview opened"),
        later("protocol amended"),
        later("reader assigned"),
        later("reader given new code"),
        later("reader invited"),
        later("reader simulated"),
        later("reader withdrawn"),
        later("reading excluded"),
        later("reading paused"),
        later("reading reinstated"),
        later("reading resumed"),
        later("role given"),
        later("role revoked"),
        later("session extended"),
        later("session released"),
        later("signed in"),
        later("signed out"),
        later("site merged"),
        later("store went back"),
        later("study closed"),
        later("study copied"),
        later("study discarded"),
        later("study drawn"),
        later("study opened"),
        later("study restored"),
    }
)


def kind_in_words(kind: str) -> str:
    """Return a kind of event in the language in use; one that is not known here as it stands."""
    return said(kind) if kind in _KINDS else kind
