"""What a person does at the prompt, and what comes of it. All of it in the drawing thread.

The worker takes what is sent from `sent`; while it works, a message is queued with the session,
and anything else waits until it is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic
from typing import Literal, TypeAlias

from attrs import field, frozen
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition

from hrns.cancel import Cancel
from hrns.session import Session

from ..dialogue import Typed
from ..images import has_images
from ..informing import MODES
from .completing import completes
from .forms import CallForm, Dismissed, Form
from .guard import KeyGuard
from .pastes import Pastes

__all__ = ["Attachment", "Desk", "Work", "as_typed"]

State: TypeAlias = Literal["starting", "ready", "working", "asking"]

_HINT_S = 3.0
_KEPT = 100_000
"""Characters of a message that is kept in the history: all of it is read at each start."""


@frozen
class Work:
    """What the worker does now: a turn of the session, or something else that can be stopped.

    Parameters:
        cancel: stops it.
        since: when it began, in seconds of the monotonic clock.
        turn: the session, if it is a turn.
        meanwhile: runs a command beside it; False if the command has to wait.
    """

    cancel: Cancel
    since: float
    turn: Session | None = None
    meanwhile: Callable[[str], bool] = field(default=lambda _line: False, eq=False, repr=False)


@frozen
class Attachment:
    """Text that goes along with the next message, under a name."""

    label: str
    text: str


def as_typed(text: str) -> str:
    """How a message is typed: one that looks like a command has a blank before it."""
    return f" {text}" if text.startswith(("/", "!")) else text


class Desk:
    """The state of the prompt.

    Parameters:
        draft: what is typed for the next message.
        entry: what is typed into a form.
    """

    def __init__(self, draft: Buffer, entry: Buffer) -> None:
        self.draft = draft
        self.entry = entry
        self.session: Session | None = None
        self.form: Form | None = None
        self.work: Work | None = None
        self.sent: SimpleQueue[Typed | Dismissed] = SimpleQueue()
        self.queued: list[str] = []
        self.later: deque[Typed] = deque()
        self.attached: list[Attachment] = []
        self.guard = KeyGuard()
        self.pastes = Pastes()
        self.ready = False
        self.changed: Callable[[], object] = lambda: None
        self.has_form = Condition(lambda: self.form is not None)
        self.types_answer = Condition(
            lambda: self.form is not None and not self._form_is_keys(self.form)
        )
        self.asks_call = Condition(lambda: self.form is not None and self._form_is_keys(self.form))
        self.may_complete = Condition(
            lambda: self.form is None and completes(self.draft.document.text_before_cursor)
        )
        self._hint = ""
        self._hint_until = 0.0
        self._warned = False
        self._queued_at = 0.0
        self._hurried = False

    @staticmethod
    def _form_is_keys(form: Form) -> bool:
        return isinstance(form, CallForm) and not form.wants_line

    @property
    def state(self) -> State:
        """What the prompt is good for now."""
        if self.form is not None:
            return "asking"
        if self.ready:
            return "ready"
        return "working" if self.work and self.session else "starting"

    @property
    def buffer(self) -> Buffer:
        """What is typed into now."""
        return self.entry if self.types_answer() else self.draft

    @property
    def hint(self) -> str:
        """What to know for a moment."""
        return self._hint if monotonic() < self._hint_until else ""

    def tell(self, hint: str) -> None:
        """Show a hint for a moment."""
        self._hint, self._hint_until = hint, monotonic() + _HINT_S
        self.changed()

    # What the worker does, in the drawing thread

    def await_message(self, session: Session) -> None:
        """The worker is done and wants the next message."""
        self.session = session
        self.work = None
        if self.later:
            self.sent.put(self.later.popleft())
        else:
            self.ready = True
        self.changed()

    def begin(self, work: Work) -> None:
        """The worker began with something that can be stopped."""
        self.ready = False
        self.work = work
        self.changed()

    def end(self) -> None:
        """What was begun is over; what was not delivered of the queue is sent, or typed again."""
        work, self.work = self.work, None
        hurried, self._hurried = self._hurried, False
        self._hint_until = 0.0
        back: list[str] = []
        while work and work.turn and (text := work.turn.unqueue()) is not None:
            back.insert(0, text)
        typed = "\n".join(map(as_typed, back))
        if hurried and typed:
            self.later.appendleft(Typed(typed, typed))
        else:
            self.type_again(typed)
        self.queued.clear()
        self.changed()

    def delivered(self, text: str) -> None:
        """A queued message became part of the conversation."""
        if text in self.queued:
            self.queued.remove(text)
        self.changed()

    def ask(self, form: Form) -> None:
        """Put a form."""
        self.form = form
        self.entry.reset()
        self.changed()

    def dismiss(self, form: Form, error: type[BaseException] = EOFError) -> None:
        """Take a form away that is not answered yet."""
        if self.form is form:
            self.form = None
            form.dismiss(error)
            self.changed()

    # What the person does

    def submit(self) -> None:
        """Enter: answer the form, send the message, or queue it; once more, send what is queued."""
        if self.types_answer() and self.form is not None:
            self._enter(self.form)
            return
        shown = self.draft.text
        text = self.pastes.unfold(shown)
        if not text.strip():
            self.draft.reset()
            self._hurry()
            return
        if len(text) <= _KEPT:
            self.draft.text = text  # a marker means nothing to a later session
            self.draft.append_to_history()
        self.draft.reset()
        self._send(self._with_attached(Typed(text, shown)))

    def _enter(self, form: Form) -> None:
        typed = self.pastes.unfold(self.entry.text)
        answered = form.enter(typed)
        if answered:
            self.form = None
        if answered or not isinstance(form, CallForm):  # a faulty rule is there to be mended
            self.entry.reset()
        self.changed()

    def _with_attached(self, typed: Typed) -> Typed:
        if typed.text.startswith(("/", "!")):
            return typed
        parts = [typed.text.rstrip(), *(each.text for each in self.attached)]
        names = [typed.shown, *(f"({each.label} goes along)" for each in self.attached)]
        self.attached.clear()
        return Typed("\n\n".join(parts), "\n".join(names))

    def _send(self, typed: Typed) -> None:
        turn, text = self.work.turn if self.work else None, typed.text
        self._queued_at = monotonic()
        if self.ready:
            self.ready = False
            self.sent.put(typed)
        elif text.startswith("/") and self.work and self.work.meanwhile(text):
            pass
        elif turn is None or text.startswith(("/", "!")) or has_images(text, turn.context.cwd):
            self.later.append(typed)
        else:
            turn.queue(text.strip())
            self.queued.append(text.strip())
        self.changed()

    @property
    def may_hurry(self) -> bool:
        """Whether something waits that Enter on the empty line would have done now."""
        return bool(self.queued or self.later) and self.work is not None and self.form is None

    def _hurry(self) -> None:
        """Interrupt for what is queued, unless the hand only pressed Enter twice."""
        if self.may_hurry and self.work and self.guard.may_answer(self._queued_at):
            self._hurried = True
            self._stop(self.work, "interrupted for what was queued")

    def empty(self) -> str:
        """Empty the line that is typed, all rows of it; returns what it was."""
        text, self.buffer.text = self.buffer.text, ""
        self.changed()
        return text

    def answer(self, key: str) -> None:
        """One of the keys of a question about a tool call."""
        form = self.form
        if isinstance(form, CallForm):
            if form.key(key):
                self.form = None
            elif form.wants_line:
                self.entry.reset(Document(form.first_text))
        self.changed()

    def escape(self) -> None:
        """Esc: leave the form, take back what is queued, or interrupt."""
        form = self.form
        if isinstance(form, CallForm) and form.wants_line:
            form.go_back()
            self.entry.reset()
        elif form is not None:
            self.dismiss(form)
        elif self.later:
            self.type_again(self.later.pop().text)
        elif self.queued:
            self._take_back()
        elif self.work:
            self._stop(self.work)
        elif self.attached:
            self.attached.pop()
        self.changed()

    def _take_back(self) -> None:
        turn = self.work.turn if self.work else None
        text = turn.unqueue() if turn else None
        if text is None:
            self.tell("it is on its way already")
        else:
            self.delivered(text)
            self.type_again(as_typed(text))

    def type_again(self, text: str) -> None:
        """Put a text into the prompt, before what is typed there."""
        typed = self.draft.text
        if text:
            self.draft.text = f"{text}\n{typed}" if typed else text
            self.draft.cursor_position = len(self.draft.text)

    def interrupt(self) -> None:
        """Ctrl-C: leave the form, interrupt, empty the prompt, and at last leave."""
        warned, self._warned = self._warned, False
        if self.form is not None:
            self.dismiss(self.form, KeyboardInterrupt)
        elif self.work:
            self._stop(self.work)
        elif self.draft.text:
            self.draft.reset()
        elif warned and self.hint:
            self.leave()
        else:
            self._warned = True
            self.tell("Ctrl-C once more leaves, and so does Ctrl-D.")
        self.changed()

    def _stop(self, work: Work, reason: str = "interrupted") -> None:
        work.cancel.set(reason)
        self.tell("interrupting ...")

    def end_of_input(self) -> None:
        """Ctrl-D on an empty line."""
        if self.form is not None:
            self.dismiss(self.form)
        elif self.ready:
            self.leave()
        else:
            self.tell("The model is at work: Esc interrupts it, then Ctrl-D leaves.")

    def leave(self) -> None:
        """End: what waits for the person is told that nobody is there any more."""
        self.later.clear()
        self.ready = False
        self.sent.put(Dismissed(EOFError))
        if self.form is not None:
            self.dismiss(self.form)

    def cycle_mode(self) -> None:
        """The next permission mode, from now on."""
        if self.session is not None:
            modes, context = [*MODES], self.session.context
            context.mode = modes[(modes.index(context.mode) + 1) % len(modes)]
            self.tell(f"mode {context.mode}: {MODES[context.mode]}")
