"""`hrns exec`: ask once, let the model use tools, print the answer. Here are its options."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from ..errors import UsageError
from .completing import agent_names, model_names, provider_names, session_ids, tool_names

__all__ = ["command"]


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


_FILE = click.Path(exists=True, dir_okay=False, readable=True)


class _Exec(click.Command):
    """A command whose words may look like options: it is told how they are no options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; an unknown option with blanks in it was meant as words."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if meant := next((each for each in given if _reads_like_words(each)), ""):
                raise UsageError(
                    f"the message begins with a dash: {meant[:40]!r}",
                    hint="Put -- before it: hrns exec [OPTIONS] -- MESSAGE",
                ) from error
            raise


def _reads_like_words(argument: str) -> bool:
    return argument.startswith("-") and "=" not in argument and len(argument.split()) > 1


@click.command("exec", cls=_Exec)
@click.argument("words", nargs=-1)
@click.option("-message", "--message", "-m", default="", metavar="TEXT", help="What to ask.")
@click.option(
    "-provider",
    "--provider",
    default="",
    metavar="NAME",
    shell_complete=provider_names,
    help="The provider to use.",
)
@click.option(
    "-model",
    "--model",
    default="",
    metavar="NAME",
    shell_complete=model_names,
    help="The model to ask.",
)
@click.option(
    "-agent",
    "--agent",
    default="",
    metavar="NAME",
    shell_complete=agent_names,
    help="The agent to work as.",
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    show_default=True,
    help="Plain text, one JSON object at the end, or every chunk as a line of JSON.",
)
@click.option(
    "--json-schema",
    type=_FILE,
    metavar="FILE",
    help="Ask for an answer that fits this JSON Schema, and check it.",
)
@click.option(
    "--permission-mode",
    type=click.Choice(["ask", "edits", "all", "plan"]),
    default=None,
    help="What tools may do; no one can be asked, so what would ask is denied.  [default: all]",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="RULE",
    shell_complete=tool_names,
    help="A tool, or tool(pattern), that may run; repeatable.",
)
@click.option(
    "--deny",
    multiple=True,
    metavar="RULE",
    shell_complete=tool_names,
    help="A tool, or tool(pattern), that may not; repeatable.",
)
@click.option("--strict", is_flag=True, help="End with status 77 if a tool call was denied.")
@click.option("--max-turns", type=click.IntRange(1), help="The most requests to the model.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="The most seconds.")
@click.option("--max-tokens", type=click.IntRange(1), help="The most tokens, read and written.")
@click.option("--system", default="", metavar="TEXT", help="In place of the agent's prompt.")
@click.option("--append-system", default="", metavar="TEXT", help="Behind the system prompt.")
@click.option(
    "--log", default="", metavar="FILE", help="Append every chunk to this file, as lines of JSON."
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
    default="",
    metavar="ID",
    shell_complete=session_ids,
    help="Go on with this session.",
)
@click.option("--no-session", is_flag=True, help="Write no session down.")
@click.option("-q", "--quiet", is_flag=True, help="Only the answer and errors.")
@click.option("-v", "--verbose", is_flag=True, help="Tell tool calls, also to a file or pipe.")
@click.option("--no-stdin", is_flag=True, help="Do not read standard input.")
def command(**options: Any) -> int:
    """Ask once and print the answer.

    The model works with tools in the current directory until it can answer. The answer goes to
    standard output, everything else to standard error. What is piped in is added to the message;
    `-` as the message is standard input alone.

    \b
    Exit status: 0 answered, 1 refused or cut off, 2 usage, 65 the answer does not
    fit --json-schema, 69 provider unavailable, 70 a bug in hrns, 75 try again later,
    77 key refused (or a call denied, with --strict), 78 configuration,
    124 a limit was reached, 130 interrupted, 143 terminated.
    """  # noqa: D301 - \b is click's mark for a paragraph that is not re-wrapped
    from .asking import Options, ask

    if not options["resume"] and _is_given("resume"):  # `-r "$ID"` of a script that has none
        raise UsageError(
            "--resume is given no session",
            hint="`hrns sessions list` shows them; -c takes the last.",
        )
    return ask(Options(**options))
