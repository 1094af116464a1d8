"""Results of a review: verdicts as a file, numbers of faulty items, agreement of reviewers."""

import numpy as np
import pandas as pd
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from study.base.text import csv_bytes
from study.base.translation import decimal, t
from study.lifecycle import reviewing
from study.people.roles import Act
from study.people.signing_in import Person
from study.store import Transaction
from ui.parts.links import attachment
from ui.parts.text import number
from ui.server.access import answer
from ui.server.deployment import store


def routes() -> list[Route]:
    """Return the route."""
    return [Route("/verdicts/{review}", _verdicts, methods=["GET"])]


def address(review: int) -> str:
    """Return the address of a review's verdicts."""
    return f"verdicts/{review}"


async def _verdicts(request: Request) -> Response:
    def send_verdicts(_: Person) -> Response:
        with store().look() as look:
            rows = reviewing.verdict_table(look, number(request.path_params["review"]))
        return Response(
            csv_bytes(reviewing.VERDICT_COLUMNS, rows),
            media_type="text/csv; charset=utf-8",
            headers=attachment("verdicts.csv"),
        )

    refused = t("Sign in with an account that can set up studies.")
    return await answer(request, Act.MAKE_STUDY, send_verdicts, refused)


def facts_of(look: Transaction, review: int) -> list[tuple[str, str, str]]:
    """Return the results of a review: label, value and note of each; empty without any."""
    from analysis.statistics.agreement import judges as statistics

    frame = pd.DataFrame(
        reviewing.verdict_table(look, review), columns=list(reviewing.VERDICT_COLUMNS)
    )
    if frame.empty:
        return []
    review_result = statistics.review(frame)
    total, (agreed, kappa, *_) = (
        review_result.summary.iloc[0],
        review_result.agreement.to_dict("records"),
    )
    facts = []
    if total["n"]:
        facts.append(
            (
                t("Faulty questions"),
                t("{share} %", share=decimal(100 * total["share"], 1)),
                t(
                    "{k} of {n}, 95 % CI {low} to {high} %",
                    k=total["n_found"],
                    n=total["n"],
                    low=decimal(100 * total["ci_low"], 1),
                    high=decimal(100 * total["ci_high"], 1),
                ),
            )
        )
    if agreed["n"]:
        facts.append(
            (
                t("Agreement of the first two"),
                t("{share} %", share=decimal(100 * agreed["value"], 1)),
                t("on {n} questions", n=agreed["n"]),
            )
        )
    if np.isfinite(kappa["value"]):
        low, high = kappa["ci_low"], kappa["ci_high"]
        known = np.isfinite(low)
        interval = t("95 % CI {low} to {high}", low=decimal(low, 2), high=decimal(high, 2))
        few = t("too few questions for an interval")
        facts.append((t("Kappa"), decimal(kappa["value"], 2), interval if known else few))
    return facts
