"""The conversation of a ReAct loop, within a number of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import HistoryOverflow
from ..messages import (
    AssistantMessage,
    Message,
    Part,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)

__all__ = ["ConversationHistory", "estimated_tokens"]

_CHARACTERS_PER_TOKEN = 4


def estimated_tokens(message: Message) -> int:
    """About how many tokens a message has: a quarter of its characters."""
    return sum(map(len, _texts(message))) // _CHARACTERS_PER_TOKEN


def _texts(message: Message) -> Iterator[str]:
    match message:
        case SystemMessage(text):
            yield text
        case UserMessage(parts) | AssistantMessage(parts):
            for part in parts:
                yield from _part_texts(part)
        case ToolMessage(results):
            yield from (result.text for result in results)


def _part_texts(part: Part) -> Iterator[str]:
    match part:
        case Text(text) | Reasoning(text):
            yield text
        case ToolCall(_, name, arguments):
            yield name
            yield arguments


class ConversationHistory:
    """Messages, with a limit.

    An assistant message and the results that follow it are one unit: both are kept or none.

    Parameters:
        token_limit: the estimated tokens that all messages may have together.
        messages: what is in it from the start, whatever the limit.
    """

    def __init__(self, token_limit: int, messages: Iterable[Message] = ()) -> None:
        self.token_limit = token_limit
        self._set(list(messages))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in order."""
        return tuple(self._messages)

    @property
    def total_tokens(self) -> int:
        """The estimated tokens of all messages."""
        return self._total

    def __len__(self) -> int:
        return len(self._messages)

    def push(self, message: Message) -> None:
        """Add a message.

        Raises:
            HistoryOverflow: there is no room for it; nothing is changed.
        """
        size = estimated_tokens(message)
        if self._total + size > self.token_limit:
            raise HistoryOverflow(size=self._total + size, limit=self.token_limit)
        self._add(message, size)

    def push_with_eviction(self, message: Message) -> None:
        """Add a message; where there is no room, the oldest units go, system messages never.

        The last message is always kept, with the message that it belongs to, even if it is longer
        than the limit by itself.
        """
        size = estimated_tokens(message)
        if self._total + size > self.token_limit:
            belongs = isinstance(message, ToolMessage)
            end = self._last_unit() if belongs else len(self._messages)
            self._evict(self._total + size - self.token_limit, end)
        self._add(message, size)

    def put_first(self, message: SystemMessage) -> None:
        """Put a message before all others, whatever the limit."""
        size = estimated_tokens(message)
        self._messages.insert(0, message)
        self._sizes.insert(0, size)
        self._total += size

    def pop_first(self) -> None:
        """Take the first message out."""
        del self._messages[0]
        self._total -= self._sizes.pop(0)

    def clear_non_system(self) -> None:
        """Take everything out but the system messages."""
        self._set([each for each in self._messages if isinstance(each, SystemMessage)])

    def _set(self, messages: list[Message]) -> None:
        self._messages = messages
        self._sizes = [estimated_tokens(message) for message in messages]
        self._total = sum(self._sizes)

    def _add(self, message: Message, size: int) -> None:
        self._messages.append(message)
        self._sizes.append(size)
        self._total += size

    def _evict(self, wanted: int, end: int) -> None:
        """Take units out from the oldest on, until so many tokens are free.

        Parameters:
            end: the index of the first message that has to stay.
        """
        start = next((i for i, m in enumerate(self._messages) if not _is_system(m)), end)
        stop, freed = start, 0
        while stop < end and (freed < wanted or isinstance(self._messages[stop], ToolMessage)):
            freed += 0 if _is_system(self._messages[stop]) else self._sizes[stop]
            stop += 1
        kept = [i for i in range(start, stop) if _is_system(self._messages[i])]
        self._messages[start:stop] = [self._messages[i] for i in kept]
        self._sizes[start:stop] = [self._sizes[i] for i in kept]
        self._total -= freed

    def _last_unit(self) -> int:
        """The index of the message that a result at the end would belong to."""
        index = len(self._messages)
        while index and isinstance(self._messages[index - 1], ToolMessage):
            index -= 1
        return max(0, index - 1)


def _is_system(message: Message) -> bool:
    return isinstance(message, SystemMessage)
