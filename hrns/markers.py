"""The marks of hooks: `hookimpl` for who implements them, `hookspec` for who names them."""

from __future__ import annotations

import pluggy

__all__ = ["hookimpl", "hookspec"]

hookspec = pluggy.HookspecMarker("hrns")

hookimpl = pluggy.HookimplMarker("hrns")
"""Marks a function of a plugin as the implementation of the hook of its name."""
