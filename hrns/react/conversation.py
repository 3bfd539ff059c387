"""A conversation as a model without tool calling reads it: calls and results as text.

A call becomes a reply of the model in the form that it is asked for, its result the message that
follows. Several calls of one reply become one after the other, as if each had been made alone: that
is what such a model is to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from ..messages import (
    AssistantMessage,
    Image,
    Message,
    Part,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from ..transcript import unanswered
from .prompt import action_text, answer_text, observation_text

__all__ = ["TextMessage", "as_text", "group_as_text", "groups"]

TextMessage: TypeAlias = SystemMessage | UserMessage | AssistantMessage
"""What a conversation without tool calls has."""


def as_text(messages: Iterable[Message]) -> tuple[TextMessage, ...]:
    """The conversation without tool calls and tool results: both are text."""
    return tuple(chain.from_iterable(map(group_as_text, groups(messages))))


def groups(messages: Iterable[Message]) -> Iterator[tuple[Message, ...]]:
    """The messages that become text together.

    A reply, the results that follow it, and what the user says right behind them, as that is in one
    message with the last result. All others stand alone.
    """
    group: list[Message] = []
    for message in messages:
        called = isinstance(group[-1], ToolMessage) or any(_calls(group)) if group else False
        joins = called and isinstance(message, UserMessage)
        if group and not joins and not isinstance(message, ToolMessage):
            yield tuple(group)
            group.clear()
        group.append(message)
    if group:
        yield tuple(group)


def group_as_text(
    group: Sequence[Message], *, label_answers: bool = False
) -> tuple[TextMessage, ...]:
    """The messages of a group as text.

    Parameters:
        label_answers: whether a reply without a call gets the label of an answer.
    """
    results = [r for each in group if isinstance(each, ToolMessage) for r in each.results]
    texts: list[TextMessage] = []
    for message in group:
        match message:
            case AssistantMessage() if message.calls:
                texts += _exchanges(message, results)
            case AssistantMessage() if label_answers and message.text.strip():
                texts.append(_said(answer_text(message.text.strip())))
            case ToolMessage():
                known = {call.id for call in _calls(group)}
                texts += [_observed(r) for r in message.results if r.call_id not in known]
            case _:
                texts.append(message)
    return tuple(_joined(texts))


def _calls(group: Sequence[Message]) -> Iterator[ToolCall]:
    return chain.from_iterable(m.calls for m in group if isinstance(m, AssistantMessage))


def _exchanges(message: AssistantMessage, results: Sequence[ToolResult]) -> Iterator[TextMessage]:
    """Each call of a reply, and what came of it."""
    by_id = {result.call_id: result for result in results}
    thought = _thought(message)
    for call in message.calls:
        yield _said(action_text(call.name, call.arguments.strip() or "{}", thought))
        yield _observed(by_id.get(call.id) or unanswered(call))
        thought = ""


def _thought(message: AssistantMessage) -> str:
    """What was said beside the calls; else what was thought last, if that is ours to send back."""
    if text := message.text.strip():
        return text
    own = [p.text for p in message.parts if isinstance(p, Reasoning) and p.native is None]
    return own[-1].strip() if own else ""


def _said(text: str) -> AssistantMessage:
    return AssistantMessage([Text(text)])


def _observed(result: ToolResult) -> UserMessage:
    images: list[Part] = [part for part in result.content if isinstance(part, Image)]
    return UserMessage([Text(observation_text(result.text)), *images])


def _joined(messages: Iterable[TextMessage]) -> Iterator[TextMessage]:
    """The messages with neighbouring ones of the user as one."""
    held: TextMessage | None = None
    for message in messages:
        if isinstance(held, UserMessage) and isinstance(message, UserMessage):
            held = UserMessage((*held.parts, *message.parts))
            continue
        if held is not None:
            yield held
        held = message
    if held is not None:
        yield held
