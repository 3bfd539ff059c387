"""The prompt as the worker sees it: it asks, and waits for what the person does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from time import monotonic
from typing import TypeVar

from hrns.cancel import Cancel
from hrns.cli.printing import plain
from hrns.messages import Diff
from hrns.permissions import Answer, Question
from hrns.session import Session

from ..cells import wrapped
from ..dialogue import Listing, Meanwhile, PromptDialogue, Typed
from ..diffs import MORE
from ..listed import context_window, keep_models, list_models, listed_models
from ..questions import Widening, describe, edited_rule, no_wider, settled
from .desk import Attachment, Desk, Work, as_typed
from .errand import check_wanted, run_errand
from .forms import (
    CALL_ROWS,
    RULE_ROWS,
    CallForm,
    Dismissed,
    Form,
    LineForm,
    Offer,
    PickForm,
    told_rule,
)
from .key_help import HINT, KEYS
from .screen import InlineScreen
from .stage import Stage

__all__ = ["InlineDialogue", "InlinePrompt", "InlineQuestions"]

T = TypeVar("T")


class InlinePrompt:
    """Reads what is typed below the scrolling text."""

    hint = HINT
    keys = KEYS

    def __init__(self, desk: Desk, stage: Stage, screen: InlineScreen) -> None:
        self._desk = desk
        self._stage = stage
        self._screen = screen
        self._warm = False

    def message(self, session: Session) -> Typed:
        """What the person sends."""
        self._stage.call(lambda: self._desk.await_message(session))
        if not self._warm:
            self._warm = True
            Thread(target=_warm_up, daemon=True).start()
        return _given(self._desk.sent.get())

    def line(self, label: str, *, secret: bool = False) -> str:
        """One line, which stays to be seen unless it is secret."""
        form = LineForm(label, secret=secret)
        self._ask(form)
        text = _given(form.reply.get())
        self._screen.say(
            f"{label}: {'(hidden)' if secret and text else text if not secret else ''}"
        )
        return text

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str:
        """One of the options of the lists."""
        form = PickForm(title, lists)
        self._ask(form)
        return _given(form.reply.get())

    def decide(self, question: Question, form: CallForm) -> Answer:
        """The answer to a question about a tool call."""
        self._ask(form)
        with question.cancel.waker(lambda: self._stage.call(lambda: self._desk.dismiss(form))):
            return _given(form.reply.get())

    def _ask(self, form: Form) -> None:
        self._stage.call(lambda: self._desk.ask(form))

    @contextmanager
    def working(
        self, session: Session | None = None, meanwhile: Meanwhile | None = None
    ) -> Iterator[Cancel]:
        """Inside the block Esc and Ctrl-C set the flag, and messages are queued."""
        cancel = Cancel()
        work = Work(cancel, monotonic(), session, lambda line: self._beside(line, meanwhile))
        self._stage.call(lambda: self._desk.begin(work))
        try:
            yield cancel
        finally:
            self._stage.call(self._desk.end)
            if session is not None and not context_window(session):
                self._learn_window(session)

    def _beside(self, line: str, meanwhile: Meanwhile | None) -> bool:
        """Run a command beside what goes on; False if it has to wait."""
        run = meanwhile and meanwhile(line)
        if not run:
            return False
        self._screen.aside(f"> {line}", "person")
        dialogue = _AsideDialogue(self._screen)
        Thread(target=run, args=(dialogue,), daemon=True, name="hrns-aside").start()
        return True

    def _learn_window(self, session: Session) -> None:
        """Ask the provider once how much its models take, while nobody waits for it."""
        if listed_models(session) is not None:
            return
        provider = session.entry.name
        keep_models(session, provider, ())

        def ask() -> None:
            with suppress(Exception):  # a guest's code may run here, and nobody waits for it
                list_models(session)
                self._stage.call(self._desk.changed)

        Thread(target=ask, daemon=True, name="hrns-models").start()

    def interruptible(self, run: Callable[[], object]) -> None:
        """Run a command; Ctrl-C leaves it behind."""
        with self.working() as cancel:
            run_errand(run, cancel)

    def attach(self, label: str, text: str) -> None:
        """Have text go along with the next message."""
        self._stage.call(lambda: self._desk.attached.append(Attachment(label, text)))

    def delivered(self, text: str) -> None:
        """A queued message is part of the conversation now."""
        self._stage.call(lambda: self._desk.delivered(text))

    def edit(self) -> None:
        """Open the next message in an editor."""
        self._stage.call(self._desk.draft.open_in_editor)

    def refill(self, text: str) -> None:
        """Put a message back into the prompt."""
        self._stage.call(lambda: self._desk.type_again(as_typed(text)))


class InlineDialogue(PromptDialogue):
    """Tells and asks for commands, as long as anybody waits for them."""

    def __init__(self, screen: InlineScreen, prompt: InlinePrompt) -> None:
        super().__init__(screen, prompt)
        self._inline = prompt

    def say(self, text: str) -> None:
        """Show plain text."""
        check_wanted()
        super().say(text)

    def error(self, text: str) -> None:
        """Show that something went wrong, and what to try."""
        check_wanted()
        super().error(text)

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> str | None:
        """Ask for a line of text."""
        check_wanted()
        return super().ask(prompt, default=default, secret=secret)

    def pick_from(self, title: str, lists: Sequence[Listing]) -> str | None:
        """Let the person choose, searching."""
        check_wanted()
        try:
            return self._inline.pick_from(title, lists)
        except (EOFError, KeyboardInterrupt):
            return None


class _AsideDialogue:
    """Tells for commands that run beside a turn. The prompt is not theirs: nobody is asked."""

    def __init__(self, screen: InlineScreen) -> None:
        self._screen = screen

    def say(self, text: str) -> None:
        self._screen.aside(text)

    def error(self, text: str) -> None:
        self._screen.aside(f"error: {text}", "error")

    def ask(self, prompt: str, *, default: str = "", secret: bool = False) -> None: ...

    def pick(self, title: str, options: Sequence[tuple[str, str]]) -> None: ...

    def pick_from(self, title: str, lists: Sequence[Listing]) -> None: ...


class InlineQuestions:
    """Asks whether a call may run. Esc and Ctrl-D are a no; Ctrl-C is a no that ends the turn."""

    def __init__(
        self,
        screen: InlineScreen,
        prompt: InlinePrompt,
        save: Callable[[str], object],
        size: Callable[[], tuple[int, int]],
        wider: Widening = no_wider,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._save = save
        self._size = size
        self._wider = wider

    def __call__(self, question: Question) -> Answer:
        """The person's answer."""
        call, prepared = question.call, question.prepared
        preview = prepared.preview if isinstance(prepared.preview, Diff) else None
        rows = self._whole(question)
        text = "" if preview or len(rows) == len(_both_ends(rows)) else "\n".join(rows)
        self._screen.asks(call.id, prepared.title or call.name, preview, text)
        answer = Answer("no")
        try:
            answer = self._answer(question)
        finally:
            self._screen.answered(call.id, runs=answer.kind != "no")
        return answer

    def _whole(self, question: Question) -> list[str]:
        """All that would be done, in rows."""
        text = plain("\n".join(describe(question, titled=True)))
        return wrapped(text, self._size()[0] - 1, whole_words=False).split("\n")

    def _answer(self, question: Question) -> Answer:
        def decide() -> Answer:
            return self._prompt.decide(question, self._form(question))

        def say(text: str) -> None:
            lines = wrapped(plain(text), self._size()[0] - 1)
            self._screen.say_styled(self._screen.paint(lines, "dim"))

        return settled(question, decide, self._save, self._screen.error, say)

    def _form(self, question: Question) -> CallForm:
        """The question; what would be done stands whole above it if there is no room for that."""
        title, *lines = plain("\n".join(describe(question, titled=True, more=MORE))).split("\n")

        def described(columns: int) -> list[str]:
            paint = self._screen.paint
            head, *rest = (wrapped(each, columns, whole_words=False) for each in (title, *lines))
            return "\n".join([paint(head, "bold"), *([paint.diff(rest)] if rest else [])]).split(
                "\n"
            )

        (columns, rows), rule = self._size(), question.verdict.rule
        shown, told = described(columns - 1), told_rule(rule, columns - 1)
        above = len(shown) > min(CALL_ROWS, rows - _AROUND) or len(told) > RULE_ROWS
        is_change = isinstance(question.prepared.preview, Diff)
        ends = shown if is_change else _both_ends(shown)
        if above:
            saved = _both_ends(told) if rule and len(told) > RULE_ROWS else []
            self._screen.say_styled("\n".join([*ends, *map(self._screen.paint, saved)]))
        tool = question.call.name
        offer = Offer(rule, self._wider(question), lambda text: edited_rule(text, tool))
        cut_off = ends != shown or (is_change and lines[-1].endswith(MORE.rpartition("}")[2]))
        return CallForm(described, offer, above=above, whole=not cut_off)


def _both_ends(rows: list[str]) -> list[str]:
    """The rows; of too many the first and the last, and how many are between them."""
    more = len(rows) - _ROWS
    if more <= 1:  # to say so takes a row, too
        return rows
    return [*rows[: _ROWS - _LAST], MORE.format(more), *rows[len(rows) - _LAST :]]


_ROWS = 30
"""Rows of a command that are shown of it, of which so many are its last ones."""
_LAST = 10
_AROUND = 12
"""Rows that the rest of the frame may take while a question is put."""


def _given(reply: T | Dismissed) -> T:
    if isinstance(reply, Dismissed):
        raise reply.error
    return reply


def _warm_up() -> None:
    """Import what the first answer needs, while the person types."""
    from . import markdown  # noqa: F401
