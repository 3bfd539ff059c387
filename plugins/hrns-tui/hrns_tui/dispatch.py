"""What a line that begins with a slash means: a command, or a mistake that is not sent."""

from __future__ import annotations

from hrns.errors import HrnsError, in_words
from hrns.nearest import nearest
from hrns.records import CommandHost, SlashCommand
from hrns.session import Session

from .commands import choices, current_choice
from .dialogue import Listing
from .hosting import TerminalHost

__all__ = ["may_run_at_once", "run_command"]


def run_command(host: CommandHost, line: str) -> None:
    """Run the command that a line such as `/model small` names; whatever is off is told."""
    name, argument = _split(line)
    command = _named(name, host.session)
    if command is None:
        host.error(_unknown(name, host.session.commands))
    elif command.needs_argument and not argument:
        host.say(f"Usage: /{command.name} {command.usage}\n{command.help}")
        _offer(host, command)
    else:
        _run(host, command, argument)


def may_run_at_once(line: str, session: Session) -> bool:
    """Whether a line need not wait until the model is done; a mistake is told at once as well."""
    command = _named(_split(line)[0], session)
    return command is None or command.at_once


def _named(name: str, session: Session) -> SlashCommand | None:
    return next((each for each in session.commands if each.name == name), None)


def _offer(host: CommandHost, command: SlashCommand) -> None:
    """Let the person pick the argument that is missing, from those that the command knows."""
    try:
        words = choices(host, command)
    except HrnsError as error:
        host.error(str(error))
        return
    except Exception as error:  # noqa: BLE001 - a guest's code, and the command is named
        host.error(f"/{command.name} cannot say what there is: {in_words(error)}")
        return
    if words and (word := _pick(host, command, words)):
        _run(host, command, word)


def _pick(host: CommandHost, command: SlashCommand, words: list[tuple[str, str]]) -> str | None:
    title = f"/{command.name} {command.usage}"
    if not isinstance(host, TerminalHost):
        return host.pick(title, words)
    current = current_choice(host.session, command)
    return host.pick_from(title, [Listing("", lambda: words, current=current)])


def _split(line: str) -> tuple[str, str]:
    """The name without its slash, and the rest."""
    words = line[1:].split(maxsplit=1)
    name = words[0] if words and not line[1:2].isspace() else ""
    return name, line[1 + len(name) :].strip()


def _run(host: CommandHost, command: SlashCommand, argument: str) -> None:
    try:
        command.run(host, argument)
    except HrnsError as error:
        host.error(str(error))
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - a guest's code, and the command is named
        host.error(f"/{command.name} failed: {in_words(error)}")


def _unknown(name: str, commands: tuple[SlashCommand, ...]) -> str:
    near = nearest(name, (command.name for command in commands), 3)
    guess = f"Did you mean {' or '.join(f'/{each}' for each in near)}? " if near else ""
    return (
        f"there is no command /{name}, and nothing was sent\n{guess}/help lists all commands.\n"
        "To send a message that begins with a slash, put a space before it."
    )
