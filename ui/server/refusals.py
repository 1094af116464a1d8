"""Why a sign-in was refused, in words; the route tells the page by one word which it was."""

from study.base.translation import t


def sentence(why: str) -> str:
    """Return what the sign-in page says of a refusal; empty for none and for words unknown.

    >>> sentence("expired")
    'This access code has expired. Ask your coordinator for a new one.'
    """
    sentences = {
        "unknown": t("That access code is not known here. Check it, or ask your coordinator."),
        "later": t("Many are signing in just now. Try again in a moment."),
        "expired": t("This access code has expired. Ask your coordinator for a new one."),
        "no-part": t("You have no part in any study here any more. Ask your coordinator."),
        "runs-it": t(
            "This browser is signed in as somebody who has another role in that study. Sign out "
            "first; whoever runs a study does not read in it."
        ),
        "ticket": t("That took too long. Sign in once more."),
        "stale": t("The sign-in with your institution was too long ago. Sign in again."),
        "no-account": t(
            "Nobody here goes by the account you signed in with. Ask your coordinator to register "
            "its e-mail address, or sign in with an access code."
        ),
        "choice": t("You have no part in that study any more. Ask its coordinator."),
    }
    return sentences.get(why, "")
