"""hrns: a small, fast, pluggable harness for tool-using AI agents.

Drive a model through tools in a program of your own::

    from hrns import Loop, tool

    for chunk in Loop(provider, [my_tool]).run(messages, model="..."):
        ...

The names of `__all__` are loaded when they are first used, so `import hrns` costs nothing.
"""

from __future__ import annotations

from ._version import __version__

TYPE_CHECKING = False  # `typing` alone would double what `hrns --version` takes
if TYPE_CHECKING:
    from .agents import Agent
    from .cancel import Cancel
    from .chunks import (
        Chunk,
        EndChunk,
        ErrorChunk,
        MessageChunk,
        ReasoningChunk,
        ToolCallResultChunk,
        ToolCallStartChunk,
    )
    from .context import SessionContext, ToolContext
    from .errors import HrnsError, ToolFailure
    from .loop import Limits, Loop
    from .markers import hookimpl
    from .messages import (
        AssistantMessage,
        Image,
        SystemMessage,
        Text,
        ToolCall,
        ToolMessage,
        ToolResult,
        UserMessage,
    )
    from .permissions import Access, Answer, Prepared, Question, Verdict
    from .providers.base import ModelOptions, ModelRequest, Provider
    from .records import Frontend, PromptSection, ProviderKind, Skill, SlashCommand
    from .session import Session, open_session
    from .tools import SimpleTool, Tool, ToolArgument, tool

__all__ = [
    "Access",
    "Agent",
    "Answer",
    "AssistantMessage",
    "Cancel",
    "Chunk",
    "EndChunk",
    "ErrorChunk",
    "Frontend",
    "HrnsError",
    "Image",
    "Limits",
    "Loop",
    "MessageChunk",
    "ModelOptions",
    "ModelRequest",
    "Prepared",
    "PromptSection",
    "Provider",
    "ProviderKind",
    "Question",
    "ReasoningChunk",
    "Session",
    "SessionContext",
    "SimpleTool",
    "Skill",
    "SlashCommand",
    "SystemMessage",
    "Text",
    "Tool",
    "ToolArgument",
    "ToolCall",
    "ToolCallResultChunk",
    "ToolCallStartChunk",
    "ToolContext",
    "ToolFailure",
    "ToolMessage",
    "ToolResult",
    "UserMessage",
    "Verdict",
    "__version__",
    "hookimpl",
    "open_session",
    "tool",
]

_MODULES = {
    "agents": ("Agent",),
    "cancel": ("Cancel",),
    "chunks": (
        "Chunk",
        "EndChunk",
        "ErrorChunk",
        "MessageChunk",
        "ReasoningChunk",
        "ToolCallResultChunk",
        "ToolCallStartChunk",
    ),
    "context": ("SessionContext", "ToolContext"),
    "errors": ("HrnsError", "ToolFailure"),
    "loop": ("Limits", "Loop"),
    "messages": (
        "AssistantMessage",
        "Image",
        "SystemMessage",
        "Text",
        "ToolCall",
        "ToolMessage",
        "ToolResult",
        "UserMessage",
    ),
    "permissions": ("Access", "Answer", "Prepared", "Question", "Verdict"),
    "markers": ("hookimpl",),
    "providers.base": ("ModelOptions", "ModelRequest", "Provider"),
    "records": ("Frontend", "PromptSection", "ProviderKind", "Skill", "SlashCommand"),
    "session": ("Session", "open_session"),
    "tools": ("SimpleTool", "Tool", "ToolArgument", "tool"),
}

_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'hrns' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"hrns.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
