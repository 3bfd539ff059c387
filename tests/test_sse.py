"""The framing of server-sent events: the same events however the bytes arrive."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.errors import BrokenStream
from hrns.providers.sse import Event, EventReader


def read(*blocks: bytes) -> list[Event]:
    reader = EventReader()
    return [event for block in blocks for event in reader.feed(block)] + reader.end()


def in_two(data: bytes) -> list[tuple[bytes, bytes]]:
    return [(data[:cut], data[cut:]) for cut in range(len(data) + 1)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_events_are_the_same_wherever_the_stream_is_cut(line_end: bytes) -> None:
    stream = b"\xef\xbb\xbf" + line_end.join(
        [
            b": hello",
            b"",
            b"data: one",
            b"",
            b":",
            b"event: note",
            b"data:two",
            b"data:  lines \xe2\x80\xa8",
            b"id: 7",
            b"retry: 10",
            b"",
            b"",
            b"event: lost",
            b"",
            b"data",
            b"",
            b"data: last",
        ]
    )
    expected = [("", b"one"), ("note", b"two\n lines \xe2\x80\xa8"), ("", b""), ("", b"last")]
    for blocks in in_two(stream):
        assert read(*blocks) == expected, blocks
    assert read(*(bytes([byte]) for byte in stream)) == expected


def test_plain_events_in_one_block_are_told_apart() -> None:
    assert read(b"data: a\n\n", b"data: b\n\ndata: c\n\n") == [("", b"a"), ("", b"b"), ("", b"c")]


def test_event_with_two_lines_among_plain_ones_is_kept_whole() -> None:
    block = b"data: a\n\ndata: b\ndata: c\n\ndata: d\n\n"
    assert read(b"data: 0\n\n", block) == [("", b"0"), ("", b"a"), ("", b"b\nc"), ("", b"d")]


def test_plain_block_after_a_name_carries_the_name() -> None:
    assert read(b"data: 0\n\n", b"event: error\n", b"data: 1\n\n") == [("", b"0"), ("error", b"1")]


def test_plain_block_after_a_lone_carriage_return_is_read() -> None:
    assert read(b"data: 0\r\r", b"data: 1\n\n") == [("", b"0"), ("", b"1")]


@pytest.mark.parametrize(
    ("block", "events"),
    [
        (b"event: a\ndata: 1\n\n", [("a", b"1")]),
        (b"event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", [("a", b"1"), ("b", b"2")]),
        (b"event: a\ndata: 1\n\ndata: 2\n\n", [("a", b"1"), ("", b"2")]),
        (b"event: a\nid: 1\n\nevent: b\ndata: 2\n\n", [("b", b"2")]),
        (b"event: a\ndata: 1\ndata: 2\n\n", [("a", b"1\n2")]),
        (b"event: a\nid: 7\ndata: 1\n\n", [("a", b"1")]),
        (b"event: a\nevent: b\ndata: 1\n\n", [("b", b"1")]),
        (b"event: a\nevent: b\n\nevent: c\ndata: 1\ndata: 2\n\n", [("c", b"1\n2")]),
    ],
)
def test_named_events_in_one_block_are_told_apart(block: bytes, events: list[Event]) -> None:
    assert read(b"data: 0\n\n", block, b"data: 9\n\n") == [("", b"0"), *events, ("", b"9")]


def test_nothing_gives_nothing() -> None:
    assert read() == []
    assert read(b"") == []
    assert read(b"\xef\xbb\xbf") == []


LINES = st.sampled_from(
    [b"data: {}", b"data:x", b"data:  y", b"data", b": ping", b"event: e", b"id: 1", b"other: z"]
    + [b""] * 4
)
LINE_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@settings(max_examples=100)
@given(
    st.lists(st.tuples(LINES, LINE_ENDS), max_size=20).flatmap(
        lambda lines: st.tuples(
            st.just(b"".join(line + end for line, end in lines)),
            st.lists(st.integers(0, sum(len(line) + len(end) for line, end in lines)), max_size=6),
        )
    )
)
def test_any_stream_is_read_the_same_in_any_pieces(case: tuple[bytes, list[int]]) -> None:
    stream, cuts = case
    ends = [*sorted(cuts), len(stream)]
    blocks = [stream[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert read(*blocks) == read(stream)


@pytest.mark.parametrize("piece", [b"x" * 1000, b"data: x\n" * 100, b"data\n" * 1000])
def test_event_that_never_ends_is_refused_at_the_limit(piece: bytes) -> None:
    reader = EventReader(limit_bytes=10_000)
    for _ in range(9000 // len(piece)):
        assert reader.feed(piece) == []
    with pytest.raises(BrokenStream, match="longer than 10000 bytes"):
        deque(map(reader.feed, [piece] * 100), maxlen=0)


def test_keep_alives_without_end_cost_no_memory() -> None:
    reader = EventReader(limit_bytes=100)
    assert [event for _ in range(1000) for event in reader.feed(b": still here\n")] == []
