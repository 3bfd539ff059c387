"""`hrns connect`: connect a model, by flags or by being asked. Here are its options."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["command"]


@click.command("connect")
@click.option("--name", default="", metavar="NAME", help="What to call it; openai ... are known.")
@click.option("--url", default="", metavar="URL", help="The base URL; most end in /v1.")
@click.option(
    "--key",
    metavar="KEY",
    help="The key; '$NAME' takes it from the environment, - from standard input.",
)
@click.option("--model", default="", metavar="NAME", help="The default model.")
@click.option(
    "--api",
    default="",
    metavar="NAME",
    help="The protocol, if the URL does not tell: openai-chat, openai-responses, anthropic, "
    "ollama, or one that a plugin brings.",
)
@click.option("--skip-verify", is_flag=True, help="Do not check TLS certificates.")
@click.option("--no-check", is_flag=True, help="Save it without trying the connection.")
def command(**options: Any) -> int:
    """Connect a model, and make it the current one.

    On a terminal, what is not given is asked for. The connection is tried before anything is
    saved: the models are listed, or a few tokens asked for where they cannot be. A provider of
    that name is updated.

    \b
    hrns connect
    hrns connect --name openai --model gpt-5-mini          with OPENAI_API_KEY set
    hrns connect --url http://localhost:8080/v1 --model qwen3-8b
    """  # noqa: D301 - \b is click's mark for a paragraph that is not re-wrapped
    from .onboarding import Given, connect

    return connect(Given(**options))
