"""The conversation as frozen values: parts, messages, tool results, usage.

Whatever a provider must get back unchanged travels as `native`: the provider's own JSON **text**,
which goes back to the origin (same api, same endpoint) that it came from and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from attrs import field, frozen

__all__ = [
    "AssistantMessage",
    "Diff",
    "Display",
    "Image",
    "Message",
    "Opaque",
    "Origin",
    "Part",
    "Reasoning",
    "Status",
    "Stop",
    "SystemMessage",
    "Terminal",
    "Text",
    "ToolCall",
    "ToolMessage",
    "ToolResult",
    "Usage",
    "UserMessage",
]

Stop: TypeAlias = Literal["done", "tool_calls", "length", "refusal", "filter", "interrupted"]
"""Why an assistant message ended."""

Status: TypeAlias = Literal["ok", "error", "denied", "interrupted"]
"""How a tool call ended."""


@frozen
class Text:
    """Text for people and models."""

    text: str


@frozen
class Reasoning:
    """What a model thought on its way. `native` is what its origin wants back, or None."""

    text: str
    native: str | None = None


@frozen
class ToolCall:
    """A call that the model asks for. `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str
    native: str | None = None


@frozen
class Image:
    """A picture; `data` is the bytes of the file."""

    media_type: str
    data: bytes = field(repr=lambda data: f"<{len(data)} bytes>")


@frozen
class Opaque:
    """Something of a provider's own that has no other place here."""

    native: str


Part: TypeAlias = Text | Reasoning | ToolCall | Image | Opaque


@frozen
class Usage:
    """Tokens of one request, as the provider counts them; its last word wins.

    `input` counts everything that was read, the cached part included; `cache_read` and
    `cache_write` say how much of it was. `output` counts everything that was written,
    `reasoning` says how much of it was thought.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The sum over requests (never over the reports of one request)."""
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


@frozen
class Origin:
    """Where an assistant message came from: the protocol, the base URL, the model."""

    api: str
    endpoint: str
    model: str


@frozen
class SystemMessage:
    """The instructions at the head of a conversation."""

    text: str


def _user_parts(given: str | Iterable[Part]) -> tuple[Part, ...]:
    return (Text(given),) if isinstance(given, str) else tuple(given)


def _content(given: str | Iterable[Text | Image]) -> tuple[Text | Image, ...]:
    return (Text(given),) if isinstance(given, str) else tuple(given)


def _parts(given: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(given)


def _results(given: Iterable[ToolResult]) -> tuple[ToolResult, ...]:
    return tuple(given)


@frozen
class UserMessage:
    """What a person said: text and images. A string is taken as one text part."""

    parts: tuple[Part, ...] = field(converter=_user_parts)

    @property
    def text(self) -> str:
        """The text parts, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


@frozen
class AssistantMessage:
    """One reply of a model: its parts in the model's order."""

    parts: tuple[Part, ...] = field(converter=_parts)
    origin: Origin | None = None
    stop: Stop = "done"
    usage: Usage | None = None

    @property
    def text(self) -> str:
        """The visible text, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@frozen
class Diff:
    """A change of one file, for people. `old` is None for a new file, `new` for a deleted one."""

    path: str
    old: str | None
    new: str | None


@frozen
class Terminal:
    """A command that ran, for people. `exit_status` is None if it did not end by itself."""

    command: str
    output: str
    exit_status: int | None
    duration_s: float


Display: TypeAlias = Diff | Terminal


@frozen
class ToolResult:
    """What came of one tool call.

    Parameters:
        content: what the model gets: text and images; a string is taken as one text.
        status: `ok`, `error`, `denied` or `interrupted`.
        display: how people see it, or None: as the text.
        structured: a machine's form of it as JSON text, or None.
        call_id: the call that it answers; filled in by the loop.
        name: the tool's name; filled in by the loop.
    """

    content: tuple[Text | Image, ...] = field(converter=_content)
    status: Status = "ok"
    display: Display | None = None
    structured: str | None = None
    call_id: str = ""
    name: str = ""

    @property
    def text(self) -> str:
        """The text content, joined by line breaks."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


@frozen
class ToolMessage:
    """The results of the calls of one assistant message, in the order of the calls."""

    results: tuple[ToolResult, ...] = field(converter=_results)


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
