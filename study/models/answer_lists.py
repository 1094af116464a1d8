"""Parses verdicts in lists of options.

Examples are "A. Not seen. B. Seen." and "Is it A? No.".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from study.models.answer_checks import is_plain
from study.models.answer_clauses import Sentence, is_question, sentences
from study.models.answer_contents import names_only
from study.models.answer_mentions import LABEL, LETTER, LETTERS, TEXT, meaning
from study.models.answer_stances import POSITIVE, Stance, Statement
from study.models.answer_words import MENTION, cue, pattern

_LIST_ENTRY = pattern(
    rf"(?:(?<=\A)|(?<=[\s.;,|(])|(?<=\d[.):]\s))(?:({LETTER})\s*[:\u2013\u2014=-]"
    rf"|({LABEL})(?=\s*(?:[:\u2013\u2014,.=-]|\s*\n|\s*\Z))"
    rf"|({LETTER}|{LABEL}|{TEXT})(?=[)\]]?\s+(?:correct|incorrect|true|false|yes|no|likely"
    rf"|unlikely)\b)"
    rf"|({LETTER}|{LABEL}|{TEXT})\s*[:\u2013\u2014=])"
)
_FIRST_WORDS = (
    r"\A\W*(?:(?:is|are|was|this|that|it|option|it's|has been|clearly|definitely|very|quite|highly"
    r"|the|only|also|statement|answer|my|by far)\W+)*"
)
_BEST = cue("best")
_YES = pattern(_FIRST_WORDS + r"{yes}")
_NO = cue("no")
_UNDECIDED = pattern(_FIRST_WORDS + r"(?!guess)(?:{doubt}|less|more(?! than))")
_POINTS = cue("points")
_ANSWERED = cue("answered")
_AGREED = cue("agreed")
_UNDECIDED_VIEW = pattern(r"\b(?:why|do|should|would i)\b|{condition}")


def _unless_stated(
    list_stances: dict[int, Stance], statements: Sequence[Statement]
) -> dict[int, Stance]:
    """Return the verdicts in a list, without its answer if one is stated outside the list."""
    if any(
        statement.stance in (Stance.STATED, Stance.FINAL) and statement.place not in list_stances
        for statement in statements
    ):
        return {p: Stance.NAMED if v is Stance.STATED else v for p, v in list_stances.items()}
    return list_stances


def verdicts_on(
    marked: str, parts: Sequence[Sentence], statements: Sequence[Statement], options: Sequence[str]
) -> list[Statement]:
    """Return the statements with the verdicts from lists and from answered questions."""
    list_stances = _unless_stated(dict(_list_stances(marked, parts, len(options))), statements)
    verdicts = [
        replace(statement, stance=list_stances[statement.place])
        if statement.place in list_stances
        and not (
            list_stances[statement.place] is Stance.NAMED
            and statement.stance in (Stance.STATED, Stance.FINAL)
        )
        else statement
        for statement in statements
    ]
    headings = [part for part in parts if _CANDIDATES.match(part.text)]
    verdicts = [
        replace(statement, stance=Stance.OTHERS)
        if statement.stance in (Stance.ALONE, Stance.NAMED)
        and _is_listed_below(headings, statement, marked)
        else statement
        for statement in verdicts
    ]
    verdicts = [
        replace(statement, stance=_stance_from_rest(statement, marked, parts, options))
        if statement.stance is Stance.ALONE
        else statement
        for statement in verdicts
    ]
    verdicts = [
        statement
        if statement.stance not in POSITIVE
        or statement.structured
        or is_plain(parts, statement.sentence, statement.place)
        else replace(statement, stance=Stance.NAMED)
        for statement in verdicts
    ]
    denied = {(each.sentence, each.letters) for each in verdicts if each.stance is Stance.REJECTED}
    verdicts = [  # "E: no mass" for the option E. Mass
        replace(each, stance=Stance.REJECTED)
        if each.stance is Stance.ALONE and (each.sentence, each.letters) in denied
        else each
        for each in verdicts
    ]
    return sorted(
        [
            *verdicts,
            *_questions_answered(parts, verdicts),
            *_options_referred_to(parts, verdicts),
            *_options_agreed_with(parts, verdicts),
        ],
        key=lambda statement: statement.place,
    )


_NEGATIVE = cue("negative")
_DENIES = pattern("{negation}")
_SERVES = cue("serves")
_PLAIN_NO = cue("plain_no")
_CANDIDATES = cue("candidates")
_ASKS = re.compile(
    r"\bquestion\b[^?]*\?\Z|\b(?:options|choices|candidates|possibilities)\b[^.:]*:\Z",
    re.IGNORECASE,
)
_REASONS = cue("reasons")
_GENERAL = re.compile(
    r"\b(?:usually|typically|often|generally|commonly|tends? to)\b", re.IGNORECASE
)
_WOULD_BE = re.compile(r"(?:an?|the)?\s*(?:[\w-]+\s+){0,3}would\b", re.IGNORECASE)
_BY_REASON = re.compile(r"[.,;:(\n\u2013\u2014]|\b(?:because|since|as|and|which|but|so)\b")


def _is_listed_below(headings: Sequence[Sentence], statement: Statement, marked: str) -> bool:
    """Return whether the line of a statement belongs to the list below a heading."""
    line = marked.rfind("\n", 0, statement.place) + 1
    above = next((part for part in reversed(headings) if part.place < line), None)
    if above is None:
        return False
    between = marked[above.place + len(above.text) : line]
    return "\n\n" not in between.strip(" :*\n")


def _stance_from_rest(
    statement: Statement, marked: str, parts: Sequence[Sentence], options: Sequence[str]
) -> Stance:
    """Return the stance of an isolated mention from the words that follow it."""
    part = parts[statement.sentence]
    if statement.sentence and _ASKS.search(parts[statement.sentence - 1].text):
        return Stance.NAMED
    if (
        statement.place
        and statement.sentence == 0
        and re.match(r"no\b", part.text, re.I)
        and not re.match(r"no,? wait", part.text, re.I)
    ):
        return Stance.NAMED
    rest = part.text[statement.place - part.place + 1 :].lstrip(" :.,;()]\u2013\u2014-")
    letter = next(iter(statement.letters))
    place = LETTERS.find(letter)
    negative = 0 <= place < len(options) and _NEGATIVE.search(options[place]) is not None
    if not re.search(r"\w", rest):
        after = parts[statement.sentence + 1].text if statement.sentence + 1 < len(parts) else ""
        return (
            Stance.REJECTED
            if _PLAIN_NO.match(after) or (re.match(r"\W*no,", after, re.I) and not negative)
            else Stance.ALONE
        )
    first_clause = re.split(r"[.;:]", rest, maxsplit=1)[0]
    if (
        statement.own_text
        and len(first_clause.split()) < 3
        and not names_only(first_clause, statement, options)
    ):
        return Stance.DOUBTED
    if statement.own_text and _SERVES.match(rest):
        return Stance.NAMED
    if re.search(MENTION, re.split(r"[.;:(]", rest, maxsplit=1)[0]):
        return Stance.ALONE  # the words are about another option
    if _REASONS.match(rest):
        return Stance.ALONE
    first_words = _BY_REASON.split(rest, maxsplit=1)[0]
    if _WOULD_BE.match(rest):
        return Stance.REJECTED
    if _NO.match(rest) and not (negative and re.match(r"(?:no|none|neither)\b", rest, re.I)):
        return Stance.REJECTED
    if _UNDECIDED.match(rest):
        return Stance.DOUBTED
    if _GENERAL.search(first_words):
        return Stance.DOUBTED
    if not negative and _DENIES.search(first_words):
        return Stance.REJECTED
    return Stance.ALONE


def _list_stances(
    marked: str, parts: Sequence[Sentence], n_options: int
) -> Iterator[tuple[int, Stance]]:
    """Yield the position and the stance of each option in a list of options."""
    entry_matches = list(_LIST_ENTRY.finditer(marked))
    entries: list[tuple[str, int, str]] = []
    for n, entry in enumerate(entry_matches):
        end = entry_matches[n + 1].start() if n + 1 < len(entry_matches) else len(marked)
        mention = next(statement for statement in entry.groups() if statement)
        words = marked[entry.end() : end]
        if n + 1 < len(entry_matches):
            words = _NEXT_HEADING.sub("", words)
        entries.append((meaning(mention), entry.start(), _verdict(words)))
    if len({letter for letter, _, _ in entries}) < 2:
        return
    best = {letter for letter, _, verdict in entries if verdict == "best"}
    yes = {letter for letter, _, verdict in entries if verdict == "yes"}
    rest = {letter for letter, _, verdict in entries if verdict not in ("best", "yes", "no")}
    no = {letter for letter, _, verdict in entries if verdict == "no"}
    complete = len(yes) == 1 and not best and yes | no == set(LETTERS[:n_options])
    chosen = best if len(best) == 1 and not rest & best else yes if complete else set()
    mention_match = re.fullmatch(
        rf"[^\w\ue000-\ue0ff]*({MENTION})[^\w\ue000-\ue0ff]*", parts[0].text
    )
    explains = mention_match and meaning(mention_match[1]) not in {
        letter for letter, place, _ in entries if place > parts[0].place + 2
    }
    n_alphabetical = _alphabetical_length([letter for letter, _, _ in entries])
    for n, (letter, place, verdict) in enumerate(entries):
        if verdict == "no":
            yield place, Stance.REJECTED
        elif letter in chosen and verdict in ("best", "yes"):
            yield place, Stance.STATED
        elif verdict == "open":
            yield place, Stance.DOUBTED
        elif explains and place > parts[0].place + 2:
            yield place, Stance.REJECTED
        elif n < n_alphabetical or verdict in ("best", "yes"):
            yield place, Stance.NAMED


def _alphabetical_length(letters: Sequence[str]) -> int:
    """Return how many entries at the start are A, B, C and so on."""
    n = 0
    while n < len(letters) and letters[n] == LETTERS[n]:
        n += 1
    return n if n > 1 else 0


_NEXT_HEADING = re.compile(r"\n[^\n]*:\s*\Z")
_DANGLING = pattern(r"[,;(]?\s*(?:not|rather than|instead of|over|and|or|but|nor|than)\W*\Z")
_THE_OTHERS = cue("the_others")


def _verdict(words: str) -> str:
    words = _THE_OTHERS.split(words, maxsplit=1)[0]
    words = _DANGLING.sub("", words)
    first_words = words.lstrip(" :.-\u2013\u2014\n(=")
    texts = [first_words, *(sentence.text for sentence in sentences(first_words))]
    pieces = [*texts, *re.split(r"[,;:\u2013\u2014(]\s*|\s-\s", first_words.partition("\n")[0])]
    pieces += [" ".join(first_words.partition("\n")[0].split()[-1:])]
    pieces = [piece for piece in pieces if not re.search(MENTION, piece[:60])]
    for name, verdict in (("best", _BEST), ("no", _NO), ("open", _UNDECIDED), ("yes", _YES)):
        for n, piece in enumerate(pieces):
            if verdict.match(piece) and (name != "open" or n == 0):
                return name
    return ""


_OPEN_QUESTION = re.compile(r"\b(?:you|not|n't|would|or|why|someone|anyone)\b", re.IGNORECASE)


def _questions_answered(
    parts: Sequence[Sentence], statements: Sequence[Statement]
) -> Iterator[Statement]:
    """Yield the statements made by answered questions such as "Is it A? No. Is it B? Yes."."""
    for n, part in enumerate(parts[:-1]):
        own_statements = [statement for statement in statements if statement.sentence == n]
        answered = _ANSWERED.match(parts[n + 1].text)
        if not answered or not is_question(part.text) or not own_statements:
            continue
        letters = frozenset().union(*(statement.letters for statement in own_statements))
        if answered["no"]:
            yield replace(
                own_statements[-1], stance=Stance.REJECTED, letters=letters, sentence=n + 1
            )
        elif len(letters) == 1 and not _OPEN_QUESTION.search(part.text):
            yield replace(
                own_statements[-1], stance=Stance.STATED, sentence=n + 1, place=parts[n + 1].place
            )


def _options_agreed_with(
    parts: Sequence[Sentence], statements: Sequence[Statement]
) -> Iterator[Statement]:
    """Yield the options of other speakers with whom the text agrees: "She says A. So do I."."""
    for n, part in enumerate(parts):
        agrees = _AGREED.search(part.text)
        if (
            not agrees
            or _UNDECIDED_VIEW.search(part.text[: agrees.start()])
            or is_question(part.text)
        ):
            continue
        at = part.place + agrees.start()
        earlier = [statement for statement in statements if statement.place < at]
        last = earlier[-1].sentence if earlier else n
        quoted = [statement for statement in earlier if statement.sentence == last >= n - 1]
        letters = frozenset().union(*(statement.letters for statement in quoted))
        if len(letters) == 1 and quoted[-1].stance is Stance.OTHERS:
            if not is_question(parts[last].text) and not _UNDECIDED_VIEW.search(parts[last].text):
                yield replace(quoted[-1], stance=Stance.STATED, sentence=n, place=at)


def _options_referred_to(
    parts: Sequence[Sentence], statements: Sequence[Statement]
) -> Iterator[Statement]:
    """Yield the options to which sentences such as "This is the correct answer" refer."""
    last: list[Statement] = []
    for n, part in enumerate(parts):
        own_statements = [statement for statement in statements if statement.sentence == n]
        if last and not own_statements and _POINTS.match(part.text):
            letters = frozenset().union(*(statement.letters for statement in last))
            if len(letters) == 1 and not any(
                statement.stance is Stance.REJECTED for statement in last
            ):
                yield Statement(stance=Stance.STATED, letters=letters, place=part.place, sentence=n)
        if own_statements:
            last = own_statements
