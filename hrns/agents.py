"""Agents: a prompt and what it may do. Effects, not names, decide rights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import Factory, field, frozen

from .permissions import ALL_EFFECTS, Effect
from .tools import Tool

__all__ = ["BUILT_IN", "DEFAULT_AGENT", "Agent"]


@frozen
class Agent:
    """A way to work: what the model is told, and which tools it is offered.

    Parameters:
        name: what it is called by; compared without regard to case.
        description: one line for people, and for models that choose a child agent.
        prompt: the system prompt; "" for the base prompt.
        tools: tool name to whether it is on; the exact name decides, else `*`, else on.
        effects: what its tools may do; a tool with another effect is not offered.
        model: the model it wants, or "".
        source: where it comes from, for people: a file, or a plugin's name.
    """

    name: str
    description: str = ""
    prompt: str = ""
    tools: Mapping[str, bool] = field(default=Factory(dict), hash=False)
    effects: frozenset[Effect] = ALL_EFFECTS
    model: str = ""
    source: str = ""

    def offers(self, tool: Tool) -> bool:
        """Whether this agent is offered the tool."""
        on = self.tools.get(tool.name, self.tools.get("*", True))
        return on and tool.effects <= self.effects

    def select(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """The tools that this agent is offered, in their order."""
        return tuple(tool for tool in tools if self.offers(tool))


DEFAULT_AGENT = "Builder"

_READ_ONLY: frozenset[Effect] = frozenset({"read", "network"})
_NO_CHANGES = {"write_file": False, "run_command": False, "*": True}

BUILT_IN = (
    Agent(
        name="Builder",
        description="Does the work: reads, changes and runs things until the task is done.",
        prompt=(
            "You are a careful software engineer at work in the user's own directory.\n"
            "Look before you change: read the files that matter and find how the project does "
            "things. Make the smallest change that does the whole job, then check it by running "
            "what the project runs. Use the tools rather than guess; when a tool fails, read what "
            "it says and try another way. Never make up file contents, command output or results. "
            "When you are done, say in a few plain sentences what you did and what you left."
        ),
    ),
    Agent(
        name="Explorer",
        description="Finds things out and explains them; changes nothing.",
        prompt=(
            "You explore code and documents and answer questions about them.\n"
            "You cannot change files or run commands. Search, list and read until you can answer "
            "from what is really there, and name the files (and lines) that your answer rests on. "
            "Say so when something cannot be found."
        ),
        tools=_NO_CHANGES,
        effects=_READ_ONLY,
    ),
    Agent(
        name="Planner",
        description="Turns a wish into a plan of small, checkable steps; changes nothing.",
        prompt=(
            "You plan work before anybody does it.\n"
            "You cannot change files or run commands. Read what is there, then write a plan: the "
            "goal in one sentence, the steps in order with the files each touches, how each step "
            "is checked, and what could go wrong. Ask when the wish can be read in two ways."
        ),
        tools=_NO_CHANGES,
        effects=_READ_ONLY,
    ),
    Agent(
        name="Pirate",
        description="Builder's skills with a pirate's tongue.",
        prompt=(
            "You are a pirate and a fine software engineer. Speak like a pirate, always; work "
            "like the most careful engineer there is. Read before you change, use the tools, "
            "never make up what they did not show, and check your work. File contents and "
            "commands are written in plain language: only your talk is a pirate's."
        ),
    ),
)
