"""The commands for what was said: in this session, and in those before it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hrns.config import home_directory
from hrns.errors import SerialError, SessionError
from hrns.journal import (
    SessionInfo,
    find_session,
    list_sessions,
    project_folder,
    read_journal,
    read_message_of,
    sessions_root,
)
from hrns.messages import AssistantMessage, SystemMessage, UserMessage
from hrns.records import CommandHost, SlashCommand
from hrns.serial import read_message
from hrns.session import Session

from .cells import cells, cut, padded
from .dialogue import Listing
from .hosting import TerminalHost
from .tables import marked, table

__all__ = [
    "RECALLING",
    "WHICH_SESSION",
    "age",
    "gone_on_with",
    "last_answer",
    "session_lists",
    "titles_of_calls",
]

WHICH_SESSION = "Which session do you want to continue?"
"""The question over `session_lists`."""

_ALL = "all"
_TITLE = 60
_PLACE = 28
_ABOUT = 300
_END_BYTES = 64 * 1024


def session_lists(root: Path, cwd: Path, without: str = "") -> list[Listing]:
    """Sessions to pick from: those of a directory, then all; no list where there are none.

    Parameters:
        root: where sessions are kept.
        without: the id of a session to leave out, or "".
    """
    shelf = _Shelf(without)

    def here() -> list[tuple[str, str]]:
        near = shelf.listed(project_folder(root, cwd))
        return [(info.id, f"{_facts(info)}  {cut(info.title, _TITLE)}") for info in near]

    def everywhere() -> list[tuple[str, str]]:
        infos = shelf.listed(root)
        places = [place(info.cwd) for info in infos]
        width = max(map(cells, places), default=0)
        return [
            (info.id, f"{_facts(info)}  {padded(where, width)}  {cut(info.title, _TITLE)}")
            for info, where in zip(infos, places, strict=True)
        ]

    def listing(label: str, options: Callable[[], list[tuple[str, str]]]) -> Listing:
        about, remove = shelf.last_answer, shelf.remove
        return Listing(label, options, named=False, about=about, remove=remove)

    far = listing("all directories", everywhere)
    if here():
        return [listing("this directory", here), far]
    return [far] if everywhere() else []


class _Shelf:
    """The sessions of a list, by their ids.

    Parameters:
        without: the id of a session that is left out, or "".
    """

    def __init__(self, without: str) -> None:
        self._without = without
        self._paths: dict[str, Path] = {}

    def listed(self, folder: Path) -> list[SessionInfo]:
        """Those in a folder and below it."""
        infos = [info for info in list_sessions(folder) if info.id != self._without]
        self._paths |= {info.id: info.path for info in infos}
        return infos

    def remove(self, session_id: str) -> None:
        """Remove one for good.

        Raises:
            SessionError: it cannot be removed.
        """
        path = self._paths[session_id]
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise SessionError(f"cannot remove {path}: {error.strerror}") from error

    def last_answer(self, session_id: str) -> str:
        """What the model said last, in one line; "" if that is not at the end of the file."""
        return last_answer(self._paths[session_id])


def last_answer(path: Path) -> str:
    """The last words of the model in a session file, in one line; "" if its end has none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _END_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return ""
    answers = (text for line in reversed(lines) if b'"assistant"' in line if (text := _said(line)))
    return next(answers, "")


def _said(line: bytes) -> str:
    """What the model said in a line of a session file, in one line; "" if it is another."""
    try:
        message = read_message(json.loads(line).get("message"))
    except (ValueError, AttributeError, SerialError):  # the first line may be half of one
        return ""
    return _one_line(message.text)[:_ABOUT] if isinstance(message, AssistantMessage) else ""


def _facts(info: SessionInfo) -> str:
    return f"{age(info.changed):>8}  {_size(info.size):>8}"


def place(directory: str) -> str:
    """A directory for people: below the home, and the end of a long one."""
    home = str(Path.home())
    short = f"~{directory[len(home) :]}" if f"{directory}/".startswith(f"{home}/") else directory
    return short if len(short) <= _PLACE else f"...{short[3 - _PLACE :]}"


def age(seconds: float) -> str:
    """How long ago that time of the epoch was, for people."""
    ago = max(0.0, time.time() - seconds)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if ago >= length:
            return f"{ago // length:.0f} {unit}"
    return "just now"


def gone_on_with(session: Session) -> str:
    """Which session is gone on with, how long it is, and when something was last written in it."""
    count = sum(not isinstance(message, SystemMessage) for message in session.messages)
    told = f"Going on with session {session.id}, {count} message{'' if count == 1 else 's'}"
    try:
        written = session.path.stat().st_mtime if session.path else 0.0
    except OSError:
        written = 0.0
    ago = age(written)
    return f"{told}, {ago if ago == 'just now' else f'{ago} ago'}." if written else f"{told}."


def titles_of_calls(session: Session) -> dict[str, str]:
    """What its tool calls were called when they ran, by their ids, as far as it was written."""
    try:
        branch = session.branch()
    except SessionError:
        return {}
    started = (entry.data for entry in branch if entry.type == "started")
    return {str(data.get("call_id")): str(data.get("title") or "") for data in started}


def _size(count: int) -> str:
    return f"{count / 1024:.0f} KiB" if count >= 1024 else f"{count} B"


def _root(session: Session) -> Path:
    return sessions_root(session.environ, home_directory(session.environ))


def _sessions(host: CommandHost, argument: str) -> None:
    if argument not in ("", _ALL):
        host.error(f"/sessions takes {_ALL!r}, or nothing")
        return
    root = _root(host.session)
    infos = list_sessions(root if argument else project_folder(root, host.session.context.cwd))
    rows = [
        (
            marked(info.id, host.session.id),
            age(info.changed),
            _size(info.size),
            *([place(info.cwd)] if argument else []),
            cut(info.title, _TITLE),
        )
        for info in infos
    ]
    if argument:
        host.say(table(rows) or "No session was held yet.")
    else:
        held = table(rows) or "No session was held in this directory yet."
        host.say(f"{held}\n\n/sessions all lists those of all directories.")


def _resume(host: CommandHost, argument: str) -> None:
    if not isinstance(host, TerminalHost):
        host.error("sessions are gone on with at the prompt of a terminal, or by hrns exec -r ID")
        return
    root = _root(host.session)
    chosen = argument or _picked(host, root)
    if chosen:
        host.resume(read_journal(find_session(root, chosen).path))


def _picked(host: TerminalHost, root: Path) -> str | None:
    lists = session_lists(root, host.session.context.cwd, host.session.id)
    if not lists:
        host.say("There is no other session.")
        return None
    return host.pick_from(WHICH_SESSION, lists)


def _fork(host: CommandHost, _argument: str) -> None:
    session = host.session
    said = [
        (entry.parent, message.text)
        for entry in session.branch()
        if entry.type == "message" and isinstance(message := read_message_of(entry), UserMessage)
    ]
    if not said:
        raise SessionError("nothing was said yet that could be gone back to")
    options = [(str(n), cut(_one_line(text), 70)) for n, (_, text) in enumerate(said, 1)]
    chosen = host.pick("Which message do you want to edit and send again?", options[::-1])
    if chosen is None:
        return
    leaf, text = said[int(chosen) - 1]
    session.rewind(leaf)
    host.say(f"Forked: the conversation goes on as before you said: {cut(_one_line(text), 70)}")
    if isinstance(host, TerminalHost):
        host.recount()
        host.refill(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _export(host: CommandHost, argument: str) -> None:
    from hrns.export import to_markdown

    session = host.session
    path = session.context.cwd / Path(argument or f"hrns-{session.id}.md").expanduser()
    text = to_markdown(session.messages, title=f"Session {session.id}")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        host.error(f"cannot write {path}: {error.strerror}\nName another file: /export FILE")
        return
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    host.say(f"The conversation is in {path}.")


def _copy(host: CommandHost, _argument: str) -> None:
    answers = (each for each in host.session.messages if isinstance(each, AssistantMessage))
    text = next((each.text for each in reversed([*answers]) if each.text.strip()), "")
    if not text:
        host.error("there is no answer yet that could be copied")
    elif isinstance(host, TerminalHost):
        host.copy(text)
        host.say(f"Copied the last answer: {len(text)} characters, if the terminal allows it.")
    else:
        host.say(text)


def _ids(session: Session, word: str) -> Iterator[str]:
    infos = list_sessions(project_folder(_root(session), session.context.cwd))
    return (info.id for info in infos if info.id.startswith(word))


def _all(_session: Session, word: str) -> Iterator[str]:
    return iter([_ALL] if _ALL.startswith(word) else [])


RECALLING = (
    SlashCommand(
        "sessions",
        "Lists the sessions that were held in this directory, or in all.",
        _sessions,
        usage="[all]",
        complete=_all,
        at_once=True,
    ),
    SlashCommand("resume", "Goes on with another session.", _resume, usage="[ID]", complete=_ids),
    SlashCommand("fork", "Goes back to one of your messages, to say it otherwise.", _fork),
    SlashCommand("export", "Writes the conversation to a Markdown file.", _export, usage="[FILE]"),
    SlashCommand("copy", "Copies the last answer to the clipboard.", _copy, at_once=True),
)
"""In the order in which `/help` lists them."""
