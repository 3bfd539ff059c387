"""When Enter sends, and when it is a line break of something that was pasted."""

from __future__ import annotations

import os
import pty
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from hrns_tui.inline.typed import TypedInput
from prompt_toolkit.keys import Keys


class Keyboard:
    """A pseudo-terminal: what is written at its one end is read at the other."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self._file = Path(os.ttyname(self.slave)).open()  # noqa: SIM115 - closed below
        self.input = TypedInput(self._file)

    def type(self, data: bytes) -> None:
        os.write(self.master, data)

    def read(self) -> tuple[str, bool]:
        """What was typed, with `|` for Enter and `/` for Ctrl-J, and whether Enter sends."""
        signs: dict[str, str] = {Keys.ControlM: "|", Keys.ControlJ: "/", Keys.Escape: "E"}
        text = "".join(signs.get(k.key, k.data) for k in self.input.read_keys())
        return text, self.input.enter_sends

    def close(self) -> None:
        self._file.close()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    keyboard = Keyboard()
    yield keyboard
    keyboard.close()


@pytest.mark.parametrize(
    ("data", "read"),
    [
        ("\r", ("|", True)),
        ("\r\r", ("||", True)),
        ("hello\r", ("hello|", True)),
        ("hello\r\n", ("hello|", True)),
        ("hello\x04\r", ("hello\x04|", True)),
        ("hello\r\x04", ("hello|\x04", True)),
        ("one\ntwo\r", ("one/two|", True)),
        ("one\x1b\rtwo\r", ("oneE|two|", True)),
        ("\x1b[200~one\rtwo\x1b[201~\r", ("one\rtwo|", True)),
        ("one\rtwo", ("one|two", False)),
        ("one\rtwo\r", ("one|two|", False)),
        ("one\r\ntwo\r\n", ("one|two|", False)),
        ("\rone", ("|one", False)),
        ("one\r\r", ("one||", False)),
    ],
)
def test_enter_sends_behind_one_line_and_breaks_several(
    keyboard: Keyboard, data: str, read: tuple[str, bool]
) -> None:
    keyboard.type(data.encode())
    assert keyboard.read() == read


def test_keys_that_are_read_apart_are_apart(keyboard: Keyboard) -> None:
    for data in (b"one", b"\r", b"two", b"\r"):
        keyboard.type(data)
        assert keyboard.read()[1] is (data == b"\r")


def test_long_paste_is_one_however_many_reads_it_takes(keyboard: Keyboard) -> None:
    keyboard.type(b"x" * 1023 + b"\ry\r")
    assert keyboard.read() == ("x" * 1023 + "|", False)
    assert keyboard.read() == ("y|", False)
    keyboard.type(b"z\r")
    assert keyboard.read() == ("z|", True)


def test_long_line_ends_in_an_enter_that_sends(keyboard: Keyboard) -> None:
    keyboard.type(b"x" * 1500 + b"\r")
    assert keyboard.read() == ("x" * 1024, False)
    assert keyboard.read() == ("x" * 476 + "|", True)


def test_line_typed_before_the_program_was_up_is_sent(keyboard: Keyboard) -> None:
    tty.setcbreak(keyboard.slave)  # where the terminal makes a line feed of Enter
    keyboard.type(b"hello\n")
    with keyboard.input.raw_mode():
        assert keyboard.read() == ("hello|", True)
        keyboard.type(b"one\n")
        assert keyboard.read() == ("one/", False)


@pytest.mark.parametrize(
    ("data", "read"),
    [
        ("a\x1b[99~b", "ab"),
        ("a\x1b[27;6;65~b", "ab"),
        ("a\x1b[1;9Ab", "ab"),
        ("a\x1b[1;3Ab", "ab"),
        ("a\x1b[Ib\x1b[O", "ab"),
        ("a\x1b[?62;cb", "ab"),
        ("a\x1b]11;rgb:0/0/0\x07b", "ab"),
        ("a\x1b]11;rgb:0/0/0\x1b\\b", "ab"),
        ("a\x1bP1$r0m\x1b\\b", "ab"),
        ("\x1bx", "Ex"),
        ("\x1b\r", "E|"),
        ("\x1b[1;3D", "E"),
        ("\x1b[200~\x1b[99~\x1b[201~", "\x1b[99~"),
    ],
)
def test_sequence_of_no_known_key_is_no_esc_and_no_text(
    keyboard: Keyboard, data: str, read: str
) -> None:
    keyboard.type(data.encode())
    assert keyboard.read()[0] == read


def test_much_text_is_few_keys(keyboard: Keyboard) -> None:
    keyboard.type(b"\x1b" + b"x" * 500 + b"\ry" * 3)
    keys = keyboard.input.read_keys()
    assert "".join(key.data for key in keys) == "\x1b" + "x" * 500 + "\ry" * 3
    assert [key.key for key in keys[:3]] == [Keys.Escape, "x", Keys.Any]
    assert len(keys) == 9
    assert not keyboard.input.enter_sends
