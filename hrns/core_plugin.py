"""What the core itself brings, through the same hooks as everyone else.

As in every plugin, what an implementation needs is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .markers import hookimpl

if TYPE_CHECKING:
    from .agents import Agent
    from .context import SessionContext
    from .records import ChunkSink, PromptSection, ProviderKind

__all__ = ["CorePlugin"]


class CorePlugin:
    """The built-in agents, protocols and prompt section, and the chunk log."""

    @hookimpl
    def hrns_agents(self) -> Iterable[Agent]:
        """Builder, Explorer, Planner and Pirate."""
        from .agents import BUILT_IN

        return BUILT_IN

    @hookimpl
    def hrns_providers(self) -> Iterable[ProviderKind]:
        """The wire protocols, and the demo."""
        from .providers.kinds import BUILT_IN

        return BUILT_IN

    @hookimpl
    def hrns_chunk_sinks(self, context: SessionContext) -> Iterable[ChunkSink]:
        """The chunk log, if `log` in the configuration names a file."""
        if not (named := context.config.get("log")):
            return []
        from pathlib import Path

        from .chunklog import ChunkLog

        return [ChunkLog(context.cwd / Path(named).expanduser())]

    @hookimpl
    def hrns_prompt_sections(self, context: SessionContext) -> Iterable[PromptSection]:
        """Where the session is: what a model cannot know and needs for paths and commands."""
        import platform

        from .records import PromptSection

        text = f"Working directory: {context.cwd}\nOperating system: {platform.system()}"
        return [PromptSection("environment", text, order=90)]
