"""The fixtures of `hrns.testing`; only pytest imports this module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ..chunks import Chunk
from ..journal import read_journal
from ..replay import replay
from .loopback import Answers, LoopbackServer
from .scripted import Reply, ScriptedProvider

__all__ = ["loopback_server", "replayed", "scripted"]


@pytest.fixture
def scripted() -> Callable[..., ScriptedProvider]:
    """Makes a `ScriptedProvider` of the replies it is given: `scripted(Say("Hello."))`."""

    def make(*replies: Reply) -> ScriptedProvider:
        return ScriptedProvider(replies)

    return make


@pytest.fixture
def loopback_server() -> Iterator[Callable[[Answers], LoopbackServer]]:
    """Starts a `LoopbackServer` with these answers; it is closed after the test."""
    with ExitStack() as servers:
        yield lambda answers: servers.enter_context(LoopbackServer(answers))


@pytest.fixture
def replayed() -> Callable[[Path], list[Chunk]]:
    """Gives the chunks of a session file again: a session that went wrong becomes a test.

    No model is asked and no tool touches anything; see `hrns.replay.replay`.
    """

    def run(path: Path) -> list[Chunk]:
        return list(replay(read_journal(path)))

    return run
