"""The steps of ReAct: thought, action, observation, answer."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from attrs import field, frozen

__all__ = ["Action", "FinalAnswer", "Observation", "ReActStep", "Thought"]


@frozen
class Thought:
    """The model thinks, and does nothing yet."""

    content: str
    kind: ClassVar[Literal["Thought"]] = "Thought"
    is_final: ClassVar[bool] = False


@frozen
class Action:
    """The model asks for a tool.

    Parameters:
        tool: the tool's name as the model wrote it.
        input: what the tool is given: JSON as text, or text; "" if nothing was written.
        thought: what stood before the action. It does not count when steps are compared.
    """

    tool: str
    input: str = ""
    thought: str = field(default="", eq=False)
    kind: ClassVar[Literal["Action"]] = "Action"
    is_final: ClassVar[bool] = False

    @property
    def content(self) -> str:
        """The input."""
        return self.input


@frozen
class Observation:
    """What came of an action, or what was wrong with a reply."""

    content: str
    kind: ClassVar[Literal["Observation"]] = "Observation"
    is_final: ClassVar[bool] = False


@frozen
class FinalAnswer:
    """The model answers: the loop is over.

    Parameters:
        content: the answer.
        thought: what stood before it. It does not count when steps are compared.
    """

    content: str
    thought: str = field(default="", eq=False)
    kind: ClassVar[Literal["FinalAnswer"]] = "FinalAnswer"
    is_final: ClassVar[bool] = True


ReActStep: TypeAlias = Thought | Action | Observation | FinalAnswer
"""One step; each has `kind`, `is_final` and `content`."""
