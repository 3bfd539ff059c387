"""Every hook of hrns.

A plugin is a module named by an entry point of the group ``hrns``. It defines functions with the
names below, marked with ``@hrns.hookimpl``; each may take fewer parameters than the hook has.

Hooks are called when a session starts, and give records or plain callables: nothing goes through
the plugin manager while a turn runs. They are called one implementation at a time, the core's
first, then those of the bundled distributions, then the others by name. So each record knows its
plugin, and one that raises costs its own records and one warning. A hook may return a list, yield,
return one record, or return None.
"""

from __future__ import annotations

from collections.abc import Iterable

from .agents import Agent
from .context import SessionContext
from .markers import hookspec
from .permissions import Policy
from .records import (
    ChunkSink,
    Frontend,
    PromptSection,
    ProviderKind,
    RequestEditor,
    Skill,
    SlashCommand,
    ToolWrapper,
)
from .tools import Tool

__all__ = [
    "hrns_agents",
    "hrns_chunk_sinks",
    "hrns_frontends",
    "hrns_permission_policies",
    "hrns_prompt_sections",
    "hrns_providers",
    "hrns_request_editors",
    "hrns_session_end",
    "hrns_session_start",
    "hrns_skills",
    "hrns_slash_commands",
    "hrns_tool_wrappers",
    "hrns_tools",
]


@hookspec
def hrns_tools(context: SessionContext) -> Iterable[Tool]:
    """Tools for the model.

    Called once at session start, after agents and skills. Of two tools of one name the bundled
    one is used, unless the other has ``replaces=True``; otherwise the first; a warning names both.

    Example::

        @hrns.hookimpl
        def hrns_tools():
            from .tools import weather
            return [weather]
    """
    raise NotImplementedError


@hookspec
def hrns_agents(context: SessionContext) -> Iterable[Agent]:
    """Agents to choose from.

    Called once at session start, first of all. An agent of a later plugin replaces an earlier one
    of its name (so a file replaces a built-in); within one plugin the first counts.

    Example::

        @hrns.hookimpl
        def hrns_agents():
            return [hrns.Agent("Reviewer", "Reads changes.", "You review ...")]
    """
    raise NotImplementedError


@hookspec
def hrns_skills(context: SessionContext) -> Iterable[Skill]:
    """Skills that a model can load.

    Called once at session start. Of two skills of one name the first counts; a warning names both.

    Example::

        @hrns.hookimpl
        def hrns_skills():
            return [hrns.Skill("release", "How to cut a release", read=lambda: TEXT)]
    """
    raise NotImplementedError


@hookspec
def hrns_providers() -> Iterable[ProviderKind]:
    """Protocols that a provider entry of the configuration can name as its ``api``.

    Called when the first provider is built. Of two of one ``api`` the first counts, the core's
    own before all; a warning names both.

    Example::

        @hrns.hookimpl
        def hrns_providers():
            return [hrns.ProviderKind("echo", build=lambda entry: EchoProvider(entry.model))]
    """
    raise NotImplementedError


@hookspec
def hrns_chunk_sinks(context: SessionContext) -> Iterable[ChunkSink]:
    """Callables that are given every chunk of every run of the session, in order.

    Called once at session start. The sinks run in the thread that iterates the run, before the
    chunk reaches its consumer. One that raises is reported once, by name, and dropped. A sink's
    ``close()``, if it has one, is called when the session is closed.

    Example::

        @hrns.hookimpl
        def hrns_chunk_sinks():
            return [lambda chunk: print(chunk.type, file=sys.stderr)]
    """
    raise NotImplementedError


@hookspec
def hrns_frontends() -> Iterable[Frontend]:
    """Interactive front ends; ``hrns`` without a command starts the first.

    Called when ``hrns`` is started without a command. The configuration's ``frontend`` names
    another. An exception of a front end is a crash of the program.

    Example::

        @hrns.hookimpl
        def hrns_frontends():
            return [hrns.Frontend("window", run=open_window)]
    """
    raise NotImplementedError


@hookspec
def hrns_slash_commands(context: SessionContext) -> Iterable[SlashCommand]:
    """Commands of the interactive prompt.

    Called once at session start, by a front end that has such a prompt. Of two of one name the
    first counts; a warning names both. What a command raises is shown as its error. One that is
    marked with ``at_once`` may run while the model works, in a thread of its own.

    Example::

        @hrns.hookimpl
        def hrns_slash_commands():
            return [hrns.SlashCommand("hello", "Says hello.", lambda host, rest: host.say("Hello"))]
    """
    raise NotImplementedError


@hookspec
def hrns_prompt_sections(context: SessionContext) -> Iterable[PromptSection]:
    """Sections of the system prompt, after the agent's own prompt.

    Called when the system message is built: at session start, for a new conversation, and when
    the agent changes. Sections stand in the order of their ``order``, then of their plugins; the
    text should stay the same from call to call, for the sake of prompt caches.

    Example::

        @hrns.hookimpl
        def hrns_prompt_sections(context):
            return [hrns.PromptSection("house-rules", "Answer in French.")]
    """
    raise NotImplementedError


@hookspec
def hrns_request_editors(context: SessionContext) -> Iterable[RequestEditor]:
    """Callables that change a request before it is sent; the transcript stays as it is.

    Called once at session start; the editors run before each request, in order. One that raises
    is reported once and dropped, and the request goes on as it was before it.

    Example::

        @hrns.hookimpl
        def hrns_request_editors():
            return [lambda request: attrs.evolve(request, tools=request.tools[:20])]
    """
    raise NotImplementedError


@hookspec
def hrns_permission_policies(context: SessionContext) -> Iterable[Policy]:
    """Callables that say whether a call may run.

    Called once at session start; the policies are asked before each call, all of them: the
    strictest verdict counts. A tool may have them asked again, in its own thread, about one thing
    that it found on its way. One that raises denies the call, and if the hook itself raises, every
    call of a tool with effects is denied: a guard that breaks must not stand open.

    Example::

        @hrns.hookimpl
        def hrns_permission_policies():
            def no_force_push(call, tool, prepared):
                if "push --force" in call.arguments:
                    return hrns.Verdict("deny", "never force-push here", "house rules")
            return [no_force_push]
    """
    raise NotImplementedError


@hookspec
def hrns_tool_wrappers(context: SessionContext) -> Iterable[ToolWrapper]:
    """Callables that run around each tool run, in the tool's thread.

    Called once at session start; the first is the outermost. A wrapper calls ``run()`` once, or
    answers itself. What it raises becomes a result with status ``error``.

    Example::

        @hrns.hookimpl
        def hrns_tool_wrappers():
            def timed(call, tool, run):
                started = time.monotonic()
                result = run()
                log(tool.name, time.monotonic() - started)
                return result
            return [timed]
    """
    raise NotImplementedError


@hookspec
def hrns_session_start(context: SessionContext) -> None:
    """Set up; called last at session start. One that raises costs one warning."""


@hookspec
def hrns_session_end(context: SessionContext) -> None:
    """Tear down; called once when the session is closed. One that raises costs one warning."""
