"""Rules that detect contradictions between the keys of a protocol."""

import math
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
        The keys that the rule reads; it is not applied if any of them is invalid.
    is_broken
        Returns whether a protocol breaks the rule.
    fault
        Returns what is wrong and how to correct it.
    """

    keys: frozenset[str]
    is_broken: Callable[["Protocol"], bool]
    fault: Callable[["Protocol"], str]


def _rule(
    keys: str, is_broken: Callable[["Protocol"], bool], fault: Callable[["Protocol"], str]
) -> Rule:
    return Rule(frozenset(keys.split()), is_broken, fault)


def contradictions(protocol: "Protocol", *, except_keys: Collection[str] = ()) -> list[str]:
    """Return the fault of every broken rule that does not read any of `except_keys`."""
    return [
        rule.fault(protocol)
        for rule in RULES
        if rule.keys.isdisjoint(except_keys) and rule.is_broken(protocol)
    ]


def _allocated_cases(protocol: "Protocol") -> int | None:
    allocation = protocol.allocation
    return sum(allocation.values()) if isinstance(allocation, Mapping) else None


def _in_both_lists(protocol: "Protocol") -> list[str]:
    return sorted(set(protocol.only_items) & set(protocol.without_items))


def _shows_cases_again(protocol: "Protocol") -> bool:
    several = any(len(arm.presented_conditions) > 1 for arm in protocol.by_arm.values())
    return protocol.hidden_repeats > 0 or protocol.sessions > 1 or several


def _n_presented(protocol: "Protocol") -> list[int]:
    """Return the number of conditions in which the cases are presented, for each arm."""
    return [len(arm.presented_conditions) for arm in protocol.by_arm.values()]


def _n_uneven_conditions(protocol: "Protocol") -> int:
    """Return the number of conditions if the number of sessions is not a multiple of it, or 0."""
    uneven = (n for n in _n_presented(protocol) if protocol.sessions % n)
    return next(uneven, 0) if protocol.sessions > 1 else 0


def _fitting_sessions(protocol: "Protocol") -> str:
    n = math.lcm(*_n_presented(protocol))
    turns = protocol.sessions // n
    return f"{turns * n} or {turns * n + n}" if turns else f"{n}"


def _n_conditions_with(condition: str, protocol: "Protocol") -> int:
    """Return how many conditions a session contains if one of several is `condition`, else 0."""
    numbers = (
        len(arm.presented_conditions)
        for arm in protocol.by_arm.values()
        if condition in arm.presented_conditions and len(arm.presented_conditions) > 1
    )
    return next(numbers, 0) if protocol.sessions == 1 else 0


def _idle_aid_key(protocol: "Protocol") -> str:
    """Return a key about the aid that is set although no condition is aided; empty if none is."""
    if protocol.is_aided:
        return ""
    defaults = type(protocol)()
    keys = ("aid", "aid_model", "aid_shows", "aid_text", "aid_missing", "aid_errors")
    changed = (key for key in keys if getattr(protocol, key) != getattr(defaults, key))
    in_arms = ("aid" for arm in protocol.arms if arm.aid or arm.aid_text)
    return next(changed, "") or next(in_arms, "")


def _max_cases_per_reader(protocol: "Protocol") -> int:
    """Return the largest number of cases that one reader can have."""
    return protocol.cases_per_reader or protocol.cases


def _case_blocks(protocol: "Protocol") -> int:
    """Return the number of case blocks that sessions require; 0 if cases are not divided."""
    return max(arm.case_blocks for arm in protocol.by_arm.values())


MIN_FEEDBACK_ANSWERS = 20
"""Minimum number of answers in a session with feedback; with fewer, it could reveal an answer."""

RULES = (
    _rule(
        "endpoint confidence",
        lambda p: p.endpoint.endswith("AUC") and not p.confidence,
        lambda p: t(
            "endpoint is AUC, which needs confidence: a scale of 2 to 9 steps. Set it, or "
            "choose accuracy."
        ),
    ),
    _rule(
        "endpoint claim_about",
        lambda p: p.endpoint.startswith("pair-weighted") and p.claim_about == "these readers",
        lambda p: t(
            "endpoint is {endpoint}, which is about readers like these. Set claim_about to "
            "readers like these, or choose accuracy or AUC.",
            endpoint=p.endpoint,
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
        lambda p: _allocated_cases(p) not in (None, p.cases),
        lambda p: t(
            "allocation adds up to {total}, but cases = {cases}. Make them equal.",
            total=_allocated_cases(p),
            cases=p.cases,
        ),
    ),
    _rule(
        "allocation stratify_by",
        lambda p: _allocated_cases(p) is not None and not p.stratify_by,
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
            "only_items and without_items both name {examples} ({n} in all). Remove them from one "
            "of the two.",
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
        "feedback hidden_repeats conditions sessions aid arms",
        lambda p: p.feedback == "after case" and _shows_cases_again(p),
        lambda p: t(
            "feedback after each case with hidden_repeats, several conditions or several "
            "sessions would show a case again after its reference standard was shown. Choose "
            "one of the two."
        ),
    ),
    _rule(
        "conditions endpoint arms",
        lambda p: p.all_conditions == ("open-ended",) and bool(p.endpoint),
        lambda p: t(
            "endpoint is {endpoint}, which is about answers chosen from options, but the only "
            "condition is open-ended. Add another condition, or leave the endpoint empty.",
            endpoint=p.endpoint,
        ),
    ),
    _rule(
        "conditions back_navigation sessions aid arms",
        lambda p: p.back_navigation and _n_conditions_with("open-ended", p) > 0,
        lambda p: t(
            "back_navigation with open-ended and another condition in one session would let "
            "readers change their own words after seeing the options. Set sessions to {n}, or "
            "choose one of the two.",
            n=_n_conditions_with("open-ended", p),
        ),
    ),
    _rule(
        "conditions back_navigation sessions aid arms",
        lambda p: p.back_navigation and _n_conditions_with("aided", p) > 0,
        lambda p: t(
            "back_navigation with aided and another condition in one session would let readers "
            "change their unaided answers after seeing the model's. Set sessions to {n}, or set "
            "back_navigation to false.",
            n=_n_conditions_with("aided", p),
        ),
    ),
    _rule(
        "conditions back_navigation aid arms",
        lambda p: p.back_navigation and any(arm.is_sequential for arm in p.by_arm.values()),
        lambda p: t(
            'back_navigation with aid = "after" would let readers change first answers after '
            "seeing the model's. Set back_navigation to false, or choose another aid."
        ),
    ),
    _rule(
        "sessions conditions aid arms",
        lambda p: _n_uneven_conditions(p) > 0,
        lambda p: t(
            "sessions = {sessions}, but there are {n} conditions, and each session uses one "
            "of them, so some would be read more often than others. Set it to {fitting}, or "
            "to 1 to read all conditions in one session.",
            sessions=p.sessions,
            n=_n_uneven_conditions(p),
            fitting=_fitting_sessions(p),
        ),
    ),
    _rule(
        "conditions aid_model arms",
        lambda p: p.is_aided and not p.aid_model,
        lambda p: t(
            'conditions has "aided", but aid_model is empty. Name the model whose answers are '
            'shown, or remove "aided".'
        ),
    ),
    _rule(
        "conditions aid aid_model aid_shows aid_text aid_missing aid_errors arms",
        lambda p: bool(_idle_aid_key(p)),
        lambda p: t(
            '{key} is set, but no condition is aided. Add "aided" to conditions, or remove {key}.',
            key=_idle_aid_key(p),
        ),
    ),
    _rule(
        "aid_errors cases",
        lambda p: p.aid_errors > p.cases,
        lambda p: t(
            "aid_errors = {n} is more than cases = {cases}. Reduce aid_errors.",
            n=p.aid_errors,
            cases=p.cases,
        ),
    ),
    _rule(
        "aid_errors aid_shows",
        lambda p: p.aid_errors > 0 and "answer" not in p.aid_shows,
        lambda p: t(
            "aid_errors replaces answers of the model, but aid_shows does not include the answer. "
            'Add "answer" to aid_shows, or set aid_errors to 0.'
        ),
    ),
    _rule(
        "aid_errors aid_shows",
        lambda p: p.aid_errors > 0 and "explanation" in p.aid_shows,
        lambda p: t(
            "aid_errors would show the model's explanation of a correct answer next to a wrong "
            'one. Remove "explanation" from aid_shows, or set aid_errors to 0 and add predictions '
            "that already contain the errors."
        ),
    ),
    _rule(
        "conditions cases arms",
        lambda p: "wrong-image" in p.all_conditions and p.cases < 2,
        lambda p: t(
            'conditions has "wrong-image", which needs the images of another case, but cases = 1. '
            'Increase cases, or remove "wrong-image".'
        ),
    ),
    _rule(
        "anchor reads_per_case cases_per_reader",
        lambda p: p.anchor > 0 and not p.is_incomplete,
        lambda p: t(
            "anchor = {anchor}, but every reader reads every case. Set reads_per_case or "
            "cases_per_reader, or set anchor to 0.",
            anchor=p.anchor,
        ),
    ),
    _rule(
        "anchor reads_per_case cases_per_reader cases",
        lambda p: p.is_incomplete and p.anchor >= p.cases,
        lambda p: t(
            "anchor = {anchor} leaves none of cases = {cases} to be shared among readers. Reduce "
            "anchor, or increase cases.",
            anchor=p.anchor,
            cases=p.cases,
        ),
    ),
    _rule(
        "cases_per_reader cases",
        lambda p: p.cases_per_reader > p.cases,
        lambda p: t(
            "cases_per_reader = {n} is more than cases = {cases}. Reduce it.",
            n=p.cases_per_reader,
            cases=p.cases,
        ),
    ),
    _rule(
        "cases_per_reader anchor",
        lambda p: 0 < p.cases_per_reader <= p.anchor,
        lambda p: t(
            "cases_per_reader = {n} leaves no case in addition to anchor = {anchor}. Increase "
            "cases_per_reader, or reduce anchor.",
            n=p.cases_per_reader,
            anchor=p.anchor,
        ),
    ),
    _rule(
        "cases_per_reader hidden_repeats",
        lambda p: 0 < p.cases_per_reader < p.hidden_repeats,
        lambda p: t(
            "hidden_repeats = {repeats} is more than cases_per_reader = {n}. Reduce "
            "hidden_repeats.",
            repeats=p.hidden_repeats,
            n=p.cases_per_reader,
        ),
    ),
    _rule(
        "sessions conditions cases cases_per_reader aid arms",
        lambda p: _max_cases_per_reader(p) < _case_blocks(p),
        lambda p: t(
            "The {n} cases of a reader cannot be divided into {blocks} blocks, one for each "
            "condition. Increase cases or cases_per_reader, or set sessions to 1.",
            n=_max_cases_per_reader(p),
            blocks=_case_blocks(p),
        ),
    ),
    _rule(
        "session_feedback sessions",
        lambda p: p.session_feedback and p.sessions == 1,
        lambda p: t(
            "session_feedback is given between sessions, but sessions = 1. Increase sessions, or "
            "set session_feedback to false."
        ),
    ),
    _rule(
        "session_feedback cases cases_per_reader",
        lambda p: p.session_feedback and _max_cases_per_reader(p) < MIN_FEEDBACK_ANSWERS,
        lambda p: t(
            "session_feedback with {n} cases per reader would reveal answers to cases that are "
            "shown again. Use at least {least} cases, or set session_feedback to false.",
            n=_max_cases_per_reader(p),
            least=MIN_FEEDBACK_ANSWERS,
        ),
    ),
    _rule(
        "session_feedback back_navigation",
        lambda p: p.session_feedback and p.back_navigation,
        lambda p: t(
            "session_feedback with back_navigation would let readers correct their answers after "
            "learning how many were right. Choose one of the two."
        ),
    ),
)
"""All rules, in the order in which faults are listed."""
