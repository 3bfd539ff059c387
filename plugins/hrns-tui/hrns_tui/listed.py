"""What a provider's list of models says, kept as long as the session."""

from __future__ import annotations

from collections.abc import Sequence

from hrns.providers.base import ModelInfo
from hrns.session import Session

__all__ = ["context_window", "keep_models", "list_models", "listed_models"]

_KEPT = "hrns_tui.models"


def list_models(session: Session) -> Sequence[ModelInfo]:
    """Ask the provider for its models, and keep what it says.

    Raises:
        ProviderError: they could not be listed.
    """
    provider, models = session.entry.name, session.models()
    keep_models(session, provider, models)
    return models


def keep_models(session: Session, provider: str, models: Sequence[ModelInfo]) -> None:
    """Keep what a provider said when it was asked."""
    session.context.state.setdefault(_KEPT, {})[provider] = [*models]


def listed_models(session: Session) -> list[ModelInfo] | None:
    """What the provider said when it was asked last; None if it never was."""
    kept: dict[str, list[ModelInfo]] = session.context.state.get(_KEPT, {})
    return kept.get(session.entry.name)


def context_window(session: Session) -> int:
    """How many tokens the model takes, or 0 if neither configuration nor provider told."""
    said = session.entry.models.get(session.model)
    listed = (m.context_window for m in listed_models(session) or () if m.id == session.model)
    return (said.context_window if said else None) or next(listed, 0)
