"""The ReAct loop, driven by hand: a reply goes in, a step comes out, and nothing is sent anywhere.

Who drives asks a model in whatever way, hands each reply in, and stops at the final answer. The
state of a loop is JSON at any time between two replies: what runs here may go on elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any, ClassVar, Literal, Self, TypeAlias

from attrs import asdict, evolve, frozen

from ..errors import (
    MaxIterationsExceeded,
    ParseError,
    SerialError,
    Serialization,
    Timeout,
    ToolNotFound,
)
from ..messages import (
    AssistantMessage,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from ..messages import ToolResult as LoopResult
from ..serial import dumps, read_message
from .conversation import TextMessage, as_text
from .history import ConversationHistory
from .native import read_response
from .prompt import REMINDER, RULES
from .reader import StepReader, no_step
from .registry import ToolRegistry, ToolResult, system_prompt
from .steps import Action, Observation, ReActStep

__all__ = ["Agent", "AgentConfig", "Final", "LoopRunner", "NativeStep", "ToolCalls"]

_VERSION = 1


@frozen
class AgentConfig:
    """How a loop runs.

    Parameters:
        max_iterations: the replies that it takes.
        context_token_limit: the estimated tokens of its history.
        timeout_ms: milliseconds from the first reply on (`LoopRunner.step_at`), or None.
        model: the model that is asked; whoever asks it reads it here.
        recover_from_errors: whether the model is told of a tool that does not exist and of a reply
            that cannot be read, in place of an error that is raised.
    """

    max_iterations: int = 10
    context_token_limit: int = 8192
    timeout_ms: float | None = 30_000
    model: str = ""
    recover_from_errors: bool = False


@frozen
class ToolCalls:
    """The response called tools: this is what came of each call, in order."""

    results: tuple[ToolResult, ...]
    kind: ClassVar[Literal["ToolCalls"]] = "ToolCalls"
    is_final: ClassVar[bool] = False


@frozen
class Final:
    """The response calls nothing: this is its text."""

    text: str
    kind: ClassVar[Literal["Final"]] = "Final"
    is_final: ClassVar[bool] = True


NativeStep: TypeAlias = ToolCalls | Final


class LoopRunner:
    """A loop with its own history.

    Parameters:
        config: how it runs.
        registry: its tools.
    """

    def __init__(self, config: AgentConfig, registry: ToolRegistry) -> None:
        self.config = config
        self.registry = registry
        self.history = ConversationHistory(config.context_token_limit)
        self._iterations = 0
        self._started_ms: float | None = None

    @property
    def iteration_count(self) -> int:
        """How many replies were processed, those that raised an error among them."""
        return self._iterations

    @property
    def messages(self) -> tuple[TextMessage, ...]:
        """The conversation as a model without tool calling is sent it; `history` has it all."""
        return as_text(self.history.messages)

    def transcript(self) -> str:
        """The conversation as one prompt: each message as it is, results as `Observation: ...`."""
        return "\n".join(message.text for message in self.messages)

    def with_system_prompt(self) -> Self:
        """The same loop with the standard prompt before everything else, as the tools are now."""
        first = next(iter(self.history.messages), None)
        if isinstance(first, SystemMessage) and first.text.startswith(RULES):
            self.history.pop_first()
        self.history.put_first(SystemMessage(system_prompt(self.registry)))
        return self

    def ask(self, question: str) -> None:
        """Add a message of the user."""
        self.history.push_with_eviction(UserMessage(question))

    def step(self, reply: str) -> ReActStep:
        """Process a text reply: run its action, if it has one, and add both to the history.

        An error leaves the history as it was. With `recover_from_errors`, a reply that cannot be
        read gives the observation that the model is told, and an unknown tool is one.

        Raises:
            MaxIterationsExceeded: the loop has had all its replies.
            ParseError: there is no step in the reply.
            ToolNotFound: the action names no tool that is registered.
        """
        self._count()
        return self._process(reply)

    def step_at(self, reply: str, now_ms: float) -> ReActStep:
        """As `step`, within the time of the loop; the first call starts the clock.

        Parameters:
            now_ms: the time now, in milliseconds of any clock that only goes forward.

        Raises:
            Timeout: more than `timeout_ms` have passed since the first call.
        """
        self._count()
        if self._started_ms is None:
            self._started_ms = now_ms
        elapsed, limit = now_ms - self._started_ms, self.config.timeout_ms
        if limit is not None and elapsed > limit:
            raise Timeout(elapsed_ms=elapsed, limit_ms=limit)
        return self._process(reply)

    def step_response(self, body: str | bytes | Mapping[str, Any]) -> NativeStep:
        """Process a whole JSON response of a model that calls tools natively.

        OpenAI's chat completions and Responses, Anthropic's Messages and Ollama's chat are told
        apart by their form. All tools are looked up before the first one runs.

        Raises:
            MaxIterationsExceeded: the loop has had all its replies.
            ParseError: the body is no response of these.
            ToolNotFound: a call names no tool that is registered, and `recover_from_errors` is off.
        """
        self._count()
        message = read_response(body)
        if not self.config.recover_from_errors:
            for call in message.calls:
                self.registry.check(call.name)
        results = tuple(map(self._call, message.calls))
        self.history.push_with_eviction(message)
        if not results:
            return Final(message.text)
        self.history.push_with_eviction(ToolMessage(map(_as_loop_result, results)))
        return ToolCalls(results)

    def run_scripted(self, replies: Iterable[str]) -> str:
        """The final answer of a loop whose replies are known beforehand.

        Raises:
            MaxIterationsExceeded: none of them is one, or they are too many; and what `step` does.
        """
        given = 0
        for reply in replies:
            given += 1
            step = self.step(reply)
            if step.is_final:
                return step.content
        raise MaxIterationsExceeded(f"none of the {given} replies is an answer", limit=given)

    def to_json(self) -> str:
        """The state as JSON text: configuration, history, counts. Tools are code: they are not."""
        return dumps(
            {
                "version": _VERSION,
                "config": asdict(self.config),
                "messages": self.history.messages,
                "iterations": self._iterations,
                "started_ms": self._started_ms,
            }
        )

    @classmethod
    def from_json(cls, state: str | bytes | Mapping[str, Any], registry: ToolRegistry) -> Self:
        """A loop that goes on where the state was taken.

        Parameters:
            state: what `to_json` gave, as text or as values.
            registry: the tools, as they were registered there.

        Raises:
            Serialization: it is no state of a loop.
        """
        try:
            values = state if isinstance(state, Mapping) else json.loads(state)
            if values["version"] != _VERSION:
                raise Serialization(f"the state is of version {values['version']!r}")
            runner = cls(_read_config(values["config"]), registry)
            messages = map(read_message, values["messages"])
            runner.history = ConversationHistory(runner.config.context_token_limit, messages)
            runner._iterations = _exactly(values["iterations"], int)
            runner._started_ms = _exactly(values["started_ms"], int, float, NoneType)
        except (ValueError, TypeError, LookupError, RecursionError, SerialError) as error:
            raise Serialization(f"this is no state of a loop: {error}") from error
        return runner

    def _count(self) -> None:
        limit = self.config.max_iterations
        if self._iterations >= limit:
            raise MaxIterationsExceeded(f"the loop has had its {limit} replies", limit=limit)
        self._iterations += 1

    def _process(self, reply: str) -> ReActStep:
        reader = StepReader()
        reader.feed(reply)
        reader.end()
        if reader.step is None:
            return self._unreadable(reply, no_step(reader, reply))
        results = [self._run(reader.step)] if isinstance(reader.step, Action) else []
        self._keep(reader.kept, *results)
        return reader.step

    def _unreadable(self, reply: str, error: ParseError) -> Observation:
        if not self.config.recover_from_errors:
            raise error
        told = f"Error: {error}. {REMINDER}"
        self._keep(reply.strip(), ToolResult("", told, success=False))
        return Observation(told)

    def _keep(self, reply: str, *results: ToolResult) -> None:
        self.history.push_with_eviction(AssistantMessage([Text(reply)]))
        if results:
            self.history.push_with_eviction(ToolMessage(map(_as_loop_result, results)))

    def _run(self, action: Action) -> ToolResult:
        try:
            return self.registry.dispatch_text(action.tool, action.input)
        except ToolNotFound as error:
            return self._not_found(error)

    def _call(self, call: ToolCall) -> ToolResult:
        try:
            return self.registry.dispatch_call(call)
        except ToolNotFound as error:
            return evolve(self._not_found(error), call_id=call.id)

    def _not_found(self, error: ToolNotFound) -> ToolResult:
        if not self.config.recover_from_errors:
            raise error
        return ToolResult(error.name, f"Error: {error}", success=False)


class Agent(LoopRunner):
    """A loop that brings its own configuration and tools, where none are given.

    Parameters:
        config: how it runs.
        registry: its tools.
    """

    def __init__(
        self, config: AgentConfig | None = None, registry: ToolRegistry | None = None
    ) -> None:
        super().__init__(
            AgentConfig() if config is None else config,
            ToolRegistry() if registry is None else registry,
        )

    @property
    def tools(self) -> ToolRegistry:
        """The registry, to register tools in."""
        return self.registry


def _as_loop_result(result: ToolResult) -> LoopResult:
    return LoopResult(
        result.output,
        status="ok" if result.success else "error",
        call_id=result.call_id,
        name=result.tool_name,
    )


def _read_config(values: Mapping[str, Any]) -> AgentConfig:
    return AgentConfig(
        max_iterations=_exactly(values["max_iterations"], int),
        context_token_limit=_exactly(values["context_token_limit"], int),
        timeout_ms=_exactly(values["timeout_ms"], int, float, NoneType),
        model=_exactly(values["model"], str),
        recover_from_errors=_exactly(values["recover_from_errors"], bool),
    )


def _exactly(value: object, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise TypeError(f"{value!r:.60} is not of its type")
    return value
