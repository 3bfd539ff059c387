"""Answers about the content of a file: counts, headings, a summary, the file itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from .tasks import Question, ReadFile
from .words import bullets, code, enumeration, fenced, plural, times

__all__ = ["Heading", "Page", "headings", "read_page", "tell_page"]

_NOTE = re.compile(r"\A\[The name on the disk is [^\n]*\]\n")
_FOOTER = re.compile(
    r"\n\[lines 1 to (\d+)(?: of (\d+))?; (go on [^\]\n]*|the end of the file)\]\Z"
)
_MARKDOWN = (".md", ".markdown", "readme")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_NO_TITLE = re.compile(r" {0,3}(?:#{1,6}(?:\s|$)|[>|]|[-*+][ \t]|\d+[.)][ \t])| {4}|\t|\s*$")
_NO_PROSE = re.compile(r"\s*(?:#|>|\||<|[-*+=]|\d+[.)]|!?\[|`{3}|~{3})")
_SHOWN_PLACES = 20
_SHOWN_SECTIONS = 10
_BEGINNING_LINES = 8
_BEGINNING_CHARACTERS = 300


@frozen
class Page:
    """What a tool gave of a file.

    Parameters:
        text: the lines that were given.
        last: how many lines these are if the file goes on after them, 0 if they are all.
        total: how many lines the file has in that case, or 0 if nobody counted.
    """

    text: str
    last: int = 0
    total: int = 0

    @property
    def lines(self) -> int:
        """The lines that were given; one without an end counts."""
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")


@frozen
class Heading:
    """A heading of a Markdown document; `level` is 1 to 6."""

    level: int
    title: str


def read_page(text: str) -> Page:
    """What `read_file` returned, without the words of the tool."""
    if text == "[the file is empty]":
        return Page("")
    text = _NOTE.sub("", text)
    if not (match := _FOOTER.search(text)):
        return Page(text)
    given = text[: match.start() + 1]
    return Page(given, int(match[1]), int(match[2] or 0)) if match[3][0] == "g" else Page(given)


def tell_page(task: ReadFile, page: Page) -> str:
    """The answers to everything that is asked about a file."""
    if not page.text:
        return f"{code(task.path)} is empty."
    told = [_tell_needle(needle, task.path, page) for needle in task.needles]
    asked = task.questions or (() if told else ("summary",))
    if counted := [question for question in asked if question not in ("summary", "show")]:
        told.append(_tell_counts(task.path, page, counted))
    if "summary" in asked:
        told.append(_tell_summary(task.path, page))
    if "show" in asked:
        told.append(f"{_whole(task.path, page)} reads:\n\n{fenced(page.text)}")
    return "\n\n".join(told)


def headings(text: str) -> Iterator[Heading]:
    """The headings of a Markdown document, in order: with `#` or underlined, none in code.

    CommonMark 0.31 sections 4.2, 4.3 and 4.5; front matter is left out.
    """
    fence, before = "", ""
    for line in _without_front_matter(text).splitlines():
        opening = _FENCE.match(line)
        if fence or opening:
            if opening and not fence:
                fence = opening[1]
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            before = ""
        elif match := _HEADING.fullmatch(line):
            yield Heading(len(match[1]), match[2] or "")
            before = ""
        elif before and (match := _UNDERLINE.fullmatch(line)):
            yield Heading(1 if match[1][0] == "=" else 2, before)
            before = ""
        else:
            before = "" if _NO_TITLE.match(line) else f"{before} {line.strip()}".strip()


def _without_front_matter(text: str) -> str:
    return re.sub(r"\A---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", "", text, count=1, flags=re.DOTALL)


def _whole(path: str, page: Page) -> str:
    """What the page is of the file, as a subject in the singular."""
    return f"The beginning of {code(path)} ({page.last} lines)" if page.last else code(path)


def _tell_needle(needle: str, path: str, page: Page) -> str:
    place = f"the first {page.last} lines of {code(path)}" if page.last else code(path)
    count = page.text.count(needle)
    if not count:
        return f"{code(needle)} does not occur in {place}."
    lines = [str(n) for n, line in enumerate(page.text.split("\n"), 1) if needle in line]
    where = f", on line{'' if len(lines) == 1 else 's'} {enumeration(lines)}" if lines else ""
    if len(lines) > _SHOWN_PLACES:
        where = f", on {len(lines)} lines"
    return f"{code(needle)} occurs {times(count)} in {place}{where}."


def _tell_counts(path: str, page: Page, asked: list[Question]) -> str:
    found = list(headings(page.text))
    counts = [_count(question, page, found) for question in asked]
    if page.last:
        size = f"{page.total} lines" if page.total else f"more than {page.last} lines"
        others = [
            count for count, question in zip(counts, asked, strict=True) if question != "lines"
        ]
        given = f"; the first {page.last}, which I was given, have {enumeration(others)}"
        told = f"{code(path)} has {size}{given if others else ''}"
    else:
        told = f"{code(path)} has {enumeration(counts)}"
    if "headings" not in asked or not found:
        return f"{told}."
    top = min(heading.level for heading in found)
    outline = [f"{'  ' * (heading.level - top)}{heading.title}" for heading in found]
    return f"{told}:\n\n{bullets(outline)}"


def _count(question: Question, page: Page, found: list[Heading]) -> str:
    match question:
        case "headings":
            return plural(len(found), "heading")
        case "lines":
            return plural(page.lines, "line")
        case "words":
            return plural(len(page.text.split()), "word")
        case _:
            return plural(len(page.text), "character")


def _tell_summary(path: str, page: Page) -> str:
    told = [_tell_counts(path, page, ["lines", "words"])]
    if not path.lower().endswith(_MARKDOWN):
        beginning = "\n".join(page.text.split("\n")[:_BEGINNING_LINES])
        begins = "begins" if page.lines > _BEGINNING_LINES else "reads"
        return f"{told[0]} It {begins}:\n\n{fenced(beginning)}"
    found = list(headings(page.text))
    if found and found[0].level == 1:
        told.append(f"Its title is {code(found[0].title)}.")
    if beginning := _first_paragraph(page.text):
        told.append(f"It begins:\n\n> {beginning}\n\n")
    if sections := [heading.title for heading in found if heading.level == 2]:
        more = len(sections) - _SHOWN_SECTIONS
        shown = sections[:_SHOWN_SECTIONS] + ([f"{more} more"] if more > 0 else [])
        has = "That part has" if page.last else "It has"
        told.append(f"{has} {plural(len(sections), 'section')}: {enumeration(shown)}.")
    return re.sub(r"\n\n ", "\n\n", " ".join(told)).rstrip()


def _first_paragraph(text: str) -> str:
    """The first lines of plain prose, as one, cut to a sane length; "" if there are none."""
    for block in re.split(r"\n\s*\n", _without_front_matter(text)):
        if not _NO_PROSE.match(block):
            prose = " ".join(block.split())
            short = prose[:_BEGINNING_CHARACTERS].rsplit(" ", 1)[0]
            return prose if len(prose) <= _BEGINNING_CHARACTERS else f"{short} …"
    return ""
