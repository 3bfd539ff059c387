"""The errors of hrns, one tree, split by whose fault it is.

::

    HrnsError
    ├── UsageError                  the words of the call are off
    │   └── PromptMissing           nothing was asked
    ├── ConfigError                 what is configured is off: file, line, column, key path
    ├── SerialError                 JSON is not what is written here: a journal, a chunk
    ├── SessionError                a session file: not there, not readable, of a newer version
    ├── ProviderError               the other side, or the way to it
    │   ├── Unreachable             no connection: name, port, TLS, proxy, time-out
    │   ├── AuthenticationFailed    401, 403
    │   ├── RequestRefused          another 4xx: the request will never be taken as it is
    │   │   ├── ContextOverflow     the conversation is longer than the model takes
    │   │   └── ToolsRefused        the model or its server takes no tools
    │   ├── RateLimited             429, overloaded: the same request later may pass
    │   ├── ServerFault             5xx, or an error event in a stream
    │   └── BrokenStream            a reply that is cut off or cannot be read
    ├── PluginError                 a plugin is off: its name, distribution and hook
    ├── ToolFailure                 raised by a tool: a result that the model can read
    │   └── ArgumentFault           the model's arguments do not fit the tool
    ├── ReactError                  a ReAct loop that is driven by hand (`hrns.react`)
    │   ├── MaxIterationsExceeded   more replies than the loop may take
    │   ├── ToolNotFound            the reply names a tool that is not registered
    │   ├── ToolFailed              a tool's handler raised
    │   ├── ParseError              a reply that is neither a step nor a response
    │   ├── Timeout                 the time of the loop is over
    │   ├── HistoryOverflow         a message that the history has no room for
    │   ├── Serialization           a schema or a saved state that is not the JSON it should be
    │   └── InvalidToolSignature    a tool that cannot be registered as it is
    └── Cancelled                   somebody stopped the run

Weather (a `ProviderError`, `Cancelled`) ends a run as chunks; only misuse is raised to whoever
iterates a run. Each error says what is wrong, where, and in `hint` what to try.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ArgumentFault",
    "AuthenticationFailed",
    "BrokenStream",
    "Cancelled",
    "ConfigError",
    "ContextOverflow",
    "HistoryOverflow",
    "HrnsError",
    "InvalidToolSignature",
    "MaxIterationsExceeded",
    "ParseError",
    "PluginError",
    "PromptMissing",
    "ProviderError",
    "RateLimited",
    "ReactError",
    "RequestRefused",
    "SerialError",
    "Serialization",
    "ServerFault",
    "SessionError",
    "Timeout",
    "ToolFailed",
    "ToolFailure",
    "ToolNotFound",
    "ToolsRefused",
    "Unreachable",
    "UsageError",
    "in_words",
]


class HrnsError(Exception):
    """The root of the tree.

    Parameters:
        message: one sentence, what is wrong and where; no key is ever in it.
        hint: what to try, or "".
    """

    code: ClassVar[str] = "error"
    """The kind of this error as one word, in `error` chunks and logs."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(HrnsError):
    """The words of a call or a command line are off."""

    code = "usage"


class PromptMissing(UsageError):
    """Nothing was asked: no words, no `--message`, an empty standard input."""


class ConfigError(HrnsError):
    """What is configured is off.

    Parameters:
        path: the file, if the fault lies in one.
        line: the line there, from 1; 0 if unknown.
        column: the column there, from 1; 0 if unknown.
        key_path: the place inside the document, such as `$.providers.home.url`, or "".
    """

    code = "config"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        path: Path | None = None,
        line: int = 0,
        column: int = 0,
        key_path: str = "",
    ) -> None:
        where = ":".join(str(part) for part in (path, line, column) if part)
        at = f" @ {key_path}" if key_path else ""
        super().__init__(f"{where}: {message}{at}" if where else f"{message}{at}", hint=hint)
        self.path = path
        self.line = line
        self.column = column
        self.key_path = key_path


class SerialError(HrnsError):
    """JSON does not stand for the value that it should; the message has the path of each fault."""

    code = "serial"


class ProviderError(HrnsError):
    """The other side, or the way to it, failed.

    Parameters:
        status: the HTTP status, or 0 where there was none.
        body: what the server said, as text, cut to a sane length.
        request_id: the server's own id of the request, or "".
        retry_after_s: seconds after which the server asks to be tried again, or None.
        retryable: whether the same request may pass a little later; the class's own answer if
            it is left out.
    """

    code = "provider"
    retryable: bool = False
    """Whether the same request may pass a little later."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        status: int = 0,
        body: str = "",
        request_id: str = "",
        retry_after_s: float | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        if retryable is not None:
            self.retryable = retryable
        self.status = status
        self.body = body
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class Unreachable(ProviderError):
    """There is no connection: the name, the port, TLS, a proxy, or a time-out."""

    code = "unreachable"
    retryable = True


class AuthenticationFailed(ProviderError):
    """The key is missing, wrong, or may not do this (401, 403)."""

    code = "authentication"


class RequestRefused(ProviderError):
    """The server refuses the request as it is (a 4xx): asking again will not help."""

    code = "request_refused"


class ContextOverflow(RequestRefused):
    """The conversation is longer than the model takes."""

    code = "context_overflow"


class ToolsRefused(RequestRefused):
    """The model, or the server as it is set up, takes no tools."""

    code = "tools_refused"


class RateLimited(ProviderError):
    """Too many requests, or too much load: the same request may pass later (429, 529)."""

    code = "rate_limited"
    retryable = True


class ServerFault(ProviderError):
    """The server failed (5xx), or said so in the middle of a stream."""

    code = "server_fault"
    retryable = True


class BrokenStream(ProviderError):
    """The reply was cut off, or is not what the protocol says."""

    code = "broken_stream"
    retryable = True


class PluginError(HrnsError):
    """A plugin is off.

    Parameters:
        plugin: its entry-point name.
        distribution: the distribution that brings it, or "".
        hook: the hook that it happened in, or "".
    """

    code = "plugin"

    def __init__(
        self, message: str, *, plugin: str, distribution: str = "", hook: str = "", hint: str = ""
    ) -> None:
        source = f"{plugin} ({distribution})" if distribution else plugin
        place = f" in {hook}" if hook else ""
        super().__init__(f"plugin {source}{place}: {message}", hint=hint)
        self.plugin = plugin
        self.distribution = distribution
        self.hook = hook


class SessionError(HrnsError):
    """A session file is not there, cannot be read or written, or is of a newer version.

    Parameters:
        path: the file, if there is one.
    """

    code = "session"

    def __init__(self, message: str, *, hint: str = "", path: Path | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class ToolFailure(HrnsError):
    """Raise it in a tool: its message becomes a result with status `error` for the model."""

    code = "tool"


class ArgumentFault(ToolFailure):
    """The model's arguments do not fit the tool; the message says where, for the model."""

    code = "arguments"


class ReactError(HrnsError):
    """A ReAct loop that is driven by hand cannot go on (`hrns.react`)."""

    code = "react"


class MaxIterationsExceeded(ReactError):
    """The loop was given more replies than it may take, or none of them was the answer.

    Parameters:
        limit: how many replies it may take, or was given.
    """

    code = "max_iterations"

    def __init__(self, message: str, *, limit: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.limit = limit


class ToolNotFound(ReactError):
    """The model names a tool that is not registered; the message is for the model.

    Parameters:
        name: the tool's name as the model wrote it.
    """

    code = "tool_not_found"

    def __init__(self, message: str, *, name: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.name = name


class ToolFailed(ReactError):
    """The handler of a tool raised: what it raised is the `__cause__`.

    Parameters:
        name: the tool's name.
        reason: what the handler raised, in words.
    """

    code = "tool_failed"

    def __init__(self, *, name: str, reason: str) -> None:
        super().__init__(f"{name} failed: {reason}")
        self.name = name
        self.reason = reason


class ParseError(ReactError):
    """A reply is neither a step of ReAct nor a response that is known; it says what is missing.

    Parameters:
        reply: the reply, cut to a sane length.
    """

    code = "parse"

    def __init__(self, message: str, *, reply: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reply = reply[:1000]


class Timeout(ReactError):
    """The time that the loop may take is over.

    Parameters:
        elapsed_ms: milliseconds since the first reply.
        limit_ms: milliseconds that the loop may take.
    """

    code = "timeout"

    def __init__(self, *, elapsed_ms: float, limit_ms: float) -> None:
        super().__init__(f"the loop took {elapsed_ms:g} ms; it may take {limit_ms:g} ms")
        self.elapsed_ms = elapsed_ms
        self.limit_ms = limit_ms


class HistoryOverflow(ReactError):
    """A message would make the history longer than it may be.

    Parameters:
        size: how long it would be, in estimated tokens.
        limit: how long it may be, in tokens.
    """

    code = "history_overflow"

    def __init__(self, *, size: int, limit: int) -> None:
        super().__init__(
            f"the history would have about {size} tokens; it may have {limit}",
            hint="push_with_eviction makes room.",
        )
        self.size = size
        self.limit = limit


class Serialization(ReactError):
    """A tool's schema, or a saved state, is not the JSON that it should be."""

    code = "serialization"


class InvalidToolSignature(ReactError):
    """A tool cannot be registered as it is: its name is no name."""

    code = "invalid_tool"


class Cancelled(HrnsError):
    """Somebody stopped the run; the message says why (`interrupted`, `time limit`)."""

    code = "cancelled"


def in_words(error: BaseException) -> str:
    """What an exception of anybody's says: its type and its message, on whatever it takes.

    A guest's exception may raise when it is asked for its message. Of a group each is told.
    """
    name = type(error).__name__
    try:
        said = f"{name}: {error}" if str(error) else name
    except Exception:  # noqa: BLE001 - it is being told already that something failed
        return name
    if isinstance(error, BaseExceptionGroup):
        return f"{said}: {'; '.join(map(in_words, error.exceptions))}"
    return said
