"""Markdown as lines of a terminal: rendered by rich, stripped of what it pads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from threading import get_ident

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.theme import Theme as RichTheme

from hrns.cli.printing import plain

from ..paint import Paint, Theme
from .code import coloured_lines
from .grids import Grid
from .inlines import LINK, URL, spelled_out

__all__ = ["render_markdown"]

_CODE_THEMES: dict[Theme, str] = {"dark": "ansi_dark", "light": "ansi_light"}
_ACCENTS: dict[Theme, str] = {"dark": "cyan", "light": "blue"}


def render_markdown(source: str, width: int, paint: Paint) -> str:
    """The lines, in escape sequences of colour and weight alone; no blank ones at the ends."""
    lines = _lines(_parsed(plain(source), paint), max(width, 10), paint)
    texts = ["".join(_styled(line, colour=paint.colour)) for line in lines]
    while texts and not texts[-1]:
        texts.pop()
    first = next((number for number, text in enumerate(texts) if text), len(texts))
    return "\n".join(texts[first:])


class _LeftHeading(Heading):
    """A heading where the text begins, as everything else."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Code(CodeBlock):
    """Code below and above a blank line, one column from the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - 2
        yield Segment.line()
        for line in coloured_lines(self.text.plain, self.lexer_name, self.theme):
            for row in [line.segments] if line.width <= width else line.wrapped(console, width):
                yield Segment(" ")
                yield from row
                yield Segment.line()
        yield Segment.line()


class _Item(ListItem):
    """An item whose number keeps the sign behind it."""

    sign = "."

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Item:  # noqa: ARG003 - as in rich
        item = cls()
        item.sign = token.markup
        return item

    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        width = len(f" {last_number - 1}. ")
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width))
        style = console.get_style("markdown.item.number", default="none")
        for count, line in enumerate(lines):
            yield Segment("" if count else f"{number}{self.sign} ".rjust(width), style)
            yield Segment(" " * width if count else "")
            yield from line
            yield Segment.line()


class _Markdown(Markdown):
    elements = {  # noqa: RUF012 - as in rich
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": Grid,
        "list_item_open": _Item,
    }
    inlines = Markdown.inlines | {LINK, URL}

    def __init__(self, source: str, code_theme: str) -> None:
        # Not rich's own: that makes a parser for each, which takes longer than a short block.
        self.markup = source
        self.parsed = [*spelled_out(_parser().parse(source))]
        self.code_theme = code_theme
        self.justify = None
        self.style = "none"
        self.hyperlinks = False
        self.inline_code_lexer = None
        self.inline_code_theme = code_theme


def _parsed(source: str, paint: Paint) -> Markdown:
    return _Markdown(source, _CODE_THEMES[paint.theme])


@cache
def _parser() -> MarkdownIt:
    # HTML is left as text: rich drops it, and `List<int>` with it.
    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


def _lines(markdown: Markdown, width: int, paint: Paint) -> list[list[Segment]]:
    console = _console(paint.theme, get_ident())
    return console.render_lines(markdown, console.options.update(width=width), pad=False)


@lru_cache(maxsize=4)
def _console(theme: Theme, _thread: int) -> Console:
    """One for each thread: a console has a lock, and the prompt must not wait for the worker."""
    accent = _ACCENTS[theme]
    styles = {
        "markdown.code": accent,
        "markdown.code_block": "none",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold underline",
        "markdown.h3": "bold",
        "markdown.block_quote": "dim",
        "markdown.table.header": accent,
        "markdown.table.border": "none",
        "markdown.link": "bold",
        "markdown.link_url": f"underline {accent}",
    }
    return Console(
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        theme=RichTheme(styles),
        width=80,  # or it asks the terminal, each time; what is used is given for each text
        height=25,
    )


def _styled(line: Iterable[Segment], *, colour: bool) -> Iterator[str]:
    segments = [segment for segment in line if not segment.control]
    while segments and not segments[-1].text.strip():
        segments.pop()
    for number, segment in enumerate(segments):
        text = segment.text.rstrip() if number == len(segments) - 1 else segment.text
        style = segment.style or Style.null()
        yield (style if colour else style.without_color).render(
            text, color_system=ColorSystem.STANDARD
        )
