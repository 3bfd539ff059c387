"""Views of a conversation, all pure: what is sent is always something the strictest server takes.

`repair` is applied before each request. It returns the very same objects where nothing is wrong,
so that what was encoded once stays encoded, and it is idempotent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve

from .messages import (
    AssistantMessage,
    Message,
    Opaque,
    Part,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from .tools import NAME_PATTERN, parse_arguments, sound_text, to_result

__all__ = [
    "INTERRUPTED",
    "NEVER_RAN",
    "call_ids",
    "extend",
    "pending_calls",
    "repair",
    "sound_reply",
    "unanswered",
    "with_system",
]

INTERRUPTED = "ERROR: interrupted: this call was not completed; it may have run in part."
"""The result of a call that has none."""

NEVER_RAN = "ERROR: interrupted before it ran: nothing of this call was done."
"""The result of a call of which it is certain that it was not begun."""

_CUT_OFF = "ERROR: the arguments were cut off, so this call was not run."
_CONTINUE = "Continue."


def pending_calls(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls at the end of a conversation that have no result yet, in order."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.update(result.call_id for result in message.results)
        elif isinstance(message, AssistantMessage):
            return tuple(call for call in message.calls if call.id not in answered)
        else:
            break
    return ()


def unanswered(call: ToolCall, text: str = INTERRUPTED) -> ToolResult:
    """The result of a call that was not run to its end."""
    return ToolResult(text, status="interrupted", call_id=call.id, name=call.name)


def with_system(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    """The conversation with this system message at its head, in place of the old one."""
    rest = messages[1:] if messages and isinstance(messages[0], SystemMessage) else messages
    return (SystemMessage(text), *rest) if text else tuple(rest)


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The conversation as the strictest server takes it.

    Every call has exactly one result, right after its message and in call order; a result without
    a call is dropped; no message is empty; ids are unique; arguments are JSON objects
    and names fit `NAME_PATTERN`; text has no lone surrogate and no NUL; system messages stand at
    the head, then a user message begins; neighbouring user messages are joined.
    """
    system = [message for message in messages if isinstance(message, SystemMessage)]
    turns = list(_turns(message for message in messages if not isinstance(message, SystemMessage)))
    turns = list(_distinct(turns, frozenset()))
    if turns and not isinstance(turns[0], UserMessage):
        turns.insert(0, UserMessage(_CONTINUE))
    return (*_sound_system(system), *turns)


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls in a conversation."""
    replies = (message for message in messages if isinstance(message, AssistantMessage))
    return {call.id for reply in replies for call in reply.calls}


def extend(repaired: list[Message], added: Sequence[Message], ids: set[str]) -> None:
    """Make it `repair((*repaired, *added))`, in the time that `added` takes.

    What is wrong between two assistant messages is mended between them: so only what comes after
    the last one has to be looked at again.

    Parameters:
        ids: `call_ids(repaired)`; kept up to date.
    """
    last = (
        n for n in range(len(repaired) - 1, -1, -1) if isinstance(repaired[n], AssistantMessage)
    )
    start = next(last, None)
    if start is None or any(isinstance(message, SystemMessage) for message in added):
        repaired[:] = repair((*repaired, *added))
        ids |= call_ids(repaired)
    else:
        ids -= call_ids(repaired[start:])
        repaired[start:] = list(_distinct(_turns((*repaired[start:], *added)), ids))
        ids |= call_ids(repaired[start:])


def sound_reply(message: AssistantMessage) -> AssistantMessage:
    """A reply as it is kept: with ids of its own for its calls, sound text, JSON arguments.

    It has the same calls in the same order; one whose arguments cannot be kept has none.
    """
    parts = _sound_assistant_parts(message.parts)
    return message if parts is message.parts else evolve(message, parts=parts)


def _turns(messages: Iterable[Message]) -> Iterator[Message]:
    return _joined_users(_paired(_sound(messages)))


def _sound_system(system: list[SystemMessage]) -> tuple[SystemMessage, ...]:
    texts = [message.text for message in system if message.text.strip()]
    if len(texts) == 1 == len(system) and sound_text(texts[0]) == texts[0]:
        return tuple(system)
    return (SystemMessage(sound_text("\n\n".join(texts))),) if texts else ()


def _sound(messages: Iterable[Message]) -> Iterator[Message]:
    """Each message with sound text, ids and arguments, the empty ones left out."""
    for message in messages:
        match message:
            case AssistantMessage():
                parts = _sound_assistant_parts(message.parts)
            case UserMessage():
                parts = _sound_parts(message.parts)
            case ToolMessage():
                yield _sound_results(message)
                continue
            case _:
                yield message
                continue
        if any(_is_content(part) for part in parts):
            yield message if parts is message.parts else evolve(message, parts=parts)


def _is_content(part: Part) -> bool:
    """Whether a part makes a message worth sending: reasoning alone does not."""
    match part:
        case Text(text):
            return bool(text.strip())
        case Reasoning() | Opaque():
            return False
        case _:
            return True


def _sound_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts with sound text, empty text left out; the same tuple if nothing is wrong."""
    if all(_is_sound(part) for part in parts):
        return parts
    return tuple(_mend(part) for part in parts if not (isinstance(part, Text) and not part.text))


def _is_sound(part: Part) -> bool:
    match part:
        case Text(text):
            return bool(text) and sound_text(text) == text
        case Reasoning(text):
            return sound_text(text) == text
        case ToolCall():
            return bool(part.id) and _is_sound_call(part)
        case _:
            return True


def _is_sound_call(call: ToolCall) -> bool:
    if not NAME_PATTERN.fullmatch(call.name) or not call.arguments.strip():
        return False
    try:
        parse_arguments(call.arguments)
    except Exception:  # noqa: BLE001 - whatever is wrong with them, they cannot be sent
        return False
    return call.arguments.strip() != "null" and sound_text(call.arguments) == call.arguments


def _mend(part: Part) -> Part:
    match part:
        case Text(text):
            return Text(sound_text(text))
        case Reasoning(text, native):
            return Reasoning(sound_text(text), native)
        case ToolCall() if not _is_sound_call(part):
            arguments = sound_text(part.arguments)
            mended = evolve(part, arguments=arguments, name=_wire_name(part.name))
            return mended if _is_sound_call(mended) else evolve(mended, arguments="{}", native=None)
        case _:
            return part


def _wire_name(name: str) -> str:
    """A name that every server takes, for a call whose name none would."""
    return "".join(c if NAME_PATTERN.fullmatch(c) else "_" for c in name)[:64] or "unnamed"


def _sound_assistant_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """As `_sound_parts`; and every call has an id of its own."""
    sound = _sound_parts(parts)
    ids = [part.id for part in sound if isinstance(part, ToolCall)]
    if all(ids) and len(set(ids)) == len(ids):
        return sound
    taken: set[str] = set()
    renamed: list[Part] = []
    for part in sound:
        if isinstance(part, ToolCall):
            part = evolve(part, id=_free_id(part.id, taken))  # noqa: PLW2901 - the renamed one
            taken.add(part.id)
        renamed.append(part)
    return tuple(renamed)


def _free_id(wanted: str, taken: set[str]) -> str:
    """The id itself if it is free, else one made from it; deterministic."""
    wanted = wanted or "call"
    free, number = wanted, 1
    while free in taken or free == "call":
        free, number = f"{wanted}_{number}", number + 1
    return free


def _sound_results(message: ToolMessage) -> ToolMessage:
    if all(_is_sound(part) or part == Text("") for r in message.results for part in r.content):
        return message
    return ToolMessage(to_result(result) for result in message.results)


def _paired(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages with one `ToolMessage` right after each assistant message that has calls."""
    waiting: AssistantMessage | None = None
    results: list[ToolMessage] = []
    later: list[Message] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if waiting is not None:
                results.append(message)
            continue
        if isinstance(message, AssistantMessage):
            if waiting is not None:
                yield _answers(waiting, results)
                yield from later
            waiting, results, later = (message if message.calls else None), [], []
            yield message
        elif waiting is not None:
            later.append(message)  # a result may still come behind it
        else:
            yield message
    if waiting is not None:
        yield _answers(waiting, results)
        yield from later


def _answers(message: AssistantMessage, given: list[ToolMessage]) -> ToolMessage:
    """One result a call, in call order; the given message itself if it is right."""
    results = [result for each in given for result in each.results]
    calls = message.calls
    if len(given) == 1 and [r.call_id for r in results] == [call.id for call in calls]:
        return given[0]
    by_id = {result.call_id: result for result in reversed(results)}
    missing = _CUT_OFF if message.stop == "length" else INTERRUPTED
    return ToolMessage(by_id.get(call.id) or unanswered(call, missing) for call in calls)


def _distinct(messages: Iterable[Message], taken: AbstractSet[str]) -> Iterator[Message]:
    """The messages with ids that no earlier call has; every call is answered right behind them.

    Servers that count their calls anew in each reply are gone on with at some that take no id
    twice (Anthropic: "`tool_use` ids must be unique").
    """
    seen: set[str] = set()
    ids: list[str] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.calls:
            ids = []
            for call in message.calls:
                ids.append(_unused(call.id, taken, seen))
                seen.add(ids[-1])
            yield _with_ids(message, ids)
        elif isinstance(message, ToolMessage) and [r.call_id for r in message.results] != ids:
            pairs = zip(message.results, ids, strict=True)
            yield ToolMessage(evolve(result, call_id=id_) for result, id_ in pairs)
        else:
            yield message


def _unused(wanted: str, taken: AbstractSet[str], seen: AbstractSet[str]) -> str:
    free, number = wanted, 1
    while free in taken or free in seen:
        free, number = f"{wanted}_{number}", number + 1
    return free


def _with_ids(message: AssistantMessage, ids: Sequence[str]) -> AssistantMessage:
    """The message with these ids of its calls; itself if it has them."""
    if [call.id for call in message.calls] == ids:
        return message
    left = iter(ids)
    return evolve(
        message,
        parts=[
            evolve(part, id=next(left)) if isinstance(part, ToolCall) else part
            for part in message.parts
        ],
    )


def _joined_users(messages: Iterable[Message]) -> Iterator[Message]:
    """Neighbouring user messages as one: some servers insist that the roles alternate."""
    held: Message | None = None
    for message in messages:
        if isinstance(held, UserMessage) and isinstance(message, UserMessage):
            held = UserMessage((*held.parts, *message.parts))
            continue
        if isinstance(held, AssistantMessage) and isinstance(message, AssistantMessage):
            yield held
            held = UserMessage(_CONTINUE)
        if held is not None:
            yield held
        held = message
    if held is not None:
        yield held
