"""Completing values of options in a shell."""

from __future__ import annotations

import click

__all__ = ["provider_names"]


def provider_names(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """The names of providers that begin so; none if the configuration cannot be read."""
    import os

    from ..config import load_config
    from ..errors import HrnsError
    from .common import user_config_path
    from .providers import known_providers

    try:
        known = known_providers(load_config(user_config_path()), os.environ)
        return [entry.name for entry, _ in known if entry.name.startswith(incomplete)]
    except HrnsError:
        return []
