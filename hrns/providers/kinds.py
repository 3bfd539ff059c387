"""The protocols that the core brings, as records; each imports its module when it is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import ProviderKind

if TYPE_CHECKING:
    from ..config import ProviderConfig
    from .base import Provider

__all__ = ["BUILT_IN"]


def _demo(_entry: ProviderConfig) -> Provider:
    from .demo import DemoProvider

    return DemoProvider()


BUILT_IN = (
    ProviderKind("demo", _demo, description="a stand-in without a model, network or key"),
)
