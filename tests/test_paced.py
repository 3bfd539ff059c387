"""Output that is gathered for a blink."""

from __future__ import annotations

import io
import time

import pytest

from hrns.cli.paced import PacedOutput


class Counting(io.StringIO):
    """Counts writes that have text."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += bool(text)
        return super().write(text)


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(len(text))


def test_many_writes_reach_the_stream_in_few_and_in_order() -> None:
    stream = Counting()
    out = PacedOutput(stream)
    words = [f"{number} " for number in range(20_000)]
    for word in words:
        out.write(word)
    out.close()
    assert stream.getvalue() == "".join(words)
    assert stream.writes < 1000


def test_written_text_does_not_wait_for_more() -> None:
    stream = io.StringIO()
    out = PacedOutput(stream)
    for word in ("a", "b"):
        out.write(word)
        deadline = time.monotonic() + 20
        while not stream.getvalue().endswith(word) and time.monotonic() < deadline:
            time.sleep(0.005)
        assert stream.getvalue().endswith(word)
    out.close()


def test_flush_hands_on_at_once() -> None:
    stream = io.StringIO()
    out = PacedOutput(stream)
    out.write("now")
    out.flush()
    assert stream.getvalue() == "now"
    out.close()


def test_reader_that_went_away_is_told_to_the_writer() -> None:
    out = PacedOutput(Closed())
    out.write("x")
    with pytest.raises(BrokenPipeError):
        out.flush()
    with pytest.raises(BrokenPipeError):
        out.write("y")
