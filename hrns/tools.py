"""Tools: what a model may call.

Four ways to make one, from short to full::

    @tool(effects=["read"])
    def word_count(file_name: str) -> str:
        "Counts the words of a file."

    SimpleTool("Adds two numbers.", [ToolArgument("a", "number"), ToolArgument("b", "number")],
               lambda args: str(args["a"] + args["b"]))

    Tool("word_count", "Counts words.", schema, function=run, preparer=prepare, effects=["read"])

A tool's own failure is a result for the model: return text that begins with ``ERROR:``, return
``ToolResult(text, status="error")``, or raise; `ToolFailure` gives its message alone.
"""

from __future__ import annotations

import inspect
import json
import re
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, get_args, overload

import attrs
from attrs import evolve, field, frozen

from .cancel import Cancel
from .context import ToolContext
from .errors import ArgumentFault, Cancelled, UsageError, in_words
from .messages import Diff, Display, Image, Status, Terminal, Text, ToolResult
from .misuse import shown
from .permissions import ALL_EFFECTS, Effect, Prepared
from .providers.base import ToolSpec

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

__all__ = [
    "NAME_PATTERN",
    "Arguments",
    "SimpleTool",
    "Tool",
    "ToolArgument",
    "ToolContext",
    "parse_arguments",
    "to_result",
    "tool",
]

Arguments: TypeAlias = Mapping[str, Any]

NAME_PATTERN = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The tool names that every provider takes."""


def _effects(given: Iterable[Effect] | None) -> frozenset[Effect]:
    effects = ALL_EFFECTS if given is None else frozenset(given)
    if unknown := effects - ALL_EFFECTS:
        raise UsageError(
            f"{sorted(unknown)} are no effects",
            hint=f"Effects are {', '.join(sorted(ALL_EFFECTS))}.",
        )
    return effects


def _as_given(arguments: Arguments) -> Arguments:
    return arguments


def _nothing_to_say(_arguments: Arguments, _context: ToolContext) -> Prepared:
    return Prepared()


def _as_object(schema: Any) -> Any:
    """The schema with what servers insist on: its type, and properties if there are none."""
    if not isinstance(schema, Mapping) or {"type", "properties"} <= schema.keys():
        return schema
    return {"type": "object", "properties": {}, **schema}


@frozen(eq=False)
class Tool:
    """A tool as the loop takes it. A call goes through structure, prepare, permission, run.

    Parameters:
        name: what the model calls it; `NAME_PATTERN`.
        description: what it does and when to use it, for the model.
        schema: the JSON Schema of its arguments; an object.
        function: `(arguments, context)` gives a `ToolResult` or anything that `to_result` takes;
            what it yields, if it is a generator, is put together: text joined, else as a list.
        effects: what it may do; None if that is not said: it is taken to do everything.
        parallel_safe: whether it may run beside other calls of the same turn.
        replaces: whether it means to take the place of a bundled tool of its name.
        preparer: `(arguments, context)` gives a `Prepared` (what it would touch), or a
            `ToolResult` if the call is answered already; it must change nothing.
        structure: turns the JSON arguments into what `function` wants; raises `ArgumentFault`.
    """

    name: str
    description: str
    schema: Mapping[str, Any] = field(repr=False)
    function: Callable[[Arguments, ToolContext], object] = field(repr=False)
    effects: frozenset[Effect] = field(default=None, converter=_effects)
    parallel_safe: bool = False
    replaces: bool = False
    preparer: Callable[[Arguments, ToolContext], Prepared | ToolResult] = field(
        default=_nothing_to_say, repr=False
    )
    structure: Callable[[Arguments], Arguments] = field(default=_as_given, repr=False)
    spec: ToolSpec = field(init=False, repr=False)

    @spec.default
    def _make_spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, _as_object(self.schema))

    @property
    def prepares(self) -> bool:
        """Whether `prepare` does anything."""
        return self.preparer is not _nothing_to_say

    def prepare(self, arguments: Arguments, context: ToolContext) -> Prepared | ToolResult:
        """What the call would touch, or its result if it is answered already."""
        return self.preparer(arguments, context)

    def run(self, arguments: Arguments, context: ToolContext) -> ToolResult:
        """Run it; whatever the function returns, this is a `ToolResult`."""
        returned = self.function(arguments, context)
        if inspect.isawaitable(returned):
            returned = _BackgroundLoop.wait_for(returned, context.cancel)
        if isinstance(returned, AsyncIterator):
            returned = _BackgroundLoop.wait_for(_taken_async(returned), context.cancel)
        elif isinstance(returned, Iterator):
            returned = _taken(returned, context.cancel)
        return to_result(returned)


@frozen
class ToolArgument:
    """One argument of a flat tool; `type` is a JSON Schema type such as `string`."""

    name: str
    type: str = "string"


def SimpleTool(  # noqa: N802 - reads as the record that it makes
    description: str,
    arguments: Sequence[ToolArgument],
    function: Callable[[Arguments], object],
    *,
    name: str = "",
    effects: Iterable[Effect] | None = None,
) -> Tool:
    """A flat tool: every argument is required and of its type; `function` takes one mapping.

    It needs no name where it stands in a mapping, as `Loop` takes one: there the key is its name.
    """
    from .shapes import Field, record_of, shape_of_type, structure

    shape = record_of([Field(each.name, shape_of_type(each.type)) for each in arguments], dict)
    return Tool(
        name=name,
        description=description,
        schema={**shape.schema, "required": [each.name for each in arguments]},
        function=lambda given, _context: function(given),
        effects=effects,
        structure=partial(structure, shape),
    )


@overload
def tool(function: Callable[..., object], /) -> Tool: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    effects: Iterable[Effect] | None = None,
    parallel_safe: bool = False,
    replaces: bool = False,
    prepare: Callable[..., Prepared | ToolResult] | None = None,
) -> Callable[[Callable[..., object]], Tool]: ...


def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    effects: Iterable[Effect] | None = None,
    parallel_safe: bool = False,
    replaces: bool = False,
    prepare: Callable[..., Prepared | ToolResult] | None = None,
) -> Tool | Callable[[Callable[..., object]], Tool]:
    """Make a tool of an annotated function, plain or async.

    The schema comes from the annotations (`Annotated[T, "description"]`, `Literal`, enums, attrs
    classes, lists, mappings, `X | None`), the description from the docstring; a parameter with a
    default is optional; a parameter annotated with `ToolContext` is filled in and hidden.

    Parameters:
        name: the function's name if left out.
        description: the docstring if left out.
        prepare: takes the same arguments as the function; see `Tool.preparer`.

    Raises:
        UsageError: a parameter has no annotation, or one that JSON cannot express; `prepare`
            takes other arguments.
    """
    from .signature import Signature

    def make(wrapped: Callable[..., object]) -> Tool:
        if isinstance(wrapped, Tool):
            raise UsageError(f"{wrapped.name} is a tool already", hint="Leave one `tool` out.")
        signature = Signature.of(wrapped)
        preparer = signature.companion(prepare) if prepare else _nothing_to_say
        return Tool(
            name=name or _name_of(wrapped),
            description=description or signature.description,
            schema=signature.schema,
            function=signature.call,
            effects=effects,
            parallel_safe=parallel_safe,
            replaces=replaces,
            preparer=preparer,
            structure=signature.structure,
        )

    return make(function) if function else make


def _name_of(function: Callable[..., object]) -> str:
    """The name of a function, or of the one inside a partial."""
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    name: str = getattr(inner, "__name__", "")
    if not name:
        raise UsageError(f"{shown(function)} has no name", hint="Give it one: tool(name=...).")
    return name


def named(tools: Mapping[str, Tool] | Iterable[Tool]) -> dict[str, Tool]:
    """Tools by name; in a mapping the key is the name.

    Raises:
        UsageError: what is no tool, a name that no provider takes, or two tools of one name.
    """
    by_name: dict[str, Tool] = {}
    for each in _records_of(tools):
        if not NAME_PATTERN.fullmatch(each.name):
            raise UsageError(
                f"{each.name!r} is no name for a tool",
                hint="Use letters, digits, _ and -, 64 at most; SimpleTool takes name=...",
            )
        if each.name in by_name:
            raise UsageError(f"two tools are called {each.name!r}", hint="Rename one of them.")
        by_name[each.name] = each
    return by_name


def _records_of(tools: object) -> list[Tool]:
    """The tools that were given; those of a mapping have their key as their name."""
    if isinstance(tools, Mapping):
        values = _records_of(tools.values())
        return [evolve(tool, name=name) for name, tool in zip(tools, values, strict=True)]
    given = list(tools) if isinstance(tools, Iterable) else [None]
    records = [each for each in given if isinstance(each, Tool)]
    if len(records) == len(given):
        return records
    raise UsageError(
        f"tools are given as a mapping or a list of Tool records, not as {shown(tools)}",
        hint="`@tool` makes a Tool of a function.",
    )


def parse_arguments(text: str) -> dict[str, Any]:
    """The arguments of a call as JSON; nothing at all stands for no arguments.

    Nothing is mended: a tool never runs from arguments that had to be guessed.

    Raises:
        ArgumentFault: the text is not one JSON object; the message is for the model.
    """
    if not text.strip():
        return {}
    try:
        arguments = _STRICT_JSON.decode(text)
        if _SURROGATE.search(text):
            arguments = _with_whole_characters(arguments)
    except ValueError as error:
        raise ArgumentFault(
            f"the parameters are not valid JSON{_cut_off(error)}: {error}. "
            "Send one JSON object; do not send several sets of parameters in one call."
        ) from error
    except RecursionError as error:
        raise ArgumentFault("the parameters are nested too deeply") from error
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise ArgumentFault(
            f"the parameters are not valid: a JSON object is needed, not {text.strip()[:40]!r}"
        )
    return arguments


def _cut_off(error: ValueError) -> str:
    """Says so if what is wrong with a JSON text is that its end is missing.

    Some servers say that a call is complete when they ran out of tokens in the middle of it.
    """
    missing = isinstance(error, json.JSONDecodeError) and (
        error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip())
    )
    return ", they were cut off" if missing else ""


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


_STRICT_JSON = json.JSONDecoder(parse_constant=_refuse_constant)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _with_whole_characters(value: Any) -> Any:
    """JSON with the two halves of a character joined, however each was written.

    Raises:
        ValueError: a half stands alone.
    """
    text = json.dumps(value, ensure_ascii=False)
    try:
        return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16"))
    except UnicodeDecodeError as error:
        raise ValueError("half of a surrogate pair stands alone in a string") from error


def _taken(items: Iterator[object], cancel: Cancel) -> object:
    """What a generator gives, put together."""
    taken = []
    for item in items:
        cancel.check()
        taken.append(item)
    return _together(taken)


async def _taken_async(items: AsyncIterator[object]) -> object:
    return _together([item async for item in items])


def _together(items: list[object]) -> object:
    texts = [item for item in items if isinstance(item, str)]
    return "".join(texts) if len(texts) == len(items) else items


def to_result(returned: object) -> ToolResult:
    """What a tool returned as a result that every provider takes.

    Text that begins with ``ERROR:`` has status `error`, and so has an exception; None is empty
    text; bytes are decoded; dicts, lists, tuples, sets, numbers, booleans, attrs values,
    dataclasses and pydantic models become JSON; anything else its `str`.
    """
    if isinstance(returned, ToolResult):
        return _sound_result(returned)
    if isinstance(returned, BaseException):
        return ToolResult(sound_text(f"ERROR: {in_words(returned)}"), status="error")
    text = sound_text(_as_text(returned))
    status: Status = "error" if text.startswith("ERROR:") else "ok"
    return ToolResult(text, status=status)


def sound_text(text: str) -> str:
    """The text with what no server and no file takes (lone surrogates, NUL) replaced by U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    )


def _sound_result(result: ToolResult) -> ToolResult:
    """The result with fields of the types that they should have: a guest may have made it."""
    return evolve(
        result,
        content=tuple(_sound_part(part) for part in result.content),
        status=result.status if result.status in get_args(Status) else "error",
        display=_sound_display(result.display),
        structured=None if result.structured is None else _as_text(result.structured),
    )


def _sound_part(part: Any) -> Text | Image:
    if isinstance(part, Image) and isinstance(part.data, bytes):
        return part
    return Text(sound_text(_as_text(part.text if isinstance(part, Text) else part)))


def _sound_display(display: Any) -> Display | None:
    """The display, or None if it is not one that can be shown."""
    match display:
        case Diff(str(), None | str(), None | str()):
            return display
        case Terminal(str(), str(), None | int(), int() | float()):
            return display
        case _:
            return None


def _as_text(returned: object) -> str:
    if returned is None:
        return ""
    try:
        plain = _jsonable(returned)
        if isinstance(plain, str):
            return plain
        return json.dumps(plain, ensure_ascii=False, default=_jsonable)
    except Exception:  # noqa: BLE001 - a guest's object; some of it may not even have words
        return _in_its_words(returned)


def _in_its_words(returned: object) -> str:
    try:
        return str(returned)
    except Exception:  # noqa: BLE001 - as above
        return f"({type(returned).__name__})"


def _jsonable(value: object) -> object:
    """The value as JSON has it, not looking inside; text where JSON has no word for it."""
    if isinstance(value, str | bool | int | float | list | tuple):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if callable(dump := getattr(type(value), "model_dump", None)):  # as pydantic calls it
        return dump(value)
    names = _field_names(type(value))
    return str(value) if names is None else {name: getattr(value, name) for name in names}


def _field_names(owner: Any) -> list[str] | None:
    """The fields of an attrs class or a dataclass, or None if it is neither."""
    import dataclasses

    if attrs.has(owner):
        return [each.name for each in attrs.fields(owner)]
    if dataclasses.is_dataclass(owner):
        return [each.name for each in dataclasses.fields(owner)]
    return None


class _BackgroundLoop:
    """The one event loop that async tools run on, started with the first of them."""

    _lock = threading.Lock()
    _loop: AbstractEventLoop | None = None

    @classmethod
    def _running(cls) -> AbstractEventLoop:
        import asyncio

        with cls._lock:
            if cls._loop is None or cls._loop.is_closed():
                cls._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=cls._loop.run_forever, name="hrns async tools", daemon=True
                ).start()
            return cls._loop

    @classmethod
    def wait_for(cls, awaitable: Awaitable[object], cancel: Cancel) -> object:
        """The awaitable's result; it is cancelled when `cancel` is set."""
        import asyncio
        import concurrent.futures

        async def run() -> object:
            return await awaitable

        coroutine: Coroutine[Any, Any, object] = run()
        future = asyncio.run_coroutine_threadsafe(coroutine, cls._running())
        with cancel.waker(future.cancel):
            try:
                return future.result()
            except concurrent.futures.CancelledError as error:
                raise Cancelled(cancel.reason or "the tool cancelled itself") from error
