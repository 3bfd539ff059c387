"""`hrns completion`: the scripts that complete commands, options and providers in a shell."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that completes `hrns` in SHELL.

    \b
    bash: echo 'eval "$(hrns completion bash)"' >> ~/.bashrc
    zsh:  echo 'eval "$(hrns completion zsh)"' >> ~/.zshrc
    fish: hrns completion fish > ~/.config/fish/completions/hrns.fish
    """  # noqa: D301 - \b is click's mark for a paragraph that is not re-wrapped
    from click.shell_completion import get_completion_class

    from .app import cli

    kind = get_completion_class(shell)
    assert kind is not None, "click completes in all of the choices"  # noqa: S101
    click.echo(kind(cli, {}, "hrns", "_HRNS_COMPLETE").source())
