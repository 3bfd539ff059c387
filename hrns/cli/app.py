"""The click group: a table of commands whose modules are imported only when they are used.

Commands of plugins come from the entry-point group ``hrns.cli`` (name = a click command).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from ..errors import ConfigError, HrnsError, UsageError
from . import status

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["COMMANDS", "cli", "run"]

COMMANDS = {
    "exec": ("hrns.cli.exec:command", "Ask once, let the model use tools, print the answer."),
    "config": ("hrns.cli.config:command", "Show, change and check the configuration."),
    "plugins": ("hrns.cli.plugins:command", "List the plugins, what they bring and their state."),
}
"""Command name -> where its click command is, and its line in `--help`."""


class _Commands(click.Group):
    """A group that knows its commands by name and imports one when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [*COMMANDS, *sorted(_entry_points().keys() - COMMANDS.keys())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in COMMANDS:
            module, _, attribute = COMMANDS[cmd_name][0].partition(":")
            command: click.Command = getattr(import_module(module), attribute)
            return command
        entry_point = _entry_points().get(cmd_name)
        return _load(entry_point) if entry_point else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = get_close_matches(name, self.list_commands(ctx), n=1)
            guess = f"Did you mean `hrns {near[0]}`? " if near else ""
            ask = f'To ask a model: hrns exec "{" ".join(args)}". '
            raise UsageError(
                f"there is no command {name!r}", hint=f"{guess}{ask}`hrns --help` lists all."
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        rows = [(name, help_) for name, (_, help_) in COMMANDS.items()]
        for name, entry_point in sorted(_entry_points().items()):
            if name not in COMMANDS:
                distribution = entry_point.dist.name if entry_point.dist else "a plugin"
                rows.append((name, f"(from {distribution})"))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry_point.name: entry_point for entry_point in entry_points(group="hrns.cli")}


def _load(entry_point: EntryPoint) -> click.Command:
    """The click command of a plugin.

    Raises:
        ConfigError: it cannot be imported, or is none.
    """
    distribution = entry_point.dist.name if entry_point.dist else "?"
    try:
        command = entry_point.load()
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"the command {entry_point.name!r} of {distribution} cannot be imported: "
            f"{type(error).__name__}: {error}",
            hint=f"Update or uninstall {distribution}.",
        ) from error
    if not isinstance(command, click.Command):
        raise ConfigError(f"{entry_point.value} of {distribution} is no click command")
    return command


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", "-V", is_flag=True, help="Show the version and exit.")
@click.option("-provider", "--provider", metavar="NAME", default="", help="The provider to use.")
@click.option("-model", "--model", metavar="NAME", default="", help="The model to ask.")
@click.option("-agent", "--agent", metavar="NAME", default="", help="The agent to work as.")
@click.option(
    "--permission-mode",
    type=click.Choice(["ask", "edits", "all", "plan"]),
    default=None,
    help="What is allowed without asking; `ask` if not configured.",
)
@click.pass_context
def cli(ctx: click.Context, /, version: bool, **options: Any) -> int | None:
    """Drive an AI model through tools.

    Without a command the interactive front end starts.
    """
    if version:
        from .._version import __version__

        click.echo(f"hrns {__version__}")
        return 0
    if ctx.invoked_subcommand is not None:
        return None
    from .start import start

    return start(**options)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; every fault of the user's is a message and a status."""
    try:
        result = cli.main(list(arguments), prog_name="hrns", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except HrnsError as error:
        sys.stderr.write(f"hrns: {error}\n")
        return status.of_error(error)
    except BrokenPipeError:
        return close_quietly()
    except Exception as error:  # noqa: BLE001 - a bug of ours: its traceback goes to a file
        from .crash import report

        return report(error, arguments)


def close_quietly() -> int:
    """Leave after the reader of standard output has gone: nothing more is to be said."""
    import os

    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    return status.CLOSED_OUTPUT
