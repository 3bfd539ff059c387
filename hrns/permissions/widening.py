"""The rule for calls like one: what a person is offered to allow beside that very call.

It is narrow and never certain to be what is meant: it is shown, and may be changed, before it is
saved. Where a wider rule would open more than it says, there is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from .commands import CommandPattern
from .paths import quoted_path
from .shell import Command, read_line, runs_others
from .shell.values import DEVICES, names
from .urls import Url
from .values import Access

__all__ = ["wider_rule"]

_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]*", re.ASCII)
_VERSION = re.compile(r"[\d.]+\Z")
_VERB = re.compile(r"[a-z][a-z0-9:_-]*", re.ASCII)

_WITH_VERBS = names(
    "apt apt-get brew bun bundle cargo conda docker dotnet gem gh git glab go gradle hatch helm hg "
    "jj kubectl mix mvn nerdctl npm pdm pip pipenv pipx pnpm podman poetry rustup rye svn "
    "systemctl terraform uv yarn"
)
"""Programs that do what the word behind them says."""

_CONTAINERS = names("docker nerdctl podman")
_SCRIPTS = names("bun npm pdm pnpm yarn")

_WITH_TWO: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_SCRIPTS, names("run")),
    **dict.fromkeys(_CONTAINERS, names("builder compose container image network system volume")),
    "conda": names("env"),
    "gh": names("issue pr release repo run workflow"),
    "git": names("bundle notes reflog remote stash worktree"),
    "go": names("mod"),
    "rustup": names("target toolchain"),
    "uv": names("pip"),
}
"""Their verbs that say only with one more word what they do."""

_OPEN_VERBS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_SCRIPTS | names("bundle"), names("dlx exec explore node publish x")),
    **dict.fromkeys(_CONTAINERS, names("exec push rm rmi run")),
    **dict.fromkeys(names("conda hatch pipenv pipx poetry rye"), names("publish run")),
    "cargo": names("publish"),
    "gem": names("push"),
    "gh": names("alias api extension"),
    "git": names(
        "bisect checkout clean config daemon difftool filter-branch grep mergetool push rebase "
        "reset restore rm submodule"
    ),
    "go": names("generate run tool"),
    "helm": names("push uninstall"),
    "kubectl": names("apply attach cp debug delete drain edit exec patch replace run"),
    "terraform": names("apply console destroy"),
    "uv": names("publish run tool"),
}
"""Their verbs that run what they are given, or do what cannot be taken back."""

_OPEN = names(
    "awk aws az bc chgrp chmod chown cmake cp crontab curl dd deno docker-compose ed emacs erl ex "
    "expect gawk gcloud gdb ghci gnuplot halt install irb java jshell julia kill killall lein "
    "less ln lua make man mawk mkfs more mount mv nano nc ncat netcat node nodejs octave openssl "
    "osascript perl php pkill poweroff powershell psql python R rake reboot rg rm rmdir rsync "
    "ruby scala scp sed sftp shred shutdown socat sqlite sysctl tar tclsh tee telnet truncate "
    "ts-node tsx umount unlink unzip useradd usermod vi view vim wget zip"
)
"""Programs that run code that they are given, or write or end whatever they are pointed at."""


def wider_rule(tool: str, accesses: Iterable[Access], cwd: Path, home: Path) -> str:
    """A rule that allows calls like this one; "" where none says clearly what it would allow.

    For a command, that is its program (and what that is told to do) with any arguments; for a
    file, what lies in its directory; for a URL, its host.

    Parameters:
        tool: the tool that is called.
        accesses: all that the call touches.
        cwd: the working directory: neither all of it nor what is around it is ever meant.
        home: the home directory, likewise.
    """
    patterns = {_pattern(access, cwd, home) for access in accesses}
    pattern = patterns.pop() if len(patterns) == 1 else ""
    return f"{tool}({pattern})" if pattern else ""


def _pattern(access: Access, cwd: Path, home: Path) -> str:
    """The pattern for what is like this access; "" if there is none."""
    if not access.subject.strip():
        return ""
    match access.kind:
        case "execute":
            return _of_line(access.subject)
        case "network":
            return _of_url(access.subject)
        case "read" | "write":
            return _of_path(cwd / access.subject, (cwd, home))


def _of_url(text: str) -> str:
    url = Url.parse(text)
    return url.server if url else ""


def _of_path(path: Path, wholes: tuple[Path, ...]) -> str:
    """All below the directory of a file, if that is far enough from the root.

    What is hidden holds keys and settings, and a repository's own directory has `.git` in it.
    """
    directory = path.parent
    names = directory.parts[1:]
    holds_whole = any(whole.is_relative_to(directory) for whole in wholes)
    hidden = any(name.startswith(".") for name in (*names, path.name))
    if len(names) < 2 or holds_whole or hidden:
        return ""
    if os.path.exists(directory / ".git"):  # noqa: PTH110 - pathlib raises where it may not look
        return ""
    return f"{quoted_path(str(directory))}/**"


def _of_line(text: str) -> str:
    """What a line runs with any arguments, if it is one command that does nothing else."""
    line = read_line(text)
    if len(line.commands) != 1 or any(each.path not in DEVICES for each in line.redirections):
        return ""
    [command] = line.commands
    words = _words_that_say(command)
    pattern = " ".join((*words, "*")) if words else ""
    return pattern if pattern and CommandPattern.parse(pattern).covers(command) else ""


def _words_that_say(command: Command) -> tuple[str, ...]:
    """The first words of a command that say what it does; none if they do not."""
    if command.assignments or command.script is not None or not command.needs_rule:
        return ()
    texts = [word.text if word.exact and word.plain else "" for word in command.words[:3]]
    name = texts[0] if texts else ""
    if not _PROGRAM.fullmatch(name):
        return ()
    known = _VERSION.sub("", name)
    if known in _WITH_VERBS:
        return _with_verb(known, texts)
    return () if runs_others(name) or known.partition(".")[0] in _OPEN else (name,)


def _with_verb(program: str, texts: list[str]) -> tuple[str, ...]:
    """The program with the words that say what it does; none if they are no plain words."""
    verb = texts[1] if len(texts) > 1 else ""
    count = 3 if verb in _WITH_TWO.get(program, ()) else 2
    verbs = texts[1:count]
    plain = len(verbs) == count - 1 and all(_VERB.fullmatch(each) for each in verbs)
    return (texts[0], *verbs) if plain and verb not in _OPEN_VERBS.get(program, ()) else ()
