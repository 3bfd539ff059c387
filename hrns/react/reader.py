"""Reads a ReAct reply as it comes, in any pieces, up to its first action or its answer.

Theory of operation: the text is read line by line, for labels stand at the head of lines. What
certainly is thought or answer is given out at once, before its line is complete; everything else
waits for the end of its line. So the same text gives the same steps however it is cut up.

The states: `head` (no label yet: this may become a thought, or may be all there is), `thought`,
`block` (a JSON object that may be a call), `action`, `found` (a call in JSON is complete) and
`answer`. `<think>` may open at the head of a line of the first two. What is read ends at a label
that cannot follow, above all at an observation that the model made up.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ..errors import ParseError
from .action import ActionReader, step_in
from .inputs import Brackets, as_json, looks_like_call
from .labels import Label, LabelKind, label_of, may_become_label
from .steps import Action, FinalAnswer, ReActStep, Thought

__all__ = ["Event", "StepReader", "parse_react_step"]

Event: TypeAlias = tuple[Literal["reasoning", "thought", "answer"], str] | Action
"""More text of one kind (`reasoning` is what stands in `<think>`), or the action, whole."""

_State: TypeAlias = Literal["head", "thought", "block", "action", "found", "answer"]

_THINK = re.compile(r"[ \t]*<think>", re.IGNORECASE)
_THOUGHT = re.compile(r"</think>", re.IGNORECASE)
_BLOCK = re.compile(r"[ \t]*(?:<tool_call>[ \t]*)?(?=\{)")
_INPUT = re.compile(
    r"[ \t]*(tool[ _]?)?(input|parameters|params|arguments|args)[ \t]*:", re.IGNORECASE
)
"""What stands for `Action Input:` behind an action, and nowhere else."""

_TAGS = ("<think>", "</think>", "<tool_call>")

NO_STEP = "the reply has neither an action nor a final answer"


class _Growing:
    """Text that is given out as it comes, without the white space around it."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._gap = ""

    def add(self, text: str) -> str:
        """What can be given out by now."""
        if not self._texts:
            text = text.lstrip()
        body = text.rstrip()
        if not body:
            self._gap += text
            return ""
        shown = self._gap + body
        self._gap = text[len(body) :]
        self._texts.append(shown)
        return shown

    @property
    def text(self) -> str:
        return "".join(self._texts)


class StepReader:
    """Reads one reply.

    Attributes:
        done: whether the reply is read as far as it counts: the rest need not be asked for.
        step: the step, once the reader is done; None if there is none.
        fault: what was wrong with the reply, or "".
    """

    def __init__(self) -> None:
        self.done = False
        self.step: ReActStep | None = None
        self._pieces: list[str] = []  # of the line that is not complete yet
        self._settled = False  # whether that line waits for its end, whatever comes
        self._midline = False  # whether its beginning was given out
        self._rest: str | None = None  # of the line, to be read like a line of its own
        self._thinking = False
        self._held = ""  # may become the closing tag
        self._events: list[Event] = []
        self._begin()

    def _begin(self) -> None:
        """Forget everything: what follows is the reply."""
        self.fault = ""
        self._state: _State = "head"
        self._back: _State = "head"  # where a block began
        self._loose: list[str] = []
        self._thought = _Growing()
        self._answer = _Growing()
        self._kept: list[str] = []
        self._action = ActionReader("")
        self._found: Action | FinalAnswer | None = None
        self._block: list[str] = []
        self._brackets = Brackets()

    @property
    def loose(self) -> str:
        """The text without any label, if there is nothing else."""
        return "\n".join(self._loose).strip()

    @property
    def kept(self) -> str:
        """The reply as far as it counts, without what was thought in tags."""
        return "".join(self._kept).strip()

    @property
    def thought(self) -> str:
        """What was thought in the open."""
        return self._thought.text

    def feed(self, text: str) -> list[Event]:
        """What these characters make certain."""
        *lines, tail = text.split("\n")
        for line in lines:
            self._take(line, ends=True)
        if tail:
            self._take(tail, ends=False)
        return self._given_out()

    def end(self) -> list[Event]:
        """The rest; to be called when no more comes. From here on `step` is the step."""
        self._take("", ends=True)
        if not self.done:
            self._finish()
        return self._given_out()

    def _given_out(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _take(self, text: str, *, ends: bool) -> None:
        """Take more of a line, to its end or not."""
        self._rest = text
        while self._rest is not None and not self.done:
            text, self._rest = self._rest, None
            self._take_once(text, ends=ends)

    def _take_once(self, text: str, *, ends: bool) -> None:
        if self._thinking:
            self._think(text, ends=ends)
            return
        if self._midline:
            self._show(f"{text}\n" if ends else text)
            self._midline = not ends
            return
        self._pieces.append(text)
        if ends:
            line = "".join(self._pieces)
            self._pieces.clear()
            self._settled = False
            self._line(line)
        elif not self._settled:
            self._peek("".join(self._pieces))

    def _think(self, text: str, *, ends: bool) -> None:
        """Give out what is thought in tags."""
        text = self._held + text
        self._held = ""
        if tag := _THOUGHT.search(text):
            self._thinking = False
            self._give("reasoning", text[: tag.start()])
            self._rest = text[tag.end() :]
            return
        if ends:
            text += "\n"
        else:
            start = text.rfind("<")
            if start >= 0 and "</think>".startswith(text[start:].lower()):
                self._held = text[start:]
                text = text[:start]
        self._give("reasoning", text)

    def _give(self, kind: Literal["reasoning", "thought", "answer"], text: str) -> None:
        if text:
            self._events.append((kind, text))

    def _show(self, text: str) -> None:
        """Give out text of the thought or the answer."""
        self._kept.append(text)
        self._grow(text)

    def _grow(self, text: str) -> None:
        if self._state == "answer":
            self._give("answer", self._answer.add(text))
        else:
            self._give("thought", self._thought.add(text))

    def _peek(self, line: str) -> None:
        """Give out the beginning of a line if it is certain what it is."""
        if self._state not in ("head", "thought", "answer"):
            self._settled = True
            return
        label = self._label(line)
        if label is not None:
            if label.end == len(line):
                return
            self._settled = label.kind not in ("thought", "answer") or bool(label.stars)
            if not self._settled:
                self._kept.append(line[: label.end])
                self._open(label.kind)
                self._show_midline(line[label.end :])
        elif not self._may_become_more(line):
            self._settled = self._state == "head"
            if not self._settled:
                self._show_midline(line)

    def _show_midline(self, text: str) -> None:
        self._pieces.clear()
        self._midline = True
        self._show(text)

    def _label(self, line: str) -> Label | None:
        """The label of a line, if it counts here: an answer may hold any but one."""
        label = label_of(line)
        if self._state != "answer" or label is None or label.kind == "observation":
            return label
        return None if self._answer.text else label  # an answer that is nothing is none

    def _may_become_more(self, line: str) -> bool:
        """Whether the beginning of a line may still become a label, a tag or a call."""
        if may_become_label(line):
            return True
        if self._state == "answer":
            return False
        start = line.lstrip(" \t").lower()
        if start.startswith(("{", *_TAGS)):
            self._settled = True
            return True
        return any(tag.startswith(start) for tag in _TAGS)

    def _line(self, line: str) -> None:
        """Take a line that is complete."""
        self._kept.append(f"{line}\n")
        label = self._label(line)
        match self._state:
            case "head" | "thought":
                self._open_line(line, label)
            case "block":
                self._block_line(line, label)
            case "action":
                self._action_line(line, label)
            case "found":
                self._found_line(line, label)
            case "answer":
                if label is None:
                    self._grow(f"{line}\n")
                elif label.kind == "observation":
                    self._stop()
                else:
                    self._labelled_line(line, label)

    def _stop(self) -> None:
        """What was read ends before this line."""
        self._kept.pop()
        self._finish()

    def _open_line(self, line: str, label: Label | None) -> None:
        """A line where anything may begin."""
        if label is not None:
            self._labelled_line(line, label)
        elif tag := _THINK.match(line):
            self._kept.pop()
            self._thinking = True
            self._rest = line[tag.end() :]
        elif self._state == "head" and (tag := _THOUGHT.search(line)):
            self._was_thinking(line, tag)
        elif self._state == "thought" and (tag := _THOUGHT.match(line.lstrip(" \t"))):
            self._was_thinking(line.lstrip(" \t"), tag)
        elif block := _BLOCK.match(line):
            self._block, self._brackets = [], Brackets()
            self._back, self._state = self._state, "block"
            self._block_line(line[block.end() :], None)
        elif line.strip().lower() != "<tool_call>":
            self._plain(f"{line}\n")

    def _plain(self, text: str) -> None:
        if self._state == "head":
            self._loose.append(text.removesuffix("\n"))
        else:
            self._grow(text)

    def _labelled_line(self, line: str, label: Label) -> None:
        rest = label.rest(line)
        match label.kind:
            case "thought" | "answer":
                self._open(label.kind)
                self._grow(f"{rest}\n")
            case "action":
                self._action = ActionReader(rest)
                if self._action.names_none:
                    self.fault = "the action names no tool"
                    return
                self._open_thought()
                self._state = "action"
                self._outside(self._action.outside)
            case "input" if self._action.names_none:
                pass  # of no tool
            case "input":
                self.fault = "an Action Input has no Action before it"
                self._plain(f"{line}\n")
            case "observation":
                self._stop()

    def _open(self, kind: LabelKind) -> None:
        """A thought or the answer begins."""
        self._open_thought()
        self._state = "answer" if kind == "answer" else "thought"

    def _open_thought(self) -> None:
        """What had no label so far was thought."""
        if self._loose:
            text = "\n".join(self._loose)
            self._loose.clear()
            self._give("thought", self._thought.add(text))
        self._give("thought", self._thought.add("\n"))

    def _was_thinking(self, line: str, tag: re.Match[str]) -> None:
        """A tag closes that nothing opened: all before it was thought in tags."""
        before = "\n".join((*self._loose, line[: tag.start()]))
        self._begin()
        self._give("reasoning", before)
        self._rest = line[tag.end() :]

    def _block_line(self, line: str, label: Label | None) -> None:
        if label is not None and not self._brackets.in_string:
            self._kept.pop()
            self._give_up_block()
            self._line(line)
            return
        self._block.append(f"{line}\n")
        end = self._brackets.feed(f"{line}\n")
        if end is None:
            return
        value = as_json("".join(self._block)[:end])
        found = step_in(value, self.thought) if value else None
        if found is None:
            self._give_up_block()
        else:
            self._block.clear()
            self._state = self._back
            self._open_thought()
            self._state, self._found = "found", found

    def _give_up_block(self) -> None:
        """What looked like JSON is no call: it is text like any other."""
        text = "".join(self._block)
        self._block.clear()
        self._state = self._back
        if looks_like_call(text):
            self.fault = "a call in JSON is not complete, or not of a form that is known"
        self._plain(text)

    def _action_line(self, line: str, label: Label | None) -> None:
        action = self._action
        if label is not None and label.kind == "input" and not action.labelled:
            self._outside(action.take_label(label.rest(line)))
        elif not action.labelled and not action.complete and (named := _INPUT.match(line)):
            self._outside(action.take_label(line[named.end() :]))
        elif label is not None and not action.in_string:
            self._stop()
        else:
            if action.complete:
                self._kept.pop()
            self._outside(action.take(line))

    def _found_line(self, line: str, label: Label | None) -> None:
        self._kept.pop()
        if label is None:
            self._outside(line)
        else:
            self._finish()

    def _outside(self, text: str) -> None:
        """Text behind an action, or that is its input: a closing tag in it undoes the action."""
        if tag := _THOUGHT.search(text):
            self._was_thinking(text, tag)

    def _finish(self) -> None:
        """Say what the step is."""
        self.done = True
        if self._state == "block":
            self._give_up_block()
        match self._state:
            case "head":
                self.step = None
            case "thought":
                self.step = None if self.fault else Thought(self.thought)
            case "answer":
                self.step = FinalAnswer(self._answer.text, self.thought)
            case "action":
                self.step = self._action.step(self.thought)
                self.fault = "" if self.step else "the action names no tool"
            case _:
                self.step = self._found
        if isinstance(self.step, Action):
            self._events.append(self.step)
        elif self._state != "answer" and isinstance(self.step, FinalAnswer):
            self._give("answer", self.step.content)


def parse_react_step(text: str) -> ReActStep:
    """The step that a reply of a model makes: its first action, its answer, or its thought.

    What the model made up behind its first action is not looked at.

    Raises:
        ParseError: there is no step in it.
    """
    reader = StepReader()
    reader.feed(text)
    reader.end()
    if reader.step is None:
        raise no_step(reader, text)
    return reader.step


def no_step(reader: StepReader, text: str) -> ParseError:
    """The error that a reply without a step stands for."""
    return ParseError(f"{NO_STEP}: {reader.fault}" if reader.fault else NO_STEP, reply=text)
