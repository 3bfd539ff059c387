"""What is finished leaves the stage in pieces that end lines."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import Any, cast

import pytest
from hrns_tui.inline.stage import Stage


class Paper:
    """A frame that keeps what is written above it."""

    has_to_wait = False
    context = copy_context()

    def __init__(self) -> None:
        self.written: list[str] = []

    def commit(self, text: str) -> None:
        self.written.append(text)


def written(text: str) -> list[str]:
    async def draw() -> list[str]:
        stage, paper = Stage(), Paper()
        stage.open(cast("Any", paper))
        stage.put(text)
        while sum(map(len, paper.written)) < len(text):
            await asyncio.sleep(0.001)
        return [piece for piece in paper.written if piece]

    return asyncio.run(draw())


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"\x1b[94mdef\x1b[0m name_{n}\n" for n in range(8000)),
        "one row\n" + "x" * 50_000 + "\nanother\n",
        "\n" * 40_000,
    ],
)
def test_much_text_is_written_whole_and_only_cut_behind_lines(text: str) -> None:
    pieces = written(text)
    assert "".join(pieces) == text
    assert len(pieces) > 1
    assert [piece for piece in pieces if not piece.endswith("\n")] == []


def test_control_sequence_is_never_cut() -> None:
    copied = "\x1b]52;c;" + "QUJD" * 50_000 + "\x07"
    assert written(copied) == [copied]
