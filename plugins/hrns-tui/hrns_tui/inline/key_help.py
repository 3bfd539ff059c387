"""What the keys do, in words; `keys` binds them."""

from __future__ import annotations

__all__ = ["HINT", "KEYS"]

HINT = "Enter sends, Ctrl-J breaks the line, Esc interrupts, Ctrl-D leaves, /help"
"""The most important of them, for the head of a conversation."""

KEYS = (
    ("Enter", "sends; while the model works: queues, and once more interrupts to send that now"),
    ("Ctrl-J, Alt-Enter", "begins a new line"),
    ("Esc", "takes back what is queued, or interrupts"),
    ("Ctrl-C", "interrupts, empties the prompt, twice leaves"),
    ("Ctrl-U", "empties the prompt; Ctrl-Y brings it back"),
    ("Ctrl-D", "leaves"),
    ("Up, Down, Ctrl-R", "what was sent before, and a search in it"),
    ("Tab", "completes /commands, their arguments, and files after @"),
    ("Shift-Tab", "the next permission mode"),
    ("Ctrl-O", "the whole output of the last tool; again: of the one before"),
    ("Ctrl-T", "all that was thought last; again: before that"),
    ("Ctrl-G", "opens the message in $EDITOR"),
    ("!command", "runs it; its output goes along with the next message"),
)
"""What the keys do, for `/help`."""
