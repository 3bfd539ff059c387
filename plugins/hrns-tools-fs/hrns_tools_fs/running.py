"""run_command: one command line, to its end or its time limit."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from attrs import frozen

from hrns.context import ToolContext
from hrns.errors import ToolFailure
from hrns.messages import ToolResult
from hrns.permissions import ALL_EFFECTS, Access, Prepared
from hrns.tools import Tool, tool

from .host import Host
from .paths import locate

__all__ = ["Running"]

LONGEST_S = 30 * 24 * 3600.0
"""Clocks cannot count as far as a model may ask."""
_TITLE = 100
"""Characters of a command that its title has."""


@frozen
class Running:
    """The tool `run_command` on a host."""

    host: Host

    def tools(self) -> list[Tool]:
        """The tools to register."""
        # A shell can do anything: whoever may not write or reach the network gets none.
        return [tool(effects=ALL_EFFECTS, prepare=self.prepare)(self.run_command)]

    def prepare(
        self,
        command: str,
        context: ToolContext,
        timeout: float = 120,  # noqa: ARG002
        cwd: str = "",
    ) -> Prepared:
        """Which command line would be run; one for another directory begins by going there."""
        from shlex import quote

        line = f"cd {quote(str(self._directory(cwd, context)))}\n{command}" if cwd else command
        whole = command.strip()
        shown = whole.partition("\n")[0][:_TITLE]
        more = "" if shown == whole else " ..."
        return Prepared([Access("execute", line)], title=f"run_command {shown}{more}")

    def run_command(
        self,
        command: str,
        context: ToolContext,
        timeout: Annotated[float, "seconds"] = 120,
        cwd: Annotated[str, "where to run it"] = "",
    ) -> ToolResult:
        """Run a command line in a new shell; gives what it prints. It has no input, no terminal.

        What should go on running is started with &.
        """
        if not timeout > 0:  # NaN is no number of seconds either
            raise ToolFailure("timeout must be more than 0 seconds")
        timeout = min(timeout, LONGEST_S)
        started = time.monotonic()
        directory = self._directory(cwd, context)
        try:
            running = self.host.start(command, directory)
        except (OSError, ValueError) as error:
            what = error.strerror if isinstance(error, OSError) else error
            raise ToolFailure(f"the command could not be started in {directory}: {what}") from error
        from .output import WithoutSecrets
        from .runs import Recorder, Run, result

        recorder = Recorder(self.host, WithoutSecrets(context.cleaner()))
        ended = Run(running, context, recorder).to_its_end(timeout)
        return result(command, ended, timeout, time.monotonic() - started)

    def _directory(self, cwd: str, context: ToolContext) -> Path:
        if not cwd:
            return context.cwd
        place = locate(cwd, context.cwd, self.host)
        info = self.host.info(place.path)
        if info is None or info.kind != "directory":
            raise ToolFailure(f"cwd: {cwd} is not a directory")
        return place.path
