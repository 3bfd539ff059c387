"""What the demo can be asked to do: one value and one tool call each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from attrs import frozen

from .words import code

__all__ = [
    "ListFiles",
    "Plan",
    "Question",
    "ReadFile",
    "ReplaceText",
    "RunCommand",
    "Task",
    "WriteFile",
]

Question: TypeAlias = Literal["headings", "lines", "words", "characters", "summary", "show"]


@frozen
class ListFiles:
    """List the files in a folder. `kind` is what they are called: `Python`, `.toml`, or ""."""

    folder: str = "."
    pattern: str = "*"
    kind: str = ""
    tool: ClassVar[str] = "list_files"

    @property
    def arguments(self) -> Mapping[str, str]:
        """The arguments of the call."""
        return {"dir": self.folder, "globPattern": self.pattern}

    @property
    def place(self) -> str:
        """Where it looks, as in `under src`."""
        if self.folder == ".":
            return "here and below" if self.pattern.startswith("**/") else "here"
        return f"{'under' if self.pattern.startswith('**/') else 'in'} {code(self.folder)}"

    def __str__(self) -> str:
        return f"list the {self.kind + ' ' if self.kind else ''}files {self.place}"


@frozen
class ReadFile:
    """Read a file and answer questions about it; `needles` are texts to be counted in it."""

    path: str
    questions: tuple[Question, ...] = ()
    needles: tuple[str, ...] = ()
    tool: ClassVar[str] = "read_file"

    @property
    def arguments(self) -> Mapping[str, str]:
        """The arguments of the call."""
        return {"fileName": self.path}

    def __str__(self) -> str:
        return f"read {code(self.path)}"


@frozen
class WriteFile:
    """Create a file that holds exactly this text."""

    path: str
    text: str
    tool: ClassVar[str] = "write_file"

    @property
    def arguments(self) -> Mapping[str, str]:
        """The arguments of the call."""
        return {"fileName": self.path, "oldString": "", "newString": self.text}

    def __str__(self) -> str:
        return f"create {code(self.path)}"


@frozen
class ReplaceText:
    """Replace one text with another in a file: where it stands once, or wherever it stands."""

    path: str
    old: str
    new: str
    every: bool = False
    tool: ClassVar[str] = "write_file"

    @property
    def arguments(self) -> Mapping[str, object]:
        """The arguments of the call."""
        everywhere = {"replaceAll": True} if self.every else {}
        texts = {"oldString": self.old, "newString": self.new}
        return {"fileName": self.path, **texts, **everywhere}

    def __str__(self) -> str:
        every = "every " if self.every else ""
        return f"replace {every}{code(self.old)} with {code(self.new)} in {code(self.path)}"


@frozen
class RunCommand:
    """Run a command line."""

    command: str
    tool: ClassVar[str] = "run_command"

    @property
    def arguments(self) -> Mapping[str, str]:
        """The arguments of the call."""
        return {"command": self.command}

    def __str__(self) -> str:
        return f"run {code(self.command)}"


Task: TypeAlias = ListFiles | ReadFile | WriteFile | ReplaceText | RunCommand
"""`str()` of a task says it as an infinitive: `read README.md`."""


@frozen
class Plan:
    """What a request asks for.

    Parameters:
        steps: done one after another; the tasks of one step are called for in one reply.
        unknown: the part of the request that was not understood, or "". There are no steps then:
            half of what was asked may be worse than nothing.
        file: the file that `it` would mean afterwards, or "".
    """

    steps: tuple[tuple[Task, ...], ...] = ()
    unknown: str = ""
    file: str = ""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of all steps, in order."""
        return tuple(task for step in self.steps for task in step)
