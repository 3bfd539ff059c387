"""Keeps what was encoded, so that each message of a conversation is encoded once.

A request then is a join of bytes, and costs the same at turn 1,000 as at turn 10.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_

from ..messages import AssistantMessage, Message
from .base import ToolSpec

__all__ = ["EncodedMessages", "EncodedTools", "KnownIds"]


class EncodedMessages:
    """What messages were encoded to, by their identity. It may be used by many threads.

    Parameters:
        encode: gives the bytes of one message; b"" leaves it out.
    """

    __slots__ = ("_by_id", "_encode", "_last")

    def __init__(self, encode: Callable[[Message], bytes]) -> None:
        self._encode = encode
        self._last: tuple[tuple[Message, ...], list[bytes]] = ((), [])
        # the message is kept with its bytes: so its id is not given to another one
        self._by_id: dict[int, tuple[Message, bytes]] = {}

    def texts(self, messages: tuple[Message, ...]) -> list[bytes]:
        """The bytes of each message, in order. The list is not to be changed."""
        before, texts = self._last
        if len(before) <= len(messages) and all(map(is_, before, messages)):
            texts = [*texts, *map(self._text, messages[len(before) :])]
        else:
            texts = list(map(self._text, messages))
        self._last = (messages, texts)
        if len(self._by_id) > 2 * len(messages) + 1000:
            self._by_id = {id(m): (m, t) for m, t in zip(messages, texts, strict=True)}
        return texts

    def _text(self, message: Message) -> bytes:
        kept = self._by_id.get(id(message))
        if kept is None:
            kept = (message, self._encode(message))
            self._by_id[id(message)] = kept
        return kept[1]


class EncodedTools:
    """What the last tools were encoded to.

    Parameters:
        encode: gives the bytes of all of them.
    """

    __slots__ = ("_encode", "_last")

    def __init__(self, encode: Callable[[tuple[ToolSpec, ...]], bytes]) -> None:
        self._encode = encode
        self._last: tuple[tuple[ToolSpec, ...], bytes] = ((), b"")

    def text(self, tools: tuple[ToolSpec, ...]) -> bytes:
        """The bytes of these tools."""
        before, text = self._last
        if len(before) != len(tools) or not all(map(is_, before, tools)):
            text = self._encode(tools)
            self._last = (tools, text)
        return text


class KnownIds:
    """The ids of the calls of a conversation, gathered as it grows."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[tuple[Message, ...], set[str]] = ((), set())

    def of(self, messages: tuple[Message, ...]) -> set[str]:
        """The ids in these messages. The set is not to be changed."""
        before, ids = self._last
        if len(before) > len(messages) or not all(map(is_, before, messages)):
            before, ids = (), set()
        for message in messages[len(before) :]:
            if isinstance(message, AssistantMessage):
                ids.update(call.id for call in message.calls)
        self._last = (messages, ids)
        return ids
