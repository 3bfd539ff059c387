"""The tools of a ReAct loop: a spec and a handler each, by name.

A handler takes text and gives a `ToolResult`. A `hrns.tools.Tool` becomes one (`add`), and each one
becomes a `Tool` (`tools`): the same tools serve `Loop` and `LoopRunner`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from ..context import ToolContext
from ..errors import (
    ArgumentFault,
    Cancelled,
    HrnsError,
    InvalidToolSignature,
    Serialization,
    ToolFailed,
    ToolNotFound,
    in_words,
)
from ..messages import Image, ToolCall
from ..messages import ToolResult as LoopResult
from ..nearest import nearest
from ..permissions import Effect, Prepared
from ..providers import base
from ..tools import Arguments, Tool, parse_arguments, to_result
from .inputs import resolve
from .prompt import standard_prompt, tools_text

__all__ = ["Handler", "ToolRegistry", "ToolResult", "ToolSpec", "system_prompt"]


@frozen
class ToolResult:
    """What came of one use of a tool.

    Parameters:
        tool_name: the tool.
        output: what the model gets.
        success: whether the tool did what it was asked for.
        call_id: the native call that it answers, or "".
    """

    tool_name: str
    output: str
    success: bool = True
    call_id: str = ""


Handler: TypeAlias = Callable[[str], object]
"""Takes the input as text; gives a `ToolResult`, or anything that `hrns.tools.to_result` takes."""


def _schema_text(given: str | Mapping[str, Any]) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


@frozen
class ToolSpec:
    """A tool as a model is told of it.

    Parameters:
        name: what the model calls it.
        description: what it does and when to use it, for the model.
        input_schema: the JSON Schema of its input as JSON text; a mapping is written as that.
    """

    name: str
    description: str
    input_schema: str = field(default='{"type": "object"}', converter=_schema_text)

    @property
    def takes_object(self) -> bool:
        """Whether the input is an object: it is one as soon as the schema says so."""
        try:
            schema = json.loads(self.input_schema)
        except (ValueError, RecursionError):
            return False
        return isinstance(schema, dict) and schema.get("type") == "object"

    def offered(self) -> base.ToolSpec:
        """The spec as an API is shown it: any other input than an object is a field `input` of one.

        Raises:
            Serialization: the schema is not JSON.
        """
        try:
            schema = json.loads(self.input_schema)
        except (ValueError, RecursionError) as error:
            raise Serialization(f"the schema of {self.name!r} is not JSON: {error}") from error
        if not self.takes_object:
            schema = {"type": "object", "properties": {"input": schema}, "required": ["input"]}
        return base.ToolSpec(self.name, self.description, schema)


@frozen(eq=False)
class _Entry:
    """A registered tool. `tool` is the `Tool` that it was made of, if it was."""

    spec: ToolSpec
    handler: Handler
    takes_object: bool
    tool: Tool | None = None


class ToolRegistry:
    """Tools by name, in the order in which they came."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._entries: dict[str, _Entry] = {}
        for tool in tools:
            self.add(tool)

    def register(self, spec: ToolSpec, handler: Handler) -> None:
        """Add a tool; one of the same name is replaced, in its place.

        Raises:
            InvalidToolSignature: the name is empty, has white space around it, or a line break.
        """
        self._put(_Entry(spec, handler, spec.takes_object))

    def add(self, tool: Tool, context: ToolContext | None = None) -> None:
        """Add a tool of the ordinary loop.

        Nobody is asked before it runs: permissions are the ordinary loop's.

        Parameters:
            context: what the tool is told about the session.

        Raises:
            InvalidToolSignature: as `register`.
        """
        spec = ToolSpec(tool.name, tool.description, tool.schema)

        def handle(text: str) -> LoopResult:
            return _run(tool, text, context or ToolContext())

        self._put(_Entry(spec, handle, takes_object=True, tool=tool))

    def _put(self, entry: _Entry) -> None:
        name = entry.spec.name
        if not name or name != name.strip() or len(name.splitlines()) > 1:
            raise InvalidToolSignature(
                f"{name!r} is no name for a tool",
                hint="A name is one line of text without white space around it.",
            )
        self._entries[name] = entry

    def dispatch(self, name: str, given: str) -> ToolResult:
        """Run a tool on its input as it is.

        Raises:
            ToolNotFound: there is no such tool.
            ToolFailed: its handler raised.
            Cancelled: its handler was stopped.
        """
        return _handled(self._entry(name), given)

    def dispatch_text(self, name: str, given: str) -> ToolResult:
        """Run a tool on the input of a text action; a failure is a result that the model can read.

        A tool that takes an object gets one (`{}` where nothing is written), any other the text of
        a JSON string, or the text as it is.

        Raises:
            ToolNotFound: there is no such tool.
            Cancelled: its handler was stopped.
        """
        entry = self._entry(resolve(name, self._entries))
        return _tried(entry, _object_text if entry.takes_object else _plain_text, given)

    def dispatch_call(self, call: ToolCall) -> ToolResult:
        """Run a tool on the arguments of a native call; a failure is a result for the model.

        A tool that takes an object gets the arguments unchanged. Any other was shown to the API as
        `{"input": ...}` and gets that value: a string as plain text, all else as JSON. Arguments
        that are not JSON, or have no `input`, give a failed result.

        Raises:
            ToolNotFound: there is no such tool.
            Cancelled: its handler was stopped.
        """
        entry = self._entry(call.name)
        read = _object_arguments if entry.takes_object else _input_argument
        return evolve(_tried(entry, read, call.arguments), call_id=call.id)

    def openai_tools(self) -> list[dict[str, Any]]:
        """The `tools` array of chat completions.

        Raises:
            Serialization: the schema of a tool is not JSON; so with the three others.
        """
        from ..providers.openai_chat import OpenAIChat

        return self._array(OpenAIChat().encode_tools)

    def responses_tools(self) -> list[dict[str, Any]]:
        """The `tools` array of OpenAI's Responses."""
        from ..providers.openai_responses import OpenAIResponses

        return self._array(OpenAIResponses().encode_tools)

    def anthropic_tools(self) -> list[dict[str, Any]]:
        """The `tools` array of Anthropic's Messages."""
        from ..providers.anthropic import Anthropic

        return self._array(Anthropic().encode_tools)

    def ollama_tools(self) -> list[dict[str, Any]]:
        """The `tools` array of Ollama's chat."""
        from ..providers.ollama import Ollama

        return self._array(Ollama().encode_tools)

    def _array(self, encode: Callable[[tuple[base.ToolSpec, ...]], bytes]) -> list[dict[str, Any]]:
        entries = self._entries.values()
        offered = tuple(each.tool.spec if each.tool else each.spec.offered() for each in entries)
        array: list[dict[str, Any]] = json.loads(encode(offered))
        return array

    def tools(self, effects: Iterable[Effect] | None = None) -> tuple[Tool, ...]:
        """The tools as the ordinary loop takes them.

        Parameters:
            effects: what those may do that were registered with a handler; None if that is not
                known: they are taken to do everything.

        Raises:
            Serialization: the schema of a tool is not JSON.
        """
        return tuple(entry.tool or _as_tool(entry, effects) for entry in self._entries.values())

    def tools_prompt(self) -> str:
        """The tools as a list for the system prompt."""
        specs = (entry.spec for entry in self._entries.values())
        return tools_text((spec.name, spec.description, spec.input_schema) for spec in specs)

    def tool_names(self) -> list[str]:
        """The names, in the order in which they came."""
        return list(self._entries)

    def tool_count(self) -> int:
        """How many tools there are."""
        return len(self._entries)

    def spec(self, name: str) -> ToolSpec | None:
        """What a model is told of the tool of that name; None if there is none."""
        entry = self._entries.get(name)
        return entry.spec if entry else None

    def check(self, name: str) -> None:
        """Raise `ToolNotFound` if there is no tool of that name."""
        self._entry(name)

    def _entry(self, name: str) -> _Entry:
        if entry := self._entries.get(name):
            return entry
        near = nearest(name, self._entries, most=3)
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        offer = f" The tools are: {', '.join(self._entries)}." if self._entries else ""
        raise ToolNotFound(f"the tool {name!r} was not found.{guess}{offer}", name=name)


def system_prompt(registry: ToolRegistry) -> str:
    """The standard prompt: the rules of the format and the tools."""
    return standard_prompt(registry.tools_prompt())


def _handled(entry: _Entry, text: str) -> ToolResult:
    try:
        returned = entry.handler(text)
    except Cancelled:
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, HrnsError) else in_words(error)
        raise ToolFailed(name=entry.spec.name, reason=reason) from error
    return _as_result(entry.spec.name, returned)


def _as_result(name: str, returned: object) -> ToolResult:
    if isinstance(returned, ToolResult):
        return returned
    result = to_result(returned)
    pictures = sum(isinstance(part, Image) for part in result.content)
    noun = "picture" if pictures == 1 else "pictures"
    left_out = f"\n[{pictures} {noun} that cannot be shown here]" if pictures else ""
    return ToolResult(name, result.text + left_out, result.status == "ok")


def _tried(entry: _Entry, read: Callable[[str], str], given: str) -> ToolResult:
    """The result for the model, whatever goes wrong."""
    try:
        return _handled(entry, read(given))
    except (ArgumentFault, ToolFailed) as error:
        return ToolResult(entry.spec.name, f"Error: {error}", success=False)


def _object_text(given: str) -> str:
    """The input of a tool that takes an object: `{}` for nothing, and no broken JSON."""
    text = given.strip()
    if text in ("", "null"):
        return "{}"
    if text.startswith("{"):
        parse_arguments(text)
    return given


def _plain_text(given: str) -> str:
    """The text that a JSON string holds; any other input as it is."""
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return value if isinstance(value, str) else given


def _object_arguments(given: str) -> str:
    """The arguments of a native call, which are JSON or nothing."""
    return given if parse_arguments(given) else "{}"


def _input_argument(given: str) -> str:
    """The field `input` of the arguments, as the text that the handler takes."""
    return _input_of(parse_arguments(given))


def _input_of(arguments: Arguments) -> str:
    if "input" not in arguments:
        raise ArgumentFault("required field missing @ $.input")
    value = arguments["input"]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _run(tool: Tool, text: str, context: ToolContext) -> LoopResult:
    """A run of a tool of the ordinary loop, without its permissions."""
    try:
        arguments = tool.structure(parse_arguments(text))
    except ArgumentFault as fault:
        return LoopResult(f"ERROR: {fault}", status="error")
    prepared = tool.prepare(arguments, context)
    if isinstance(prepared, Prepared):
        return tool.run(arguments, context)
    return to_result(prepared)


def _as_tool(entry: _Entry, effects: Iterable[Effect] | None) -> Tool:
    """A tool of the ordinary loop, of a spec and a handler."""
    offered = entry.spec.offered()

    def structure(arguments: Arguments) -> Arguments:
        if not entry.takes_object:
            _input_of(arguments)
        return arguments

    def function(arguments: Arguments, _context: ToolContext) -> object:
        if entry.takes_object:
            returned = entry.handler(json.dumps(arguments, ensure_ascii=False))
        else:
            returned = entry.handler(_input_of(arguments))
        if isinstance(returned, ToolResult):
            return LoopResult(returned.output, status="ok" if returned.success else "error")
        return returned

    return Tool(
        name=offered.name,
        description=offered.description,
        schema=offered.schema,
        function=function,
        effects=effects,
        structure=structure,
    )
