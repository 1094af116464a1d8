"""Why a sign-in was refused, in words; the route tells the page by one word which it was."""

from study.base.translation import t


def sentence(why: str) -> str:
    """Return what the sign-in page says of a refusal; empty for none and for words unknown.

    >>> sentence("expired")
    'This access code has expired. Ask your coordinator for a new one.'
    """
    sentences = {
        "unknown": t("This access code is not recognised. Check it, or ask your coordinator."),
        "later": t("Too many people are signing in at the moment. Try again shortly."),
        "expired": t("This access code has expired. Ask your coordinator for a new one."),
        "no-part": t("You no longer have a role in any study here. Ask your coordinator."),
        "runs-it": t(
            "This browser is signed in as someone with another role in that study. Sign out "
            "first; anyone who runs a study cannot read in it."
        ),
        "ticket": t("That took too long. Sign in again."),
        "stale": t("You signed in with your institution too long ago. Sign in again."),
        "no-account": t(
            "The account you signed in with is not registered here. Ask your coordinator to "
            "register its email address, or sign in with an access code."
        ),
        "choice": t("You no longer have a role in this study. Ask its coordinator."),
    }
    return sentences.get(why, "")
