"""A provider around a provider, for models that cannot call tools: both sides speak ReAct as text.

Outwards this is a provider like any other: tools go in, thoughts come as reasoning, the answer as
text, an action as a tool call. Inwards no tool is offered: the tools are described in the system
message, earlier calls and results are written as text, and the reply is parsed as it streams. What
a model makes up behind its action is not read any more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Generator, Iterator, Mapping, Sequence
from itertools import chain
from operator import is_
from typing import Any, Literal, TypeAlias

from attrs import evolve

from ..cancel import Cancel
from ..errors import BrokenStream
from ..messages import AssistantMessage, Message, Stop, SystemMessage, Text, Usage, UserMessage
from ..react.conversation import TextMessage, group_as_text, groups
from ..react.inputs import looks_like_call, resolve
from ..react.prompt import REMINDER, standard_prompt, tools_text
from ..react.reader import Event, StepReader
from ..react.steps import Action, FinalAnswer
from .base import (
    Delta,
    Finish,
    ModelInfo,
    ModelRequest,
    PartKind,
    PartNative,
    PartStart,
    PartText,
    Provider,
    ProviderNotice,
    ToolSpec,
)

__all__ = ["ReactMode"]

ATTEMPTS = 3
"""How often a model is asked for one reply before it is given up that keeps to no form."""

_STOP = "\nObservation:"
_MOST_STOPS = 4  # OpenAI takes no more

_Kind: TypeAlias = Literal["reasoning", "thought", "answer"]
_PART_KINDS: dict[_Kind, PartKind] = {
    "reasoning": "reasoning",
    "thought": "reasoning",
    "answer": "text",
}


class ReactMode:
    """Offers tools to a model as text, and reads its calls out of its text.

    Parameters:
        inner: who is asked; it is never offered a tool.
    """

    def __init__(self, inner: Provider) -> None:
        self.inner = inner
        self._texts = _Texts(label_answers=True)
        self._plain_texts = _Texts(label_answers=False)
        self._system: tuple[object, tuple[ToolSpec, ...], SystemMessage]
        self._system = (None, (), SystemMessage(""))

    def __repr__(self) -> str:
        return f"ReactMode({self.inner!r})"

    @property
    def api(self) -> str:
        """The protocol that the inner provider speaks."""
        return self.inner.api

    @property
    def endpoint(self) -> str:
        """The endpoint of the inner provider."""
        return self.inner.endpoint

    def models(self) -> Sequence[ModelInfo]:
        """The models of the inner provider; raises what it raises."""
        return self.inner.models()

    def reply(self, request: ModelRequest, cancel: Cancel) -> Iterator[Delta]:
        """The reply as deltas; a reply that keeps to no form is asked for again, told how.

        Raises:
            ProviderError: the inner provider failed; or the model kept to no form (`BrokenStream`,
                not to be retried).
            Cancelled: `cancel` was set.
        """
        if request.tools and request.options.tool_choice != "none":
            return self._steps(request, cancel)
        texts = self._plain_texts.of(request.messages)
        options = evolve(request.options, tool_choice=None)
        return self.inner.reply(evolve(request, messages=texts, tools=(), options=options), cancel)

    def _steps(self, request: ModelRequest, cancel: Cancel) -> Generator[Delta, None, None]:
        asked = self._asked(request)
        parts = _Parts({tool.name for tool in request.tools})
        reading = _Reading(parts)
        usage: Usage | None = None
        for attempt in range(ATTEMPTS):
            if attempt:
                yield ProviderNotice("the model kept to no form that can be read: it was reminded")
                said = AssistantMessage([Text(reading.text)])
                asked = evolve(asked, messages=(*asked.messages, said, UserMessage(REMINDER)))
                reading = _Reading(parts)
            yield from _read(reading, self.inner.reply(asked, cancel))
            if reading.usage is not None:
                usage = reading.usage if usage is None else usage + reading.usage
            if reading.complete:
                if usage is not None:
                    yield usage
                yield Finish(reading.reason)
                return
        raise BrokenStream(
            f"the model was asked {ATTEMPTS} times and wrote neither an action nor an answer",
            hint="A larger model may do better.",
            retryable=False,
        )

    def _asked(self, request: ModelRequest) -> ModelRequest:
        """The request as the inner provider gets it."""
        options = request.options
        stop = options.stop
        if len(stop) < _MOST_STOPS:
            stop = (*stop, _STOP)
        first = request.messages[0] if request.messages else None
        system = first if isinstance(first, SystemMessage) else None
        rest = request.messages[1:] if system else request.messages
        texts = self._texts.of(rest)
        return evolve(
            request,
            messages=(self._system_message(system, request), *texts),
            tools=(),
            options=evolve(options, stop=stop, tool_choice=None, response_schema=None),
        )

    def _system_message(self, given: SystemMessage | None, request: ModelRequest) -> SystemMessage:
        """The instructions with the prompt behind them; the same object as long as it can be."""
        options, tools = request.options, request.tools
        key = (given, len(tools), options.tool_choice, options.response_schema)
        before, described, message = self._system
        if before != key or not all(map(is_, described, tools)):
            prompt = _prompt(request)
            message = SystemMessage(f"{given.text}\n\n{prompt}" if given else prompt)
            self._system = (key, tools, message)
        return message


def _prompt(request: ModelRequest) -> str:
    """The standard prompt, and in words what tool models are told in fields."""
    choice, schema = request.options.tool_choice, request.options.response_schema
    tools = ((tool.name, tool.description, _json(tool.schema)) for tool in request.tools)
    texts = [standard_prompt(tools_text(tools))]
    if choice == "required":
        texts.append("Use a tool in your next reply: do not answer yet.")
    elif choice not in (None, "auto"):
        texts.append(f"Use the tool {choice} in your next reply: do not answer yet.")
    if schema is not None:
        texts.append(
            f"Behind Final Answer stands nothing but JSON that fits this schema: {_json(schema)}"
        )
    return "\n\n".join(texts)


def _json(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False)


def _read(reading: _Reading, deltas: Iterator[Delta]) -> Generator[Delta, None, None]:
    """Read as much of a reply as counts, and close it."""
    try:
        for delta in deltas:
            yield from reading.take(delta)
            if reading.done:
                break
    finally:
        if isinstance(deltas, Generator):
            deltas.close()
    yield from reading.end()


class _Parts:
    """Numbers the parts of one reply.

    Parameters:
        tools: the names of the tools on offer.
    """

    def __init__(self, tools: Container[str]) -> None:
        self.tools = tools
        self._count = 0

    def new(self) -> int:
        """The index of a new part."""
        self._count += 1
        return self._count - 1


class _Reading:
    """One reply of the inner provider that is being read.

    Attributes:
        usage: the tokens that it took, or None.
        complete: whether there is something to go on with.
    """

    def __init__(self, parts: _Parts) -> None:
        self.usage: Usage | None = None
        self.complete = False
        self._parts = parts
        self._reader = StepReader()
        self._stop: Stop | None = None
        self._passed_on: dict[int, int] = {}  # parts of the inner reply that are no text
        self._texts: set[int] = set()  # and those that are
        self._own: dict[_Kind, int] = {}
        self._has_call = False

    @property
    def done(self) -> bool:
        """Whether the rest of the reply does not count."""
        return self._reader.done

    @property
    def text(self) -> str:
        """The text as far as it was read."""
        return self._reader.kept

    @property
    def reason(self) -> Stop:
        """Why the reply ended."""
        if self._stop in ("length", "filter", "refusal"):
            return self._stop
        return "tool_calls" if self._has_call else "done"

    def take(self, delta: Delta) -> Iterator[Delta]:
        """What a delta stands for outwards."""
        match delta:
            case PartText(index, text):
                if index in self._passed_on:
                    yield PartText(self._passed_on[index], text)
                else:
                    yield from self._shown(self._reader.feed(text))
            case PartStart(index, "text"):
                self._texts.add(index)
            case PartStart(index, kind):
                self._has_call = self._has_call or kind == "tool_call"
                yield evolve(delta, index=self._index(index))
            case PartNative(index) if index not in self._texts:
                yield evolve(delta, index=self._index(index))
            case Usage():
                self.usage = delta
            case Finish(reason):
                self._stop = reason
            case ProviderNotice():
                yield delta

    def _index(self, index: int) -> int:
        if index not in self._passed_on:
            self._passed_on[index] = self._parts.new()
        return self._passed_on[index]

    def end(self) -> Iterator[Delta]:
        """The rest, and whether the reply is complete."""
        cut = self._reader.done
        if self._stop is None and not cut:
            raise BrokenStream("the reply ended without a word that it is complete")
        yield from self._shown(self._reader.end())
        reader = self._reader
        self.complete = (
            self._has_call
            or isinstance(reader.step, FinalAnswer)
            or self.reason != "done"
            or self._is_answer()
        )
        if self.complete and reader.loose:
            yield from self._grown("answer", reader.loose)

    def _is_answer(self) -> bool:
        """Whether text without any label is the answer: what seems to be meant as a call is not."""
        reader = self._reader
        return reader.step is None and not reader.fault and not looks_like_call(reader.loose)

    def _shown(self, events: list[Event]) -> Iterator[Delta]:
        for event in events:
            if isinstance(event, Action):
                yield from self._call(event)
            else:
                yield from self._grown(*event)

    def _grown(self, kind: _Kind, text: str) -> Iterator[Delta]:
        if kind not in self._own:
            self._own[kind] = self._parts.new()
            yield PartStart(self._own[kind], _PART_KINDS[kind])
        yield PartText(self._own[kind], text)

    def _call(self, action: Action) -> Iterator[Delta]:
        self._has_call = True
        index = self._parts.new()
        name = resolve(action.tool, self._parts.tools)
        yield PartStart(index, "tool_call", f"call_{os.urandom(12).hex()}", name)
        nothing = "" if self._stop == "length" else "{}"  # it may be that more was to come
        yield PartText(index, action.input or nothing)


class _Texts:
    """Conversations as text, each group of messages written once. Many threads may use it.

    So the same messages give the same objects, and a codec encodes each of them once; and the next
    turn of a conversation costs what is new in it.
    """

    def __init__(self, *, label_answers: bool) -> None:
        self._label_answers = label_answers
        self._last: tuple[tuple[Message, ...], tuple[TextMessage, ...]] = ((), ())
        # a group is kept with its texts: so its ids are not given to others
        self._by_id: dict[tuple[int, ...], tuple[tuple[Message, ...], tuple[TextMessage, ...]]] = {}

    def of(self, messages: tuple[Message, ...]) -> tuple[TextMessage, ...]:
        """The conversation as text (`hrns.react.conversation`)."""
        before, texts = self._last
        if len(before) > len(messages) or not all(map(is_, before, messages)):
            before, texts = (), ()
        added = [*map(self._written, groups(messages[len(before) :]))]
        *closed, (last, _) = added or [((), ())]  # more may still join the last group
        ended = (*texts, *chain.from_iterable(written for _, written in closed))
        self._last = (messages[: len(messages) - len(last)], ended)
        if len(self._by_id) > 2 * len(messages) + 1000:
            self._by_id = {tuple(map(id, group)): (group, written) for group, written in added}
        return (*texts, *chain.from_iterable(written for _, written in added))

    def _written(
        self, group: tuple[Message, ...]
    ) -> tuple[tuple[Message, ...], tuple[TextMessage, ...]]:
        key = tuple(map(id, group))
        kept = self._by_id.get(key)
        if kept is None:
            kept = (group, group_as_text(group, label_answers=self._label_answers))
            self._by_id[key] = kept
        return kept
