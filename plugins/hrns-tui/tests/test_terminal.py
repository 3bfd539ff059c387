"""The whole program at a real pseudo-terminal, against a server on the loopback interface."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hrns.testing import (
    Answer,
    Call,
    LoopbackServer,
    Received,
    Wait,
    chat_events,
    chat_stream,
    json_answer,
    sse,
)

pyte = pytest.importorskip("pyte", reason="draws the terminal that is looked at")

HRNS = [sys.executable, "-m", "hrns"]
ROWS = 40
KEY = "sk-planted-0123456789"
TOOLS = """
import hrns
from hrns import Access, Prepared, Tool
from hrns.messages import Diff

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}

def prepare(args, context):
    accesses = [Access("execute", args["text"])]
    return Prepared(accesses, "do " + args["text"], Diff("f.txt", "old\\n", "new\\n"))

@hrns.hookimpl
def hrns_tools():
    yield Tool("do", "Does.", SCHEMA, function=lambda args, _: "did " + args["text"],
               preparer=prepare, effects=["execute"])
    yield Tool("show", "Shows.", SCHEMA, function=lambda args, _: args["text"], effects=[])
"""


class Home:
    """A home, a working directory, and an environment in which only they are seen."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.work = directory / "work"
        self.work.mkdir()
        self.config = directory / ".config/hrns/config.json"
        self.history = directory / ".local/share/hrns/history"
        self._bring_tools()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(directory / "site"),
            "HRNS_PLUGINS": "tui,tools",
            "HRNS_STRICT": "1",
        }

    def _bring_tools(self) -> None:
        """Install a plugin with two tools."""
        info = self.directory / "site/tools-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tools\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[hrns]\ntools = test_tools\n")
        (self.directory / "site/test_tools.py").write_text(TOOLS)

    def configure(self, document: dict[str, Any]) -> None:
        """Write the configuration."""
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(json.dumps(document))

    def use(self, server: LoopbackServer, **more: Any) -> None:
        """Configure a provider at the server, and the agent, so that nothing is asked."""
        entry = {"url": f"{server.url}/v1", "key": KEY, "model": "m"}
        document = {"providers": {"home": entry}, "currentProvider": "home"}
        limits = {"retries": 0}
        self.configure({**document, "currentAgent": "Builder", "limits": limits, **more})

    @property
    def saved(self) -> Any:
        """The configuration as it is."""
        return json.loads(self.config.read_text())

    def run(self, given: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it with something piped in, or nothing at all."""
        return subprocess.run(
            [*HRNS, *arguments],
            cwd=self.work,
            env=self.environ,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )


class Terminal:
    """A terminal with the program in it.

    Parameters:
        home: where it lives.
        arguments: those of the program.
        columns: how wide it is.
        environ: what else its environment has.
    """

    def __init__(self, home: Home, *arguments: str, columns: int, **environ: str) -> None:
        self.raw = b""
        self._screen = pyte.HistoryScreen(columns, ROWS, history=5000)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        # A session leader that opens a terminal has it as its own, so that Ctrl-C is a signal.
        open_it = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(slave)]
        self.process = subprocess.Popen(
            [*open_it, *HRNS, *arguments],
            cwd=home.work,
            env={**home.environ, **environ},
            start_new_session=True,
            stdin=slave,
        )
        os.close(slave)

    @property
    def text(self) -> str:
        """Everything that is or was on the screen."""
        scrolled = ["".join(row[x].data for x in sorted(row)) for row in self._screen.history.top]
        return "\n".join(line.rstrip() for line in [*scrolled, *self._screen.display]).rstrip()

    @property
    def line(self) -> str:
        """The line that the cursor is in."""
        return str(self._screen.display[self._screen.cursor.y]).rstrip()

    def type(self, keys: str) -> None:
        """Press keys, all at once."""
        os.write(self._master, keys.encode())

    def wait(self, happened: Callable[[Terminal], object], timeout_s: float = 10) -> None:
        """Wait until the screen shows it."""
        deadline = time.monotonic() + timeout_s
        while not happened(self):
            assert time.monotonic() < deadline, f"not seen; the screen is:\n{self.text}"
            self._read(0.05)

    def _read(self, seconds: float) -> bool:
        """Take in what is written; False at the end of the program."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how a terminal tells that nobody has it open any more
            data = b""
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    def see(self, text: str, timeout_s: float = 10) -> None:
        """Wait for a text."""
        self.wait(lambda terminal: text in terminal.text, timeout_s)

    def ready(self) -> None:
        """Wait for an empty prompt."""
        self.wait(lambda terminal: terminal.line == ">")

    def send(self, text: str) -> None:
        """Send a message or command, and wait for the prompt after it."""
        prompts = self.prompts
        self.type(f"{text}\r")
        self.wait(lambda terminal: terminal.line == ">" and terminal.prompts > prompts)

    @property
    def prompts(self) -> int:
        """How many prompts there are."""
        return len(re.findall(r"(?m)^>", self.text))

    def status(self, timeout_s: float = 10) -> int:
        """Wait for the end of the program; its exit status."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self._read(0.05):
            pass
        return self.process.wait(timeout=max(0.1, deadline - time.monotonic()))

    def hang_up(self) -> None:
        """Close the terminal, as its window does."""
        os.close(self._master)
        self._master = -1

    def close(self) -> None:
        """End everything."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._master >= 0:
            os.close(self._master)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@contextmanager
def open_terminal(
    home: Home, *arguments: str, columns: int = 80, **environ: str
) -> Iterator[Terminal]:
    terminal = Terminal(home, *arguments, columns=columns, **environ)
    try:
        yield terminal
    finally:
        terminal.close()


@contextmanager
def serving(*replies: Answer | bytes) -> Iterator[LoopbackServer]:
    """A server that lists two models, and answers each conversation with the next reply."""
    left = list(replies)

    def answer(request: Received) -> Answer | bytes:
        if request.path.endswith("/models"):
            return json_answer({"data": [{"id": "m"}, {"id": "m2"}]})
        return left.pop(0)

    with LoopbackServer(answer) as server:
        yield server


def asked(server: LoopbackServer) -> list[Any]:
    """The conversations that were sent."""
    return [request.json for request in server.requests if request.method == "POST"]


def last_words(server: LoopbackServer) -> list[Any]:
    """What the last message of each conversation said."""
    return [body["messages"][-1]["content"] for body in asked(server)]


def stalled(text: str) -> Answer:
    """A stream that says something, and then nothing more."""
    return Answer([sse(*chat_events(text)[:-1]), Wait()])


# The first time, and coming back


def test_first_run_connects_and_converses_and_the_second_comes_back(home: Home) -> None:
    with serving(chat_stream(["Good ", "day."]), chat_stream("Again.")) as server:
        with open_terminal(home) as terminal:
            terminal.see("Provider name:")
            terminal.type("house\r")
            terminal.see("URL:")
            terminal.type(f"{server.url}/v1\r")
            terminal.see("Key")
            terminal.type(f"{KEY}\r")
            terminal.see("Default model [m]:")
            terminal.type("m2\r")
            terminal.ready()
            assert home.saved == {
                "providers": {
                    "house": {
                        "url": f"{server.url}/v1",
                        "key": KEY,
                        "model": "m2",
                        "skipVerify": False,
                        "api": "openai-chat",
                    }
                },
                "currentProvider": "house",
                "currentAgent": "Builder",
            }
            terminal.send("Hello.")
            assert "> Hello.\n\nGood day.\n\n>" in terminal.text
            terminal.type("\x04")
            assert terminal.status() == 0
            assert KEY not in terminal.raw.decode()
        with open_terminal(home) as terminal:
            terminal.ready()
            assert "provider house, model m2, agent Builder, mode ask" in terminal.text
            terminal.send("And?")
            assert "\nAgain.\n" in terminal.text
        assert [body["model"] for body in asked(server)] == ["m2", "m2"]
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_onboarding_that_is_given_up_writes_nothing(home: Home) -> None:
    home.configure({"providers": {}})
    with open_terminal(home) as terminal:
        terminal.see("Provider name:")
        terminal.type("house\r")
        terminal.see("URL:")
        terminal.type("\x03")
        assert terminal.status() == 130
        assert "Nothing was saved." in terminal.text
    assert home.saved == {"providers": {}}


def test_demo_can_be_chosen_and_is_kept(home: Home) -> None:
    with open_terminal(home) as terminal:
        terminal.see("Provider name:")
        terminal.type("demo\r")
        terminal.ready()
        assert "provider demo, model demo" in terminal.text
    assert home.saved == {"currentProvider": "demo", "currentAgent": "Builder"}
    assert home.run("/models").stdout == "* demo\n"


def test_provider_of_the_environment_needs_no_onboarding(home: Home) -> None:
    home.configure({"providers": {}})
    with open_terminal(home, GROQ_API_KEY="g", HRNS_MODEL="quick") as terminal:
        terminal.ready()
        assert "provider groq, model quick" in terminal.text


def test_configuration_that_does_not_parse_is_an_error_and_left_alone(home: Home) -> None:
    home.configure({})
    home.config.write_text('{"providers": {},}')
    done = home.run("Hello.")
    assert done.returncode == 78
    assert done.stderr.startswith(f"hrns: {home.config}:1:17: a trailing comma\n")
    assert home.config.read_text() == '{"providers": {},}'


def test_stale_provider_is_replaced_by_choice_and_a_stale_agent_is_told(home: Home) -> None:
    with serving(chat_stream("Here.")) as server:
        home.use(server, currentProvider="gone", currentAgent="Ghost")
        with open_terminal(home) as terminal:
            terminal.see("Number or name:")
            assert "the current provider 'gone' is not configured" in terminal.text
            terminal.type("9\r")
            terminal.see("there is no '9' in the list")
            terminal.type("1\r")
            terminal.ready()
            assert (
                "note: The agent 'Ghost' does not exist any more; Builder is used." in terminal.text
            )
            assert home.saved["currentProvider"] == "home"
            assert home.saved["currentAgent"] == "Builder"
            terminal.send("Where?")
            assert "\nHere.\n" in terminal.text


def test_what_the_command_line_names_is_used_and_not_saved(home: Home) -> None:
    with serving() as server:
        home.use(server)
        before = home.saved
        arguments = ("--model", "m2", "--agent", "pirate", "--permission-mode", "plan")
        with open_terminal(home, *arguments) as terminal:
            terminal.ready()
            assert "model m2, agent Pirate, mode plan" in terminal.text
        assert home.saved == before
        done = home.run("Hello.", "--agent", "nobody")
        assert done.returncode == 78
        assert done.stderr.startswith("hrns: there is no agent 'nobody'")


# A conversation


def test_reasoning_tools_and_answer_are_shown_in_their_order(home: Home) -> None:
    call = Call("show", {"text": "a picture"})
    replies = [
        chat_stream("Let me see.", [call], reasoning="He wants\nto see it."),
        chat_stream(calls=[Call("missing"), Call("show", "{")]),
        chat_stream("\n\nThat was it.\n"),
    ]
    with serving(*replies) as server:
        home.use(server)
        with open_terminal(home, columns=250) as terminal:
            terminal.ready()
            terminal.send("Show me.")
            shown = terminal.text.partition("> Show me.\n")[2]
            assert re.sub(r"(?m)( - error: ).+", r"\1...", shown) == (
                "\nthinking: He wants\nto see it.\n\nLet me see.\n\n* show - ok\n"
                "* missing - error: ...\n* show - error: ...\n\nThat was it.\n\n>"
            )
            assert b"\x1b[2mthinking: He wants\r\nto see it.\x1b[0m\r\n" in terminal.raw


def test_each_command_works_at_the_prompt(home: Home) -> None:
    with serving(chat_stream("One."), chat_stream("Two.")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            for line, seen in {
                "/help": "/agent NAME      Goes on with another agent",
                "/models": "* m\n  m2\n",
                "/model m2": "The model is m2, and the default of provider home.",
                "/providers": "* home   m2     openai-chat",
                "/provider demo": "The provider is demo, its model demo.",
                "/provider home": "The provider is home, its model m2.",
                "/agents": "* Builder    Does",
                "/agent Pirate": "The agent is Pirate.",
                "/new": "provider home, model m2, agent Pirate, mode ask",
                "/nwe": "Did you mean /new?",
                "/agent": "Usage: /agent NAME",
            }.items():
                terminal.send(line)
                assert seen in terminal.text
            terminal.send("First.")
            terminal.type("/connect\r")
            for label, keys in (("name:", "next"), ("URL:", f"{server.url}/v1"), ("Key", "k")):
                terminal.see(label)
                terminal.type(f"{keys}\r")
            terminal.see("Default model [m]:")
            terminal.type("\r")
            terminal.ready()
            terminal.send("Second.")
            terminal.type("/exit\r")
            assert terminal.status() == 0
        first, second = asked(server)
        assert first["messages"][0]["content"].startswith("You are a pirate")
        assert [first["model"], second["model"]] == ["m2", "m"]
        assert second["messages"][:2] == first["messages"]
        assert server.requests[-1].headers["authorization"] == "Bearer k"
        assert home.saved["currentProvider"] == "next"


def test_error_is_told_without_colour_if_none_is_wanted_and_one_goes_on(home: Home) -> None:
    refusal = json_answer({"error": {"message": "no such model"}}, status=404)
    with serving(refusal, chat_stream("Now it works.")) as server:
        home.use(server)
        with open_terminal(home, NO_COLOR="1") as terminal:
            terminal.ready()
            terminal.send("Hello.")
            assert "\nerror: " in terminal.text
            assert "no such model" in terminal.text
            terminal.send("Again.")
            assert "\nNow it works.\n" in terminal.text
        assert not re.search(rb"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7])[;m]", terminal.raw)


# Interrupting and leaving


def test_ctrl_c_interrupts_every_turn_and_keeps_what_was_shown(home: Home) -> None:
    with serving(stalled("Once upon"), stalled("And then"), chat_stream("The end.")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            for text, shown in (("Tell.", "Once upon"), ("More.", "And then")):
                terminal.type(f"{text}\r")
                terminal.see(f"\n{shown}")
                pressed = time.monotonic()
                terminal.type("\x03")
                terminal.ready()
                assert time.monotonic() - pressed < 1
                assert f"{shown}\n\nnote: interrupted\n\n>" in terminal.text
            terminal.send("Finish.")
            assert "\nThe end.\n" in terminal.text
        said = [(each["role"], each["content"]) for each in asked(server)[-1]["messages"][1:]]
        assert said == [
            ("user", "Tell."),
            ("assistant", "Once upon"),
            ("user", "More."),
            ("assistant", "And then"),
            ("user", "Finish."),
        ]


def test_ctrl_c_ends_a_command_that_waits(home: Home) -> None:
    with LoopbackServer(Answer([Wait()])) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("/models\r")
            assert server.wait_for(lambda server: server.requests)
            terminal.type("\x03")
            terminal.see("note: interrupted")
            terminal.ready()


def test_ctrl_c_at_the_prompt_empties_it_then_hints_then_leaves(home: Home) -> None:
    with serving(chat_stream("Yes?")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("no, rather")
            terminal.see("> no, rather")
            terminal.type("\x03")
            terminal.ready()
            assert "no, rather" not in terminal.text
            terminal.type("\x03")
            terminal.see("Ctrl-C once more leaves")
            terminal.ready()
            terminal.send("Hm.")
            terminal.type("\x03")
            terminal.wait(lambda terminal: terminal.text.count("once more leaves") == 2)
            terminal.ready()
            terminal.type("\x03")
            assert terminal.status() == 0
        assert last_words(server) == ["Hm."]


@pytest.mark.parametrize(
    ("number", "status", "where"),
    [
        (signal.SIGTERM, 143, "prompt"),
        (signal.SIGTERM, 143, "turn"),
        (signal.SIGHUP, 129, "turn"),
    ],
)
def test_signals_that_end_programs_end_this_one_in_order(
    home: Home, number: signal.Signals, status: int, where: str
) -> None:
    with serving(stalled("Once upon")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            if where == "turn":
                terminal.type("Tell.\r")
                terminal.see("Once upon")
            terminal.process.send_signal(number)
            assert terminal.status() == status
            assert "Traceback" not in terminal.text


@pytest.mark.parametrize("where", ["prompt", "turn"])
def test_terminal_that_goes_away_ends_the_program(home: Home, where: str) -> None:
    with serving(stalled("Once upon")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            if where == "turn":
                terminal.type("Tell.\r")
                terminal.see("Once upon")
            terminal.hang_up()
            assert terminal.process.wait(timeout=5) in (0, 129)


# What is typed


def test_several_lines_are_one_message_however_they_are_typed(home: Home) -> None:
    with serving(*[chat_stream("Ok.")] * 4) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            for keys in (
                "one\ntwo\x1b\rthree",  # Ctrl-J, Alt-Enter
                "\x1b[200~one\r\ntwo\rthree\x1b[201~",  # a marked paste
                "one\rtwo\rthree",  # a paste of a terminal that does not mark it
            ):
                terminal.type(keys)
                terminal.see("\n  three")
                terminal.send("")
            terminal.send("  ")
            terminal.send(" /etc is a directory")
        assert last_words(server) == [*["one\ntwo\nthree"] * 3, "/etc is a directory"]


def test_history_is_kept_for_its_owner_alone_and_searched(home: Home) -> None:
    with serving(*[chat_stream("Ok.")] * 3) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.send("alpha beta")
            terminal.send("gamma")
        assert home.history.stat().st_mode & 0o777 == 0o600
        assert home.history.parent.stat().st_mode & 0o777 == 0o700
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("\x1b[A")
            terminal.wait(lambda terminal: terminal.line == "> gamma")
            terminal.type("\x03")
            terminal.ready()
            terminal.type("\x12")
            terminal.see("I-search backward:")
            terminal.type("bet")
            terminal.see("> alpha beta")
            terminal.type("\r")
            terminal.wait(lambda terminal: "I-search" not in terminal.text)
            terminal.type("\r")
            terminal.see("Ok.")
        assert last_words(server) == ["alpha beta", "gamma", "alpha beta"]


def test_commands_and_their_arguments_are_completed(home: Home) -> None:
    with serving() as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("/ag")
            terminal.see("Lists the agents.")
            terminal.type("\t\t")
            terminal.wait(lambda terminal: terminal.line.startswith("> /agent"))
            terminal.type("\x15/agent pir")
            terminal.see("  Pirate")
            terminal.type("\t")
            terminal.wait(lambda terminal: terminal.line == "> /agent Pirate")


def test_what_is_typed_during_a_turn_waits_for_the_prompt_unseen(home: Home) -> None:
    slow = Answer([sse(*chat_events("Once upon")[:-1]), Wait(0.5), chat_stream(" a time.")])
    with serving(slow, chat_stream("Ok.")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("Tell.\r")
            terminal.see("Once upon")
            terminal.type("too early\r")
            terminal.see("Once upon a time.")
            assert "early" not in terminal.text
            terminal.see("> too early")
            terminal.type("\r")
            terminal.see("Ok.")
        assert last_words(server) == ["Tell.", "too early"]


# Questions


def do(text: str) -> bytes:
    """A reply that calls the tool whose calls need a yes."""
    return chat_stream(calls=[Call("do", {"text": text})])


def results(server: LoopbackServer) -> list[str]:
    """The last tool result in each conversation that has one."""
    told = ([m for m in body["messages"] if m["role"] == "tool"] for body in asked(server))
    return [messages[-1]["content"] for messages in told if messages]


def answer(terminal: Terminal, keys: str) -> None:
    """Type an answer as a hand does."""
    terminal.wait(lambda terminal: terminal.line == "allow?")
    terminal.type(keys)
    terminal.wait(lambda terminal: terminal.line == f"allow? {keys}")
    time.sleep(0.06)
    terminal.type("\r")


def test_question_is_put_and_answered_in_place(home: Home) -> None:
    replies = [do("1"), do("2"), do("3"), do("4"), chat_stream("So be it.")]
    with serving(*replies) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("Go.\r")
            answer(terminal, "y")
            answer(terminal, "n")
            answer(terminal, "no, use show")
            terminal.see("* do 4")
            terminal.wait(lambda terminal: terminal.line == "allow?")
            terminal.type("\x04")
            terminal.ready()
            assert (
                "> Go.\n\n* do 1\n\nit would run 1\n--- f.txt\n+++ f.txt\n@@ -1 +1 @@\n-old\n+new\n"
                "y: once   s: session   a: always (rule do"
            ) in terminal.text
            assert "\n  do 1 - ok\n* do 2\n" in terminal.text
            assert "\n  do 3 - denied: use show\n" in terminal.text
        assert results(server) == [
            "did 1",
            "ERROR: this call was denied: the user said no",
            "ERROR: this call was denied: use show",
            "ERROR: this call was denied: the user said no",
        ]
        assert "permissions" not in home.saved


def test_answer_for_the_session_holds_and_is_not_saved(home: Home) -> None:
    with serving(do("one"), do("two"), chat_stream("Done.")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("Go.\r")
            answer(terminal, "what?")
            answer(terminal, "s")
            terminal.see("\nDone.")
            assert terminal.text.count("s: session") == 2
        assert results(server) == ["did one", "did two"]
        assert "permissions" not in home.saved


def test_answer_for_always_is_saved_as_a_rule(home: Home) -> None:
    with serving(do("one"), chat_stream("Done."), do("two"), chat_stream("Too.")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("Go.\r")
            answer(terminal, "a")
            terminal.see("\nDone.")
        [rule] = home.saved["permissions"]["allow"]
        assert f"a: always (rule {rule})" in terminal.text
        assert home.run("Go.").stdout == "Too.\n"
        assert results(server) == ["did one", "did two"]


def test_ctrl_c_in_a_question_ends_the_turn(home: Home) -> None:
    with serving(do("it"), chat_stream("Fine.")) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("Go.\r")
            terminal.see("allow?")
            pressed = time.monotonic()
            terminal.type("\x03")
            terminal.ready()
            assert time.monotonic() - pressed < 1
            assert "note: interrupted" in terminal.text
            terminal.send("Leave it.")
        [result] = results(server)
        assert result.startswith("ERROR: interrupted")


def test_nothing_that_is_pasted_or_typed_before_answers_a_question(home: Home) -> None:
    slow = Answer([sse(*chat_events("Wait")[:-1]), Wait(0.3), do("it")])
    with serving(slow) as server:
        home.use(server)
        with open_terminal(home) as terminal:
            terminal.ready()
            terminal.type("Go.\r")
            terminal.see("\nWait")
            terminal.type("y\r")
            terminal.see("allow?")
            for keys in ("y\r", "\x1b[200~y\r\x1b[201~", "a\ry\r", "x\n\rs\r"):
                terminal.type(keys)
                time.sleep(0.1)
            terminal.type("enough")
            terminal.wait(lambda terminal: terminal.line == "allow? enough")
            assert terminal.text.count("allow?") == 1
        assert results(server) == []


# Terminals that can do less, and none at all


def test_dumb_terminal_has_plain_lines(home: Home) -> None:
    with serving(do("it"), chat_stream("Done."), do("more"), stalled("Once")) as server:
        home.use(server)
        with open_terminal(home, TERM="dumb") as terminal:
            terminal.ready()
            terminal.type("Go.\n")
            terminal.see("allow?")
            terminal.type("y\n")
            terminal.see("allow? y\n")
            terminal.see("\nDone.")
            terminal.ready()
            terminal.type("More.\n")
            terminal.wait(lambda terminal: terminal.line == "allow?")
            terminal.type("\x03")
            terminal.ready()
            terminal.type("And?\n")
            terminal.see("Once")
            terminal.type("\x03")
            terminal.ready()
            terminal.type("\x03")
            terminal.see("Ctrl-C once more leaves")
            terminal.type("\x04")
            assert terminal.status() == 0
        assert b"\x1b" not in terminal.raw
        assert results(server)[:2] == ["did it"] * 2
        assert results(server)[2].startswith("ERROR: interrupted")


@pytest.mark.parametrize("given", [None, " \n\n"])
def test_empty_input_sends_nothing_and_ends(home: Home, given: str | None) -> None:
    with serving() as server:
        home.use(server)
        done = home.run(given)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == "hrns: standard input is empty: nothing was asked\n"
        assert server.requests == []


def test_piped_input_is_one_message_and_its_answer_alone_is_printed(home: Home) -> None:
    replies = [chat_stream(calls=[Call("do", {"text": "it"})]), chat_stream("Done.")]
    with serving(*replies) as server:
        home.use(server)
        done = home.run("one\ntwo\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")
        assert asked(server)[0]["messages"][-1]["content"].rstrip() == "one\ntwo"
        assert results(server) == [
            "ERROR: this call was denied: it would run it, and there is no one to ask"
        ]


def test_piped_command_runs_and_a_wrong_one_fails(home: Home) -> None:
    with serving() as server:
        home.use(server)
        done = home.run("/models\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "* m\n  m2\n", "")
        done = home.run("/modles\n")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("hrns: error: there is no command /modles")
        assert asked(server) == []


def test_piped_input_without_a_provider_is_an_error_that_helps(home: Home) -> None:
    done = home.run("hello")
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.startswith("hrns: no provider is configured\nConnect a model with")


def test_piped_input_that_cannot_be_answered_has_the_status_of_exec(home: Home) -> None:
    with serving(json_answer({"error": {"message": "who?"}}, status=401)) as server:
        home.use(server)
        assert home.run("hello").returncode == 77


# What comes from elsewhere

HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b]0;t\x07\x1b[2J\x1b[6n\x9b31m[bold]x[/bold] [slug].tsx\x1b]"
SHOWN = re.sub("[\x00-\x1f\x9b]", "\ufffd", HOSTILE)


def test_nothing_that_a_model_tool_or_server_says_steers_the_terminal(home: Home) -> None:
    replies: list[Answer | bytes] = [
        chat_stream(HOSTILE, [Call("do", {"text": HOSTILE})], reasoning=HOSTILE),
        chat_stream(calls=[Call(HOSTILE, {}), Call("show", {"text": f"ERROR: {HOSTILE}"})]),
        json_answer({"error": {"message": HOSTILE}}, status=400),
    ]
    with serving(*replies) as server:
        home.use(server)
        with open_terminal(home, columns=250) as terminal:
            terminal.ready()
            terminal.type("Go.\r")
            terminal.see("allow?")
            assert f"\nthinking: {SHOWN}\n\n{SHOWN}\n\n* do {SHOWN}\n\nit would" in terminal.text
            answer(terminal, "n")
            terminal.ready()
            assert f"* show - error: {SHOWN}" in terminal.text
            assert f"* {SHOWN} - error: " in terminal.text
            assert f" (400): {SHOWN}\n" in terminal.text
            name = SHOWN.partition(" ")[0]
            terminal.send(f"/{name}")
            assert f"error: there is no command /{name}, and" in terminal.text
        sequences = set(re.findall(rb"\x1b[^a-zA-Z]*[a-zA-Z]", terminal.raw))
        assert not [each for each in sequences if each[:2] != b"\x1b["]
        assert not {b"\x1b[2J", b"\x1b[6n"} & sequences
        assert not {b"\x07", b"\x9b"} & set(terminal.raw)


def test_file_names_and_models_of_others_are_shown_literally(home: Home) -> None:
    with serving() as server:
        entry = {"url": f"{server.url}/v1", "model": HOSTILE}
        home.configure({"providers": {HOSTILE: entry}, "currentAgent": "Builder"})
        with open_terminal(home, columns=250) as terminal:
            terminal.ready()
            assert f"provider {SHOWN}, model {SHOWN}, agent" in terminal.text
            terminal.send("/providers")
            assert f"* {SHOWN}   {SHOWN}   openai-chat" in terminal.text
        done = home.run("/providers\n")
        assert f"* {SHOWN}   {SHOWN}   openai-chat" in done.stdout
