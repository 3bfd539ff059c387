"""The history in its file, whatever is found in the place of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hrns_tui.inline.history import PrivateHistory


def test_history_is_kept_in_its_file(tmp_path: Path) -> None:
    history = PrivateHistory(tmp_path / "project/history")
    assert history.load_history_strings() == []
    history.store_string("one\ntwo")
    history.store_string("three")
    assert history.load_history_strings() == ["three", "one\ntwo"]


def test_damaged_history_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b"\xff\x00\n# then\n+one\n+\xfe\nnothing\n# now\n+two\n")
    assert PrivateHistory(path).load_history_strings() == ["two", "one\n�"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_history_that_is_no_file_costs_only_the_history(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "history")
    history = PrivateHistory(tmp_path / "history")
    assert history.load_history_strings() == []
    history.store_string("one")
    assert not (tmp_path / "history").is_file()
