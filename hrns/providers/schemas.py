"""JSON Schemas as servers take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_strict", "plain_schema"]

_PLAIN = frozenset(
    {"type", "description", "enum", "required", "nullable", "minimum", "maximum"}
    | {"minItems", "maxItems"}
)
_DEPTH_LIMIT = 12
"""How deep references are followed: a schema may refer to itself."""


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether a schema is of the closed kind that `strict` asks for.

    That is: each object lists all its properties as required and allows no others.
    """
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties):
            return False
    return all(is_strict(inner) for inner in _inner(schema))


def _inner(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Any] = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    found += [schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return [inner for inner in found if isinstance(inner, Mapping)]


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in words that every server knows; it may allow more than it did.

    References are replaced by what they refer to, `const` by an `enum` of one, a list of types by
    the first that is not null; formats, patterns and other limits are left out.
    """
    definitions = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    return _plain(schema, definitions, 0)


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEPTH_LIMIT:
        return {"type": "object"}
    schema = _resolved(schema, definitions)
    plain = {name: value for name, value in schema.items() if name in _PLAIN}
    if isinstance(plain.get("type"), list):
        plain["type"] = next((kind for kind in plain["type"] if kind != "null"), "string")
    if "const" in schema:
        plain["enum"] = [schema["const"]]
    if "properties" in schema:
        plain["properties"] = {
            name: _plain(inner, definitions, depth + 1)
            for name, inner in schema["properties"].items()
        }
    if isinstance(schema.get("items"), Mapping):
        plain["items"] = _plain(schema["items"], definitions, depth + 1)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        inner = [_plain(option, definitions, depth + 1) for option in options]
        some = [option for option in inner if option.get("type") != "null"]
        plain.update(some[0] if len(some) == 1 else {"anyOf": some})
    return plain


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with its own reference, and an `allOf` of one, replaced by what they mean."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = definitions.get(reference.rpartition("/")[2], {})
        return {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
    parts = schema.get("allOf")
    if isinstance(parts, list) and len(parts) == 1:
        own = {k: v for k, v in schema.items() if k != "allOf"}
        return {**_resolved(parts[0], definitions), **own}
    return schema
