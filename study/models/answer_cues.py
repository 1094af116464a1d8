r"""The phrases by which an option that a model mentions is stated, rejected, doubted or quoted.

Each entry is a regular expression in which a blank is any white space. `compiled` turns a table
into one pattern. Where a table says *before* or *after*, it is about the mention of an option.
"""

from collections.abc import Iterable

MENTION = "[\ue000-\ue0ff]"


def compiled(phrases: Iterable[str], before: str = r"(?<!\w)", after: str = r"(?!\w)") -> str:
    """Return one pattern for a table of phrases."""
    return f"{before}(?:{'|'.join(phrases)}){after}".replace(" ", r"\s+")


NOUNS = (
    r"(?:answer|an[swer]{3,5})(?: (?:choice|option|letter))?",
    *("option", "choice", "response", "diagnosis", "letter", "prediction", "decision"),
    *("conclusion", "selection", "solution", "verdict", "statement", "pick"),
    *(r"(?<=best\s)(?:guess|fit|match)", r"(?<=\w\s)one"),
)
"""What an answer is called."""

PRAISE = (
    *("the", "my", "our", "first", "top", "most", "single", "correct", "right", "best", "likely"),
    *("probable", "appropriate", "accurate", "suitable", "plausible", "selected", "chosen"),
    *("predicted", "final", "overall", "educated", "only", "true", "proper", "closest", "revised"),
    *("corrected", "updated", "new"),
)
"""Words before a noun of `NOUNS` that make it the model's own answer."""

HEDGED_SURE = (
    *("most likely", "likely", "probably", "therefore", "thus", "hence", "clearly", "definitely"),
    *(
        "indeed",
        "certainly",
        "obviously",
        "simply",
        "just",
        "surely",
        "undoubtedly",
        "now",
        "still",
    ),
    *("an?", "then", "in fact", "actually", "instead", "really", "in my opinion", "in my view"),
    *(r"(?:option|choice|letter|answer|statement) (?:number )?", "the", "either way"),
)
"""Words that may stand between a cue and the mention, and change nothing."""

STATED_BEFORE = (
    r"(?:falls|belongs) (?:in|into|under|within|to)(?: the \w+ of)?(?=\W*[\ue000-\ue03f])",
    r"(?:clearly )?(?:point|points|speak|speaks) (?:to|for)(?=\W*[\ue000-\ue03f])",
    r"i(?:'d| would)? (?:call|flag|label|describe|rate|classify|grade) (?:this|it)(?: as)?",
    r"(?:gotta|got to|has to|must) be",
    r"(?<!would\s)best (?:fits?|match(?:es)?)(?=\W*[\ue000-\ue03f])",
    r"i(?:'d|'ll| would| will| shall)? (?:now |therefore |thus |also |still |finally )*(?:choose|"
    r"select|pick|say|answer|opt for|vote for|settle on|decide on|decide for|mark|submit|"
    r"conclude(?: that)?|go (?:with|for)|propose|favou?r|rate)",
    r"(?:i'm|i am|i have|i've|we are|we) (?:now )?(?:choosing|selecting|chosen|selected|picked|"
    r"picking|choose|select|conclude that)",
    r"i (?:chose|selected|picked)",
    r"(?:sure|certain|confident)(?: that)? it(?:'s| is)",
    r"(?:i think|i believe|i'd say|i would say|i conclude|we conclude|in my opinion,?|in my view,?)"
    r"(?: that)? it(?:'s| is)",
    r"i think",
    r"i believe",
    r"(?:i'm going|let's go|going|go|i am going) (?:with|for)",
    r"(?:most likely|most probable|best|correct) (?:finding|abnormality|explanation|description"
    r"|interpretation|fit|match|statement|location)[^.;:?!\n]{0,60}? (?:is|would be|remains)",
    r"(?:the )?(?:option|statement|choice|finding|description|one|letter|answer) (?:that|which) "
    r"[^.;:?!\n]{0,40}?(?:best|most|correctly|accurately|closely)[^.;:?!\n]{0,60}? is",
    r"leaving(?: us)?(?: with)?(?: only)?",
    r"leaves(?: us)?(?: with)?(?: only)?",
    r"(?:i'm|am|are|is) left with(?: only)?",
    r"by (?:elimination|exclusion|process of elimination),?(?: it(?:'s| is| must be))?",
    r"chang(?:e|ed|ing) (?:my|the) answer(?: from [^.;:?!\n]{1,20}?)? to",
    r"corrected to",
    r"revis(?:e|ed|ing) (?:my|the) answer(?: from [^.;:?!\n]{1,20}?)? to",
    r"mak(?:es?|ing) it",
    r"mak(?:es|ing)",
    r"i'm (?:settling on|voting for|picking)",
    r"corresponds? to",
    r"correspond(?:s|ing) best (?:to|with)",
    r"(?:(?:is|are|appears?|seems?) )?(?:best|most) (?:consistent|compatible"
    r"|suggestive) (?:with|of)(?=\W*[\ue000-\ue03f])",
    r"best match(?:es|ed)?(?: by| with)?",
    r"(?:is|are) best (?:described|explained|answered|represented|captured) (?:by|as)",
)
"""Phrases that state the option right after them."""

LINE_BEGINNINGS = (
    r"(?:(?:your|model|short|direct|option|assistant's|my|the|suggested|chosen|selected) )?"
    r"(?:answer|letter)(?: \d{1,2}| \([^()\n]{0,40}\))?\s*[:=]",
    r"(?:final|result|output|ans|ans\.|selected|chosen|choice|correct|pick|select|choose|mark)"
    r"\s*[:=-]",
    r"ans\.",
    r"tl;?dr\s*:",
    "select",
    "choose",
    "pick",
    "mark",
    r"go with",
    "correct",
)
"""Beginnings of a line or sentence that state the option right after them."""

SO = (
    "so",
    "therefore",
    "thus",
    "hence",
    "consequently",
    "accordingly",
    "ergo",
    "in conclusion",
    "to conclude",
    "in summary",
    "overall",
    "ultimately",
    "all in all",
    "i\\.?e\\.?,? option",
    "ie option",
    "namely",
    "ie,?",
    "to summari[sz]e",
    "to sum up",
    "in short",
    "in brief",
    "in sum",
    "finally",
)
"""Words that state an option which ends the sentence."""

IN_OTHER_LANGUAGES = (
    r"(?:(?:die|la|le|il|el|a|meine|ma|mi) )?(?:richtige |korrekte |beste |wahrscheinlichste |"
    r"endg\u00fcltige |bonne |mejor )?(?:antwort|r\u00e9ponse|respuesta|risposta|resposta|"
    r"opci\u00f3n|opzione|op\u00e7\u00e3o|l\u00f6sung)(?: (?:finale?|correct[aeo]|correta|"
    r"corretta|exacte|giusta|certa))?\s*(?:ist\b|lautet\b|est\b|es\b|\u00e8\b|\u00e9\b|:)\s*:?\s*"
    r"(?:(?:daher|also|somit|donc|entonces) )?(?:(?:la|le|el|a|l')\s*)?"
    r"(?:opci\u00f3n|option|opzione|op\u00e7\u00e3o)?",
    r"(?:ist|est|es) (?:antwort|option|r\u00e9ponse|opci\u00f3n)",
    r"(?:antwort|r\u00e9ponse|respuesta|risposta|resposta)(?=\W{0,3}[\ue000-\ue03f]\W*\Z)",
    r"richtig ist",
    r"ist die (?:richtige )?antwort",
    r"ich w\u00e4hle",
    r"ich nehme",
    r"elijo",
    r"je choisis(?: donc)?(?: la r\u00e9ponse)?",
    r"scelgo",
    r"escolho",
)
CHINESE_AND_OTHERS = (
    r"(?:\u7b54\u6848|\u9009\u9879|\u6700\u53ef\u80fd\u7684\u8bca\u65ad)\s*(?:\u662f|\u4e3a|\u9009|"
    r"\u5e94\u4e3a|\u5e94\u8be5\u662f|\u5c31\u662f)?\s*:?\s*(?:\u9009\u9879)?",
    r"\u9009(?:\u62e9)?\s*:?\s*",
    r"\u800c\u662f",
    r"(?:\u7b54\u3048|\u6b63\u89e3|\u6b63\u7b54)\s*[\u306f:]\s*",
    r"(?:\uc815?\ub2f5)\s*[\uc740:]\s*",
    r"\u043e\u0442\u0432\u0435\u0442\s*:\s*",
)

BEST = (
    r"(?:the |my )?(?:most )?(?:correct|right|best|appropriate|accurate|suitable)(?: \w+)?",
    r"(?:the )?most (?:likely|probable|plausible|consistent)(?: \w+)?",
    rf"(?:the|my|our) (?:(?:{'|'.join(PRAISE)}) )*(?:answer|choice|pick|option|one)",
    r"likely (?:the )?(?:correct|right|best)",
    r"best (?:supported|described|answer|fit|match|option|choice)",
    r"best",
)
STATED_AFTER = (
    rf"(?:is|would (?:therefore )?be(?= (?:the|my) )|must be|remains|has to be) (?:(?:clearly|"
    rf"therefore|thus|definitely|indeed|certainly|also|still|probably|hence|now|then|in fact) )*"
    rf"(?:{'|'.join(BEST)})",
    rf"as (?:the|my|being the) (?:(?:{'|'.join(PRAISE)}) )*(?:answer|choice|option|diagnosis|one)",
    rf"(?:the|my) (?:(?:{'|'.join(PRAISE)}) )*(?:answer|choice)",
    r"would be my (?:answer|choice|pick)",
    r"best (?:describes?|fits?|match(?:es)?|explains?|represents?|characteri[sz]es?|reflects?|"
    r"captures?|summari[sz]es?|answers?|corresponds?|accounts? for)",
    r"(?:(?:is|remains) confirmed|still (?:holds|stands|applies))",
    r"(?:fits?|match(?:es)?|explains?|describes?|accounts? for)(?: [\w-]+){0,5}? best",
    r"fits? (?:\w+ )?better than",
    r"remains?(?=\s*(?:$|[.!,]))",
    r"is (?:correct|right)",
    r"it is(?=\s*(?:$|[.!]))",
    r"ist (?:richtig|korrekt|die (?:richtige|beste) antwort)",
    r"es (?:correcta|la respuesta correcta)",
    r"est (?:correcte|la bonne r\u00e9ponse)",
)
"""Predicates that state their subject."""

CHINESE_CORRECT = (r"\u662f?\u6b63\u786e(?:\u7684|\u7b54\u6848)?", r"(?:\u304c|\u306f)\u6b63\u89e3")
CHINESE_WRONG = (
    r"\u662f?\u9519(?:\u8bef)?(?:\u7684)?",
    r"(?:\u90fd)?\u4e0d(?:\u6b63\u786e|\u5bf9|\u662f)",
    r"(?:\u53ef\u4ee5|\u88ab)?\u6392\u9664",
    r"\u306f(?:\u8aa4\u308a|\u9055\u3044)",
)
CHINESE_DOUBT = (
    r"\u4e0d\u662f",
    r"\u53ef\u80fd(?!\u7684\u8bca\u65ad)",
    r"\u4e5f\u8bb8",
    r"\u6216\u8bb8",
    r"\u5982\u679c",
    r"\u4e0d\u786e\u5b9a",
    r"\u304b\u3082",
    r"\u533b\u751f(?:\u8bf4|\u8ba4\u4e3a)",
)

REJECTED_BEFORE = (
    r"not",
    r"\w+n't(?: \w+){0,3}",
    r"never",
    r"neither",
    r"nor",
    r"cannot be",
    r"no longer",
    r"rul(?:e|es|ed|ing) out",
    r"exclud(?:e|es|ed|ing)",
    r"eliminat(?:e|es|ed|ing)",
    r"reject(?:s|ed|ing)?",
    r"discard(?:s|ed|ing)?",
    r"dismiss(?:es|ed|ing)?",
    r"retract(?:ed)?",
    r"rather than",
    r"instead of",
    r"except(?: for)?",
    r"other than",
    r"anything but",
    r"unlikely(?: to be)?",
    r"against",
    r"unlike",
    r"incorrect",
    r"wrong",
    r"without",
    r"no",
    r"absence of",
    r"nicht",
    r"kein(?:e|en)?",
    r"weder",
    r"no es",
    r"n'est pas",
)
"""Phrases that reject the options right after them."""

NOT_THE_ONE = (
    *("incorrect", "wrong", "false", "unlikely", "improbable", "implausible", "inappropriate"),
    *("inconsistent", "unsupported", "untrue", "excluded", "eliminated", "absent", "impossible"),
    *("ruled out", "out of the question", "less likely", "least likely", "rejected", "dismissed"),
    *("not", "never", "no longer", "a distractor", "a trap", "discarded", "inaccurate", "negative"),
    *("falsch", "unwahrscheinlich", "ausgeschlossen", "incorrecta?", "fausse?", "errat[ao]", "out"),
    *(
        "less (?:consistent|suitable|appropriate|plausible|probable|accurate)",
        "invalid",
        "unfounded",
    ),
    *("too \\w+", "nicht", "insufficient", "contradicted", "refuted", "tempting", "attractive"),
)
BE = (
    r"(?:is|are|was|were|can be|could be|should be|would be|must be|seems|looks|appears|"
    r"has been|have been|being|ist|es|est|\u00e8|\u00e9|sind)"
)
REJECTED_AFTER = (
    rf"(?:{BE} )(?:\w+ly |also |both |all |then |therefore |very |so |too |rather |clearly |just )*"
    rf"(?:{'|'.join(NOT_THE_ONE)})",
    r"(?:is|was|are|were|do|does|did|ca|could|should|would|wo|has|have|had)n't",
    r"(?:can|do|does|did|could|would|should|will|may|might)(?: not|not)",
    r"(?:would|should) (?:\w+ ){0,2}?(?:show|be|have|require|cause|produce|present|appear|need|"
    r"usually|typically|give|look|lead|demonstrate|expect)(?! (?:the|my) )",
    r"n'est",
    r"no es",
    r"ne",
    r"non",
    r"lacks?",
    r"fails?",
    r"requires?",
)
"""Predicates that reject their subject."""

DOUBTED = (
    *(
        "maybe",
        "perhaps",
        "possibly",
        "if",
        "unless",
        "whether",
        "suppose",
        "supposing",
        "assuming",
    ),
    *("could", "might", "may", "unsure", "unclear", "uncertain", "doubt", "doubtful", "torn"),
    *("would have been", "had", "either", "eg", "for example", "for instance", "such as"),
    *("like", "compare", "consider", "considering", "considered", "between", "guess"),
    *("vielleicht", "k\u00f6nnte", "m\u00f6glicherweise", "quiz\u00e1s", "tal vez", "podr\u00eda"),
    *("peut-\u00eatre", "pourrait", "forse", "potrebbe", "talvez", "poderia", "ob", "wenn"),
    *(
        "least",
        "second",
        "third",
        "other",
        "another",
        "alternative",
        "worst",
        "next",
        "differential",
    ),
    *(
        "example",
        "sample",
        "template",
        "chance",
        "possibility",
        "probability",
        "tempted",
        "suspicion",
        "usually",
        "typically",
        "often",
        "sometimes",
        "commonly",
    ),
    *("cannot be excluded", "possible", "plausible", "wonder", "guessing", "hypothetically"),
)
"""Words before a mention in its clause that keep it from being an answer."""

NEGATED = (
    r"tak(?:e|es|en|ing) back",
    "took back",
    "retract",
    "withdraw",
    "revoke",
    "abandon",
    *(
        "not",
        "never",
        "cannot",
        "unlikely",
        "wrong",
        "incorrect",
        "no",
        "neither",
        "nor",
        "nothing",
    ),
    *(
        r"\w+n't",
        "nicht",
        "kein",
        "keine",
        "non",
        "n'est",
        "ne",
        "false",
        "hardly",
        "nobody",
        "without",
    ),
)

IN_THE_PAST = (
    *(
        r"first(?= (?:i )?(?:chose|selected|picked|thought|said|considered|answered|guessed"
        r"|answer|impression|guess))",
        "initially",
        "originally",
        "earlier",
        "previously",
        "at first",
        "before",
        "formerly",
    ),
    *("initial", "original", "previous", "preliminary", "seemed", "thought", "had", "was tempted"),
)
"""Words that make a statement one of the past."""

OTHERS = (
    *(r"radiologists?", r"students?", r"residents?", r"colleagues?", r"experts?", r"doctors?"),
    *(r"physicians?", r"clinicians?", r"readers?", r"users?", r"patients?", r"people", r"others?"),
    *(r"some(?:one|body)?", r"many", r"most people", r"they", r"he", r"she", r"you", r"textbooks?"),
    *(r"reports?", r"annotators?", r"teachers?", r"professors?", r"attendings?", r"consultants?"),
    *(
        r"examiners?",
        r"novices?",
        r"beginners?",
        r"technicians?",
        r"nurses?",
        r"referrers?",
        r"gpt",
    ),
    *(r"chatgpt", r"claude", r"gemini", r"llama", r"(?:other|another|previous|first) models?"),
    *(r"instructions?", r"prompts?", r"authors?", r"guidelines?", r"literature", r"surgeons?"),
    *(r"interns?", r"fellows?", r"trainees?", r"reviewers?", r"specialists?", r"family", r"team"),
    *(
        "radiologe",
        "arzt",
        "\u00e4rztin",
        "kollege",
        "radiologue",
        "m\u00e9decin",
        "m\u00e9dico",
        "medico",
    ),
    *("radi\u00f3logo", "radiologo", "\u00e9tudiant", "estudiante", "studente", "befund"),
    *(
        r"answer key",
        r"key",
        r"reference standard",
        r"ground truth",
        r"who",
        r"anyone",
        r"everyone",
    ),
    *(
        r"one",
        r"person",
        r"candidates?",
        r"software",
        r"algorithm",
        r"cad",
        r"second opinion",
        r"boss",
    ),
)
SAY = (
    *(
        r"sagt(?:e)?",
        r"mein(?:t|te)",
        "glaubt",
        "denkt",
        "dit",
        "pense",
        "dice",
        "dijo",
        "cree",
        "disse",
    ),
    *(r"sa(?:y|ys|id)", r"think(?:s|ing)?", r"thought", r"believ(?:e|es|ed)", r"suggest(?:s|ed)?"),
    *(
        r"answer(?:s|ed)?",
        r"ch(?:ose|ooses?|osen)",
        r"pick(?:s|ed)?",
        r"select(?:s|ed)?",
        r"go(?:es)?",
    ),
    *(
        r"claim(?:s|ed)?",
        r"stat(?:e|es|ed)",
        r"report(?:s|ed)?",
        r"argu(?:e|es|ed)",
        r"vot(?:e|es|ed)",
    ),
    *(
        r"wr(?:ite|ites|ote)",
        r"mark(?:s|ed)?",
        r"favou?r(?:s|ed)?",
        r"prefer(?:s|red)?",
        r"call(?:s|ed)?",
    ),
    *(
        r"opt(?:s|ed)?",
        r"decid(?:e|es|ed)",
        r"conclud(?:e|es|ed)",
        r"insist(?:s|ed)?",
        r"went",
        r"guess(?:es|ed)?",
    ),
    *(
        r"propos(?:e|es|ed)",
        r"gave",
        r"gives?",
        r"diagnos(?:e|es|ed)",
        r"assum(?:e|es|ed)",
        r"told",
        r"reads?",
    ),
    *(
        r"ask(?:s|ed)?",
        r"want(?:s|ed)?",
        r"expect(?:s|ed)?",
        r"repl(?:y|ies|ied)",
        r"not(?:es|ed)",
        r"observ(?:e|es|ed)",
        r"mention(?:s|ed)?",
        r"describ(?:e|es|ed)",
        r"point(?:s|ed) out",
        r"identif(?:y|ies|ied)",
        r"determin(?:e|es|ed)",
        r"interpret(?:s|ed)?",
        r"found",
        r"list(?:s|ed)?",
        r"wants?",
    ),
)
PEOPLE = tuple(one for one in OTHERS if one not in ("one", "key", "who", "you", "r?reports?"))
ATTRIBUTED = (
    r"(?!(?:i|we|this|that|which|it|would|will|can|could|might|should|must|to|do|d"
    r"|ll) )\w+ (?:states?|stated|says?|said|claims?|claimed|writes?|wrote|reports?|reported|"
    r"believes?|believed|thinks?|insists?|asserts?|argues?|argued|tells?|told|announces?"
    r"|concludes?|concluded) that",
    rf"(?:{'|'.join(PEOPLE)})(?: \d+| [a-z])?\s*:",
    rf"(?:{'|'.join(OTHERS)})(?: \w+){{0,6}}? (?:{'|'.join(SAY)})(?! (?:i|we))",
    r"(?!(?:i|we|which|that|and|but|so|therefore|then|now) )\w+ (?:said|says|thinks|believes"
    r"|answered|claims|"
    r"claimed|suggests|suggested|argued|voted|chose|chooses|picks|insists|insisted|replied|wrote|stated)",
    r"according to",
    r"i was told",
    r"we were told",
    r"it (?:is|was) (?:said|suggested|claimed|reported)",
    r"in (?:the|a) (?:literature|textbooks?|reports?|study|studies)",
    r"opinion of",
    r"in the words of",
    r"(?!(?:here|it|that|what|let|there|model|assistant)'s)\w+(?:'s|s') (?:\w+ ){0,2}?(?:answer"
    r"|choice|pick|opinion|"
    r"diagnosis|vote|verdict|guess)",
    r"(?:his|her|their) (?:\w+ ){0,2}?(?:answer|choice|pick|opinion)",
    r"(?:textbook|expected|reference|standard|usual|classic|common|popular|typical|student|user|"
    r"reader|official) (?:answer|choice|response)",
    r"have argued for",
)
"""Phrases before a mention in its sentence that make it somebody else's."""

ATTRIBUTED_AFTER = (
    r"(?:said|says|wrote|claimed) \w+",
    r"according to",
    r"as (?:suggested|stated|reported|said|"
    r"claimed|proposed) by",
    r"in the opinion of",
    r"(?:is|was) (?:what|the \w+'s)",
    r"is the answer (?:a|an|the|that|which|many|most)",
    r"(?:is|was) (?:often|commonly|sometimes) ",
    r"(?:was|were) (?:the )?(?:answer|choice|said|suggested|chosen|picked|selected|my)",
)

OPEN_AFTER = (
    r"(?:but|though|although) (?:i )?(?:doubt|have doubts)",
    r"\??\s*,?\s*\(?(?:or|maybe|perhaps|possibly|though|but (?:possibly|maybe|also|perhaps)"
    r"|or even)",
    r"(?:but|though|although),? (?:MENTION) (?:(?:is|seems) (?:also|possible|plausible)|could|may|"
    r"might|cannot|can't)",
    r"\(?\s*(?:MENTION) (?:is|seems) (?:also )?possible",
    r"\(?(?:MENTION) (?:could|may|might)",
)
"""What follows a mention and leaves it open."""

CORRECTIONS = (
    r"hold on",
    r"hang on",
    r"one (?:moment|second)",
    r"just a (?:moment|second)",
    r"[^.\ue000-\ue0ff]{0,30}\bthat(?:'s| is| was) (?:wrong|incorrect|not right|not correct)",
    r"wait",
    r"correction",
    r"on second thoughts?",
    r"scratch that",
    r"let me (?:re\W?\w+|correct|"
    r"look again|double[- ]check|check again|think again|revise|take another look)",
    r"i (?:was wrong|was mistaken|made (?:a|an) (?:mistake|error)|stand corrected|need to correct|"
    r"must correct|take that back|misread|misspoke|apologi[sz]e for)",
    r"that(?:'s| is| was) "
    r"(?:wrong|incorrect|not (?:right|correct))",
    r"this (?:is|was) (?:wrong|incorrect|a mistake)",
    r"(?:re-?examin|re-?evaluat|reconsider|re-?check|re-?assess|re-?think|re-?read|re-?visit)\w*",
    r"i (?:withdraw|retract|revise|change|changed|revised)",
    r"oops",
    r"my mistake",
    r"strike that",
    r"forget that",
    r"ignore that",
    r"moment, nein",
    r"warte",
    r"\u7b49\u7b49",
    r"\u4e0d\u5bf9",
    r"\u66f4\u6b63",
    r"no,? wait",
    r"no,? that",
    r"perd\u00f3n",
    r"me corrijo",
    r"pardon",
    r"no(?=\W*\Z)",
    r"that (?:can't|cannot|doesn't|does not|isn't)",
    r"[^.\ue000-\ue0ff]{0,40}\bno longer (?:so )?(?:sure|certain|confident)",
    r"never ?mind",
    r"not so fast",
)
"""Beginnings of a clause that withdraw what was stated before."""

SECOND_THOUGHTS = (
    r"no",
    r"actually",
    r"in fact",
    r"sorry",
    r"rather",
    r"i mean",
    r"i meant",
    r"make that",
    r"hmm+",
    r"after "
    r"(?:re\w+|a (?:closer|second|further) look|closer|further|careful|another|all)[^,.;\n]*",
    r"up?on (?:closer|further|second|re\w*|reflection|careful)[^,.;\n]*",
    r"on (?:closer|further|second|"
    r"re\w*)[^,.;\n]*",
    r"(?:looking|thinking) (?:again|closer|more closely)[^,.;\n]*",
    r"i now",
    r"(?:my |the )?(?:revised|corrected|updated|new) (?:final )?(?:answer|choice)",
    r"instead",
    r"eigentlich",
    r"doch",
    r"en realidad",
    r"en fait",
    r"in realt\u00e0",
    r"\u5176\u5b9e",
    r"corrected",
    r"revised",
    r"or rather",
    r"changed",
    r"nein",
    r"edit",
)
"""Beginnings of a clause that replace what was stated before, if an answer follows."""

CORRECT = (
    r"(?:this (?:option )?is |that is |it is |it's |is )?(?:clearly |indeed |definitely "
    r"|therefore )?"
    r"(?:the |my )?(?:most |only )?(?:correct|right)(?: (?:answer|option|choice|one|statement))?",
    r"(?:this (?:option )?is |is )?(?:clearly )?the (?:best|most likely|most appropriate) "
    r"(?:answer|option|choice|diagnosis|finding)",
)
YES = ("yes", "ja", "oui", "s\u00ed")
NO_VERDICT = (
    *NOT_THE_ONE,
    *("no", "none", "neither", "cannot", "nein", "non", "lacks", "n't"),
    r"(?:does|do|is|was|can|could|would|has) ?n[o']t",
    r"rule[ds]? out",
    r"exclude[ds]?",
    r"(?:can|could|would|should) be",
    r"would",
    r"should",
    r"\w+n't",
)
UNSURE_VERDICT = (
    *(
        "maybe",
        "perhaps",
        "possibly",
        "possible",
        "plausible",
        "could",
        "might",
        "may",
        "uncertain",
    ),
    *(
        "unclear",
        "doubtful",
        "likely",
        "questionable",
        "unsure",
        "conceivable",
        "seems",
        "consider",
    ),
    *("potentially", "also", "more", "cannot be excluded", "seemed", "looks", "appears", "if"),
)
"""First words of what is said of an option, by which it is not the answer."""

DISCUSSION = (
    r"explanation",
    r"reasoning",
    r"rationale",
    r"justification",
    r"reasons?",
    r"analysis",
    r"why (?:not|the other|\w+ (?:is|are) (?:wrong|incorrect))[^\n]*",
    r"(?:the )?other (?:options|choices|answers)[^\n]*",
    r"(?:the )?(?:others|remaining (?:options|choices))[^\n]*",
    r"incorrect (?:options|answers|choices)[^\n]*",
    r"differential[^\n]*",
    r"discussion",
    r"comments?",
    r"notes?",
    r"here's why",
    r"breakdown",
)
"""Beginnings of a part that discusses the other options."""

NAMED_BY_A_LETTER = (
    *("hepatitis", "vitamin", "type", "grade", "zone", "group", "panel", "figure", "fig", "image"),
    *(
        "view",
        "stage",
        "class",
        "category",
        "plan",
        "point",
        "influenza",
        "segment",
        "kerley",
        "part",
    ),
    *("level", "protein", "factor", "appendix", "table", "series", "section", "lead", "stanford"),
    *("patient", "case", "arm", "phase", "component", "scan", "film", "room", "ward", "hemophilia"),
)
"""Nouns whose letter names something other than an option."""

LIVING = r"(?:lines?|cells?|waves?|mode|scans?|spine|dimer|type|ring|fibers?|reactive)"
