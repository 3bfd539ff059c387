"""What is to be done next, read from the messages of a request and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from ...messages import AssistantMessage, Message, Text, ToolMessage, ToolResult, UserMessage
from .answers import CLOSING, help_text, tell, tell_missing, tell_undone
from .english import understand
from .tasks import Plan, Task

__all__ = ["Turn", "next_turn"]


@frozen
class Turn:
    """One reply: what is thought, then calls or (if there are none) the answer."""

    thought: str
    calls: tuple[Task, ...] = ()
    answer: str = ""


@frozen
class _Ask:
    """Something that was asked for, and the results that are there."""

    plan: Plan
    results: tuple[ToolResult, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether a task failed, so that the rest is left alone."""
        return any(result.status != "ok" for result in self.results)

    @property
    def rest(self) -> tuple[Task, ...]:
        """The tasks without a result."""
        return self.plan.tasks[len(self.results) :]

    @property
    def next_step(self) -> tuple[int, tuple[Task, ...]]:
        """The number, from 1, of the first step without results, and its tasks."""
        done = 0
        for number, step in enumerate(self.plan.steps, 1):
            if done >= len(self.results):
                return number, step
            done += len(step)
        return 0, ()

    def told(self) -> list[str]:
        """What came of it so far, a paragraph a task."""
        return [tell(*each) for each in zip(self.plan.tasks, self.results, strict=False)]


def next_turn(messages: Sequence[Message], offered: Sequence[str]) -> Turn:
    """The next reply of the demo; `offered` names the tools that it may call."""
    *earlier, ask = _open_asks(messages)
    told = [paragraph for each in earlier for paragraph in each.told()]
    if not ask.plan.steps:
        thought = "This is none of my five forms; I say which they are."
        return _answer(thought, [*told, help_text(ask.plan.unknown)])
    told += ask.told()
    if ask.stopped:
        undone = [tell_undone(ask.rest)] if ask.rest else []
        return _answer("Something did not work; I say what.", [*told, *undone])
    lacking = [task for task in ask.rest if task.tool not in offered]
    if lacking:
        return _answer("I lack a tool for this.", [*told, tell_missing(lacking[0], offered)])
    if not ask.rest:
        return _answer("I have all results, and answer from them.", told)
    number, step = ask.next_step
    steps = f"Step {number} of {len(ask.plan.steps)}: " if len(ask.plan.steps) > 1 else "I will "
    return Turn(f"{steps}{' and '.join(map(str, step))}.", step)


def _answer(thought: str, paragraphs: list[str]) -> Turn:
    return Turn(thought, answer="\n\n".join([*paragraphs, CLOSING]))


def _open_asks(messages: Sequence[Message]) -> list[_Ask]:
    """What was asked since the last answer; the last of it is to be done.

    An earlier one of them was cut short, by an interruption or by another message that came while
    tools ran. It is not taken up again, but what its tools returned is still told.
    """
    asks: list[_Ask] = []
    file = ""
    for message in messages:
        match message:
            case UserMessage():
                plan = _plan(message, file)
                file = plan.file
                asks = [ask for ask in asks if ask.results] + [_Ask(plan)]
            case AssistantMessage() if not message.calls:
                asks = []
            case ToolMessage(results) if asks:
                asks[-1] = evolve(asks[-1], results=asks[-1].results + results)
    return asks or [_Ask(Plan())]


def _plan(message: UserMessage, file: str) -> Plan:
    """What a message asks for: neighbouring messages come as one, and the last part counts."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    plans = [understand(text, file) for text in reversed(texts)]
    return next((plan for plan in plans if plan.steps), plans[0] if plans else Plan(file=file))
