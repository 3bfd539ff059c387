"""What a model without tool calling is told: the rules, the tools, and what it forgot.

The texts are put together, never formatted: braces in schemas and in what people write mean nothing
here. The forms that a model is shown are written by the same functions that write down what it did,
so what it is asked for is what is read back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

__all__ = [
    "REMINDER",
    "RULES",
    "ToolText",
    "action_text",
    "answer_text",
    "observation_text",
    "standard_prompt",
    "tools_text",
]

ToolText: TypeAlias = tuple[str, str, str]
"""A tool's name, its description, and the JSON Schema of its input as text."""


def action_text(tool: str, given: str, thought: str = "") -> str:
    """An action as a model is to write it; without the line of the input if there is none."""
    lines = [f"Thought: {thought}"] if thought else []
    lines.append(f"Action: {tool}")
    if given:
        lines.append(f"Action Input: {given}")
    return "\n".join(lines)


def answer_text(answer: str, thought: str = "") -> str:
    """An answer as a model is to write it."""
    return f"Thought: {thought}\nFinal Answer: {answer}" if thought else f"Final Answer: {answer}"


def observation_text(output: str) -> str:
    """What came of an action, as a model is told."""
    return f"Observation: {output}"


_ACTION = action_text("<name of the tool>", "<its input as JSON, on one line>", "<what you need>")
_ANSWER = answer_text("<the answer>", "<why you can answer>")

RULES = f"""\
You work in steps. Each of your replies is one step, in one of these two forms.

To use a tool:

{_ACTION}

To answer:

{_ANSWER}

Write one step and stop: at most one action, and nothing behind it. What the tool gives comes in \
the next message, behind the word Observation. Never write an observation yourself, and use only \
the tools that are listed here."""
"""The rules of the format, without the tools."""

REMINDER = f"""\
Your reply was not in the form that is needed. Use a tool:

{_ACTION}

or answer:

{_ANSWER}"""
"""What a model is told that kept to neither form."""


def tools_text(tools: Iterable[ToolText]) -> str:
    """The tools as a list: name, description and the schema of the input."""
    return "\n".join(_tool_text(*tool) for tool in tools) or "(There are no tools.)"


def _tool_text(name: str, description: str, schema: str) -> str:
    described = description.strip().replace("\n", "\n  ")
    return f"- {name}: {described}\n  Input: {schema}"


def standard_prompt(tools: str) -> str:
    """The rules of the format, and the list of tools as `tools_text` gives it."""
    return f"{RULES}\n\nThe tools:\n\n{tools}"
