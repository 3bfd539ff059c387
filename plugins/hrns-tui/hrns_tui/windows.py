"""How much a model can take in at once."""

from __future__ import annotations

from hrns.session import Session

__all__ = ["CONTEXT_WINDOWS", "context_window"]

CONTEXT_WINDOWS = "hrns_tui.context_windows"
"""Where the context windows of the models that were listed are kept: by their names."""


def context_window(session: Session) -> int:
    """How many tokens the model takes, or 0 if that is not known."""
    said = session.entry.models.get(session.model)
    listed: dict[str, int] = session.context.state.get(CONTEXT_WINDOWS, {})
    return (said.context_window if said else None) or listed.get(session.model, 0)
