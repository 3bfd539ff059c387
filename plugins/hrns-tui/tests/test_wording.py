"""How chunks are put in words."""

from __future__ import annotations

import pytest
from hrns_tui.wording import how_it_went

from hrns.transcript import INTERRUPTED, NEVER_RAN


@pytest.mark.parametrize(
    ("status", "text", "told"),
    [
        ("error", "ERROR: there is no such file", "error: there is no such file"),
        ("error", "errors were found", "error: errors were found"),
        ("denied", "ERROR: this call was denied: not today", "denied: not today"),
        ("interrupted", "interrupted", "interrupted"),
        (
            "interrupted",
            INTERRUPTED,
            "interrupted: this call was not completed; it may have run in part.",
        ),
        ("interrupted", NEVER_RAN, "interrupted before it ran: nothing of this call was done."),
    ],
)
def test_no_word_of_how_a_call_went_is_told_twice(status: str, text: str, told: str) -> None:
    assert how_it_went(status, text) == told
