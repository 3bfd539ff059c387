"""Lists of models, as OpenAI and most other servers give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import BrokenStream
from .base import ModelInfo
from .jsontext import loads

__all__ = ["read_model_list"]


def read_model_list(body: bytes) -> list[ModelInfo]:
    """The models in a list as OpenAI and most others give it, those without an id left out.

    Raises:
        BrokenStream: the body is no such list.
    """
    try:
        value = loads(body)
    except ValueError as error:
        raise BrokenStream(f"the list of models is not JSON: {error}") from error
    if isinstance(value, dict):
        value = value.get("data", value.get("models"))
    if not isinstance(value, list):
        raise BrokenStream("the answer is no list of models")
    return [
        ModelInfo(str(entry["id"]), _context_window(entry))
        for entry in value
        if isinstance(entry, dict) and entry.get("id")
    ]


def _context_window(entry: Mapping[str, Any]) -> int:
    """The size of a model's context as the many servers tell it, or 0."""
    meta = entry.get("meta") or {}
    for holder, name in (
        (entry, "context_window"),
        (entry, "context_length"),
        (entry, "max_model_len"),
        (entry, "max_context_length"),
        (entry, "max_input_tokens"),
        (meta, "n_ctx"),
        (meta, "n_ctx_train"),
    ):
        value = holder.get(name) if isinstance(holder, dict) else None
        if isinstance(value, int) and value > 0:
            return value
    return 0
