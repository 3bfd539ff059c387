"""The JSON Schemas (2020-12) that are shipped with hrns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["shipped_schema"]


def shipped_schema(name: str) -> dict[str, Any]:
    """The schema in `NAME.schema.json`."""
    text = Path(__file__).with_name(f"{name}.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
