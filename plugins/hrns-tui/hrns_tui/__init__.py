"""The terminal UI of hrns: a front end, and the commands of an interactive prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrns import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hrns.records import Frontend, SlashCommand
    from hrns.session import Launch


@hookimpl
def hrns_frontends() -> Iterable[Frontend]:
    """The front end `tui`."""
    from hrns.records import Frontend

    return [Frontend("tui", run=_run, description="a prompt in the terminal that scrolls")]


@hookimpl
def hrns_slash_commands() -> Iterable[SlashCommand]:
    """The commands that any front end with a prompt can use."""
    from .commands import COMMANDS

    return COMMANDS


def _run(launch: Launch) -> int:
    import gc

    # Modules stay, and so does a conversation: at 700 new objects there is nothing to collect.
    gc.set_threshold(20_000)
    from .app import run

    return run(launch)
