"""A protocol's texts as HTML: Markdown without HTML, without images, with links to the web only."""

import re
from collections.abc import Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_LINK = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)


@lru_cache(maxsize=64)
def html(markdown: str) -> str:
    r"""Return Markdown as HTML that can be put into a page as it is.

    HTML in the text appears as text, an image as a link to it, and a link that leads anywhere but
    to the web or a mailbox as its own words.

    >>> html("**Read** <b>this</b>")
    '<p><strong>Read</strong> &lt;b&gt;this&lt;/b&gt;</p>\n'
    """
    return str(_parser().render(markdown))


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_link  # type: ignore[method-assign]
    parser.add_render_rule("link_open", _link_open)
    return parser


def _is_link(url: str) -> bool:
    return _LINK.match(url.strip()) is not None


def _link_open(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    tokens[place].attrSet("target", "_blank")
    tokens[place].attrSet("rel", "noopener noreferrer")
    return renderer.renderToken(tokens, place, options, env)
