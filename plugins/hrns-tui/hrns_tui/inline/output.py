"""The terminal as it is written to: what belongs together goes out in one write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast

from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

__all__ = ["HeldOutput", "terminal_output"]


class HeldOutput(Vt100_Output):
    """An output that can be held: nothing is written until it is let go."""

    holds = 0

    def flush(self) -> None:
        """Write what there is, unless it is held."""
        if not self.holds:
            super().flush()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside the block nothing is written; at its end everything at once."""
        self.holds += 1
        try:
            yield
        finally:
            self.release()

    def let_go(self) -> None:
        """Write what there is, whoever held it: drawing it broke off."""
        self.holds = 0
        self.flush()

    def release(self) -> None:
        """Let go, once for each hold."""
        self.holds -= 1
        self.flush()


def terminal_output(stream: TextIO, term: str, *, colour: bool) -> HeldOutput:
    """A terminal, never asked where its cursor is: the answer may come late, or never."""
    depth = ColorDepth.DEPTH_4_BIT if colour else ColorDepth.DEPTH_1_BIT
    made = HeldOutput.from_pty(stream, term=term, default_color_depth=depth)
    output = cast("HeldOutput", made)
    output.enable_cpr = False
    return output
