"""How a model is offered tools: natively, as text (ReAct), or natively until its server refuses."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..cancel import Cancel
from ..errors import ToolsRefused, UsageError
from .base import Delta, ModelInfo, ModelRequest, Provider, ProviderNotice

if TYPE_CHECKING:
    from .react_mode import ReactMode

__all__ = ["ToolMode", "ToolModes", "with_tool_mode"]

ToolMode: TypeAlias = Literal["native", "react", "auto"]

_MODES = ("native", "react", "auto")


def with_tool_mode(provider: Provider, mode: str | Callable[[str], str]) -> Provider:
    """The provider, offering tools as `mode` says.

    Parameters:
        mode: `native`, `react` or `auto`; or a function that says which it is for a model, such as
            `hrns.config.ProviderConfig.tool_mode_for`.

    Raises:
        UsageError: there is no such mode.
    """
    if callable(mode):
        return ToolModes(provider, mode)
    checked = _checked(mode)
    return provider if checked == "native" else ToolModes(provider, lambda _model: checked)


def _checked(mode: str) -> str:
    if mode not in _MODES:
        raise UsageError(f"there is no tool mode {mode!r}", hint=f"There are {', '.join(_MODES)}.")
    return mode


class ToolModes:
    """A provider that offers tools to each of its models as that can take them.

    Parameters:
        inner: who is asked.
        mode_for: the mode for a model.
    """

    def __init__(self, inner: Provider, mode_for: Callable[[str], str]) -> None:
        self.inner = inner
        self._mode_for = mode_for
        self._refused: set[str] = set()  # models

    def __repr__(self) -> str:
        return f"ToolModes({self.inner!r})"

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
        """The reply as deltas; raises what the inner provider and `ReactMode` raise."""
        mode = _checked(self._mode_for(request.model))
        if mode == "react" or (mode == "auto" and request.model in self._refused):
            return self._react.reply(request, cancel)
        deltas = self.inner.reply(request, cancel)
        return self._or_react(deltas, request, cancel) if mode == "auto" else deltas

    @cached_property
    def _react(self) -> ReactMode:
        from .react_mode import ReactMode

        return ReactMode(self.inner)

    def _or_react(
        self, deltas: Iterator[Delta], request: ModelRequest, cancel: Cancel
    ) -> Generator[Delta, None, None]:
        """The deltas; those of a request without tools if this one is refused for its tools."""
        try:
            for delta in deltas:
                yield delta
                if not isinstance(delta, ProviderNotice):
                    break  # it is answered: what comes now is no refusal
        except ToolsRefused as error:
            refusal = error.message
        else:
            yield from deltas
            return
        self._refused.add(request.model)
        name = request.model or "the model"
        yield ProviderNotice(
            f"{name} is told of its tools in words, and uses them in words: {refusal}"
        )
        yield from self._react.reply(request, cancel)
