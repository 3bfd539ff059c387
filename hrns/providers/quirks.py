"""What single servers do not take, and how their refusals are recognised.

Each refusal that is understood leads to one change of how requests are written, told once. So a
server that nobody has listed here works from the second try on, and a listed one from the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from attrs import evolve, frozen

from ..errors import ContextOverflow, ProviderError, RequestRefused, ServerFault, ToolsRefused

__all__ = ["Quirks", "adapted", "quirks_for"]

_DROPPABLE = frozenset(
    {"stream_options", "reasoning_effort", "temperature", "seed", "stop", "tool_choice"}
    | {"response_format"}
)


@frozen
class Quirks:
    """How requests to one server are written.

    Parameters:
        dropped: the top-level fields that are left out.
        limit_field: the field that `max_tokens` goes into.
        short_ids: whether ids of calls are nine letters and digits.
        strict_roles: whether a user message may not come right behind a tool's result.
        system_role: whether there is a role for instructions; if not, the first message of the
            user begins with them.
        native: whether replies go back with the fields that only their server knows.
        reasoning_back: whether replies with calls must have their reasoning, even if it is empty.
        plain_schemas: whether schemas are cut down to what every server knows.
    """

    dropped: frozenset[str] = frozenset()
    limit_field: str = "max_tokens"
    short_ids: bool = False
    strict_roles: bool = False
    system_role: bool = True
    native: bool = True
    reasoning_back: bool = False
    plain_schemas: bool = False


def quirks_for(endpoint: str) -> Quirks:
    """What is known beforehand of the server at a base URL."""
    host = urlsplit(endpoint).hostname or ""
    if host.endswith(("openai.com", "openai.azure.com")):
        return Quirks(limit_field="max_completion_tokens")
    if host.endswith("mistral.ai"):
        return Quirks(short_ids=True, strict_roles=True, dropped=frozenset({"stream_options"}))
    return Quirks()


def adapted(quirks: Quirks, error: ProviderError, sent: Iterable[str]) -> tuple[Quirks, str] | None:
    """The quirks that a refusal teaches, with a sentence for people; None if it teaches nothing.

    Parameters:
        sent: the names of the top-level fields that were sent.
    """
    if isinstance(error, ContextOverflow | ToolsRefused):
        return None
    if not isinstance(error, RequestRefused | ServerFault):
        return None
    for pattern, change, said in _LIMIT_LESSONS:
        if pattern.search(error.message) and change(quirks) != quirks:
            return change(quirks), said
    for field in sorted(_DROPPABLE.intersection(sent) - quirks.dropped):
        if re.search(rf"\b{field}\b", error.message):
            dropped = quirks.dropped | {field}
            return evolve(quirks, dropped=dropped), f"the server does not take {field}: left out"
    for pattern, change, said in _LESSONS:
        if pattern.search(error.message) and change(quirks) != quirks:
            return change(quirks), said
    return None


def _lesson(
    pattern: str, change: Callable[[Quirks], Quirks], said: str
) -> tuple[re.Pattern[str], Callable[[Quirks], Quirks], str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL), change, said


_REPLY_FIELDS = r"(\breasoning(_content|_details|_text)?\b|\bmessages?\b|\bassistant\b|extra_content|tool_calls)"
_LIMIT_LESSONS = (
    _lesson(
        r"max_completion_tokens.{0,40} instead",
        lambda quirks: evolve(quirks, limit_field="max_completion_tokens"),
        "the server wants max_completion_tokens in place of max_tokens: it gets that",
    ),
    _lesson(
        r"^(?!.*instead).*(unknown|unrecognized|unsupported|extra|unexpected|not permitted).{0,80}"
        r"max_completion_tokens|^(?!.*instead).*max_completion_tokens.{0,80}(not|extra|unsupported)",
        lambda quirks: evolve(quirks, limit_field="max_tokens"),
        "the server does not know max_completion_tokens: it gets max_tokens",
    ),
)
_LESSONS = (
    _lesson(
        r"tool[ _]call[ _]id.{0,80}(length of 9|9 char|a-z)",
        lambda quirks: evolve(quirks, short_ids=True),
        "the server wants ids of nine letters and digits: it gets those",
    ),
    _lesson(
        r"(unexpected|expected).{0,40} role|roles? must alternate|role 'user' after role 'tool'",
        lambda quirks: evolve(quirks, strict_roles=True),
        "the server insists on an order of roles: it gets that order",
    ),
    _lesson(
        r"(system|developer) (role|message|instruction)s?.{0,40}(not|n't|isn't|un)\s?"
        r"(supported|allowed|enabled)"
        r"|(does not|doesn't) support.{0,20}(system|developer) (role|message|instruction)",
        lambda quirks: evolve(quirks, system_role=False),
        "the model has no role for instructions: they are part of the first message",
    ),
    _lesson(
        r"(reasoning_content|reasoning).{0,80}(must be passed back|is missing|are missing|required)"
        r"|missing.{0,40}reasoning_content",
        lambda quirks: evolve(quirks, reasoning_back=True),
        "the server wants the reasoning of each call back: it gets that",
    ),
    _lesson(
        r"(unsupported|unknown|unrecognized|unexpected|extra|not (permitted|allowed|supported)"
        r"|additional propert).{0,120}" + _REPLY_FIELDS + r"|" + _REPLY_FIELDS + r".{0,120}"
        r"(unsupported|unknown|unrecognized|unexpected|extra|not (permitted|allowed|supported))",
        lambda quirks: evolve(quirks, native=False),
        "the server refuses fields of its own replies: they do not go back any more",
    ),
    _lesson(
        r"(invalid|unsupported|unknown|unrecognized).{0,60}(schema|parameters)"
        r"|(schema|keyword|function_declarations|additionalProperties|parameters).{0,120}"
        r"(invalid|unsupported|unknown|not (permitted|allowed|supported)|cannot find field)"
        r"|unknown name.{0,60}(schema|parameters|propert|tools)",
        lambda quirks: evolve(quirks, plain_schemas=True),
        "the server refuses something in a tool's schema: tools are described more simply",
    ),
)
