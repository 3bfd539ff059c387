"""`hrns sessions`: what was said before, listed, shown, exported, searched, replayed, removed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ..config import home_directory
from ..errors import SessionError, UsageError
from ..journal import (
    Entry,
    Record,
    SessionInfo,
    find_session,
    list_sessions,
    project_folder,
    read_journal,
    sessions_root,
    tell,
)
from ..messages import Message
from .common import tell as tell_of
from .common import working_directory
from .completing import session_ids
from .printing import plain
from .tables import table

__all__ = ["check_choice", "chosen_record", "command"]


def root() -> Path:
    """Where all sessions of this user are."""
    return sessions_root(os.environ, home_directory(os.environ))


def latest(cwd: Path) -> Record:
    """The session of this directory that was last written to.

    Raises:
        SessionError: there is none.
    """
    infos = list_sessions(project_folder(root(), cwd), _tell_of_unusable)
    if not infos:
        raise SessionError(
            "there is no session of this directory to go on with",
            hint="`hrns sessions list --all` shows those of others.",
        )
    return read_journal(infos[0].path)


def _tell_of_unusable(error: SessionError) -> None:
    tell_of(f"warning: {error}")


def named(prefix: str) -> Record:
    """The session whose id begins so.

    Raises:
        SessionError: there is none, or more than one.
    """
    return read_journal(find_session(root(), prefix).path)


def check_choice(last: bool, prefix: str, unsaved: bool) -> None:
    """Refuse more than one of the options `-c`, `-r` and `--no-session`.

    Raises:
        UsageError: they exclude each other.
    """
    if last + bool(prefix) + unsaved > 1:
        raise UsageError(
            "--continue, --resume and --no-session exclude each other", hint="Use one of them."
        )


def chosen_record(last: bool, prefix: str, unsaved: bool) -> Record | None:
    """The session that the options `-c`, `-r` and `--no-session` mean, or None for a new one.

    Raises:
        UsageError: they exclude each other.
        SessionError: there is no such session.
    """
    check_choice(last, prefix, unsaved)
    if not (last or prefix):
        return None
    return named(prefix) if prefix else latest(working_directory())


@click.group("sessions")
def command() -> None:
    """Look at what was said before.

    A session is named by its id or the beginning of it. To go on with one: `hrns exec -c`,
    `hrns exec -r ID`.
    """


@command.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Those of all directories.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_(everywhere: bool, as_json: bool) -> None:
    """List the sessions of this directory, the last used first."""
    folder = root() if everywhere else project_folder(root(), working_directory())
    infos = list_sessions(folder, _tell_of_unusable)
    if as_json:
        click.echo(json.dumps([_row(info) for info in infos], indent=2, ensure_ascii=False))
        return
    if not infos:
        others = not everywhere and list_sessions(root())
        more = "; --all lists those of other directories" if others else ""
        sys.stderr.write(f"hrns: there are no sessions here yet{more}\n")
        return
    where = ("DIRECTORY",) if everywhere else ()
    click.echo(
        table(("ID", "CHANGED", "SIZE", *where, "TITLE"), [_cells(i, everywhere) for i in infos])
    )


@command.command("show")
@click.argument("session_id", metavar="ID", shell_complete=session_ids)
def show(session_id: str) -> None:
    """Print the conversation as Markdown."""
    _print(_markdown(_warned(named(session_id))))


@command.command("export")
@click.argument("session_id", metavar="ID", shell_complete=session_ids)
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "openai", "anthropic"]),
    default="markdown",
    show_default=True,
    help="Markdown, or the message JSON of a provider.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A file instead of stdout.")
def export(session_id: str, form: Any, output: Path | None) -> None:
    """Write the conversation in a form that others read."""
    from ..export import to_messages

    record = _warned(named(session_id))
    if form == "markdown":
        text = _markdown(record)
    else:
        messages = to_messages(tell(record.branch()).messages, form)
        text = json.dumps(messages, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SessionError(f"cannot write {output}: {error.strerror}") from error


@command.command("path")
@click.argument("session_id", metavar="[ID]", default="", shell_complete=session_ids)
def path(session_id: str) -> None:
    """Print the file of a session, or the folder of this directory's sessions."""
    if session_id:
        click.echo(find_session(root(), session_id).path)
    else:
        click.echo(project_folder(root(), working_directory()))


@command.command("rm")
@click.argument("session_ids", metavar="ID...", nargs=-1, required=True, shell_complete=session_ids)
def remove(session_ids: Iterable[str]) -> None:
    """Remove sessions for good."""
    for info in [find_session(root(), each) for each in session_ids]:
        try:
            info.path.unlink(missing_ok=True)
        except OSError as error:
            raise SessionError(f"cannot remove {info.path}: {error.strerror}") from error
        sys.stderr.write(f"hrns: removed session {info.id}\n")


@command.command("search")
@click.argument("text")
@click.option("--all", "everywhere", is_flag=True, help="In those of all directories.")
def search(text: str, everywhere: bool) -> int:
    """Find sessions in which something was said, whatever its case."""
    folder = root() if everywhere else project_folder(root(), working_directory())
    found = 0
    for info in list_sessions(folder):
        for line in _lines_with(info, text):
            found += 1
            click.echo(plain(f"{info.id}  {line}"))
    if not found:
        sys.stderr.write(f"hrns: {text!r} was not said here\n")
    return 0 if found else 1


@command.command("replay")
@click.argument("session_id", metavar="ID", shell_complete=session_ids)
@click.option("--output-format", type=click.Choice(["text", "stream-json"]), default="text")
def replay_(session_id: str, output_format: str) -> None:
    """Run a session again from its file; no model is asked, no tool touches anything."""
    from ..replay import replay
    from ..serial import dumps
    from .printing import TextPrinter

    chunks = replay(_warned(named(session_id)))
    if output_format == "stream-json":
        for chunk in chunks:
            sys.stdout.write(f"{dumps(chunk)}\n")
        return
    printer = TextPrinter(sys.stdout, sys.stderr, progress=True, quiet=False)
    for chunk in chunks:
        printer.show(chunk)


def _row(info: SessionInfo) -> dict[str, object]:
    return {
        "id": info.id,
        "cwd": info.cwd,
        "created": info.created,
        "changed": datetime.fromtimestamp(info.changed).astimezone().isoformat(timespec="seconds"),
        "bytes": info.size,
        "title": info.title,
        "path": str(info.path),
    }


def _cells(info: SessionInfo, everywhere: bool) -> list[str]:
    when = datetime.fromtimestamp(info.changed).astimezone()
    where = [info.cwd] if everywhere else []
    return [info.id, f"{when:%Y-%m-%d %H:%M}", _size(info.size), *where, info.title]


def _size(size: int) -> str:
    return (
        f"{size} B"
        if size < 1000
        else f"{size / 1000:.0f} kB"
        if size < 1e6
        else f"{size / 1e6:.0f} MB"
    )


def _warned(record: Record) -> Record:
    for warning in record.warnings:
        sys.stderr.write(f"hrns: warning: {warning}\n")
    return record


def _markdown(record: Record) -> str:
    from ..export import to_markdown

    return to_markdown(_told(record.branch()), title=f"Session {record.id}")


def _told(branch: Iterable[Entry]) -> Iterator[Message | str]:
    """The conversation, and how the runs ended that did not come to an answer."""
    run: list[Entry] = []
    for entry in branch:
        run.append(entry)
        if entry.type == "end":
            yield from _told_of_run(run)
            run = []
    yield from _told_of_run(run)


def _told_of_run(run: Sequence[Entry]) -> Iterator[Message | str]:
    yield from tell(run).messages
    errors = [entry.data for entry in run if entry.type == "error"]
    for error in errors:
        yield f"**Error** ({error.get('reason')}): {error.get('text')}"
    end = run[-1].data if run and run[-1].type == "end" else {"reason": "done"}
    if end.get("reason") != "done" and not errors:
        yield f"**Ended** ({end.get('reason')}): {end.get('text') or 'no answer'}"


def _print(text: str) -> None:
    sys.stdout.write(plain(text) if sys.stdout.isatty() else text)


def _lines_with(info: SessionInfo, text: str) -> Iterable[str]:
    """The lines of the conversation that hold the text."""
    wanted = text.casefold()
    try:
        messages = tell(read_journal(info.path).branch()).messages
    except SessionError:
        return
    for message in messages:
        for line in getattr(message, "text", "").splitlines():
            if wanted in line.casefold():
                yield line.strip()[:200]
