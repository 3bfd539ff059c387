"""A provider that says what it was told to say: replies, calls, faults and delays as data."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

from attrs import Factory, field, frozen

from ..cancel import Cancel
from ..errors import BrokenStream
from ..messages import Usage
from ..providers.base import (
    Delta,
    Finish,
    ModelInfo,
    ModelRequest,
    PartNative,
    PartStart,
    PartText,
    ProviderNotice,
)

__all__ = ["Call", "Cut", "Fail", "Reply", "Say", "ScriptExhausted", "ScriptedProvider", "Wait"]


@frozen
class Say:
    """Visible text; `reasoning`, if any, comes before it as a part of its own.

    `pieces` is the number of deltas that each of the two comes in.
    """

    text: str = ""
    reasoning: str = ""
    pieces: int = 1


@frozen
class Call:
    """A tool call. Arguments that are text are sent as they are, also if they are no JSON.

    Parameters:
        name: the tool's name.
        arguments: a mapping, or the JSON text itself.
        id: the call's id; None for `call_1`, `call_2` and so on, counted by the provider.
        pieces: the number of deltas that the arguments come in.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default=Factory(dict), hash=False)
    id: str | None = None
    pieces: int = 1

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)

    @property
    def argument_pieces(self) -> Iterator[str]:
        """The arguments as JSON text, in `pieces` pieces."""
        return _split(self.arguments_text, self.pieces)


@frozen
class Fail:
    """The reply fails here with this error."""

    error: Exception


@frozen
class Wait:
    """Nothing comes for some seconds; without a number, until somebody gives up."""

    seconds: float = math.inf


@frozen
class Cut:
    """The reply ends here, incomplete.

    A scripted provider raises `BrokenStream`; a server closes the connection, with a reset (RST
    instead of FIN) if `reset` says so.
    """

    reset: bool = False


Step: TypeAlias = (
    Say | Call | Fail | Wait | Cut | PartStart | PartText | PartNative | Usage | ProviderNotice
    | Finish
)  # fmt: skip
Reply: TypeAlias = Step | Sequence[Step]
Script: TypeAlias = Iterable[Reply] | Callable[[ModelRequest], Reply]


class ScriptExhausted(AssertionError):
    """The provider was asked once more than its script foresees."""


class ScriptedProvider:
    """Answers each request with the next reply of a script, and keeps the requests.

    A reply is one step or several; `Finish` is added where none is given, with the reason that
    fits. Besides the steps above, any delta may stand in a reply as it is::

        provider = ScriptedProvider([
            [Say("Let me look.", reasoning="Two files.", pieces=3),
             Call("read_file", {"fileName": "a.txt"}),
             Call("read_file", {"fileName": "b.txt"})],
            Fail(RateLimited("slow down", retry_after_s=0)),
            [Say("They are"), Wait(0.2), Cut()],
            [Say("They are equal."), Usage(input=90, output=4)],
        ])

    The script may be any iterable (`itertools.repeat(Say("yes"))` never ends), or a function from
    a request to a reply.

    Parameters:
        script: the replies.
        api: as in the `Origin` of the replies.
        endpoint: the same.
        models: the ids of the models on offer.
    """

    def __init__(
        self,
        script: Script,
        *,
        api: str = "scripted",
        endpoint: str = "scripted",
        models: Sequence[str] = ("scripted",),
    ) -> None:
        self.api = api
        self.endpoint = endpoint
        self.requests: list[ModelRequest] = []
        self._models = tuple(ModelInfo(model) for model in models)
        self._next_reply = script if callable(script) else _in_order(script)
        self._ids = count(1)

    def reply(self, request: ModelRequest, cancel: Cancel) -> Iterator[Delta]:
        """The next reply of the script.

        Raises:
            ScriptExhausted: the script has no reply left.
            Cancelled: `cancel` was set, also during a `Wait`.
            BrokenStream: the script says `Cut`.
        """
        self.requests.append(request)
        reply = self._next_reply(request)
        steps = reply if isinstance(reply, Sequence) else (reply,)
        return _complete(_play(steps, cancel, self._ids), cancel)

    def models(self) -> Sequence[ModelInfo]:
        """The models that it was made with."""
        return self._models


def _in_order(script: Iterable[Reply]) -> Callable[[ModelRequest], Reply]:
    replies, given, lock = iter(script), count(), threading.Lock()

    def next_reply(request: ModelRequest) -> Reply:
        with lock:  # runs side by side may share a provider, and a generator takes one at a time
            number = next(given)
            for reply in replies:
                return reply
        raise ScriptExhausted(
            f"request {number + 1} came, but the script has {number} replies; "
            f"the last message of the request is {request.messages[-1:]}"
        )

    return next_reply


def _play(steps: Sequence[Step], cancel: Cancel, ids: Iterator[int]) -> Iterator[Delta]:
    """The deltas of the steps; parts are numbered in order."""
    index = 0
    for step in steps:
        for delta in _deltas(step, index, cancel, ids):
            if isinstance(delta, PartStart):
                index = max(index, delta.index + 1)
            yield delta


def _deltas(step: Step, index: int, cancel: Cancel, ids: Iterator[int]) -> Iterator[Delta]:
    match step:
        case Say(text, reasoning, pieces):
            if reasoning:
                yield PartStart(index, "reasoning")
                yield from (PartText(index, piece) for piece in _split(reasoning, pieces))
                index += 1
            if text:
                yield PartStart(index, "text")
                yield from (PartText(index, piece) for piece in _split(text, pieces))
        case Call(name, id=call_id):
            yield PartStart(
                index, "tool_call", f"call_{next(ids)}" if call_id is None else call_id, name
            )
            yield from (PartText(index, piece) for piece in step.argument_pieces)
        case Fail(error):
            raise error
        case Wait(seconds):
            cancel.wait(min(seconds, threading.TIMEOUT_MAX))
            cancel.check()
        case Cut():
            raise BrokenStream("the scripted reply was cut off")
        case _:
            yield step


def _complete(deltas: Iterator[Delta], cancel: Cancel) -> Iterator[Delta]:
    """The same deltas, with a `Finish` if there is none; heeds `cancel` before each."""
    reason, finished = Finish("done"), False
    for delta in deltas:
        cancel.check()
        finished = finished or isinstance(delta, Finish)
        if isinstance(delta, PartStart) and delta.kind == "tool_call":
            reason = Finish("tool_calls")
        yield delta
    cancel.check()
    if not finished:
        yield reason


def _split(text: str, pieces: int) -> Iterator[str]:
    """The text in that many pieces of about one length (in fewer, where it is too short)."""
    size = max(1, math.ceil(len(text) / max(1, pieces)))
    return (text[start : start + size] for start in range(0, len(text), size))
