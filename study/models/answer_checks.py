"""Checks that nothing in a model's output speaks against the answer that was found in it.

The words before the statement must all be known, because an unknown word may turn its meaning
round. The words after it are searched for closed classes: conditions, questions, doubt, other
speakers, retractions, and other options that the text does not reject.
"""

import re
from collections.abc import Sequence, Set

from study.models.answer_cues import MENTION, compiled
from study.models.answer_mentions import meaning

_KNOWN = frozenset(
    """
    \u043e\u0442\u0432\u0435\u0442
    \u043f\u0440\u0430\u0432\u0438\u043b\u044c\u043d\u044b\u0439 \ub2f5 \uc815\ub2f5 a able
    abnormal abnormality above absolutely accordingly accurate actually agree ah all also am
    an analysis and ans answer answers antwort appearance appearances appropriate are as
    assessment assistant assistant's at based be because believe best beste bonne both bottom
    brief but by call called can certain certainly chest choice choices choose chosen classic
    clearly closest compatible completely conclude conclusion confident confirm confirms
    consequently consistent correct correcta correcte corrected correction corresponding count
    cxr daher das decision definitely demonstrates depicts der described description device
    diagnose diagnosis die direct disagree displays donc e edit el elimination endg\u00fcltige
    entonces ergo es est et evidence exclusion explanation fact fairly feature features film
    final finale finally finding findings fit fits for from frontal get given go going grade
    has have hence here here's hmm home however i i'd i'll i'm i've i.e ich identified ie il
    image images imaging impression in indeed indicate indicates instead interpretation
    involve involved involves is is's ist it it's its json just korrekte l l'option
    l\u00f6sung la large lateral lautet le lead leading leads leaves leaving left left-sided
    lesion letter likely line located location look looking ma main make makes making marker
    mass match matches matching me mean means meant meine mi mild model most must my myself
    namely need nevertheless new no no. nodule noted now number o observation observations
    observed obviously of oh ok okay on one ones only oops opacities opacity opci\u00f3n
    opinion option options opzione our output overall patient pattern pick picture plausible
    point points portable position predicted prediction present primary principal probable
    probably process projection proper provided q question quite r\u00e9ponse radiograph
    rather ray reasoning remain remains response resposta respuesta result reveals revised
    richtig richtige right right-sided risposta same say scan see seen select selected
    selection severity short show shown shows side sided sign signs simply since single small
    so solution somit sorry statement step still study suggest suggests suitable sum summary
    support supports sure surely take teh thank thanks that that's the then there there's
    therefore these think this those thus to together top true tube typical ultimately und
    undoubtedly updated us verdict very view visible w\u00e4hle wahrscheinlichste wait we well
    what which with within would x xray y yes you your
    """.split()  # noqa: SIM905
)
"""Words that may stand before a statement in its clause."""

_PHRASE = re.compile(
    r"\b(?:based on|given|in|on|for|from|among|of (?:the|these|those|all)|after|with|considering|"
    r"looking at|since|because|as|due to|to)\b[^,;:.]*",
    re.IGNORECASE,
)
"""A phrase before a statement that gives its reason or circumstances."""

_WORD = re.compile(r"[^\W\d_\ue000-\ue0ff]+(?:['.][^\W\d_\ue000-\ue0ff]+)*")
_CLAUSE = re.compile(
    r"[;:,.!()\u2013\u2014\n]|\s-\s|\b(?:so|therefore|thus|hence|but|and|then)\b|(?=\b(?:i|we)\b)",
    re.IGNORECASE,
)
_RESET = re.compile(
    r";|\b(?:but|however|yet|nevertheless|nonetheless|i (?:dis)?agree)\b", re.IGNORECASE
)
_CONCLUDES = re.compile(r";|\b(?:so|therefore|thus|hence)\b", re.IGNORECASE)
_PREDICATE = re.compile(
    r"\W*(?:best|most|correspond\w*|falls|is|are|appears?|fits?|match\w*|points?|mak\w+)\b",
    re.IGNORECASE,
)
"""Cues whose subject may be any finding."""
_NEGATORS = (
    *("not", "never", "nor", "neither", "none", "nobody", "nothing", "hardly", "barely"),
    *("scarcely", "cannot", r"\w+n't", r"\w+nt(?<=dont|cant|isnt)", "nicht", r"kein\w*", "pas"),
)
_CHINESE = frozenset(
    "\u6b63\u786e\u7684\u6211\u9009\u62e9\u5e94\u8be5\u6545\u6240\u4ee5\u56e0\u6b64\u6700\u7ec8"
    "\u53ef\u80fd\u8bca\u65ad\u7b54\u6848\u662f\u4e3a\u8ba4\u5c31\u9879\u7efc\u4e0a\u8ff0\u800c\u5219\u7b54\u3048\u6b63\u89e3\u306f"
    ""
)
_REJECTED_MENTION = re.compile(
    rf"{compiled((*_NEGATORS, 'no', 'without'))}[^,;.\ue000-\ue0ff]{{0,40}}{MENTION}"
    rf"(?:\W{{0,3}}(?:(?:and|or|nor)\W)?\W?{MENTION})*|{MENTION}\s+(?:is|was|are)\s+(?:not|n't)\b",
    re.IGNORECASE,
)
_CONCESSION = re.compile(
    r"\A\W*(?:while|although|though|even though|despite|whereas)\b[^,]*,", re.IGNORECASE
)
_REJECTING = (
    *_NEGATORS,
    *("no", "without", "unlike(?:ly)?", r"in(?:correct|consistent|accurate|valid)\w*", "wrong"),
    *("false", r"improb\w+", r"implaus\w+", "less", r"rul\w+", r"exclu\w+", r"eliminat\w+"),
    *(r"reject\w*", r"dismiss\w*", r"discard\w*", "absent", "absence", r"lack\w*", "rather"),
    *("instead", "would", "could", "might", "may", "should", r"require\w*", r"usual\w*"),
    *(r"typical\w*", "normal", r"differ\w*", "only", "than", "other", "unsupported", "despite"),
    *("considered", "tempting", "also", "runner", "second", r"alternativ\w*"),
    *(
        r"differential\w*",
        r"distract\w*",
        r"mimic\w*",
        "against",
        "fails?",
        "too",
        "spared",
        "clear",
    ),
)
_CONDITIONS = (
    *("if", "unless", "whether", r"suppos\w+", "assuming", "provided that", "providing", "in case"),
    *("otherwise", r"hypothetical\w*", "wenn", "falls", "pending", "depending"),
)
_DOUBTS = (
    *("maybe", "perhaps", "possibly", "could", "might", "may", "unsure", r"uncertain\w*"),
    *(r"doubt\w*", r"wonder\w*", "torn", "unclear", r"hesita\w+", "either"),
)
_PEOPLE = (
    *(r"radiologists?", r"students?", r"residents?", r"colleagues?", r"experts?", r"doctors?"),
    *(r"physicians?", r"clinicians?", r"readers?", r"users?", r"people", "others", "key"),
    *(r"some(?:one|body)", r"any(?:one|body)", r"every(?:one|body)", "they", "he", "she", "you"),
    *(r"his", "her", "their", r"textbooks?", r"reports?", r"annotators?", r"teachers?", "dr"),
    *(r"professors?", r"attendings?", r"consultants?", r"examiners?", r"referrers?", r"surgeons?"),
    *(r"nurses?", r"authors?", r"guidelines?", r"interns?", r"fellows?", r"trainees?", r"team"),
    *(r"reviewers?", r"specialists?", r"technicians?", r"boss", r"algorithms?", r"software"),
    *(r"gpt\S*", r"chatgpt", r"claude", r"gemini", r"technologists?"),
)
_SAYING = (
    *("said", "says", "say", r"claim\w*", r"stat(?:e|es|ed)", r"suggest\w*", r"argu\w+"),
    *(r"wr(?:ote|ites?)", r"insist\w*", r"report\w*", r"th(?:inks?|ought)", r"believe\w*"),
    *(r"answer\w*", r"ch(?:ose|ooses?)", r"pick\w*", r"select\w*", r"prefer\w*", r"favou?r\w*"),
    *(r"propos\w+", r"vot\w+", r"read", r"call(?:s|ed)", r"replie[sd]", r"assert\w*"),
    *(r"told", r"maintain\w*", r"conclude[sd]", r"opt\w*", "went", "gave", "marked"),
)
_OTHERS = (
    rf"\b(?:{'|'.join(_PEOPLE)})\b[^,;]{{0,60}}\b(?:{'|'.join(_SAYING)})\b"
    r"|\baccording to\b|\bas per\b|\bper the\b|\bin the words of\b|\bquot\w+"
)


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile(compiled(phrases), re.IGNORECASE)


_CONDITION = _any(*_CONDITIONS)
_DOUBT = _any(*_DOUBTS)
_PERSON = re.compile(rf"\b(?:{'|'.join(_PEOPLE)})(?:'s)?\b", re.IGNORECASE)
_CHANGED = re.compile(r"\bi (?:was (?:wrong|mistaken)|changed? my)\b", re.IGNORECASE)
_SPARED = _any("spared", "clear", "unremarkable", "uninvolved", "free", "unaffected")
_PHRASE_AFTER = re.compile(r";|\s[\u2013\u2014-]\s")
_GOVERNS_ALL = re.compile(
    r"\W*(?:(?:and|so|well)\W+)*(?:if|unless|suppos\w+|assuming|i (?:doubt|wonder|(?:don't"
    r"|do not|cannot|can't|never)"
    r" (?:think|believe|say|know|claim|agree)))\b",
    re.IGNORECASE,
)
_BY_PERSON = re.compile(
    rf"[^:\ue000-\ue0ff]{{0,40}}\b(?:{'|'.join(_PEOPLE)})\b[^:\ue000-\ue0ff]{{0,20}}:",
    re.IGNORECASE,
)
_RATHER = _any("rather than", "instead of")
_EXAMPLE = _any("examples?", "sample", "template", "format of", "placeholder", "instruct\\w*")
_LABEL = re.compile(r"(?:\A|[.;\n])([^.;:\n\ue000-\ue0ff]+):\W*\Z")
_NAMES_ONE = re.compile(
    r"\b(?:one|option|choice|candidate|letter|pick|possibility|alternative|contender|trap"
    r"|diagnosis|"
    r"answer|i|we|you|he|she|they|what|which|that|would|to)\b",
    re.IGNORECASE,
)
_OTHER_SPEAKER = re.compile(_OTHERS, re.IGNORECASE)
_OWN_NEGATION = re.compile(
    rf"\b(?:i|we|it|this|that|answer|option|choice)\b(?:'\w+)?[^,;.]{{0,20}}"
    rf"{compiled((*_NEGATORS, *_DOUBTS))}",
    re.IGNORECASE,
)
_REJECTED = _any(*_REJECTING)
_CONCEDES = re.compile(r"\b(?:while|although|though|whereas|over)\b", re.IGNORECASE)
_NO = re.compile(r"\b(?:no|which|what|both)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\s*[,(\u2013\u2014-]*\s*(?:or|and/or|versus|vs|except|until|said"
    r"|(?:but|though|although|however)(?=\W+(?:i|i'm|my|not|un\w+|could|might|maybe|perhaps|it"
    r"|this"
    r"|that|possibly|please|only)\b)"
    r"|says|was|would|could|may|might|can|cannot|maybe|perhaps|possibly|per|if|is not|isn't|\w+n't"
    r"|unless|still unsure|whatever)\b(?!\s+(?:be (?:the|my) |not\b[^,.;]*\b(?:other|"
    rf"all)|{MENTION}\s+(?:is|was|can|does)[^,;]*\b(?:not|n't|wrong|unlikely|incorrect)))",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"\A[^\w\ue000-\ue0ff]*(?:(?:but|oh|ah|well|and|so|hmm+|ok|okay)\W+)*(?:wait|hold on"
    r"|hang on|actually|sorry|oops|"
    r"correction|no(?=[^\w\ue000-\ue0ff]*(?:[,.!;:]|\Z))|nope|nah|nein|hmm+|scratch|strike"
    r"|disregard|ignore|forget|never ?mind|on second|"
    r"on reflection|then again|or not|not really|not so|just kidding|kidding|psych|rather|instead|"
    r"let me(?! know)|let's|delete|cancel|undo|retract|withdraw|revis\w+|re-?(?:check|consider"
    r"|think|read|"
    r"examin|evaluat|assess|visit)\w*|edit|update|maybe|perhaps|possibly|unless|if(?! you)|or|"
    r"alternatively|however, i|apologies)\b"
    r"|\b(?:mistake|mistaken|misread|misspoke|mislabel\w*|typo|my error|an error|i was wrong"
    r"|i erred|"
    r"take (?:that|it|this) back|changed? my|reconsider|double-check|look again|think again"
    r"|no longer|"
    r"sry|not (?:so |entirely |fully |completely |100% )?(?:sure|certain|confident|convinced"
    r"|final|"
    r"right|correct|my answer|the answer)|unsure|uncertain about|i doubt|i wonder|changing my)\b"
    r"|\b(?:that|this|which|it|above|answer|choice)\s+(?:is|was|seems|looks|may be|might be"
    r"|could be"
    r"|can't be|cannot be)\s+(?:\w+ )?(?:wrong|incorrect|false|a mistake|an error|a guess|a joke|"
    r"not (?:it|so|true|mine)|a placeholder|an example|provisional|withdrawn|void|invalid|off)\b"
    r"|\bi (?:was|am) (?:only |just )?(?:joking|kidding|guessing)\b"
    r"|\bi (?:should|would|must|need to|have to|want to|will) (?:now |rather |have )?(?:change"
    r"|choose"
    r"|chosen|say|said|go with|gone|switch|revise|correct|withdraw|retract|take)\b",
    re.IGNORECASE,
)
_FAULT = _any("wrong", "incorrect", "mistaken?", "error", "sorry", "oops", "false")
_OF_OTHERS = re.compile(
    rf"{MENTION}|\b(?:others?|rest|remaining|options|choices|alternatives|distractors?|all"
    rf"|both|none|rotated?)\b",
    re.IGNORECASE,
)
_WEAKER = _any(
    *_NEGATORS,
    "unlikely",
    "wrong",
    "incorrect",
    "false",
    "rul\\w+ out",
    "exclu\\w+",
    "or",
    "rejected",
)
_LISTED = re.compile(rf"[^\w\ue000-\ue0ff]*{MENTION}\s*[:.\u2013\u2014-]")
_OFFER = re.compile(
    r"\b(?:would|do|did|is|are|can|may|shall|should)\b[^?]*\b(?:you|help"
    r"|anything)\b",
    re.IGNORECASE,
)


_REACH = 1000  # characters of a sentence before and after a statement that are looked at
_MOST_CLAIMS = 20


def speaks_against(
    sentences: Sequence[tuple[str, int]],
    claims: Sequence[tuple[int, int]],
    letter: str,
    explained: Set[int],
    discussion: int,
) -> bool:
    """Return whether a text speaks against the answer that is stated in it.

    Parameters
    ----------
    sentences : sequence of (str, int)
        The sentences of the marked text, and where each begins.
    claims : sequence of (int, int)
        For every statement of the answer, where it begins and where its mention stands.
    letter : str
        The option stated.
    explained : set of int
        Where the text goes through an option and rejects it.
    discussion : int
        Where a part begins that explains the answer.
    """
    sound = [
        (n, at - place)
        for begin, at in claims[-_MOST_CLAIMS:]
        for n, (text, place) in enumerate(sentences)
        if place <= at < place + len(text) and _is_sound(text, begin - place, at - place, letter)
    ]
    if not sound:
        return True
    last, _ = max(sound)
    about_another = False
    for text, place in sentences[last + 1 :]:
        others = [
            found
            for found in re.finditer(MENTION, text)
            if meaning(found[0]) != letter and place + found.start() not in explained
        ]
        listed = place >= discussion and len(others) == 1 and _LISTED.match(text)
        mentions = re.findall(MENTION, text)
        about_another = meaning(mentions[-1]) != letter if mentions else about_another
        if _takes_back(text, about_another=about_another) or (
            others and not listed and not _REJECTED.search(text)
        ):
            return True
    return False


def _is_quoted(text: str, at: int, end: int) -> bool:
    """Return whether a mention stands in a quotation that holds more than the mention."""
    before, after = text[:at], text[end:]
    quotes = len(re.findall('["\u201c\u201d]', before))
    return bool(
        quotes % 2
        and re.search('\\w[^"\u201c\u201d]*["\u201c\u201d]', before)
        and not (
            re.search('["\u201c\u201d]\\W*\\Z', before) and re.match('\\W*["\u201c\u201d]', after)
        )
    )


def _is_sound(text: str, begin: int, at: int, letter: str) -> bool:
    """Return whether a sentence states an answer and nothing in it says otherwise."""
    if text.rstrip("\"')]} ").endswith("?"):
        return False
    found = next(
        (m for m in re.finditer(MENTION, text[at : at + _REACH]) if meaning(m[0]) == letter), None
    )
    start = max(0, at - _REACH)
    text, begin, at = text[start : at + _REACH], begin - start, at - start
    end = at + found.end() if found else len(text)
    if found and begin == at:
        begin = at + found.start()
    if found and _is_quoted(text, at + found.start(), end):
        return False
    predicate = _PREDICATE.match(text[max(begin, 0) : at])
    return not (
        _unsound_before(text[: max(begin, 0)], any_subject=predicate is not None)
        or (found and _unsound_after(text[end:], letter))
    )


def is_denied(words: str) -> bool:
    """Return whether the words beside a mention deny or doubt it."""
    return bool(_REJECTED.search(words) or _DOUBT.search(words) or _SPARED.search(words))


def is_affirmed(before: str, after: str, *, any_subject: bool) -> bool:
    """Return whether the words around an option's text in a sentence only affirm it.

    With `any_subject` their subject may be any structure, such as "The quality of the film".
    """
    clause = _CLAUSE.split(before)[-1]
    return not (
        _unsound_before(before, any_subject=any_subject)
        or _NO.search(clause)
        or _REJECTED.search(_REJECTED_MENTION.sub(" ", _PHRASE_AFTER.split(after, maxsplit=1)[0]))
        or _unsound_after(after, "")
        or after.rstrip().endswith("?")
    )


def _unsound_before(before: str, *, any_subject: bool = False) -> bool:
    clause = _CLAUSE.split(before)[-1].replace("or rather", "")
    if any_subject:
        if _REJECTED.search(clause) or _DOUBT.search(clause):
            return True
    elif any(not _is_known(word) for word in _words(_PHRASE.sub(" ", clause))):
        return True
    if _OTHER_SPEAKER.search(clause):
        return True
    if label := _LABEL.search(before):
        said = _RESET.split(label[1])[-1]
        named = len(_words(said)) < 3 or _NAMES_ONE.search(said) or _PERSON.search(said)
        known = _CHANGED.search(said) or all(map(_is_known, _words(_PHRASE.sub(" ", said))))
        if named and not known:
            return True
    governing = _REJECTED_MENTION.sub(" ", _CONCESSION.sub("", _RESET.split(before)[-1]))
    if _OTHER_SPEAKER.search(governing) or _EXAMPLE.search(governing):
        return True
    if _GOVERNS_ALL.match(governing) or _BY_PERSON.match(governing):
        return True
    governing = _CONCLUDES.split(governing)[-1]
    return bool(_CONDITION.search(governing) or _OWN_NEGATION.search(governing))


def _is_known(word: str) -> bool:
    return word in _KNOWN or set(word) <= _CHINESE


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _unsound_after(after: str, letter: str) -> bool:
    bracket = re.match(r"\s*\(([^()]*)", after)
    said = _REJECTED_MENTION.sub(" ", bracket[1]) if bracket else ""
    if _DOUBT.search(said) or _WEAKER.search(said):
        return True
    others = [m for m in re.finditer(MENTION, after) if meaning(m[0]) != letter]
    if others and not _REJECTED.search(after) and not _CONCEDES.search(after[: others[0].start()]):
        return True
    return bool(
        _OPEN.match(after)
        or _RETRACTED.search(_RATHER.sub("", after).lstrip(" :.,;-\u2013\u2014"))
        or _CONDITION.search(after)
        or _OTHER_SPEAKER.search(after)
        or re.search(r"\A[^.,;]*\?", after)
    )


def _takes_back(text: str, *, about_another: bool) -> bool:
    """Return whether a later sentence takes the answer back or asks about it."""
    if _RETRACTED.search(text) or (
        _FAULT.search(text) and not about_another and not _OF_OTHERS.search(text)
    ):
        return True
    asks = text.rstrip("\"')]} ").endswith("?")
    return asks and not (_OFFER.search(text) or re.match(r"\W*why\b", text, re.IGNORECASE))
