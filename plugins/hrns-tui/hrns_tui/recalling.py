"""The commands for what was said: in this session, and in those before it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from hrns.errors import SessionError
from hrns.journal import (
    Entry,
    SessionInfo,
    find_session,
    list_sessions,
    project_folder,
    read_journal,
    read_message_of,
    sessions_root,
)
from hrns.messages import AssistantMessage, UserMessage
from hrns.records import CommandHost, SlashCommand
from hrns.session import Session

from .hosting import TerminalHost
from .tables import marked, table

__all__ = ["RECALLING", "age", "project_sessions", "session_options"]


def project_sessions(session_root: Path, cwd: Path) -> list[SessionInfo]:
    """The sessions that were held in a directory, the last changed first."""
    return list_sessions(project_folder(session_root, cwd))


def session_options(infos: list[SessionInfo]) -> list[tuple[str, str]]:
    """Sessions to pick from: their ids, and what they are told apart by."""
    return [
        (info.id, f"{age(info.changed):>8}  {_size(info.size):>8}  {info.title[:60]}  {info.cwd}")
        for info in infos
    ]


def age(seconds: float) -> str:
    """How long ago that time of the epoch was, for people."""
    ago = max(0.0, time.time() - seconds)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if ago >= length:
            return f"{ago // length:.0f} {unit}"
    return "just now"


def _size(count: int) -> str:
    return f"{count / 1024:.0f} KiB" if count >= 1024 else f"{count} B"


def _root(session: Session) -> Path:
    return sessions_root(session.environ, Path.home())


def _sessions(host: CommandHost, _argument: str) -> None:
    infos = project_sessions(_root(host.session), host.session.context.cwd)
    rows = [
        (marked(info.id, host.session.id), age(info.changed), _size(info.size), info.title[:60])
        for info in infos
    ]
    host.say(table(rows) or "No session was held in this directory yet.")


def _resume(host: CommandHost, argument: str) -> None:
    if not isinstance(host, TerminalHost):
        host.error("sessions are gone on with at the prompt of a terminal, or by hrns exec -r ID")
        return
    root = _root(host.session)
    chosen = argument or _picked(host, root)
    if chosen:
        host.resume(read_journal(find_session(root, chosen).path))


def _picked(host: CommandHost, root: Path) -> str | None:
    infos = project_sessions(root, host.session.context.cwd)
    infos = [info for info in infos if info.id != host.session.id]
    if not infos:
        host.say("No other session was held in this directory.")
        return None
    return host.pick("Which session is to be gone on with?", session_options(infos))


def _fork(host: CommandHost, _argument: str) -> None:
    session = host.session
    if session.path is None:
        raise SessionError("nothing was said yet that could be gone back to")
    said = [
        (entry, " ".join(message.text.split())[:70])
        for entry in read_journal(session.path).branch()
        if isinstance(message := _message(entry), UserMessage)
    ]
    options = [(str(number), text) for number, (_, text) in enumerate(said, 1)]
    chosen = host.pick("Before which of your messages is the conversation to go on?", options)
    if chosen is None:
        return
    entry, text = said[int(chosen) - 1]
    session.rewind(entry.parent)
    host.say(f"Forked: the conversation goes on as before you said: {text}")


def _message(entry: Entry) -> object:
    return read_message_of(entry) if entry.type == "message" else None


def _export(host: CommandHost, argument: str) -> None:
    from hrns.export import to_markdown

    session = host.session
    path = session.context.cwd / Path(argument or f"hrns-{session.id}.md").expanduser()
    text = to_markdown(session.messages, title=f"Session {session.id}")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        host.error(f"cannot write {path}: {error.strerror}")
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
    infos = project_sessions(_root(session), session.context.cwd)
    return (info.id for info in infos if info.id.startswith(word))


RECALLING = (
    SlashCommand("sessions", "Lists the sessions that were held in this directory.", _sessions),
    SlashCommand("resume", "Goes on with another session.", _resume, usage="[ID]", complete=_ids),
    SlashCommand("fork", "Goes on from before one of your messages.", _fork),
    SlashCommand("export", "Writes the conversation to a Markdown file.", _export, usage="[FILE]"),
    SlashCommand("copy", "Copies the last answer to the clipboard.", _copy),
)
"""In the order in which `/help` lists them."""
