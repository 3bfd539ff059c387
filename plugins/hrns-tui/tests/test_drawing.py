"""The frame is drawn anew when the terminal's size stays, not at each size on the way."""

from __future__ import annotations

import asyncio
import io

import pytest
from hrns_tui.inline.drawing import Frame
from hrns_tui.inline.output import HeldOutput
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.layout import BufferControl, Layout, Window


class Paper:
    """A terminal that keeps what is written to it, and says how wide it is."""

    def __init__(self) -> None:
        self.columns = 80
        self._stream = io.StringIO()
        self.output = HeldOutput(self._stream, self.size, term="xterm")
        self.output.enable_cpr = False

    def size(self) -> Size:
        return Size(rows=24, columns=self.columns)

    @property
    def written(self) -> str:
        return self._stream.getvalue()

    async def more(self, than: str) -> str:
        """Wait until more is written, and return it."""
        while self.written == than:
            await asyncio.sleep(0.001)
        return self.written[len(than) :]


def resized(*columns: int) -> tuple[str, str]:
    """What is written while the size changes, and what is when it stays."""

    async def draw(paper: Paper, frame: Frame) -> tuple[str, str]:
        running = asyncio.ensure_future(frame.run_async())
        while "x" not in (before := paper.written):
            await paper.more(before)
        for paper.columns in columns:
            frame._on_resize()
        meanwhile = paper.written[len(before) :]
        after = await paper.more(before + meanwhile)
        frame.exit(result=0)
        await running
        return meanwhile, after

    paper = Paper()
    shown = BufferControl(Buffer(document=Document("x" * 60 + "\n")))  # the cursor is below it
    with create_pipe_input() as keys:
        frame = Frame(paper.output, input=keys, layout=Layout(Window(shown)))
        return asyncio.run(draw(paper, frame))


@pytest.mark.parametrize(("columns", "up"), [((40,), 2), ((40, 80), 1), ((30, 20, 40, 90), 1)])
def test_frame_is_erased_where_the_last_size_has_it(columns: tuple[int, ...], up: int) -> None:
    meanwhile, after = resized(*columns)
    assert not meanwhile
    assert after.startswith(f"\x1b[{up}A\x1b[J" if up > 1 else "\x1b[A\x1b[J")
