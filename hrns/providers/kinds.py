"""The protocols that the core brings, as records; each imports its module when it is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import ProviderKind

if TYPE_CHECKING:
    from ..config import ProviderConfig
    from .base import Provider

__all__ = ["BUILT_IN"]


def _over_http(entry: ProviderConfig) -> Provider:
    from .http import build

    return build(
        url=entry.url,
        key=entry.key,
        api=entry.api,
        headers=entry.headers,
        skip_verify=entry.skip_verify,
        ca_file=entry.ca_file,
    )


def _demo(_entry: ProviderConfig) -> Provider:
    from .demo import DemoProvider

    return DemoProvider()


BUILT_IN = (
    ProviderKind("openai-chat", _over_http, description="OpenAI chat completions, and compatible"),
    ProviderKind("openai-responses", _over_http, description="OpenAI responses"),
    ProviderKind("anthropic", _over_http, description="Anthropic messages"),
    ProviderKind("ollama", _over_http, description="Ollama's own API"),
    ProviderKind("demo", _demo, description="a stand-in without a model, network or key"),
)
