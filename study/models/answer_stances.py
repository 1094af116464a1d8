"""Determines whether a clause states, rejects, doubts or only names each option it mentions.

This depends on the words around the mention and on what governs its clause (`answer_clauses`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from study.models.answer_clauses import (
    AGREES,
    CHOSEN,
    CONCEDES,
    LEADS,
    NEGATION,
    NOUN_ENDS,
    ONLY_SINGULAR,
    PAST,
    REJECTION,
    SINGULAR,
    Clause,
    Sentence,
    clauses,
    doubts,
    is_question,
    letters_of,
)
from study.models.answer_mentions import FINAL, LABEL, TEXT
from study.models.answer_words import MENTION, cue, pattern

_CONTEXT_LENGTH = 300
"""Characters of a clause considered before and after a mention."""
_MOST_MENTIONS = 300
"""A text with more mentions repeats itself and is not parsed."""
_MOST_MENTIONS_IN_SENTENCE = 25
"""The limit for one sentence: its processing time grows with the square of its mentions."""


class Stance(StrEnum):
    """How a text refers to an option."""

    FINAL = "final"
    STATED = "stated"
    ALONE = "by itself"
    FOUND = "found"  # shown by the image, in the option's own words
    NAMED = "named"  # neither for nor against it
    DOUBTED = "doubted"
    REJECTED = "rejected"
    LANDMARK = "landmark"  # a place next to which something is located
    OTHERS = "others"  # asked about, conditional, quoted, in the past or another speaker's


POSITIVE = frozenset({Stance.FINAL, Stance.STATED, Stance.ALONE, Stance.FOUND})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement about one or more options and its position."""

    stance: Stance
    letters: frozenset[str]
    place: int
    sentence: int
    own_text: bool = False
    structured: bool = False


_LINK = (
    r"\s*(?:,\s*(?:and\b|or\b|nor\b)?|;|/|&|\+|\||\u2013|-|\b(?:and/or|plus|as well as"
    r"|along with|and|or|nor|oder|und|ou|et|o|u|y|e)\b"
    r"|\u6216\u8005|\u6216|\u548c|\u4e0e|\?|\(|(?<=\s))\s*(?:(?:either|possibly|perhaps"
    r"|maybe|even|also)\s+)*"
)
_AND = r"\s*,?\s*(?:and|und|et|y|e)\s+"
_OR_ELSE = r"\s*,?\s*(?:(?:or|nor)\s+an?\s+(?:\w+\s+)?|(?:or|nor|oder|ou|o)\s+)"
_GROUP = pattern(
    rf"{{M}}(?:{_AND}{{M}}(?!{ONLY_SINGULAR})|{_OR_ELSE}{{M}}|{_LINK}{{M}}(?!{SINGULAR})){{0,12}}"
)
_WOULD = cue("would")
_WORKS_TOO = pattern(
    r"\A\W*(?:would|could|might|may|can)\b[^.;]*\b(?:too|also|as well|equally|just as)\b"
)
_ONLY = pattern(r"\b(?:only|just)\W+(?:option\W+|choice\W+)?\Z")
_BUT_DENIED = pattern(
    r"[^.;\ue000-\ue0ff]*\b(?:but|and)\b[^.;\ue000-\ue0ff]*(?:{rejection}|{negation})"
)
_BY_EXCLUSION = re.compile(r"\bby (?:elimination|exclusion)", re.IGNORECASE)
_OR = pattern(r"\A\W*(?:vs|versus|or|and/or)\b(?! rather)")
_LIKEWISE = pattern(r"\b(?:so|neither|nor|as)\s+(?:is|are|does|do|can|was|were)\W*\Z")
_THEY_SAY = pattern(r"\A\W*{people}\s+(?:\w+\s+)?{saying}\W*\Z")
_SINGLE_NEGATION = re.compile(r"\bnot\b|n't\b|\bnever\b|\bcannot\b", re.IGNORECASE)
_ALL_BUT = cue("all_but")
_OVER = re.compile(r"\bover\s+(?:the\s+)?\Z", re.IGNORECASE)
_RANKED = re.compile(r"\brank|\blikel|\bprobab|\border\b", re.IGNORECASE)
_CHANGED_FROM = pattern(r"\b(?:chang|switch|revis|mov)\w*\b[^.;]{0,40}\bfrom\W*\Z")
_CHANGED = cue("changed")
_COMPARED = cue("compared")
_AFTER = cue("after")
_ENDS = pattern(
    r"(?=\W*\Z|\W{1,2}[\w-]+\W*\Z|\s+(?:chest )?(?:x-?ray|radiograph|film|study|image)\b"
    r"|\s+{image_noun}|\s+(?:visible|present|evident|apparent|\w+ing|\w+ed)\b|\s+(?:that|which)\s"
    r"|\W*\b(?:here|for|in|on|as|of|with|now|by|at|this|because"
    r"|and|based|overall|too|then|to|given|is|would|it|if|instead|myself|than|over)\b)"
)
_ANSWER_IS = cue("answer_is")
_CJK_ANSWER = cue("cjk_answer")
_CJK_RIGHT = cue("cjk_right")
_IT_IS = cue("it_is")
_CONCLUDED = cue("concluded")
_PREDICATE = cue("predicate")
_VERB = pattern(r"{be}\W*\Z")
_BE = pattern(r"\W*{be}")
_RIGHT = pattern(r"\A\W*{right}")
_FITS = cue("fits")
_DEFINES = cue("defines")
_SHOWN = cue("shown")
_BESIDE = cue("beside")
_WAS = re.compile(r"\s*which was\s+\Z", re.IGNORECASE)
_SUBJECT = pattern(r"\A\W*(?:the|this|these)\W+(?:[\w-]+\W+){1,6}?{be}\b[^,;\ue000-\ue0ff]*\Z")
_HEALTHY = cue("healthy")
_EXAMPLE = re.compile(
    r"\b(?:e\.?g\.?|for example|for instance|such as|like this|z\.? ?b\.?"
    r"|p(?:ar|or) (?:ex|ej)\w*)\W*\Z",
    re.IGNORECASE,
)
_UNFIT = cue("unfit")
_PART_OF = cue("part_of")
_IMAGE_VERB = pattern(r"\A\W*(?:{image_noun}\W+)?(?:{image_verb}|shows? an?\b)")
_ARTICLE = re.compile(r"\ban?\b", re.IGNORECASE)
_BARE = cue("bare")
_SUBJECT_IS = cue("subject_is")
_BARE_AFTER = cue("bare_after")
_IS_SEEN = cue("is_seen")
_ONLY_FILLERS = pattern(r"(?>(?:[^\w?]|\d+ ?%|{second_thought}|{retraction}|{conclude}|{filler})*)")
_ONLY_FILLERS_AFTER = pattern(r"(?!\s*(?:is|be|/)\W*\Z|\s*>)(?>(?:[^\w?]|{filler})*)")
_THUS = cue("thus")
_LINKED = cue("linked")
_NOT_BUT = cue("not_but")
_CORRECTION = pattern(r"\A\W*(?:but|sondern|sino|mais|ma|mas|\u800c?\u662f)\b")
_FEW_WORDS = pattern(
    r"\W*(?:(?!{be}|tends?|has|have|can|would|could|may|might|should)[\w-]+\W*){1,3}"
)
_LONG_INTRODUCTION = re.compile(r"\w+\W+\w+\W+\w+[^:.?!]*[:=\u2013\u2014-]\Z")
_INTRODUCTION = re.compile(
    r"\w+\W+\w+[^:.?!]*;\Z"
    r"|\A(?!\W*(?:the|an?|my|his|her|their|your|our|its|in|on|at|for|as|by|per|from|with|to|so)\b)"
    r"\w+\W+\w+[^:.?!,]*,\Z",
    re.IGNORECASE,
)
_GERMAN = re.compile(r"\b(?:ist|der|die|das|und|eine?|nicht|ich|im|keine?)\b", re.IGNORECASE)
_ALSO_WORD = re.compile(r"\balso\b", re.IGNORECASE)  # German "thus"
_ALSO = pattern(r"\W*also[,:]?\s+{M}\W*")  # German "thus"


def statements_in(parts: Sequence[Sentence]) -> Iterator[Statement]:
    """Yield the statements of each sentence about the options it mentions."""
    mentions = [len(re.findall(MENTION, part.text)) for part in parts]
    if sum(mentions) > _MOST_MENTIONS or max(mentions, default=0) > _MOST_MENTIONS_IN_SENTENCE:
        return
    is_german = len(_GERMAN.findall(" ".join(part.text for part in parts[:20]))) > 1
    for n, part in enumerate(parts):
        if not re.search(MENTION, part.text):
            continue
        if is_german or _ALSO.fullmatch(part.text):
            part = replace(part, text=_ALSO_WORD.sub("ergo", part.text))
        for statement in _statements_in_sentence(part, n):
            if statement.stance in POSITIVE and is_question(part.text):
                statement = replace(statement, stance=Stance.OTHERS)
            yield statement


def _statements_in_sentence(part: Sentence, n: int) -> Iterator[Statement]:
    parts = clauses(part)
    lone = _isolated_places(parts, part, n)
    for clause in parts:
        for group in _GROUP.finditer(clause.text):
            rest = part.text[clause.place + group.end() :][:_CONTEXT_LENGTH]
            begin = clause.place + group.start()
            quoted = _is_quoted(part.text, begin, begin + len(group[0]))
            stance, letters = _stance(clause, group, rest, quoted), letters_of(group[0])
            if stance is Stance.REJECTED and _NOT_BUT.fullmatch(part.text):  # "Not A, B."
                clause_range = group[0][0], group[0][-1]
                yield Statement(
                    stance=stance, letters=letters_of(clause_range[0]), place=part.place, sentence=n
                )
                stance, letters = Stance.ALONE, letters_of(clause_range[1])
            if stance is Stance.FOUND and not re.fullmatch(TEXT, group[0]):
                stance = Stance.STATED
            elif stance in (Stance.NAMED, Stance.FOUND) and begin in lone:
                stance = Stance.ALONE
            yield Statement(
                stance=stance,
                letters=letters,
                place=part.place + begin,
                sentence=n,
                own_text=re.search(TEXT, group[0]) is not None,
                structured=re.fullmatch(FINAL, group[0]) is not None,
            )


def _isolated_places(parts: Sequence[Clause], part: Sentence, n: int) -> set[int]:
    """Return the positions of mentions that form a clause where an answer is possible."""
    places = set()
    for clause in parts:
        group = _GROUP.search(clause.text)
        if not group or not _ONLY_FILLERS.fullmatch(
            _CORRECTION.sub("", clause.text[: group.start()])
        ):
            continue
        after = clause.text[group.end() :]
        continues = (
            re.fullmatch(LABEL, group[0])
            and (_FEW_WORDS.fullmatch(after) or _BARE_AFTER.match(after))
        ) or (re.fullmatch(TEXT, group[0]) and re.match(r"\s+(?:there|it|this)\s", after))
        if not continues and not _ONLY_FILLERS_AFTER.fullmatch(after):
            continue
        if _LINKED.match(clause.text[: group.start()]):
            continue
        before = part.text[: clause.place].rstrip()[-_CONTEXT_LENGTH:]
        rest = part.text[clause.place + group.end() :]
        first = _ONLY_FILLERS.fullmatch(part.text[: clause.place]) and "?" not in before
        last = not re.search(r"[\w\ue000-\ue0ff]", rest)
        if (
            first
            or (last and _CORRECTION.match(clause.text))
            or (
                last
                and (
                    (
                        _INTRODUCTION.search(before)
                        and not _denies(before)
                        and not re.search(MENTION, before)
                    )
                    or (_LONG_INTRODUCTION.search(before) and not doubts(before))
                    or (_THUS.match(part.text) and before[-1:] in ",(")
                    or (before[-1:] == "," and AGREES.search(before))
                    or (
                        before[-1:] == "("
                        and ((n == 0 and len(before.split()) < 7) or _SUBJECT.match(before))
                        and not _denies(before)
                    )
                    or (before[-1:] == ":" and re.match(LABEL, group[0]))
                )
            )
        ):
            places.add(clause.place + group.start())
    return places


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """The words around a group of mentions in its clause."""

    clause: Clause
    group: str
    begin: int
    """End of the previous mention in the clause; 0 if there is none."""
    before: str
    """The words between the previous mention and this one."""
    after: str
    """The words up to the next mention."""
    following: bool
    """Whether another mention follows in the clause."""
    rest: str
    """The rest of the sentence."""

    @property
    def own_text(self) -> bool:
        """Whether the option is mentioned by its text alone."""
        return re.fullmatch(TEXT, self.group) is not None

    @property
    def label(self) -> bool:
        """Whether the option is mentioned by its letter and its text."""
        return re.fullmatch(LABEL, self.group) is not None


def _stance(clause: Clause, group: re.Match[str], rest: str, quoted: bool) -> Stance:
    """Return the stance of a clause on a group of mentions in it."""
    text = clause.text
    begin = max((m.end() for m in _GROUP.finditer(text[: group.start()])), default=0)
    following = _GROUP.search(text, group.end())
    context = _Context(
        clause=clause,
        group=group[0],
        begin=begin,
        before=text[max(begin, group.start() - _CONTEXT_LENGTH) : group.start()],
        after=text[group.end() : following.start() if following else len(text)][:_CONTEXT_LENGTH],
        following=following is not None,
        rest=rest,
    )
    if quoted:
        return Stance.OTHERS
    if _CHANGED.search(text[: group.start()]) and not clause.foreign:
        return Stance.STATED
    stance = (
        _stance_by_marker(context) or _stance_by_comparison(context) or _stance_by_denial(context)
    )
    if not stance and _BESIDE.search(context.before):
        return Stance.LANDMARK
    if not stance and context.own_text and _HEALTHY.match(context.after):
        return Stance.REJECTED
    return stance or _positive_stance(context)


def _stance_by_marker(context: _Context) -> Stance | None:
    """Return the stance for answers of other speakers, final answers and "all but" phrases."""
    before = context.before
    if re.search(r"\?\s*\Z", before) or context.clause.foreign or _THEY_SAY.match(context.rest):
        return Stance.OTHERS
    if re.fullmatch(FINAL, context.group):
        if _EXAMPLE.search(before):
            return Stance.OTHERS
        denied = NEGATION.search(before) or REJECTION.search(before)
        return Stance.REJECTED if denied else Stance.FINAL
    if everything := _ALL_BUT.search(before):
        negation = REJECTION.search(context.after) or everything[0].lower().startswith(("no", "ni"))
        return Stance.STATED if negation else Stance.REJECTED
    return None


def _stance_by_comparison(context: _Context) -> Stance | None:
    """Return the stance on an option that is compared with another or replaced by it."""
    before = context.before
    if re.fullmatch(r"\s*>+\s*", before) and context.begin:
        return Stance.DOUBTED
    comparison_word = re.fullmatch(r"\s*over\s+", before) or (
        context.begin and _OVER.search(before)
    )
    if comparison_word or _CHANGED_FROM.search(before):
        return Stance.REJECTED
    if compared := _COMPARED.search(before):
        less = REJECTION.search(before[: compared.start()])
        return Stance.NAMED if less else Stance.REJECTED
    return None


def _stance_by_denial(context: _Context) -> Stance | None:
    """Return the stance on an option that is rejected, doubted or described as past."""
    before, rest = context.before, _AFTER.split(context.after, maxsplit=1)[0]
    negations = min(1, len(NEGATION.findall(before + ";" + rest)))
    negations += len(_SINGLE_NEGATION.findall(before + ";" + rest)) > 1
    rejected = bool(REJECTION.search(before) or REJECTION.search(rest)) + context.clause.denied
    if negations + rejected > 1:
        return Stance.DOUBTED if negations else Stance.REJECTED
    if _WORKS_TOO.match(rest):
        return Stance.DOUBTED
    if negations or rejected or _WOULD.match(rest) or _UNFIT.match(context.rest):
        return Stance.REJECTED
    is_question = re.match(r"\s*\(?\?", context.after) or _LIKEWISE.search(before)
    if is_question or doubts(before) or doubts(rest) or _OR.match(context.rest):
        return Stance.REJECTED if _BUT_DENIED.match(context.rest) else Stance.DOUBTED
    if (
        _WAS.match(before)
        or PAST.search(before)
        or PAST.search(rest)
        or CONCEDES.match(context.clause.text)
    ):
        return Stance.OTHERS
    return None


def _denies(text: str) -> bool:
    return bool(NEGATION.search(text) or REJECTION.search(text) or doubts(text))


def _is_quoted(text: str, begin: int, end: int) -> bool:
    """Return whether a mention and other words are in a quotation within the sentence."""
    before, after = text[:begin].lstrip('"\u201c'), text[end:]
    if len(re.findall('["\u201c\u201d]', before)) % 2 == 0:
        return False
    inside = re.split('["\u201c\u201d]', before)[-1] + re.split('["\u201c\u201d]', after)[0]
    return re.search(r"\w", inside) is not None


def _positive_stance(context: _Context) -> Stance:
    """Return the stance of a clause that contains neither denial nor doubt."""
    if context.following and re.fullmatch(r"\s*>+\s*", context.after):
        if context.own_text or _RANKED.search(context.clause.lead + context.clause.text):
            return Stance.STATED
    lead = context.clause.lead
    if context.begin or _denies(_BY_EXCLUSION.sub("", lead)):
        lead = ""
    context = replace(context, before=lead + context.before)
    return _answer_stance(context) or _visible_stance(context) or Stance.NAMED


def _answer_stance(context: _Context) -> Stance | None:
    """Return the stance on an option stated as the answer."""
    before, after = context.before, context.after
    for stated in (_ANSWER_IS, NOUN_ENDS):
        for match in stated.finditer(before):
            if stated is NOUN_ENDS and match["noun"].lower().startswith("most"):
                continue
            if _is_own_answer(before[: match.start()]):
                return Stance.FINAL if match["final"] else Stance.STATED
    if _PREDICATE.match(after) or (_VERB.search(before) and _RIGHT.match(after)):
        return Stance.STATED
    if _ONLY.search(before) and (_FITS.match(after) or _BE.match(after)):
        return Stance.STATED
    if fits := _FITS.match(after):
        if fits["best"] or fits["more"] or not (context.own_text or _DEFINES.match(after)):
            return Stance.STATED
        return Stance.FOUND if context.own_text else Stance.NAMED
    if _CJK_ANSWER.search(before) or _CJK_RIGHT.match(after):
        return Stance.STATED
    chosen = CHOSEN.search(before) or _CONCLUDED.match(before.rpartition(":")[2])
    if chosen and (not context.own_text or _ENDS.match(after)):
        seen = context.own_text and re.search(r"\bsee\b|\bread\b", before)
        return Stance.FOUND if seen else Stance.STATED
    return None


def _visible_stance(context: _Context) -> Stance | None:
    """Return the stance on an option described as visible in the image."""
    before, after = context.before, context.after
    ends = not context.own_text or _ENDS.match(after)
    if (_IT_IS.search(before) or LEADS.search(before)) and ends:
        return Stance.FOUND
    if context.label:
        last = not re.search(r"[\w\ue000-\ue0ff]", context.rest) and context.begin == 0
        seen = _IS_SEEN.match(after) and re.search(r"\w", after) and _ONLY_FILLERS.fullmatch(before)
        subject = context.begin == 0 and _SUBJECT_IS.match(before)
        shown = context.begin == 0 and _SHOWN.search(before) and not _VERB.search(before)
        if seen or subject or shown or (last and _BARE.match(before) and re.search(r"\w", before)):
            return Stance.STATED
    if context.own_text and context.begin == 0:
        bare = _BARE.match(before) and (
            _BARE_AFTER.match(after)
            or _IS_SEEN.match(after)
            or ((_ARTICLE.search(before) or " show" in after) and _IMAGE_VERB.match(after))
        )
        part = _PART_OF.match(before) and _IS_SEEN.match(after) and re.search(r"\w", after)
        if bare or part or (_SHOWN.search(before) and ends):
            return Stance.FOUND
    return None


_MODIFIED = cue("modified")


def _is_own_answer(before: str) -> bool:
    """Return whether the words before a noun such as "answer" refer to the model's own answer."""
    if re.search(r"(?:'s|s'|\b(?:his|her|their))\s*\Z", before) and not re.search(
        r"(?:it|that|here|model|assistant)'s\s*\Z", before, re.I
    ):
        return False
    return _MODIFIED.match(before[-80:]) is not None
