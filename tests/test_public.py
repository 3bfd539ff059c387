"""What hrns promises by name."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import hrns

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(hrns.__path__, "hrns.")
    if not module.name.rpartition(".")[2].startswith("_")
)


def test_names_of_the_package_are_these() -> None:
    assert sorted(hrns.__all__) == [
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


def test_names_of_the_package_lead_somewhere() -> None:
    assert [name for name in hrns.__all__ if not hasattr(hrns, name)] == []
    assert set(hrns.__all__) <= set(dir(hrns))


@pytest.mark.parametrize("name", MODULES)
def test_module_says_what_of_it_is_public(name: str) -> None:
    module = import_module(name)
    assert module.__doc__
    assert [each for each in module.__all__ if not hasattr(module, each)] == []
    assert sorted(set(module.__all__)) == sorted(module.__all__)


def test_modules_are_found() -> None:
    assert {"hrns.loop", "hrns.cli.exec", "hrns.config.save", "hrns.testing"} <= set(MODULES)
