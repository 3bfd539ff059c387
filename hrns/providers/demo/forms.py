"""The five forms of request, each a function from a clause to tasks; () if it does not fit.

A clause must fit whole: where a word would be left over, the form does not fit, for the demo must
not do half of what it was asked and call it done.
"""

from __future__ import annotations

import re

from attrs import evolve

from .quoting import MARK, Marked
from .tasks import (
    ListFiles,
    Question,
    ReadFile,
    ReplaceText,
    RunCommand,
    Task,
    WriteFile,
)
from .words import code

__all__ = ["list_files", "read_files", "replace_text", "run_command", "write_file"]

_PATH = (
    rf"(?:@?{MARK}"
    r"|(?<![^\s(])@[\w~+./-]*[\w/]"
    r"|(?<![^\s(])(?:[\w@~+./-]*/(?:[\w@~+./-]*[\w/])?"
    r"|[\w@~+-]*\.[\w.-]*\w"
    r"|(?:README|LICEN[CS]E|NOTICE|CHANGELOG|CONTRIBUTING|AUTHORS|Makefile|Dockerfile)\b))"
)


def _path(said: str, marked: Marked) -> str:
    """The path that is meant: prompts put an `@` before the names of files."""
    return marked.value(said.strip().removeprefix("@"))


def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


# run `python --version`

_RUN = _regex(
    rf"(?:run|execute)(?:\s+|:\s*)(?:(?:the|this)\s+(?=(?:shell\s+)?command\b|{MARK}))?"
    rf"(?:(?:shell\s+)?command\b\s*)?:?\s*(?P<command>{MARK}|\S.*?)"
    r"(?:,?\s+(?:and|to)\s+(?:tell|show|report|see|give|print|say|check)\b.*)?"
)
_NO_COMMAND = _regex(r"(?:the|a|an|my|our|your|it|all|some|this|that|these)\b")


def run_command(clause: str, marked: Marked) -> tuple[Task, ...]:
    """The command to run; unquoted, it goes to the end of the clause."""
    match = _RUN.fullmatch(clause)
    if not match or _NO_COMMAND.match(match["command"]):
        return ()
    return (RunCommand(marked.value(match["command"])),)


# replace foo with bar in notes.txt

_REPLACE = _regex(
    rf"(?:in\s+(?:the\s+file\s+)?(?P<before>{_PATH}|it)\s*,?\s+)?"
    r"(?:replace|change|swap|substitute)\s+(?P<every>(?:all|every|each)\s+(?:the\s+)?)?"
    r"(?:occurrences?\s+of\s+)?(?:(?:the|word|text|string)\s+)*"
    r"(?P<old>\S.*?)\s+(?:with|by|to|for|into)\s+(?P<new>\S.*?)"
    rf"(?:\s+(?:in|inside|within|of)\s+(?:the\s+file\s+)?(?P<after>{_PATH}|it))?"
)


def replace_text(clause: str, marked: Marked, file: str) -> tuple[Task, ...]:
    """What to replace with what, and where; `it` is `file`."""
    match = _REPLACE.fullmatch(clause)
    if not match:
        return ()
    said = match["before"] or match["after"] or "it"
    path = file if said.lower() == "it" else _path(said, marked)
    old, new = marked.value(match["old"]), marked.value(match["new"])
    return (ReplaceText(path, old, new, bool(match["every"])),) if path else ()


# create notes.txt with hello

_CALLED = r"(?:(?:an?|the)\s+)?(?:(?:new|text|empty)\s+)*(?:file\s+)?(?:(?:called|named)\s+)?"
_CREATE = _regex(
    rf"(?:create|write|make|save)\s+(?:me\s+)?{_CALLED}(?P<path>{_PATH})"
    r"(?:\s*,?\s*(?::|(?:with|containing|saying|holding|that\s+(?:contains|says|holds|reads))\b)"
    r"\s*(?:(?:the|this)\s+)?(?:following\s+)?(?:(?:text|contents?|words?|line)\b\s*)?:?+\s*"
    r"(?P<text>\S.*)|\W*)"
)
_PUT = _regex(
    rf"(?:write|put|save)\s+(?P<text>\S.*?)\s+(?:to|into|in|as)\s+{_CALLED}(?P<path>{_PATH})\W*"
)


def write_file(clause: str, marked: Marked) -> tuple[Task, ...]:
    """The file to create; the text is taken exactly as it stands."""
    match = _CREATE.fullmatch(clause) or _PUT.fullmatch(clause)
    if not match:
        return ()
    return (WriteFile(_path(match["path"], marked), marked.value(match["text"] or "")),)


# list the Python files under src

_KINDS = {
    "python": ("Python", "py"),
    "markdown": ("Markdown", "md"),
    "text": ("text", "txt"),
    "json": ("JSON", "json"),
    "yaml": ("YAML", "yaml"),
    "toml": ("TOML", "toml"),
    "csv": ("CSV", "csv"),
    "html": ("HTML", "html"),
    "css": ("CSS", "css"),
    "javascript": ("JavaScript", "js"),
    "typescript": ("TypeScript", "ts"),
    "shell": ("shell", "sh"),
    "rust": ("Rust", "rs"),
    "go": ("Go", "go"),
    "java": ("Java", "java"),
    "c": ("C", "c"),
}
_FOLDER = (
    r"(?:(?:the|this|my|our)\s+)?(?:current\s+|working\s+)?(?:(?:folder|directory)\s+(?=\S))?"
    rf"(?P<folder>@?{MARK}|[^\s,;?!]+)(?:\s+(?:folder|directory))?"
)
_LISTING = _regex(
    r"(?:(?:list|ls|show|find|give|tell|count|get|me|us|which|what|how|many|all|of|any|every|the"
    r"|my|our|names?)\s+)*"
    rf"(?:(?:(?P<kind>\S+)\s+(?:source\s+|code\s+)?)?files|(?P<glob>(?!{MARK})\S*[*?]\S*))"
    r"(?:\s+(?:are|there|that|which|exist|do|we|i|you|have))*"
    rf"(?:\s+(?P<where>under|below|inside|within|in|from|at)\s+{_FOLDER}|\s+here)?"
    r"(?:\s+(?:are|there|exist))*"
)
_LIST_FOLDER = _regex(rf"(?:list|ls)(?:\s+(?:everything\s+(?:in|(?P<where>under))\s+)?{_FOLDER})?")
_HERE = {"here", "folder", "directory", "project", "repository", "everything", "."}
_BELOW = _regex(r"\s+(?:recursively|and\s+below|(?:and|including)\s+(?:\w+\s+)?sub\w+)")
_COUNTING = _regex(r"(?:count|tell|say|how)\b.*\b(?:them|there|many)\b.*")


def list_files(clause: str, marked: Marked) -> tuple[Task, ...]:
    """The files to list: of a kind or all, in a folder or (`under`) also below it."""
    plain = _BELOW.sub("", clause)
    first, *others = re.split(r"\s*,\s+(?:and\s+)?|\s+and\s+", plain)
    listings = [_listing(first, marked)]
    for other in others:
        if listings[0] and re.fullmatch(rf"@?(?:{MARK}|[\w./-]+)", other):
            listings.append(evolve(listings[0], folder=_path(other, marked)))
        elif not _COUNTING.fullmatch(other):
            listings.append(_listing(other, marked))
    found = [_deep(each) if plain != clause else each for each in listings if each]
    return tuple(found) if len(found) == len(listings) else ()


def _listing(part: str, marked: Marked) -> ListFiles | None:
    match = _LISTING.fullmatch(part) or _LIST_FOLDER.fullmatch(part)
    if not match:
        return None
    said = match.groupdict(default="")
    folder, glob = _split_glob(said.get("glob") or _path(said["folder"], marked))
    if said.get("glob") and said["folder"]:
        folder = _path(said["folder"], marked)
    kind = (code(glob), glob) if glob else _kind(marked.value(said.get("kind", "")))
    if not kind:
        return None
    listing = ListFiles("." if folder.lower() in _HERE else folder, kind[1], kind[0])
    return _deep(listing) if said["where"] in ("under", "below") else listing


def _deep(listing: ListFiles) -> ListFiles:
    """The same, with everything below the folder."""
    if listing.pattern.startswith("**/"):
        return listing
    return evolve(listing, pattern=f"**/{listing.pattern}")


def _split_glob(path: str) -> tuple[str, str]:
    """The folder and the pattern (or "") of a path that may have wildcards."""
    match = re.fullmatch(r"(?:([^*?]*)/)?([^/]*[*?].*)", path)
    return (match[1] or ".", match[2]) if match else (path or ".", "")


def _kind(word: str) -> tuple[str, str] | None:
    """What files of this kind are called, and their pattern; None for a kind unheard of."""
    if not word:
        return "", "*"
    if match := re.fullmatch(r"\*?(\.\w+)", word):
        return match[1], f"*{match[1]}"
    label, suffix = _KINDS.get(word.lower(), ("", ""))
    return (label, f"*.{suffix}") if label else None


# read README.md and count its headings

_QUESTIONS: dict[Question, re.Pattern[str]] = {
    "headings": _regex(r"\b(?:headings?|headers?|sections?|outline|titles?)\b"),
    "lines": _regex(r"\blines?\b"),
    "words": _regex(r"\bwords?\b"),
    "characters": _regex(r"\b(?:characters?|letters?)\b"),
    "summary": _regex(r"\b(?:summar\w+|gist|overview|about|describe|explain)\b"),
    "show": _regex(
        r"\b(?:show|print|display|cat|contents?|says?|what(?:'s|\s+is)\s+in(?:side)?)\b"
    ),
}
_NEEDLE = _regex(
    r"\b(?:how\s+many|how\s+often|count|find|number\s+of|occurrences\s+of|times)\s+"
    r"(?:(?:the|all|does|do|is|word|text|times)\s+)*"
    rf"(?P<needle>{MARK}|(?-i:[A-Z]{{3,}})(?=s?(?:[\s?!,;:]|$)))(?:s\b)?"
)
_READ_WORDS = frozenset(
    """
    read open look view see get give tell find count list search how many much often of the its it
    their them they that's this is are was there in inside within from for has have had does do
    occur occurs appear appears contain contains what which and or a an each both file files number
    total times time occurrences me us i to at into through on out up by with all let know
    """.split()  # noqa: SIM905 - one word a line would fill a screen
)
_IT = _regex(r"\b(?:it|its|them|they|their|file)\b")
_NAMED_FILE = _regex(
    r"(?:read|open|cat|show|summari[sz]e)\s+(?:the\s+file\s+)?(?P<name>\w[\w-]*)\b"
)


def read_files(clause: str, marked: Marked, file: str) -> tuple[Task, ...]:
    """The files to read, each with everything that is asked about it; `it` is `file`."""
    needles, rest = _needles(clause, marked)
    paths = [_path(path, marked) for path in re.findall(_PATH, rest)]
    rest = re.sub(rf"{_PATH}(?:'s\b)?", " ", rest)
    questions = _questions(rest)
    if not paths:
        named = _NAMED_FILE.match(rest)
        if named and named["name"].lower() not in _READ_WORDS and not _questions(named["name"]):
            paths, rest = [named["name"]], rest.replace(named["name"], " ", 1)
        elif file and (questions or needles or _IT.search(rest)):
            paths = [file]
    for asked in _QUESTIONS.values():
        rest = asked.sub(" ", rest)
    if not set(re.findall(r"[^\s,;:?!.]+", rest.lower())) <= _READ_WORDS:
        return ()
    return tuple(ReadFile(path, questions, needles) for path in dict.fromkeys(paths))


def _needles(clause: str, marked: Marked) -> tuple[tuple[str, ...], str]:
    """The texts whose occurrences are asked for, and the clause without them."""
    needles: dict[str, None] = {}
    rest = clause
    for match in _NEEDLE.finditer(clause):
        needle = marked.value(match["needle"])
        if not re.fullmatch(r"\S*[./]\S*", needle):  # that would be a file
            needles[needle] = None
            rest = rest.replace(match[0], " how many ", 1)
    return tuple(needles), rest


def _questions(text: str) -> tuple[Question, ...]:
    """What is asked for; `show` is not, where it only means to show what is counted."""
    asked = tuple(name for name, words in _QUESTIONS.items() if words.search(text))
    counts = tuple(name for name in asked if name != "show")
    return counts or asked
