"""Which variables change nothing about what a command runs."""

from __future__ import annotations

from .values import ASSIGNMENT, Command, names

__all__ = ["all_harmless", "harmless_by_itself"]

# Not: what names programs, libraries, files or options (PATH, LD_PRELOAD, PAGER, GIT_*, ...).
# There is no end to those, so a variable that is not named here is not harmless.
_HARMLESS = names(
    "CI CLICOLOR CLICOLOR_FORCE COLUMNS DEBUG FORCE_COLOR LANG LANGUAGE LINES NODE_ENV NO_COLOR "
    "PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUNBUFFERED RUST_BACKTRACE RUST_LOG "
    "SOURCE_DATE_EPOCH TERM TZ VERBOSE"
)


def all_harmless(command: Command) -> bool:
    """Whether the command does the same things without the variables that are set before it."""
    if any(word.code for word in command.assignments):
        return False
    judged = _harmless if command.words else harmless_by_itself
    matches = [ASSIGNMENT.match(word.text) for word in command.assignments]
    return all(match is not None and judged(match[1]) for match in matches)


def harmless_by_itself(name: str) -> bool:
    """Whether the variable may be set for the commands that follow.

    A name in small letters is the shell's own business; those that programs know are in capitals,
    but for the proxies.
    """
    return _harmless(name) or (name.islower() and not name.endswith("_proxy"))


def _harmless(name: str) -> bool:
    return name in _HARMLESS or name.startswith("LC_")
