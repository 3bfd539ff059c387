"""Answers that fit a JSON Schema: what the model is told, what is read from its answer.

Whether an answer fits is judged here, whatever the server promises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from attrs import define, field, frozen

from ..chunks import Chunk, EndChunk, ErrorChunk, MessageDoneChunk
from ..errors import ConfigError, UsageError
from ..messages import AssistantMessage
from ..session import Session

__all__ = ["Fit", "Form", "checked", "read_form"]

_SHOWN_FAULTS = 5
_FENCED = re.compile(r"^```[ \t]*(?:json|JSON)?[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)


@frozen
class Form:
    """A JSON Schema that an answer must fit.

    Parameters:
        schema: the schema.
        validator: a validator of `jsonschema` for it.
    """

    schema: Mapping[str, Any] = field(hash=False)
    validator: Any = field(repr=False, eq=False)

    @property
    def instruction(self) -> str:
        """What the model is told beforehand."""
        schema = json.dumps(self.schema, ensure_ascii=False)
        return (
            "Your last message must be one JSON value that fits the JSON Schema below, with "
            f"nothing before or behind it.\n\n{schema}"
        )

    def faults(self, value: object) -> list[str]:
        """What does not fit, the first few with their paths.

        Raises:
            UsageError: the schema refers to something that cannot be found.
        """
        from referencing.exceptions import Unresolvable

        try:
            errors = sorted(self.validator.iter_errors(value), key=lambda error: error.json_path)
        except Unresolvable as error:
            raise _not_there(error.ref) from error
        faults = [f"{error.json_path}: {error.message:.300}" for error in errors[:_SHOWN_FAULTS]]
        left_out = len(errors) - len(faults)
        return [*faults, f"and {left_out} more"] if left_out else faults


def _not_there(reference: str) -> UsageError:
    return UsageError(
        f"the JSON Schema refers to {reference!r}, which is not in it",
        hint="Other schemas are not fetched: put what is referred to under $defs.",
    )


def _check_references(schema: Mapping[str, Any]) -> None:
    """Raise the fault of a reference to nothing now, and not when an answer was paid for.

    Where parts of the schema have an `$id`, and references another base, it is left to be found.
    """
    from referencing import Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

    inner = list(_objects({name: value for name, value in schema.items() if name != "$id"}))
    if any("$id" in each for each in inner):
        return
    root = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = EMPTY_REGISTRY.resolver_with_root(root)
    for reference in (each.get("$ref") for each in inner):
        if isinstance(reference, str):
            try:
                resolver.lookup(reference)
            except Unresolvable as error:
                raise _not_there(reference) from error


def _objects(schema: object) -> Iterator[Mapping[str, Any]]:
    """The objects in a schema, those left out that are values for answers."""
    if isinstance(schema, Mapping):
        yield schema
        for name, value in schema.items():
            if name not in ("enum", "const", "default", "examples"):
                yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


def read_form(path: Path) -> Form:
    """The form that a file with a JSON Schema stands for.

    Raises:
        ConfigError: the library that judges answers is not installed.
        UsageError: the file holds no JSON Schema, or one that refers to something outside.
    """
    try:
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import validator_for
        from referencing.jsonschema import EMPTY_REGISTRY
    except ImportError as error:
        raise ConfigError(
            "--json-schema needs the package jsonschema, which is not installed",
            hint='Run: pip install "hrns[json-schema]"',
        ) from error
    try:
        schema = json.loads(path.read_text("utf-8-sig"))
        if not isinstance(schema, dict):
            raise UsageError(f"{path} holds no JSON Schema", hint="It must be a JSON object.")
        kind = validator_for(schema)
        kind.check_schema(schema)
        _check_references(schema)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as JSON: {error}") from error
    except SchemaError as error:
        raise UsageError(f"{path} is no JSON Schema: {error.json_path}: {error.message}") from error
    return Form(schema, kind(schema, registry=EMPTY_REGISTRY))


@define
class Fit:
    """What became of the answer so far.

    Parameters:
        form: what it must fit.
        text: the JSON text that fits, or "".
        value: that JSON.
        faults: what did not fit in the last answer.
        repaired: whether the model was asked once more.
    """

    form: Form
    text: str = ""
    value: object = None
    faults: list[str] = field(factory=list)
    repaired: bool = False

    def judge(self, answer: str) -> bool:
        """Take an answer in; returns whether it fits."""
        text = _json_text(answer)
        try:
            self.value = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            self.faults = [f"it is not JSON: {error}"]
        else:
            self.faults = self.form.faults(self.value)
        if self.faults:
            self.value = None
        self.text = "" if self.faults else text
        return not self.faults


def checked(chunks: Iterable[Chunk], session: Session, fit: Fit) -> Iterator[Chunk]:
    """The chunks of a run whose answer must fit; if it does not, its end is an error.

    The model is asked once more in the same run, so that the limits hold and `end` stays last.
    """
    for chunk in chunks:
        answer = _answer(chunk)
        if answer is not None and not fit.judge(answer) and not fit.repaired:
            fit.repaired = True
            session.queue(_plea(fit.faults), "after")
        if isinstance(chunk, EndChunk) and chunk.reason == "done" and not fit.text:
            faults = "".join(f"\n- {fault}" for fault in fit.faults)
            yield ErrorChunk(f"the answer does not fit the JSON Schema:{faults}", "misfit")
            yield EndChunk("error", "misfit")
        else:
            yield chunk


def _answer(chunk: Chunk) -> str | None:
    """The text of a whole message that would end the model's work."""
    if not isinstance(chunk, MessageDoneChunk) or not isinstance(chunk.message, AssistantMessage):
        return None
    message = chunk.message
    return message.text if message.stop == "done" and not message.calls else None


def _plea(faults: list[str]) -> str:
    listed = "".join(f"\n- {fault}" for fault in faults)
    return (
        f"Your answer does not fit the JSON Schema:{listed}\n"
        "Answer again, with one JSON value that fits it and nothing before or behind it."
    )


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _json_text(answer: str) -> str:
    """The answer, or what stands in its one fence."""
    fenced = _FENCED.findall(answer)
    return (fenced[0] if len(fenced) == 1 else answer).strip()
