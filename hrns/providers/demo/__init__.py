"""The provider `demo`: no model, no network, no key, and real tool calls.

It understands five forms of request in plain English (`english`), makes the tool calls that they
stand for (`tasks`), and answers from what the tools returned (`answers`). It keeps no state: what
to do next follows from the messages of the request alone (`conversation`).
"""

from __future__ import annotations

from .provider import DemoProvider

__all__ = ["DemoProvider"]
