"""What a provider is: a `ModelRequest` goes in, deltas come out.

A provider is not a codec and a codec has no I/O: `HttpProvider` joins the two, and the same codec
reads a live stream, a recorded one, and a body that was given by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from attrs import Factory, evolve, field, fields, frozen

from ..cancel import Cancel
from ..errors import ProviderError
from ..messages import AssistantMessage, Message, Stop, Usage

__all__ = [
    "Codec",
    "Decoder",
    "Delta",
    "Finish",
    "HttpRequest",
    "ModelInfo",
    "ModelOptions",
    "ModelRequest",
    "PartKind",
    "PartNative",
    "PartStart",
    "PartText",
    "Provider",
    "ProviderNotice",
    "ToolSpec",
]

PartKind: TypeAlias = Literal["text", "reasoning", "tool_call", "opaque"]


@frozen
class ToolSpec:
    """A tool as it is offered to a model. `schema` is a JSON Schema of the arguments.

    Equal by identity: a request that offers the same specs again costs no new encoding.
    """

    name: str
    description: str
    schema: Mapping[str, Any] = field(eq=False)


def _texts(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


@frozen
class ModelOptions:
    """What may be asked of a model; None leaves it to the server.

    Parameters:
        max_tokens: the most tokens that the reply may have.
        temperature: the sampling temperature.
        reasoning_effort: `none`, `minimal`, `low`, `medium`, `high`, or a word of the server's.
        tool_choice: `auto`, `none`, `required`, or a tool's name.
        response_schema: a JSON Schema that the answer must fit.
        stop: texts that end the reply.
        seed: a seed for sampling.
        stream: whether the reply is asked for as a stream.
        extra: fields that are sent as they are, on top of everything else.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    tool_choice: str | None = None
    response_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    stop: tuple[str, ...] = field(default=(), converter=_texts)
    seed: int | None = None
    stream: bool = True
    extra: Mapping[str, Any] = field(default=Factory(dict), hash=False)

    def with_defaults(self, defaults: Mapping[str, Any]) -> ModelOptions:
        """These options, and the given ones where these are open.

        Names of this class stand for its fields, all others for fields that are sent as they are.
        """
        known = {own.name for own in fields(ModelOptions)} - {"extra"}
        unset = ModelOptions()
        changes: dict[str, Any] = {
            name: value
            for name, value in defaults.items()
            if name in known and getattr(self, name) == getattr(unset, name)
        }
        more = {name: value for name, value in defaults.items() if name not in known}
        more.update(more.pop("extra", {}))
        return evolve(self, **changes, extra={**more, **self.extra})


@frozen
class ModelRequest:
    """One request to a model: the whole conversation, the tools on offer, the options."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    options: ModelOptions = ModelOptions()


@frozen
class PartStart:
    """A part begins. `id` and `name` are those of a tool call; either may still grow.

    A later `PartStart` of the same index replaces id and name of the part that is being built.
    """

    index: int
    kind: PartKind
    id: str = ""
    name: str = ""


@frozen
class PartText:
    """More text of a part: visible text, reasoning, or the arguments of a tool call."""

    index: int
    text: str


@frozen
class PartNative:
    """The provider's own JSON text of a part, whole; the last one wins."""

    index: int
    native: str


@frozen
class ProviderNotice:
    """Something that a person should know: a fallback that the provider took, told once."""

    text: str


@frozen
class Finish:
    """The provider said that the reply is complete, and why it ended."""

    reason: Stop


Delta: TypeAlias = PartStart | PartText | PartNative | Usage | ProviderNotice | Finish


@frozen
class ModelInfo:
    """A model that a provider offers. `context_window` is in tokens, 0 if it is not told."""

    id: str
    context_window: int = 0


class Provider(Protocol):
    """Answers requests. `api` and `endpoint` are those of the `Origin` of its replies."""

    @property
    def api(self) -> str:
        """The protocol that is spoken, such as `openai-chat`."""

    @property
    def endpoint(self) -> str:
        """The base URL, or a word that names an endpoint inside the process."""

    def reply(self, request: ModelRequest, cancel: Cancel) -> Iterator[Delta]:
        """The reply as deltas; the last is `Finish`, anything else raises.

        Raises:
            ProviderError: the other side, or the way to it, failed.
            Cancelled: `cancel` was set; promptly, also while waiting for the other side.
        """

    def models(self) -> Sequence[ModelInfo]:
        """The models on offer.

        Raises:
            ProviderError: they could not be listed.
        """


@frozen
class HttpRequest:
    """A request as a value. `path` is joined to the endpoint; `headers` have no key in them."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class Decoder(Protocol):
    """Reads one reply, from bytes in any pieces, framing included."""

    @property
    def finishing(self) -> bool:
        """Whether the provider has said how the reply ends: little more need be waited for."""

    @property
    def left(self) -> list[Delta]:
        """What came before the event that `feed` raised for, in the same bytes."""

    def feed(self, data: bytes) -> list[Delta]:
        """The deltas that these bytes complete.

        Raises:
            ProviderError: the server reports an error, or these are not bytes of the protocol.
        """

    def end(self) -> list[Delta]:
        """What was held back; called once, after the last byte.

        Raises:
            BrokenStream: the provider never said that the reply is complete.
        """


class Codec(Protocol):
    """A wire protocol without I/O.

    A codec serves one endpoint and model conversation at a time: it may keep what it encoded, by
    the identity of the messages, so that each is encoded once.
    """

    @property
    def api(self) -> str:
        """The name of the protocol, such as `openai-chat`."""

    def encode_message(self, message: Message, *, model: str, endpoint: str) -> bytes:
        """One message as the protocol's JSON (several, joined by commas, where it needs them)."""

    def encode(self, request: ModelRequest, *, endpoint: str) -> HttpRequest:
        """The request that asks for this reply."""

    def decoder(self, earlier: Sequence[Message] = ()) -> Decoder:
        """A new decoder for one reply.

        Parameters:
            earlier: the conversation that the reply continues: ids of its calls are not given
                to new ones.
        """

    def recognises(self, body: Mapping[str, Any]) -> bool:
        """Whether a whole JSON body is a reply in this protocol."""

    def read_body(self, body: Mapping[str, Any]) -> AssistantMessage:
        """The message in a whole JSON body.

        Raises:
            ProviderError: the body reports an error, or is not of the protocol.
        """

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """The error that a non-2xx answer (or a 200 whose body is an error) stands for."""

    def adapt(self, error: ProviderError, request: ModelRequest) -> str | None:
        """Write requests differently from now on, if that may help against a refusal.

        Returns what was changed, for people; None if nothing can be.
        """

    def models_request(self) -> HttpRequest:
        """The request that lists the models."""

    def read_models(self, body: bytes) -> list[ModelInfo]:
        """The models in the answer to it.

        Raises:
            BrokenStream: the body is not of the protocol.
        """
