"""JSON Schemas as servers take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .jsontext import compact

__all__ = ["is_strict", "plain_schema"]

_PLAIN = frozenset(
    {"type", "description", "enum", "required", "nullable", "minimum", "maximum"}
    | {"minItems", "maxItems"}
)
_TYPES = {bool: "boolean", int: "integer", float: "number"}
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
    plain = _plain(schema, definitions, 0)
    options = plain.pop("anyOf", ())
    plain["type"] = "object"  # and no choice: the arguments of a tool are one object
    for option in options:
        plain["properties"] = {**option.get("properties", {}), **plain.get("properties", {})}
    plain.setdefault("properties", {})
    return _with_sound_names(plain)


def _plain(schema: Any, definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        return {"type": "string"}  # `true`: anything; some servers insist on a type
    if depth > _DEPTH_LIMIT:
        return {"type": "object", "properties": {}}
    schema = _resolved(schema, definitions)
    plain = {name: value for name, value in schema.items() if name in _PLAIN}
    if isinstance(plain.get("type"), list):
        plain["type"] = next((kind for kind in plain["type"] if kind != "null"), "string")
    if "const" in schema:
        plain["enum"] = [schema["const"]]
    _mend_enum(plain)
    if isinstance(schema.get("properties"), Mapping):
        plain["properties"] = {
            name: _plain(inner, definitions, depth + 1)
            for name, inner in schema["properties"].items()
        }
    if isinstance(schema.get("items"), Mapping):
        plain["items"] = _plain(schema["items"], definitions, depth + 1)
    plain.setdefault("type", _implied_type(plain, schema))
    if plain["type"] == "array" and "items" not in plain:
        plain["items"] = {"type": "string"}  # Google and OpenAI insist on it
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        inner = [_plain(option, definitions, depth + 1) for option in options]
        some = [option for option in inner if option.get("type") != "null"]
        if some and "type" not in schema:
            del plain["type"]
        plain = {**plain, **some[0]} if len(some) == 1 else _either(plain, some)
    return _with_sound_names(plain)


def _implied_type(plain: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The type of a schema that names none."""
    if "properties" in plain or schema.get("additionalProperties"):
        return "object"
    return "array" if "items" in plain else "string"


def _either(plain: dict[str, Any], options: list[dict[str, Any]]) -> dict[str, Any]:
    """A choice; Google takes nothing beside it, so what described it describes its options."""
    if "properties" in plain:
        return {**plain, "anyOf": options}
    said = {"description": plain["description"]} if "description" in plain else {}
    return {"anyOf": [{**said, **option} for option in options]} if options else plain


def _mend_enum(plain: dict[str, Any]) -> None:
    """Make an `enum` one of texts, none of them empty, as Google takes it; others are described."""
    given = plain.pop("enum", None)
    if not isinstance(given, list):
        return
    words = [word for word in given if isinstance(word, str) and word]
    if words and plain.get("type", "string") == "string":
        plain.update(type="string", enum=words)
    elif not words:
        plain.setdefault("type", _TYPES.get(type(given[0]), "string") if given else "string")
        said = f"One of: {', '.join(map(compact, given))}."
        plain["description"] = f"{plain['description']} {said}" if "description" in plain else said


def _with_sound_names(plain: dict[str, Any]) -> dict[str, Any]:
    """An object that requires only what it has."""
    if "required" in plain:
        names = [name for name in plain["required"] if name in plain.get("properties", {})]
        del plain["required"]
        if names:
            plain["required"] = names
    return plain


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its own reference, and its `allOf`, replaced by what they mean."""
    resolved = dict(schema)
    for _ in range(_DEPTH_LIMIT):
        if not isinstance(reference := resolved.pop("$ref", None), str):
            break
        target = definitions.get(reference.rpartition("/")[2])
        resolved = {**(target if isinstance(target, Mapping) else {}), **resolved}
    for part in resolved.pop("allOf", None) or ():
        resolved = _both(_resolved(part, definitions), resolved)
    return resolved


def _both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two schemas as one: what both say of objects is joined, else the second counts."""
    both = {**first, **second}
    if "properties" in first and "properties" in second:
        both["properties"] = {**first["properties"], **second["properties"]}
    if "required" in first and "required" in second:
        both["required"] = list(dict.fromkeys((*first["required"], *second["required"])))
    return both
