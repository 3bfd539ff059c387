"""What the codecs of all protocols share: quirks, errors, and that each message is encoded once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from attrs import evolve

from ..errors import ProviderError
from ..messages import (
    AssistantMessage,
    Image,
    Message,
    Origin,
    Part,
    Text,
    ToolMessage,
    UserMessage,
)
from .base import HttpRequest, ModelInfo, ModelRequest, ToolSpec
from .decoding import CallIds, EventDecoder
from .encoded import EncodedMessages, EncodedTools, KnownIds
from .faults import response_fault
from .model_list import read_model_list
from .quirks import Lessons, Quirks, adapted, quirks_for

__all__ = ["JSON_HEADERS", "WireCodec", "hashed", "is_own", "post"]

PartT = TypeVar("PartT", bound=Part)

JSON_HEADERS = (("Accept", "application/json"),)


class WireCodec:
    """The part of a codec that is the same for all protocols.

    A protocol gives `api` and `lessons`, and overrides the methods that raise here. A codec serves
    one endpoint at a time: it keeps what it encoded for it.

    Parameters:
        quirks: how requests are written; by default what is known of the endpoint's host.
    """

    api: ClassVar[str]
    lessons: ClassVar[Lessons]

    def __init__(self, quirks: Quirks | None = None) -> None:
        self._quirks = quirks
        self.endpoint = ""
        self._known_ids = KnownIds()
        self._forget()

    @property
    def quirks(self) -> Quirks:
        """How requests are written now."""
        return self._quirks or Quirks()

    def encode_message(self, message: Message, *, model: str, endpoint: str) -> bytes:
        """One message as the protocol's JSON (several, joined by commas, where it needs them)."""
        raise NotImplementedError

    def encode_tools(self, tools: tuple[ToolSpec, ...]) -> bytes:
        """The tools on offer as the protocol's JSON."""
        raise NotImplementedError

    def fields(self, request: ModelRequest) -> dict[str, Any]:
        """The top-level fields of a request, messages and tools left out."""
        raise NotImplementedError

    def new_decoder(self, ids: CallIds) -> EventDecoder:
        """A new decoder for one reply, which has ids for its calls from here."""
        raise NotImplementedError

    def decoder(self, earlier: Sequence[Message] = ()) -> EventDecoder:
        """A new decoder for one reply.

        Parameters:
            earlier: the conversation that the reply continues: ids of its calls are not given
                to new ones.
        """
        return self.new_decoder(CallIds(lambda: self._known_ids.of(tuple(earlier))))

    def texts(self, messages: tuple[Message, ...]) -> list[bytes]:
        """The bytes of each message, each encoded once. The list is not to be changed."""
        return self._messages.texts(messages)

    def tools_text(self, tools: tuple[ToolSpec, ...]) -> bytes:
        """The bytes of the tools, encoded once."""
        return self._tools.text(tools)

    def settle(self, endpoint: str) -> None:
        """Take the quirks of an endpoint, and forget what was encoded for another."""
        if self.endpoint != endpoint:
            self.endpoint = endpoint
            self._quirks = self._quirks or quirks_for(endpoint)
            self._forget()

    def adapt(self, error: ProviderError, request: ModelRequest) -> str | None:
        """Write requests differently from now on, if that may help against a refusal.

        Returns what was changed, for people; None if nothing can be.
        """
        found = adapted(self.quirks, error, self.fields(request), self.lessons)
        if found is None:
            return None
        self._quirks, said = found
        self._forget()
        return said

    def read_body(self, body: Mapping[str, Any]) -> AssistantMessage:
        """The message in a whole JSON body.

        Raises:
            ProviderError: the body reports an error, or is not of the protocol.
        """
        from ..reply import fold

        return fold(self.decoder().read(dict(body)))

    def error(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        """The error that a response stands for."""
        return response_fault(status, headers, body)

    def read_models(self, body: bytes) -> list[ModelInfo]:
        """The models in the answer to `models_request()`.

        Raises:
            BrokenStream: the body is not of the protocol.
        """
        return read_model_list(body)

    def encoded(self, message: Message) -> bytes:
        """One message as its endpoint takes it now."""
        taken = message if self.quirks.images else _without_images(message)
        return self.encode_message(taken, model="", endpoint=self.endpoint)

    def _forget(self) -> None:
        self._messages = EncodedMessages(self.encoded)
        self._tools = EncodedTools(self.encode_tools)


def post(path: str, parts: Sequence[bytes], *, accept: str) -> HttpRequest:
    """A request with a JSON body, given in parts."""
    headers = (("Content-Type", "application/json"), ("Accept", accept))
    return HttpRequest("POST", path, b"".join(parts), headers)


def _without_images(message: Message) -> Message:
    """The message with a word in place of each picture, for a model that takes none."""
    match message:
        case UserMessage(parts):
            return UserMessage(map(_seen, parts))
        case ToolMessage(results):
            return ToolMessage(evolve(r, content=map(_seen, r.content)) for r in results)
        case _:
            return message


def _seen(part: PartT) -> PartT | Text:
    return Text("(a picture, which this model cannot see)") if isinstance(part, Image) else part


def is_own(origin: Origin | None, api: str, endpoint: str) -> bool:
    """Whether a reply came from this endpoint in this protocol, so its `native` may go back."""
    return origin is not None and origin.api == api and origin.endpoint == endpoint


def hashed(text: str) -> str:
    """64 letters and digits that stand for a text, always the same ones."""
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
