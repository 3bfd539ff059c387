"""Telling who looks elsewhere: the terminal's title, and its bell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from prompt_toolkit.output import Output

from hrns.cli.printing import plain

from .desk import Desk, Work
from .forms import CallForm

__all__ = ["Herald"]

_LONG_S = 20.0
"""Seconds of a turn after which nobody may look any more."""
_SIGNS = {"working": "* ", "asking": "? "}
_UNTITLED = ("linux", "eterm-color")
"""Terminals that would show a title as text, as prompt_toolkit knows as well."""


class Herald:
    """Says in the title what goes on, and rings where a person is waited for.

    Parameters:
        output: the terminal.
        desk: what goes on.
        cwd: the directory that the title names.
        wants: the section `tui` of the configuration; `title` and `bell` may be false.
        term: the type of the terminal.
        clock: gives the seconds.
    """

    def __init__(
        self,
        output: Output,
        desk: Desk,
        cwd: Path,
        wants: Mapping[str, Any],
        term: str,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._output = output
        self._desk = desk
        self._name = plain(f"hrns · {cwd.name or cwd}")
        self._titled = wants.get("title") is not False and term not in _UNTITLED
        self._rings = wants.get("bell") is not False
        self._clock = clock
        self._title = ""
        self._work: Work | None = None
        self._form: object = None

    def open(self) -> None:
        """Keep the title that there is, where the terminal can (XTWINOPS 22)."""
        if self._titled:
            self._output.write_raw("\x1b[22;2t")
            self.tell()

    def tell(self) -> None:
        """Say what changed; in the drawing thread."""
        title = _SIGNS.get(self._desk.state, "") + self._name
        if self._titled and title != self._title:
            self._title = title
            self._output.set_title(title)
        if self._is_to_ring() and self._rings:
            self._output.bell()
        self._output.flush()

    def _is_to_ring(self) -> bool:
        """Whether a question was put, or a long turn has ended."""
        form, self._form = self._form, self._desk.form
        work, self._work = self._work, self._desk.work
        asks = isinstance(self._form, CallForm) and self._form is not form
        turn = work if work and work.turn and self._work is not work else None
        return asks or (turn is not None and self._clock() - turn.since > _LONG_S)

    def close(self) -> None:
        """Give the terminal the title that it had, or none."""
        if self._titled:
            self._output.clear_title()
            self._output.write_raw("\x1b[23;2t")
            self._output.flush()
