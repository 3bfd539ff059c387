"""The click group: a table of commands whose modules are imported only when they are used.

Commands of plugins come from the entry-point group ``hrns.cli`` (name = a click command).
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from ..errors import ConfigError, HrnsError, UsageError
from . import status
from .completing import agent_names, model_names, provider_names, session_ids
from .early import raise_again
from .streams import open_streams, silence, steady_streams

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from click.shell_completion import CompletionItem

__all__ = ["COMMANDS", "cli", "run"]

COMMANDS = {
    "exec": "Ask once, let the model use tools, print the answer.",
    "connect": "Connect a model: URL, key, default model.",
    "config": "Show, change and check the configuration.",
    "providers": "List the providers that can be named.",
    "models": "List the models that a provider offers.",
    "agents": "List the agents.",
    "tools": "List the tools, what they may do and who brings them.",
    "permissions": "List the permission rules; say what comes of a call.",
    "sessions": "List, show, export, search, replay and remove sessions.",
    "plugins": "List the plugins, what they bring and their state.",
    "doctor": "Check the installation, the configuration and the providers.",
    "completion": "Print a script that completes commands in a shell.",
}
"""Command name -> its line in `--help`; the command is `command` in the module of its name."""


class _GuestFailed(Exception):
    """The command of a plugin raised; the message names the distribution, the cause says what."""


class _Commands(click.Group):
    """A group that knows its commands by name and imports one when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_lines())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in COMMANDS:
            module = import_module(f"hrns.cli.{cmd_name}")
            command: click.Command = module.command
            return command
        entry_point = _entry_point(cmd_name)
        return _load(entry_point) if entry_point else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            raise _no_such_command(args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_lines().items()))

    def invoke(self, ctx: click.Context) -> Any:
        """As click does; what the command of a plugin raises is told as its own."""
        try:
            return super().invoke(ctx)
        except (HrnsError, click.ClickException, click.exceptions.Exit, click.Abort, OSError):
            raise
        except Exception as error:
            name = ctx.invoked_subcommand
            if name and name not in COMMANDS and (point := _entry_point(name)):
                raise _GuestFailed(point.dist.name if point.dist else point.value) from error
            raise

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options; click itself would import all commands for their help."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=line)
            for name, line in _lines().items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def _lines() -> dict[str, str]:
    """The commands and what `--help` says of each; a plugin does not take a name of ours."""
    from .installed import commands_of_plugins

    others = {name: f"(from {source})" for name, source in sorted(commands_of_plugins().items())}
    return {**COMMANDS, **{name: others[name] for name in others if name not in COMMANDS}}


def _no_such_command(args: Sequence[str]) -> UsageError:
    from ..nearest import nearest

    near = nearest(args[0], _lines())
    guess = f"Did you mean `hrns {near[0]}`? " if near else ""
    ask = f'To ask a model: hrns exec "{" ".join(args)}". '
    return UsageError(
        f"there is no command {args[0]!r}", hint=f"{guess}{ask}`hrns --help` lists all."
    )


def _entry_point(name: str) -> EntryPoint | None:
    from ..distributions import installed_entry_points

    points = installed_entry_points("hrns.cli", lambda _: None)  # what runs plugins tells of it
    return next((point for point in points if point.name == name), None)


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
@click.option(
    "-provider",
    "--provider",
    metavar="NAME",
    default="",
    shell_complete=provider_names,
    help="The provider to use.",
)
@click.option(
    "-model",
    "--model",
    metavar="NAME",
    default="",
    shell_complete=model_names,
    help="The model to ask.",
)
@click.option(
    "-agent",
    "--agent",
    metavar="NAME",
    default="",
    shell_complete=agent_names,
    help="The agent to work as.",
)
@click.option(
    "--permission-mode",
    type=click.Choice(["ask", "edits", "all", "plan"]),
    default=None,
    help="What is allowed without asking; `ask` if not configured.",
)
@click.option(
    "-c",
    "--continue",
    "resume_last",
    is_flag=True,
    help="Go on with this directory's last session.",
)
@click.option(
    "-r",
    "--resume",
    is_flag=False,
    flag_value="?",
    default="",
    metavar="[ID]",
    shell_complete=session_ids,
    help="Go on with this session, or pick one.",
)
@click.option("--no-session", is_flag=True, help="Write no session down.")
@click.pass_context
def cli(ctx: click.Context, /, version: bool, **options: Any) -> int | None:
    """Drive an AI model through tools.

    Without a command the interactive front end starts.
    """
    if ctx.invoked_subcommand != "exec":  # which takes the signals over when it has its modules
        raise_again()
    if version:
        from .._version import __version__

        click.echo(f"hrns {__version__}")
        return 0
    if ctx.invoked_subcommand is not None:  # `hrns --model M exec ...` means the same
        given = {name: value for name, value in options.items() if value}
        ctx.default_map = {ctx.invoked_subcommand: given}
        return None
    from .start import start

    return start(**options)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; every fault of the user's is a message and a status."""
    open_streams()
    steady_streams()
    try:
        done = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
        return status.CLOSED_OUTPUT
    except OSError as error:
        silence()
        sys.stderr.write(f"hrns: the output cannot be written: {error.strerror or error}\n")
        return status.FAILED
    return done


def _run(arguments: Sequence[str]) -> int:
    """Run a command line; raises only what standard output and error raise."""
    try:
        return _invoke(arguments)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:
        return status.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except HrnsError as error:
        sys.stderr.write(f"hrns: {error}\n")
        return status.of_error(error)
    except _GuestFailed as failed:
        from .crash import report

        cause = failed.__cause__
        return report(cause if isinstance(cause, Exception) else failed, arguments, str(failed))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _OF_STREAMS and error.filename is None:
            raise
        from .crash import report

        return report(error, arguments)


_OF_STREAMS = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


def _invoke(arguments: Sequence[str]) -> int:
    """What `cli.main` does, without the exits that it takes into its own hands."""
    if instruction := os.environ.get("_HRNS_COMPLETE"):
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "hrns", "_HRNS_COMPLETE", instruction)
    with cli.make_context("hrns", list(arguments)) as context:
        result = cli.invoke(context)
    return result if isinstance(result, int) else status.DONE
