"""Contradictions between the keys of a protocol: a table of rules, each with the keys it reads."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from study.base.translation import t

if TYPE_CHECKING:
    from study.protocol.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule about several keys.

    Parameters
    ----------
    keys
        The keys it reads; it is not applied where one of them has a fault of its own.
    broken
        Whether a protocol breaks it.
    fault
        What is wrong and how to correct it.
    """

    keys: frozenset[str]
    broken: Callable[["Protocol"], bool]
    fault: Callable[["Protocol"], str]


def _rule(
    keys: str, broken: Callable[["Protocol"], bool], fault: Callable[["Protocol"], str]
) -> Rule:
    return Rule(frozenset(keys.split()), broken, fault)


def contradictions(protocol: "Protocol", *, except_keys: Collection[str] = ()) -> list[str]:
    """Return the fault of every broken rule that reads none of `except_keys`."""
    return [
        rule.fault(protocol)
        for rule in RULES
        if rule.keys.isdisjoint(except_keys) and rule.broken(protocol)
    ]


def _total(protocol: "Protocol") -> int | None:
    allocation = protocol.allocation
    return sum(allocation.values()) if isinstance(allocation, Mapping) else None


def _in_both_lists(protocol: "Protocol") -> list[str]:
    return sorted(set(protocol.only_items) & set(protocol.without_items))


def _shows_cases_again(protocol: "Protocol") -> bool:
    several = len(protocol.conditions) > 1 or protocol.sessions > 1
    return protocol.hidden_repeats > 0 or several


def _fitting_sessions(protocol: "Protocol") -> str:
    n = len(protocol.conditions)
    turns = protocol.sessions // n
    return f"{turns * n} or {turns * n + n}" if turns else f"{n}"


RULES = (
    _rule(
        "endpoint confidence",
        lambda p: p.endpoint == "AUC" and not p.confidence,
        lambda p: t(
            "endpoint is AUC, which needs confidence: a scale of 2 to 9 steps. Set it, or "
            "choose accuracy."
        ),
    ),
    _rule(
        "bundle_extras",
        lambda p: (
            "questionnaire texts" in p.bundle_extras and "questionnaire" not in p.bundle_extras
        ),
        lambda p: t(
            'bundle_extras has "questionnaire texts" without "questionnaire". Add it, or take '
            "the texts out."
        ),
    ),
    _rule(
        "score_card feedback",
        lambda p: p.score_card == "peers" and p.feedback == "never",
        lambda p: t(
            'score_card is "peers", but without feedback there is no score card. Set feedback '
            'to "after study", or score_card to "own".'
        ),
    ),
    _rule(
        "allocation cases",
        lambda p: _total(p) not in (None, p.cases),
        lambda p: t(
            "allocation adds up to {total}, but cases = {cases}. Make them equal.",
            total=_total(p),
            cases=p.cases,
        ),
    ),
    _rule(
        "allocation stratify_by",
        lambda p: _total(p) is not None and not p.stratify_by,
        lambda p: t("allocation names strata, but stratify_by is empty. Name the fields."),
    ),
    _rule(
        "only_items cases",
        lambda p: 0 < len(p.only_items) < p.cases,
        lambda p: t(
            "only_items names {n} questions, fewer than cases = {cases}. Add IDs, or reduce cases.",
            n=len(p.only_items),
            cases=p.cases,
        ),
    ),
    _rule(
        "only_items without_items",
        lambda p: bool(_in_both_lists(p)),
        lambda p: t(
            "only_items and without_items both name {examples} ({n} in all). Take them out of one.",
            examples=", ".join(_in_both_lists(p)[:3]),
            n=len(_in_both_lists(p)),
        ),
    ),
    _rule(
        "hidden_repeats cases",
        lambda p: p.hidden_repeats > p.cases,
        lambda p: t(
            "hidden_repeats = {hidden_repeats} is more than cases = {cases}.",
            hidden_repeats=p.hidden_repeats,
            cases=p.cases,
        ),
    ),
    _rule(
        "back_navigation feedback",
        lambda p: p.back_navigation and p.feedback == "after case",
        lambda p: t(
            "back_navigation with feedback after each case would let readers correct their "
            "answers after seeing the reference standard. Choose one of the two."
        ),
    ),
    _rule(
        "feedback hidden_repeats conditions sessions",
        lambda p: p.feedback == "after case" and _shows_cases_again(p),
        lambda p: t(
            "feedback after each case with hidden_repeats, several conditions or several "
            "sessions would show a case again after its reference standard was shown. Choose "
            "one of the two."
        ),
    ),
    _rule(
        "conditions endpoint",
        lambda p: p.conditions == ("open-ended",) and bool(p.endpoint),
        lambda p: t(
            "endpoint is {endpoint}, which is about answers chosen from options, but the only "
            "condition is open-ended. Add another condition, or leave the endpoint empty.",
            endpoint=p.endpoint,
        ),
    ),
    _rule(
        "conditions back_navigation sessions",
        lambda p: (
            "open-ended" in p.conditions
            and len(p.conditions) > 1
            and p.back_navigation
            and p.sessions == 1
        ),
        lambda p: t(
            "back_navigation with open-ended and another condition in one session would let "
            "readers change their own words after seeing the options. Set sessions to {n}, or "
            "choose one of the two.",
            n=len(p.conditions),
        ),
    ),
    _rule(
        "sessions conditions",
        lambda p: p.sessions > 1 and p.sessions % len(p.conditions) != 0,
        lambda p: t(
            "sessions = {sessions}, but there are {n} conditions, and each session uses one "
            "of them, so some would be read more often than others. Set it to {fitting}, or "
            "to 1 to read all conditions in one session.",
            sessions=p.sessions,
            n=len(p.conditions),
            fitting=_fitting_sessions(p),
        ),
    ),
    _rule(
        "conditions",
        lambda p: "aided" in p.conditions,
        lambda p: 'conditions = ["aided", ...]: this release cannot run that yet. Leave it out.',
    ),
)
"""Every rule; their faults are listed in this order."""
