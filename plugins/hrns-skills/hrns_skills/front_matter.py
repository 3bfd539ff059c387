"""Front matter: the YAML between two `---` lines at the head of a Markdown file, read leniently.

People write it by hand, and much of it is not quite YAML: `description: Plans work: goals` is the
commonest. So the block is read as YAML; where that fails it is cut at its outermost keys, each
piece is read as YAML by itself, and a piece that still fails stands for the text that it holds.
One bad key costs no other.

YAML is read down to nodes, never to objects: a value keeps the spelling that was written (`yes`,
`1.10`), knows its line, and cannot grow through aliases.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    import yaml

__all__ = ["Document", "Fault", "Field", "Value", "parse"]

FENCE = "---"
LIMIT_CHARS = 64 * 1024  # fifty times the longest block that the skill format allows for

_KEY = re.compile(r"""["']?([A-Za-z_][\w-]*)["']?[ \t]*:""")
_BLOCK_INDICATOR = re.compile(r"^[|>][-+0-9]*(?:\s+|$)")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_NULL = "tag:yaml.org,2002:null"

Value: TypeAlias = str | tuple[str, ...] | Mapping[str, str]
"""What a key holds; whatever lies deeper than one level is left out, as ""."""


class Fault(Exception):
    """Something in a file is off.

    Parameters:
        message: what it is, and what to try.
        line: the line in the file, from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@frozen
class Field:
    """The value of a key, and the line in the file, from 1, that it begins in."""

    value: Value
    line: int


@frozen
class Document:
    """A Markdown file.

    Parameters:
        fields: the outermost keys of its front matter that hold something, in lower case.
        body: what follows the front matter, or everything if there is none.
        block: the front matter as it stands there, without its fences.
        fault: why the front matter had to be read leniently, or None.
    """

    fields: Mapping[str, Field]
    body: str
    block: str = ""
    fault: Fault | None = field(default=None, eq=False)

    def text(self, key: str) -> str:
        """The value as one line of text; "" if there is none, or none that is text.

        It has no control characters: what names a skill or an agent goes to terminals.
        """
        value = self.fields[key].value if key in self.fields else ""
        if isinstance(value, Mapping):
            return ""
        words = value if isinstance(value, str) else ", ".join(value)
        return " ".join(_CONTROL.sub(" ", words).split())


def parse(text: str) -> Document:
    """The front matter and the body of a Markdown file.

    A fence is a line that is exactly ``---``, but for blanks behind it; the first line of the file
    that is not blank is one, or there is no front matter. A byte order mark and CRLF line ends are
    taken.

    Raises:
        Fault: the front matter has no end, or is too long to be one.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    fences = (number for number, line in enumerate(lines, 1) if line.rstrip(" \t") == FENCE)
    start = next(fences, None)
    if start is None or any(line.strip() for line in lines[: start - 1]):
        return Document({}, text)
    end = next(fences, None)
    if end is None:
        raise Fault(
            f"the front matter that begins here has no end; close it with a line {FENCE!r}", start
        )
    block = textwrap.dedent("\n".join(lines[start : end - 1]))
    if len(block) > LIMIT_CHARS:
        raise Fault(f"the front matter is longer than {LIMIT_CHARS} characters; shorten it", start)
    return _document(block, "\n".join(lines[end:]), start + 1)


def _document(block: str, body: str, first_line: int) -> Document:
    try:
        return Document(_yaml_fields(block, first_line), body, block)
    except Fault as fault:
        return Document(dict(_lenient_fields(block, first_line)), body, block, fault)


def _yaml_fields(block: str, first_line: int) -> dict[str, Field]:
    """The fields of a YAML mapping; raises a `Fault` if it is none."""
    from yaml import MappingNode

    node = _compose(block, first_line)
    if node is None:
        return {}
    if not isinstance(node, MappingNode):
        raise Fault("the front matter holds no `name: value` lines; write some", first_line)
    return {
        _text(key).lower(): Field(value, key.start_mark.line + first_line)
        for key, node in node.value
        if (value := _value(node)) is not None
    }


def _compose(block: str, first_line: int) -> yaml.Node | None:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.compose(block, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise Fault(
            f"the front matter is not YAML: {what}; put the value in quotes",
            first_line + (mark.line if mark else 0),
        ) from error


def _value(node: yaml.Node) -> Value | None:
    from yaml import MappingNode, SequenceNode

    if node.tag == _NULL:
        return None
    if isinstance(node, SequenceNode):
        return tuple(_text(item) for item in node.value)
    if isinstance(node, MappingNode):
        return {_text(key): _text(item) for key, item in node.value}
    return _text(node)


def _text(node: yaml.Node) -> str:
    return node.value if isinstance(node.value, str) else ""


def _lenient_fields(block: str, first_line: int) -> Iterator[tuple[str, Field]]:
    """The fields of something that is nearly YAML, each read without regard to the others."""
    lines = block.split("\n")
    keys = [(number, key) for number, line in enumerate(lines) if (key := _KEY.match(line))]
    ends = [*(number for number, _ in keys), len(lines)][1:]
    for (start, key), end in zip(keys, ends, strict=True):
        piece = lines[start:end]
        try:
            yield from _yaml_fields("\n".join(piece), start + first_line).items()
        except Fault:
            if text := _raw(piece[0][key.end() :], piece[1:]):
                yield key[1].lower(), Field(text, start + first_line)


def _raw(first: str, rest: list[str]) -> str:
    """A value as the text that stands there: joined, without block indicator and outer quotes."""
    lines = [first, *(line for line in rest if not line.startswith("#"))]
    text = _BLOCK_INDICATOR.sub("", " ".join(" ".join(lines).split()))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return text
