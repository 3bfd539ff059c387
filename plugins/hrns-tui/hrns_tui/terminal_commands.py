"""The commands for the terminal itself."""

from __future__ import annotations

from collections.abc import Iterator

from hrns.config import edit_config, parse_key_path, set_value
from hrns.records import CommandHost, SlashCommand
from hrns.session import Session

from .hosting import TerminalHost
from .paint import THEMES

__all__ = ["NEW_CONVERSATION", "TERMINAL_COMMANDS"]

NEW_CONVERSATION = "A new conversation; /resume goes back to the one before."
"""What is told when one begins."""

_ELSEWHERE = "that is for the prompt of a terminal"


def _clear(host: CommandHost, _argument: str) -> None:
    host.session.new()
    if isinstance(host, TerminalHost):
        host.wipe()
    host.say(NEW_CONVERSATION)


def _theme(host: CommandHost, argument: str) -> None:
    theme = next((each for each in THEMES if each == argument), None)
    if theme is None:
        host.error(f"there is no theme {argument!r}; there are {' and '.join(THEMES)}")
        return
    if isinstance(host, TerminalHost):
        host.use_theme(theme)
    path = host.session.config.path
    host.session.use_config(edit_config(path, set_value(parse_key_path("tui.theme"), theme)))
    host.say(f"The theme is {theme}, also the next time.")


def _editor(host: CommandHost, _argument: str) -> None:
    if isinstance(host, TerminalHost):
        host.edit()
    else:
        host.error(_ELSEWHERE)


def _themes(_session: Session, word: str) -> Iterator[str]:
    return (theme for theme in THEMES if theme.startswith(word))


TERMINAL_COMMANDS = (
    SlashCommand("clear", "Begins a new conversation on an empty screen.", _clear),
    SlashCommand(
        "theme",
        "Takes colours for a dark or a light background.",
        _theme,
        usage="NAME",
        complete=_themes,
        needs_argument=True,
    ),
    SlashCommand("editor", "Opens the next message in $EDITOR.", _editor),
)
"""In the order in which `/help` lists them."""
