"""Functions as tools: the schema from the annotations, the words from the docstring, the call."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from attrs import frozen

from .annotations import REQUIRED, Inexpressible, field_of, section_of
from .context import ToolContext
from .errors import UsageError
from .shapes import Field, Shape, record_of, structure

__all__ = ["Signature"]

T = TypeVar("T")

_UNNAMED: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "takes any number of values",
    inspect.Parameter.VAR_KEYWORD: "takes any names",
    inspect.Parameter.POSITIONAL_ONLY: "cannot be passed by name",
}


@frozen(eq=False)
class Signature:
    """A function as a model sees and calls it.

    Parameters:
        function: the function.
        description: its docstring, up to the section of parameters.
        shape: the shape of its arguments.
        contexts: the parameters that are annotated with `ToolContext`: filled in, not shown.
    """

    function: Callable[..., object]
    description: str
    shape: Shape
    contexts: tuple[str, ...]

    @classmethod
    def of(cls, function: Callable[..., object]) -> Signature:
        """The signature of an annotated function, plain or async.

        Raises:
            UsageError: a parameter has no annotation, or one that JSON cannot say, or cannot be
                passed by name.
        """
        parameters = _parameters(function)
        description, texts = section_of(inspect.getdoc(_innermost(function)) or "")
        return cls(
            function,
            description,
            record_of(
                [
                    _field(function, parameter, texts.get(name, ""))
                    for name, parameter in parameters.items()
                    if not _is_context(parameter.annotation)
                ],
                dict,
            ),
            _contexts(parameters),
        )

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the arguments; an object."""
        return self.shape.schema

    def structure(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments as the function wants them.

        Raises:
            ArgumentFault: they do not fit; the message tells the model every fault and its place.
        """
        return structure(self.shape, arguments)

    def call(self, arguments: Mapping[str, Any], context: ToolContext) -> object:
        """What the function returns for arguments that are structured."""
        return self.function(**arguments, **dict.fromkeys(self.contexts, context))

    def companion(self, other: Callable[..., T]) -> Callable[[Mapping[str, Any], ToolContext], T]:
        """How to call another function with the same arguments.

        Raises:
            UsageError: it does not take just these.
        """
        parameters = _parameters(other)
        contexts = _contexts(parameters)
        wanted = set(self.schema["properties"])
        if wanted != parameters.keys() - contexts:
            raise UsageError(
                f"{_name(other)} takes {sorted(parameters.keys() - contexts)}, "
                f"{_name(self.function)} takes {sorted(wanted)}",
                hint="Give both functions the same parameters.",
            )

        def call(arguments: Mapping[str, Any], context: ToolContext) -> T:
            return other(**arguments, **dict.fromkeys(contexts, context))

        return call


def _field(function: Callable[..., object], parameter: inspect.Parameter, text: str) -> Field:
    if parameter.annotation is inspect.Parameter.empty and parameter.name in ("self", "cls"):
        _refuse(
            function,
            parameter,
            "is the object of a method",
            "Decorate a function, or make the tool of the bound method: `tool(obj.method)`.",
        )
    if parameter.annotation is inspect.Parameter.empty:
        _refuse(
            function,
            parameter,
            "has no annotation",
            f"Write what it takes, such as `{parameter.name}: str`: the model is told.",
        )
    default = REQUIRED if parameter.default is inspect.Parameter.empty else parameter.default
    try:
        return field_of(parameter.name, parameter.annotation, default, text)
    except Inexpressible as error:
        _refuse(
            function,
            parameter,
            f"cannot be told to a model: {error}",
            "Use str, int, float, bool, lists, dicts with string keys, Literal, enums, attrs "
            "classes, dataclasses or TypedDicts of these.",
        )


def _parameters(function: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """The parameters by name, their annotations resolved."""
    parameters = inspect.signature(function).parameters
    for parameter in parameters.values():
        if fault := _UNNAMED.get(parameter.kind):
            _refuse(
                function, parameter, fault, "Give the tool parameters with names and annotations."
            )
    return {
        name: parameter.replace(annotation=_resolved(function, parameter))
        for name, parameter in parameters.items()
    }


def _resolved(function: Callable[..., object], parameter: inspect.Parameter) -> Any:
    """The annotation, evaluated where it is a string.

    One at a time: so a return annotation that only the type checker can see does no harm, and a
    fault can name its parameter. `ToolContext` is known even where only the type checker imports
    it, for that is how linters like it best.
    """
    known = {"ToolContext": ToolContext, **getattr(_innermost(function), "__globals__", {})}
    holder = types.SimpleNamespace(__annotations__={"it": parameter.annotation})
    try:
        return typing.get_type_hints(holder, globalns=known, include_extras=True)["it"]
    except (NameError, SyntaxError, AttributeError, TypeError) as error:
        _refuse(
            function,
            parameter,
            f"has an annotation that cannot be resolved: {error}",
            "Define or import at the level of the module what the annotation names; an import "
            "under `if TYPE_CHECKING` is not there when the program runs.",
        )


def _innermost(function: Any) -> Any:
    """The plain function inside partials, wrappers, methods and callable objects."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function):
        function = function.__call__
    return inspect.unwrap(function)


def _is_context(annotation: Any) -> bool:
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return ToolContext in typing.get_args(annotation)
    return annotation is ToolContext


def _contexts(parameters: Mapping[str, inspect.Parameter]) -> tuple[str, ...]:
    return tuple(name for name, each in parameters.items() if _is_context(each.annotation))


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", repr(function))


def _refuse(
    function: Callable[..., object], parameter: inspect.Parameter, what: str, hint: str
) -> NoReturn:
    raise UsageError(f"{_name(function)}: the parameter {parameter.name!r} {what}", hint=hint)
