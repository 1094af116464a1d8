"""Compiles the word tables of `answer_words.toml` and the patterns of `answer_cues.toml`."""

import re
import tomllib
from pathlib import Path
from typing import Any, cast

MENTION = "[\ue000-\ue0ff]"

# A character that belongs to no word and no mention.
_SEPARATOR = r"(?-i:[^\w\ue000-\ue0ff])"
# Scripts without spaces between words. They have no case, so `re` need not look up the other case
# of each of their 38,000 characters; a class of at most two ranges compiles fastest.
_EAST_ASIAN = r"(?-i:[\u3040-\u30ff\u3400-\u9fff])"
_HANGUL = r"(?-i:[\uac00-\ud7af])"
# A letter or digit of a script that separates words by spaces.
_SPACED_LETTER = rf"(?!{_EAST_ASIAN})(?!{_HANGUL})\w"
_WORD_START = rf"(?:(?<!\w)|(?<={_EAST_ASIAN})|(?<={_HANGUL}))"

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_CUES = tomllib.loads(Path(__file__).with_name("answer_cues.toml").read_text(encoding="utf-8"))


def word_set(name: str) -> frozenset[str]:
    """Return the words of a table without patterns."""
    return frozenset(word.strip() for word in _TABLES[name].split("|"))


def words(name: str) -> str:
    """Return the pattern of one table, as a group that matches whole words."""
    table = re.sub(r"\s+\|\s+", "|", _TABLES[name].strip())
    table = re.sub(r"\{([a-z_]+)\}", lambda match: words(match[1]), table.replace(" ", r"\s+"))
    return rf"(?:{_WORD_START}(?:{table})(?!{_SPACED_LETTER}))"


class _LazyPattern:
    """A pattern that is compiled when it is first used.

    Compiling all patterns takes two seconds, and most commands do not use them.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern, and return one of its attributes.

        The usual methods are kept here because the cache of `re` is small.
        """
        if not hasattr(re.Pattern, name):  # requested by tools that inspect modules
            raise AttributeError(name)
        text = self._text.replace("{M}", MENTION)
        text = re.sub(r"\{([a-z_]+)\}", lambda match: words(match[1]), text)
        compiled = re.compile(text.replace(r"\W", _SEPARATOR), re.IGNORECASE)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", name):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern in which `{name}` is a table and `{M}` a mention, compiled on first use."""
    return cast(re.Pattern[str], _LazyPattern(text))


def cue(name: str) -> re.Pattern[str]:
    """Return a pattern of `answer_cues.toml`, compiled on first use."""
    return pattern(re.sub(r"\n\| ", "|", _CUES[name].strip("\n")))
