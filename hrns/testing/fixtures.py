"""The fixtures of `hrns.testing`; only pytest imports this module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from .loopback import Answers, LoopbackServer
from .scripted import Reply, ScriptedProvider

__all__ = ["loopback_server", "scripted"]


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
