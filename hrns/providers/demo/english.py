"""Plain English to a plan.

Theory of operation: the quoted parts of the text are marked, so that no rule looks inside them. The
text is cut into clauses at "then", and at "and", a comma or the end of a sentence where a verb of
ours follows. Each clause must fit a form; where one does not, nothing is done, and the clause is
named in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .forms import list_files, read_files, replace_text, run_command, write_file
from .quoting import Marked
from .tasks import ListFiles, Plan, ReadFile, RunCommand, Task, WriteFile

__all__ = ["understand"]

_VERB = (
    r"(?:(?:please|also|now)\s+){0,3}"
    r"(?:list|find|read|open|create|write|make|save|put|replace|change|swap|run|execute)\b"
)
_GAP = r"[\s,;.!?]"  # looked for only where a run of it begins: long runs would cost their square
_SEPARATOR = re.compile(
    rf"(?<!{_GAP}){_GAP}+(?:and\s+)?"
    rf"(?:(?:then|after\s+that|afterwards|finally)\b,?\s+|(?={_VERB}))",
    re.IGNORECASE,
)
_THEN = re.compile(r"then|after|finally", re.IGNORECASE)
_POLITE = re.compile(
    r"(?:(?:please|kindly|hi|hello|hey|okay|ok|now|also|first|firstly|so|and|then|next|just)\b[,:!]?"
    r"|(?:can|could|would|will)\s+you\b|let'?s\b|help\s+me\b(?:\s+to\b)?"
    r"|i(?:'d|\s+would)?\s+(?:want|like|need)\s+(?:you\s+)?to\b|\s+)*",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"(?:(?<![\s,])[\s,]*\b(?:please|thanks|thank\s+you|for\s+me)\b)?(?<=[^\s.!?,;:])[.!?,;:]*\s*$",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\W*(?:(?:hi|hello|hey|help|thanks|thank\s+you|what\s+can\s+you\s+do|who\s+are\s+you)\W*)*",
    re.IGNORECASE,
)
_IN_FILE = re.compile(r"\s*in\s+\S+", re.IGNORECASE)  # "in notes.txt, replace ..." goes on


_ATTACHED = re.compile(
    r"(?:\A|\n\n)I ran `.{1,4000}?`; exit status \S+\.\n\n"
    r"(?P<fence>`{3,})\n.*?\n(?P=fence)(?=\n|\Z)",
    re.DOTALL,
)
"""The output of a command that the person ran at the prompt, which goes along with the request."""


def understand(text: str, file: str = "") -> Plan:
    """What the text asks for, whatever output goes along with it.

    Parameters:
        file: what `it` means at its beginning.
    """
    text = _ATTACHED.sub("", text).strip() or text
    if _SMALL_TALK.fullmatch(text):
        return Plan(file=file)
    marked = Marked.of(text)
    steps: list[tuple[Task, ...]] = []
    previous = ""
    for separator, clause in _clauses(marked.text):
        follows = bool(_THEN.search(separator))
        tasks = _fit(clause, marked, file)
        if not tasks and steps and not follows and isinstance(steps[-1][0], WriteFile):
            steps.pop()  # "create list.txt with eggs and make it two": the text has a verb of ours
            clause = previous + separator + clause  # noqa: PLW2901
            tasks = _fit(clause, marked, file)
        if not tasks:
            return Plan(unknown=marked.as_written(clause).strip(), file=file)
        file = _file(tasks) or file
        if steps and not follows and _only_look((steps[-1][-1], *tasks)):
            tasks = steps.pop() + tasks
        steps.append(tasks)
        previous = clause
    return Plan(tuple(steps), file=file)


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """Each clause with the separator before it."""
    start, separator = 0, ""
    for match in _SEPARATOR.finditer(text):
        clause = text[start : match.start()]
        if _separates(match[0]) and not _IN_FILE.fullmatch(clause):
            yield separator, clause
            start, separator = match.end(), match[0]
    yield separator, text[start:]


def _separates(gap: str) -> bool:
    """Whether clauses end here: not at a mere space, and not at a dot inside a name."""
    return bool(gap.strip(" ")) and any(character.isspace() for character in gap)


def _fit(clause: str, marked: Marked, file: str) -> tuple[Task, ...]:
    """The tasks of the form that the clause fits, or none."""
    said = _POLITE.sub("", clause, count=1).strip()
    plain = _THANKS.sub("", said, count=1)
    words = " ".join(plain.split())
    return (
        run_command(plain, marked)
        or replace_text(plain, marked, file)
        or write_file(said, marked)
        or list_files(words, marked)
        or read_files(words, marked, file)
    )


def _file(tasks: tuple[Task, ...]) -> str:
    """The file that the last of the tasks is about, or ""."""
    last = tasks[-1]
    return "" if isinstance(last, ListFiles | RunCommand) else last.path


def _only_look(tasks: tuple[Task, ...]) -> bool:
    return all(isinstance(task, ListFiles | ReadFile) for task in tasks)
