"""ReAct as text, and native tool calling, driven by hand: no I/O, no threads, no provider.

::

    agent = Agent()
    agent.tools.register(ToolSpec("capital", "The capital of a country.", '{"type": "string"}'),
                         lambda country: CAPITALS[country])
    agent.with_system_prompt().ask("What is the capital of France?")
    while not (step := agent.step(ask_a_model(agent.transcript()))).is_final:
        pass
    print(step.content)

`hrns.providers.react_mode` gives the ordinary loop the same format, for models that cannot call
tools.
"""

from __future__ import annotations

from ..errors import (
    HistoryOverflow,
    InvalidToolSignature,
    MaxIterationsExceeded,
    ParseError,
    ReactError,
    Serialization,
    Timeout,
    ToolFailed,
    ToolNotFound,
)
from .history import ConversationHistory
from .native import (
    tool_results_anthropic,
    tool_results_ollama,
    tool_results_openai,
    tool_results_responses,
)
from .reader import parse_react_step
from .registry import ToolRegistry, ToolResult, ToolSpec, system_prompt
from .runner import Agent, AgentConfig, Final, LoopRunner, NativeStep, ToolCalls
from .steps import Action, FinalAnswer, Observation, ReActStep, Thought

__all__ = [
    "Action",
    "Agent",
    "AgentConfig",
    "ConversationHistory",
    "Final",
    "FinalAnswer",
    "HistoryOverflow",
    "InvalidToolSignature",
    "LoopRunner",
    "MaxIterationsExceeded",
    "NativeStep",
    "Observation",
    "ParseError",
    "ReActStep",
    "ReactError",
    "Serialization",
    "Thought",
    "Timeout",
    "ToolCalls",
    "ToolFailed",
    "ToolNotFound",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "parse_react_step",
    "system_prompt",
    "tool_results_anthropic",
    "tool_results_ollama",
    "tool_results_openai",
    "tool_results_responses",
]
