"""Reasons: why somebody stepped in, decided, amended or closed; the trail keeps them for good."""

from study.base.errors import NotNow
from study.base.surrogates import without_surrogates
from study.base.translation import t

LONGEST_REASON = 2000
"""Characters of a reason."""


def checked_reason(words: str) -> str:
    r"""Return a reason on one line, as it is kept.

    Raises
    ------
    NotNow
        It is empty, or longer than `LONGEST_REASON`.

    Examples
    --------
    >>> checked_reason(" The film was\n somebody else's. ")
    "The film was somebody else's."
    """
    reason = " ".join(without_surrogates(words).split())
    if not reason:
        raise NotNow(t("Say why: the reason stands in the trail for good."))
    if len(reason) > LONGEST_REASON:
        raise NotNow(t("The reason has more than {n} characters. Shorten it.", n=LONGEST_REASON))
    return reason
