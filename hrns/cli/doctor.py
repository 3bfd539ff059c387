"""`hrns doctor`: what is here, and what is wrong with it. Here is its command."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of findings.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a provider may take to answer.",
)
def command(as_json: bool, timeout_s: float) -> int:
    """Check the installation, the configuration and the providers.

    The status is 1 if something is wrong that keeps hrns from working.
    """
    from attrs import asdict

    from .checkup import examine
    from .tables import pretty

    findings = list(examine(timeout_s))
    if as_json:
        click.echo(pretty([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            click.echo(finding)
    return int(any(finding.state == "fault" for finding in findings))
