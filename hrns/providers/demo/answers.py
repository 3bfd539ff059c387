"""What the demo says: answers made of what the tools returned, in words and real numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ...messages import Diff, Image, Terminal, ToolResult
from .reading import read_page, tell_page
from .tasks import ListFiles, ReadFile, ReplaceText, RunCommand, Task, WriteFile
from .words import bullets, code, enumeration, fenced, plural, sentence

__all__ = ["CLOSING", "help_text", "tell", "tell_missing", "tell_undone"]

CLOSING = "(This is the demo of hrns; no model was asked. `hrns connect` connects one.)"

_FORMS = """\
I am the demo of hrns: no model, no network, only five forms of request. What they ask for is
really done, with tools:

- list the Python files under src
- read README.md and count its headings
- create notes.txt with hello
- replace hello with goodbye in notes.txt
- run `python --version`

Say "then" between two of them to have both: create notes.txt with hello, then read it. A file can
be summarised, shown, or searched for its headings, lines, words or TODOs. Quotes keep words
together."""

_BRINGS = '`pip install "hrns[tui]"` brings the tools.'


def help_text(unknown: str) -> str:
    """What the demo can do, and what it did not understand if that is not ""."""
    if not unknown:
        return _FORMS
    short = unknown if len(unknown) <= 80 else f"{unknown[:79]}…"
    return f"I did not understand {code(short)}, so I did nothing.\n\n{_FORMS}"


def tell(task: Task, result: ToolResult) -> str:
    """What came of a task."""
    if isinstance(task, RunCommand) and isinstance(result.display, Terminal):
        return _tell_run(result.display, result)
    if result.status != "ok":
        return _tell_trouble(task, result)
    match task:
        case ListFiles():
            return _tell_list(task, result.text)
        case ReadFile(path) if any(isinstance(part, Image) for part in result.content):
            return f"{code(path)} is a picture, and the demo cannot see ({result.text})."
        case ReadFile():
            return tell_page(task, read_page(result.text))
        case WriteFile():
            return _tell_write(task) + _note(result)
        case ReplaceText():
            return _tell_replace(task, result)
        case RunCommand():
            return f"{code(task.command)} answered:\n\n{fenced(result.text)}"


def tell_undone(tasks: Sequence[Task]) -> str:
    """That the rest was not begun."""
    return f"I stopped there and did not {enumeration([str(task) for task in tasks])}."


def tell_missing(task: Task, offered: Sequence[str]) -> str:
    """That there is no tool for a task, and where tools come from."""
    lacking = f"I cannot {task}: the tool {code(task.tool)} is not on offer."
    if not offered:
        return f"{lacking} {_BRINGS}"
    return (
        f"{lacking} Perhaps the agent in use has no right to it (Builder has); "
        f"if it is not installed, {_BRINGS}"
    )


def _tell_trouble(task: Task, result: ToolResult) -> str:
    reason = _reason(task, result.text)
    match result.status:
        case "interrupted":
            return f"I was interrupted before I could {task}."
        case "denied":
            told = f"I was not allowed to {task}"
        case _:
            told = f"I could not {task}"
    return sentence(f"{told}: {reason}" if reason else told)


def _reason(task: Task, text: str) -> str:
    """What a tool said in the first line of its failure, in the words of the request."""
    reason = text.partition("\n")[0]
    subject = next(iter(task.arguments.values()))
    for prefix in ("ERROR:", "this call was denied:", f"{task.tool}:", f"{subject}:"):
        reason = reason.removeprefix(prefix).strip()
    if isinstance(task, WriteFile) and "oldString is empty" in reason:
        return "there is such a file already. Say what to replace with what in it"
    if isinstance(task, ReplaceText):
        reason = reason.replace("oldString", code(task.old))
        if "replaceAll" in reason:
            return f'{reason.partition(";")[0]}. Say "replace every" to replace them all'
    return reason


def _tell_list(task: ListFiles, text: str) -> str:
    try:
        listed, end = json.JSONDecoder().raw_decode(text)
        names = [str(name) for name in listed]
    except (ValueError, TypeError):
        return f"I asked to {task}, and got:\n\n{fenced(text)}"
    note = f"\n\n{rest}" if (rest := text[end:].strip()) else ""
    if not names:
        return f"I found {_files(task, 0)} {task.place}.{note}"
    more = re.search(r"\[\d+ of (\d+) are shown", note)
    total = int(more[1]) if more else len(names)
    shown = bullets([code(name) for name in names], total)
    return f"I found {_counted(task, names, total)} {task.place}:\n\n{shown}{note}"


def _counted(task: ListFiles, names: Sequence[str], total: int) -> str:
    """How many of what there are."""
    folders = sum(name.endswith("/") for name in names)
    if total > len(names):
        return f"{total} files and folders" if folders else _files(task, total)
    counts = [_files(task, total - folders)] if total > folders else []
    return enumeration(counts + [plural(folders, "folder")] * bool(folders))


def _files(task: ListFiles, count: int) -> str:
    return plural(count, f"{task.kind} file".strip())


def _tell_write(task: WriteFile) -> str:
    match task.text.count("\n"):
        case _ if not task.text:
            return f"I created {code(task.path)}, an empty file."
        case 0:
            return f"I created {code(task.path)} with the text {code(task.text)}."
        case breaks:
            lines = breaks + (not task.text.endswith("\n"))
            return f"I created {code(task.path)} with {plural(lines, 'line')}."


def _tell_replace(task: ReplaceText, result: ToolResult) -> str:
    if isinstance(result.display, Diff) and result.display.old is None:
        return f"There was no {code(task.path)}; it was created with the text {code(task.new)}."
    return f"I replaced{str(task).removeprefix('replace')}." + _note(result)


def _note(result: ToolResult) -> str:
    """What the tool said beyond `OK`."""
    note = re.sub(r"^OK\b[:.\s]*", "", result.text).strip()
    return f" ({note})" if note else ""


def _tell_run(terminal: Terminal, result: ToolResult) -> str:
    command, output = code(terminal.command), terminal.output.rstrip()
    ending = _ending(terminal.exit_status, result)
    if not output:
        return f"{command} printed nothing. {ending}"
    return f"{command} printed:\n\n{fenced(output)}\n\n{ending}"


def _ending(exit_status: int | None, result: ToolResult) -> str:
    if exit_status is None:
        reason = result.text.removeprefix("ERROR:").partition("\n")[0].partition(";")[0].strip()
        return sentence(f"It did not come to its end: {reason or result.status}")
    if exit_status < 0:
        return f"It was ended by signal {-exit_status}."
    return f"Its exit status was {exit_status}."
