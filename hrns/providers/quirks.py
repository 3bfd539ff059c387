"""What single servers do not take, and how their refusals are recognised.

Each refusal that is understood leads to one change of how requests are written, told once. So a
server that nobody has listed here works from the second try on, and a listed one from the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from attrs import evolve, frozen

from ..errors import ContextOverflow, ProviderError, RequestRefused, ServerFault, ToolsRefused

__all__ = [
    "IMAGES",
    "LIMIT",
    "NATIVE",
    "SCHEMAS",
    "STREAM",
    "Lesson",
    "Lessons",
    "Quirks",
    "adapted",
    "quirks_for",
]


@frozen
class Quirks:
    """How requests to one server are written.

    Parameters:
        dropped: the top-level fields that are left out.
        native: whether replies go back with what only their server knows.
        plain_schemas: whether schemas are cut down to what every server knows.
        limit_field: the field that `max_tokens` goes into.
        short_ids: whether ids of calls are nine letters and digits.
        strict_roles: whether a user message may not come right behind a tool's result.
        system_role: whether there is a role for instructions; if not, the first message of the
            user begins with them.
        reasoning_back: whether replies with calls must have their reasoning, even if it is empty.
        token_limit: the most tokens that a reply may be asked to have; 0 if it is not known.
        budgets: whether thinking is asked for in tokens rather than in words.
        cache_marks: whether what may be cached is marked.
        blank_text: whether there may be text that is empty.
        calls_without_tools: whether there may be calls in a conversation where no tool is offered.
        images: whether the model takes pictures; if not, a word stands in place of each.
        signed_calls: whether calls that the server did not sign need a word in place of that.
    """

    dropped: frozenset[str] = frozenset()
    native: bool = True
    plain_schemas: bool = False
    limit_field: str = "max_tokens"
    short_ids: bool = False
    strict_roles: bool = False
    system_role: bool = True
    reasoning_back: bool = False
    token_limit: int = 0
    budgets: bool = False
    cache_marks: bool = True
    blank_text: bool = True
    signed_calls: bool = False
    images: bool = True
    calls_without_tools: bool = True


def quirks_for(endpoint: str) -> Quirks:
    """What is known beforehand of the server at a base URL."""
    host = urlsplit(endpoint).hostname or ""
    if host.endswith(("openai.com", "openai.azure.com")):
        return Quirks(limit_field="max_completion_tokens")
    if host.endswith("mistral.ai"):
        return Quirks(short_ids=True, strict_roles=True, dropped=frozenset({"stream_options"}))
    return Quirks()


class Lesson(NamedTuple):
    """What one kind of refusal teaches.

    Parameters:
        pattern: an expression found in the message of such a refusal, in any case.
        change: the quirks from then on, from those so far and what was found.
        said: a sentence for people.
    """

    pattern: str  # compiled when it is needed first: a dozen at import would cost milliseconds
    change: Callable[[Quirks, re.Match[str]], Quirks]
    said: str


class Lessons(NamedTuple):
    """What refusals teach about requests of one protocol.

    Parameters:
        first: lessons about the values of fields.
        optional: the top-level fields that are left out if a refusal names them.
        then: lessons about everything else.
    """

    first: tuple[Lesson, ...] = ()
    optional: frozenset[str] = frozenset()
    then: tuple[Lesson, ...] = ()


_REFUSED = (
    r"(unsupported|unknown|unrecognized|unexpected|extra|additional propert"
    r"|not (permitted|allowed|supported))"
)
_REPLY_FIELDS = (
    r"(\breasoning(_content|_details|_text)?\b|\bmessages?\b|\bassistant\b|\binput\b"
    r"|extra_content|tool_calls|encrypted)"
)
STREAM = Lesson(
    r"\bstream(ing)?( mode)? is(n't| not) supported|verified to stream\b"
    r"|not support (the )?stream(ing)?\b",
    lambda quirks, _: evolve(quirks, dropped=quirks.dropped | {"stream", "stream_options"}),
    "the server does not stream here: the reply comes as a whole",
)
IMAGES = Lesson(
    r"support.{0,20}\b(image|vision|multi-?modal)|\b(image|vision|image_url)\b.{0,40}"
    r"(not|n't|un)\s?support|unknown variant .?(image|input_image)|not a (multi-?modal|vision)",
    lambda quirks, _: evolve(quirks, images=False),
    "the model takes no pictures: it is told where they were",
)
LIMIT = Lesson(
    r"max(_completion|_output)?_tokens.{0,80}(> *|at most|<=|less than or equal to|range.{0,40},)"
    r" *`?(?P<limit>\d+)"
    r"|maximum tokens.{0,40}model limit of (?P<model>\d+)",
    lambda quirks, found: evolve(quirks, token_limit=int(found["limit"] or found["model"])),
    "the model writes fewer tokens than were asked for: its own limit is asked for",
)
NATIVE = Lesson(
    rf"{_REFUSED}.{{0,120}}{_REPLY_FIELDS}|{_REPLY_FIELDS}.{{0,120}}{_REFUSED}",
    lambda quirks, _: evolve(quirks, native=False),
    "the server refuses fields of its own replies: they do not go back any more",
)
SCHEMAS = Lesson(
    r"(invalid|unsupported|unknown|unrecognized).{0,60}(schema|parameters)"
    r"|(schema|keyword|function_?declarations?|additionalProperties|parameters).{0,120}"
    r"(invalid|unsupported|unknown|not (permitted|allowed|supported|support)|cannot find field"
    r"|missing (field|items|properties)|only allowed|cannot be empty|is not defined|any_of"
    r"|must (be|have))"
    r"|unknown name.{0,60}(schema|parameters|propert|tools)",
    lambda quirks, _: evolve(quirks, plain_schemas=True),
    "the server refuses something in a tool's schema: tools are described more simply",
)


_PARAM = r'"param": ?"([^"]{1,80})"'
"""The field that a refusal is about, where its message does not name it."""

_GARBLED = r"pars(e|ing) (the )?(tool call|input|arguments)|parse_error|unexpected end of"
"""What servers say that could not read what their own model wrote: no request is at fault."""


def adapted(
    quirks: Quirks, error: ProviderError, sent: Iterable[str], lessons: Lessons
) -> tuple[Quirks, str] | None:
    """The quirks that a refusal teaches, with a sentence for people; None if it teaches nothing.

    Parameters:
        sent: the names of the top-level fields that were sent.
        lessons: those of the protocol.
    """
    if isinstance(error, ContextOverflow | ToolsRefused):
        return None
    if not isinstance(error, RequestRefused | ServerFault):
        return None
    if re.search(_GARBLED, error.message, re.IGNORECASE):
        return None
    said = f"{error.message} {' '.join(re.findall(_PARAM, error.body))}"
    return (
        _learnt(quirks, said, lessons.first)
        or _dropping(quirks, said, lessons.optional.intersection(sent))
        or _learnt(quirks, said, lessons.then)
    )


def _learnt(quirks: Quirks, message: str, lessons: Iterable[Lesson]) -> tuple[Quirks, str] | None:
    for lesson in lessons:
        found = re.search(lesson.pattern, message, re.IGNORECASE | re.DOTALL)
        if found and (changed := lesson.change(quirks, found)) != quirks:
            return changed, lesson.said
    return None


def _dropping(quirks: Quirks, message: str, fields: Iterable[str]) -> tuple[Quirks, str] | None:
    for name in sorted(set(fields) - quirks.dropped):
        if re.search(rf"\b({name}|{_camel_case(name)})\b", message):
            changed = evolve(quirks, dropped=quirks.dropped | {name})
            return changed, f"the server does not take {name}: left out"
    return None


def _camel_case(name: str) -> str:
    """The name of a field as some servers say it, such as `reasoningEffort`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
