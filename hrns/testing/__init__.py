"""What a plugin author tests with: a scripted provider and a loopback server.

`ScriptedProvider` stands in for a model, `LoopbackServer` for a model's server: it sends the bytes
that it is given, in the pieces and with the faults that it is given. Neither needs pytest. With
pytest, the fixtures `scripted`, `loopback_server` and `replayed` (the chunks of a session file
again) come from one line in ``conftest.py``::

    pytest_plugins = ["hrns.testing"]

A tool is tested with the loop that it will run in::

    def test_weather_is_told(scripted):
        provider = scripted(Call("weather", {"city": "Oslo"}), Say("It rains."))
        loop = hrns.Loop(provider, [weather])
        list(loop.run([UserMessage("What is the weather?")]))
        assert provider.requests[1].messages[-1].results[0].text == "rain"

PYTEST_DONT_REWRITE: there are no assertions in here, and a test module may import it first.
"""

from __future__ import annotations

from .chat_completions import chat_body, chat_events, chat_stream, in_pieces, sse
from .loopback import Answer, LoopbackServer, Raw, Received, json_answer
from .scripted import Call, Cut, Fail, Reply, Say, ScriptedProvider, ScriptExhausted, Wait

__all__ = [
    "Answer",
    "Call",
    "Cut",
    "Fail",
    "LoopbackServer",
    "Raw",
    "Received",
    "Reply",
    "Say",
    "ScriptExhausted",
    "ScriptedProvider",
    "Wait",
    "chat_body",
    "chat_events",
    "chat_stream",
    "in_pieces",
    "json_answer",
    "sse",
]

pytest_plugins = ["hrns.testing.fixtures"]  # read by pytest where this module is its plugin
