"""The session file: one JSON object a line, only ever appended to.

The first line is the header, `{"type": "session", "version": 1, "id", "cwd", "created"}`. Every
other line is an entry, `{"id", "parent", "type", ...}`: its parent is the entry that it follows,
so a fork is an entry whose parent is not the line before. The types that are written here:

========== ==========================================================================
switch     `provider`, `model`, `agent`: what the session goes on with
fork       nothing: the conversation was gone back to its parent, to be said otherwise
message    `message`: a user, assistant or tool message, complete
started    `call_id`, `name`, `arguments`, `title`: a tool is about to run
result     `result`, `arguments`, and `error` where the call could not be run at all
error      `text`, `reason`, `http_status`: why a run failed
end        `reason`, `text`: how a run ended
========== ==========================================================================

A reader passes over types that it does not know. What a kill leaves behind is read as far as it
is whole: a torn last line, a line of somebody else's, a line that is damaged cost themselves and a
warning each, never what stands around them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any
from zlib import crc32

from attrs import field, frozen

from .errors import SerialError, SessionError
from .messages import Message, ToolCall, ToolMessage, ToolResult
from .serial import dumps, read_message
from .transcript import pending_calls, unanswered

__all__ = [
    "Entry",
    "Journal",
    "Record",
    "SessionInfo",
    "Story",
    "find_session",
    "list_sessions",
    "project_folder",
    "read_journal",
    "read_message_of",
    "read_result_of",
    "sessions_root",
    "tell",
]

VERSION = 1
"""The version of the format that is written; a newer one is refused."""

_HEAD_BYTES = 64 * 1024


@frozen
class Entry:
    """A line of a session file, apart from the header.

    Parameters:
        id: its name in the file.
        parent: the entry that it follows; "" for the first.
        type: what it is.
        data: all of its fields.
    """

    id: str
    parent: str
    type: str
    data: Mapping[str, Any] = field(hash=False, repr=False)


@frozen
class Record:
    """A session file as it was read.

    Parameters:
        path: the file.
        id: the session's id.
        cwd: the directory that it was held in.
        created: when, as it is written there (RFC 3339).
        entries: every entry that is whole, in the order of the file.
        warnings: what could not be read, with line numbers.
    """

    path: Path
    id: str
    cwd: str
    created: str
    entries: tuple[Entry, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()

    def branch(self, leaf: str = "") -> list[Entry]:
        """The entries from the first to a leaf, by default the last of the file.

        An entry whose parent is lost follows the line before it.

        Raises:
            SessionError: there is no such entry.
        """
        positions = {entry.id: position for position, entry in enumerate(self.entries)}
        if leaf and leaf not in positions:
            raise SessionError(f"the session {self.id} has no entry {leaf!r}", path=self.path)
        position = positions[leaf] if leaf else len(self.entries) - 1
        branch: list[Entry] = []
        while position >= 0:
            entry = self.entries[position]
            branch.append(entry)
            parent = positions.get(entry.parent, position - 1) if entry.parent else -1
            position = min(parent, position - 1)  # a parent stands before its child
        branch.reverse()
        return branch


@frozen
class Story:
    """What a branch tells: the conversation, and what it goes on with.

    Parameters:
        messages: the conversation, every call answered.
        interrupted: the calls that have no result of their own: they may have run in part.
        provider: the provider's name, or "".
        model: the model's, or "".
        agent: the agent's, or "".
        leaf: the id of the last entry, or "".
    """

    messages: tuple[Message, ...]
    interrupted: tuple[ToolCall, ...] = ()
    provider: str = ""
    model: str = ""
    agent: str = ""
    leaf: str = ""


@frozen
class SessionInfo:
    """What the head of a session file says, for lists.

    Parameters:
        path: the file.
        id: the session's id.
        cwd: the directory that it was held in.
        created: when it began (RFC 3339).
        changed: when it was last written to, in seconds of the epoch.
        size: bytes of the file.
        title: the first thing that the user said, on one line; "" if it is not in the head.
    """

    path: Path
    id: str
    cwd: str
    created: str
    changed: float
    size: int
    title: str


class Journal:
    """Writes a session file. Each entry is with the system when `append` returns.

    Parameters:
        path: the file.
        leaf: the entry that the next one follows; "" for none.
        redact: takes secrets out of each line.
    """

    def __init__(
        self, path: Path, leaf: str = "", *, redact: Callable[[str], str] | None = None
    ) -> None:
        self.path = path
        self.leaf = leaf
        self.shared = False
        """Whether another journal had the file open to write when this one opened it (POSIX)."""
        self._redact = redact
        self._descriptor = -1

    @classmethod
    def create(
        cls,
        folder: Path,
        session_id: str,
        cwd: Path,
        *,
        redact: Callable[[str], str] | None = None,
    ) -> Journal:
        """A new file in a folder that need not be there yet, both for the owner alone.

        Raises:
            SessionError: it cannot be made.
        """
        now = datetime.now(UTC)
        path = folder / f"{now:%Y%m%dT%H%M%S}-{session_id}.jsonl"
        journal = cls(path, redact=redact)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise _cannot("make the folder", folder, error) from error
        journal._write(
            {
                "type": "session",
                "version": VERSION,
                "id": session_id,
                "cwd": str(cwd),
                "created": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            },
            flags=os.O_EXCL,
        )
        return journal

    def append(self, kind: str, **fields: object) -> str:
        """Add an entry behind the last one; returns its id.

        Raises:
            SessionError: it cannot be written.
        """
        entry_id = os.urandom(4).hex()
        self._write({"id": entry_id, "parent": self.leaf, "type": kind, **fields})
        self.leaf = entry_id
        return entry_id

    def sync(self) -> None:
        """Wait until the disk has what was written: it is there also after a power cut."""
        if self._descriptor >= 0:
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        if self._descriptor >= 0:
            with suppress(OSError):  # a tool may have closed what is not its own
                os.close(self._descriptor)
            self._descriptor = -1

    def _write(self, value: Mapping[str, object], flags: int = 0) -> None:
        try:
            if self._descriptor < 0:
                self._descriptor = self._open(flags)
            text = dumps(value)
            line = f"{self._redact(text) if self._redact else text}\n".encode()
            while line:  # one write for a line, unless the disk is full or a signal comes
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            raise _cannot("write", self.path, error) from error

    def _open(self, flags: int) -> int:
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | flags, 0o600)
        self.shared = _is_locked(descriptor)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            os.write(descriptor, b"\n")  # a torn last line must not swallow the next
        return descriptor


def _is_locked(descriptor: int) -> bool:
    """Whether somebody else holds the lock of a file; else it is ours until the file is closed."""
    try:
        import fcntl
    except ImportError:  # Windows, where a lock would keep readers out as well
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # some file systems have no locks
        return False
    return False


def sessions_root(environ: Mapping[str, str], home: Path) -> Path:
    """Where all session files are: `XDG_DATA_HOME` or `~/.local/share`, then `hrns/sessions`."""
    data = environ.get("XDG_DATA_HOME", "")
    base = Path(data) if data and Path(data).is_absolute() else home / ".local" / "share"
    return base / "hrns" / "sessions"


def project_folder(root: Path, cwd: Path) -> Path:
    """The folder for sessions held in a directory: readable, and its own."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", str(cwd)).strip("-.")[-60:] or "root"
    return root / f"{words}-{crc32(os.fsencode(cwd)):08x}"


def read_journal(path: Path) -> Record:
    """A session file, as far as it is whole.

    Raises:
        SessionError: there is no header, it is of a newer version, or the file cannot be read.
    """
    warnings: list[str] = []
    try:
        with path.open("rb") as file:
            header = _header(path, file.readline())
            entries = tuple(_entries(file, warnings))
    except OSError as error:
        raise _cannot("read", path, error) from error
    return Record(
        path,
        str(header.get("id", "")),
        str(header.get("cwd", "")),
        str(header.get("created", "")),
        entries,
        tuple(f"{path.name}: {warning}" for warning in warnings),
    )


def _header(path: Path, line: bytes) -> dict[str, Any]:
    header = _parsed(line)
    if header is None or header.get("type") != "session":
        raise SessionError(f"{path} is no session file: its first line is no header", path=path)
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise SessionError(
            f"{path} is of version {version}, which this hrns does not know",
            hint="Update hrns to go on with this session; the file was left as it is.",
            path=path,
        )
    return header


def _entries(lines: Iterable[bytes], warnings: list[str]) -> Iterator[Entry]:
    before = ""
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        data = _parsed(line)
        if data is None:
            torn = "is cut off" if not line.endswith(b"\n") else "cannot be read"
            warnings.append(f"line {number} {torn}; it was passed over")
            continue
        kind = data.get("type")
        if not isinstance(kind, str):
            warnings.append(f"line {number} is no entry; it was passed over")
            continue
        entry = Entry(str(data.get("id") or f"line-{number}"), "", kind, data)
        parent = data.get("parent")
        yield Entry(entry.id, parent if isinstance(parent, str) else before, kind, data)
        before = entry.id


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def tell(branch: Sequence[Entry]) -> Story:
    """What a branch tells. Results that were written are kept, also those of a broken turn."""
    messages: list[Message] = []
    results: dict[str, ToolResult] = {}
    facts = {"provider": "", "model": "", "agent": ""}
    for entry in branch:
        match entry.type:
            case "message":
                message = read_message_of(entry)
                if message is not None:
                    _add(messages, message, results)
            case "result":
                if (result := read_result_of(entry)) is not None:
                    results[result.call_id] = result
            case "switch":
                said = {k: v for k, v in entry.data.items() if isinstance(v, str) and v}
                facts.update({k: v for k, v in said.items() if k in facts})
    interrupted = _answer_pending(messages, results)
    leaf = branch[-1].id if branch else ""
    return Story(tuple(messages), interrupted, **facts, leaf=leaf)


def _add(messages: list[Message], message: Message, results: dict[str, ToolResult]) -> None:
    if not isinstance(message, ToolMessage):
        _answer_pending(messages, results)
    messages.append(message)
    results.clear()


def _answer_pending(
    messages: list[Message], results: Mapping[str, ToolResult]
) -> tuple[ToolCall, ...]:
    """Answer the calls at the end, with what was written where it was; returns the others."""
    pending = pending_calls(messages)
    if pending:
        messages.append(ToolMessage(results.get(c.id) or unanswered(c) for c in pending))
    return tuple(call for call in pending if call.id not in results)


def read_message_of(entry: Entry) -> Message | None:
    """The message of an entry; None if it is of another age: what stands around it is kept."""
    try:
        return read_message(entry.data.get("message"))
    except SerialError:
        return None


def read_result_of(entry: Entry) -> ToolResult | None:
    """The tool result of an entry; None as above."""
    try:
        read = read_message({"role": "tool", "results": [entry.data.get("result")]})
    except SerialError:
        return None
    return read.results[0] if isinstance(read, ToolMessage) else None


def list_sessions(
    folder: Path, unusable: Callable[[SessionError], object] = lambda _: None
) -> list[SessionInfo]:
    """The sessions in a folder and below it, the last changed first; reads only their heads.

    Parameters:
        unusable: is told of each file that holds something, and no session that can be read.
    """
    infos = []
    for path in folder.glob("**/*.jsonl"):
        try:
            if (info := _info(path)) is not None:
                infos.append(info)
        except SessionError as error:
            unusable(error)
    return sorted(infos, key=lambda info: info.changed, reverse=True)


def _info(path: Path) -> SessionInfo | None:
    """What the head of a file says; None where there is nothing in it that could be lost.

    Raises:
        SessionError: as `read_journal`.
    """
    try:
        stat = path.stat()
        if not S_ISREG(stat.st_mode):
            return None  # opening a named pipe would wait for who writes to it
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot("read", path, error) from error
    if not head:
        return None
    first, _, rest = head.partition(b"\n")
    header = _header(path, first)
    return SessionInfo(
        path,
        str(header.get("id", "")),
        str(header.get("cwd", "")),
        str(header.get("created", "")),
        stat.st_mtime,
        stat.st_size,
        _title(rest.split(b"\n")),
    )


def _title(lines: Iterable[bytes]) -> str:
    for line in lines:
        entry = _parsed(line)
        message = entry.get("message") if entry else None
        if isinstance(message, dict) and message.get("role") == "user":
            parts = message.get("parts")
            told = parts if isinstance(parts, list) else []
            texts = [part.get("text") for part in told if isinstance(part, dict)]
            return " ".join(" ".join(text for text in texts if isinstance(text, str)).split())[:200]
    return ""


def find_session(root: Path, prefix: str) -> SessionInfo:
    """The one session whose id begins so; the last changed where its file was copied.

    Raises:
        SessionError: there is none, or its file cannot be read, or there are several; they are
            named.
    """
    unusable: list[SessionError] = []
    infos = list_sessions(root, unusable.append)
    found = [info for info in infos if prefix and info.id.startswith(prefix)]
    if len({info.id for info in found}) == 1:
        return found[0]  # of copies of one session the one that was last gone on with
    if not found:
        for error in unusable:  # the name of a file ends in the id of its session
            if prefix and error.path and error.path.stem.rpartition("-")[2].startswith(prefix):
                raise error
        raise SessionError(
            f"there is no session {prefix!r}", hint="`hrns sessions list` shows them."
        )
    names = ", ".join(info.id for info in found[:5])
    raise SessionError(f"{len(found)} sessions begin with {prefix!r}: {names}", hint="Say more.")


def _cannot(what: str, path: Path, error: OSError) -> SessionError:
    return SessionError(f"cannot {what} {path}: {error.strerror or error}", path=path)
