"""Patterns of command lines: `git status`, `git *`, `npm run test:*`.

A pattern is compared word by word: a `*` in a word stands for any text, a word that is only `*`
for any number of words. Rules that allow take a pattern narrowly, those that ask or deny widely:
more words may follow, options may stand between, the program may be named with its directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from attrs import evolve, field, frozen

from .shell import Command, Word, program
from .shell.variables import all_harmless
from .text import Match, Pieces, comparable, matches

__all__ = ["CommandPattern", "quoted_line"]

_TOKEN = re.compile(
    r"(?P<blank>\s+)|'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|\\(?P<escaped>.)"
    r"|(?P<star>\*)|(?P<operator>[;&|<>()`$'\"\\])|(?P<plain>[^\s'\"\\*;&|<>()`$]+)",
    re.DOTALL,
)
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\])")
_NOT_IN_MENTION = re.compile(r"[^\w.+@%-]+")
_MANY: Pieces = ("", "")


@frozen
class _WordPattern:
    """A word of a pattern; `family` for the last one of `test:*`, which is `test` as well."""

    pieces: Pieces
    family: bool = False

    @property
    def many(self) -> bool:
        """Whether it stands for any number of words."""
        return self.pieces == _MANY

    def takes(self, text: str) -> bool:
        """Whether it stands for this word."""
        return matches(self.pieces, text) or (self.family and text == self.pieces[0][:-1])

    def surely_takes(self, word: Word) -> bool:
        """Whether it stands for this word, whatever the rest of that is."""
        if word.exact:
            return self.takes(word.text)
        open_end = len(self.pieces) == 2 and not self.pieces[1]
        return open_end and not word.many and word.text.startswith(self.pieces[0])

    def may_take(self, word: Word) -> bool:
        """Whether it stands for something that the word may be."""
        if word.exact:
            return self.takes(word.text)
        first = self.pieces[0]
        return first.startswith(word.text) or (len(self.pieces) > 1 and word.text.startswith(first))


@frozen
class CommandPattern:
    """A pattern of commands.

    Parameters:
        text: as it is written.
        words: its words; empty if it is more than one simple command, to be compared as a whole.
    """

    text: str
    words: tuple[_WordPattern, ...] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> CommandPattern:
        """The pattern that a text stands for; every text is one."""
        return _parsed(text)

    def is_line(self, line: str) -> bool:
        """Whether the pattern is this very line, its stars taken as they are."""
        line = line.strip()
        return line in (self.text, self.text.replace("\\*", "*"))

    def like_line(self, line: str) -> bool:
        """Whether the pattern, if it is more than one command, is like this line."""
        if self.words:
            return False
        return matches(tuple(_spaced(self.text).split("*")), _spaced(line))

    def covers(self, command: Command) -> bool:
        """Whether a rule that allows holds for all that the command may be."""
        whole = (*command.assignments, *command.words)
        return _covers(self.words, whole) or (
            bool(command.words) and all_harmless(command) and _covers(self.words, command.words)
        )

    def touches(self, command: Command) -> Match:
        """Whether a rule that asks or denies speaks of the command."""
        spellings = [command.words]
        if command.assignments:
            spellings.append((*command.assignments, *command.words))
        if any(_Wide(self.words, surely=True).begins(words) for words in spellings):
            return "yes"
        unknown = (words for words in spellings if not all(word.exact for word in words))
        if any(_Wide(self.words, surely=False).begins(words) for words in unknown):
            return "maybe"
        return "no"

    def is_mentioned(self, line: str) -> bool:
        """Whether every word of the pattern that is not a star stands somewhere in the line."""
        return _is_mentioned(self, line)


def quoted_line(line: str) -> str:
    """A line as the pattern that is this line, without meaning more."""
    return line.strip().replace("*", "\\*")


@lru_cache(maxsize=512)
def _parsed(text: str) -> CommandPattern:
    words = list(_words(text))
    if any(word is None for word in words):
        return CommandPattern(text, ())
    patterns = [_WordPattern(tuple(word)) for word in words if word]
    if text.endswith(":*") and len(patterns[-1].pieces) == 2:
        patterns[-1:] = [evolve(patterns[-1], family=True), _WordPattern(_MANY)]
    return CommandPattern(text, tuple(patterns))


def _words(text: str) -> Iterator[list[str] | None]:
    """The words, each as its pieces; None for what is not part of a simple command."""
    pieces: list[str] | None = None
    for token in _TOKEN.finditer(text):
        kind, value = token.lastgroup or "", token[token.lastgroup or 0]
        if kind == "blank":
            if pieces is not None:
                yield pieces
            pieces = None
            if "\n" in value:
                yield None
            continue
        if kind == "operator":
            yield None
        pieces = pieces or [""]
        if kind == "star":
            pieces.append("")
        else:
            pieces[-1] += _ESCAPED_IN_QUOTES.sub(r"\1", value) if kind == "double" else value
    if pieces is not None:
        yield pieces


@lru_cache(maxsize=16)
def _is_mentioned(pattern: CommandPattern, line: str) -> bool:
    # All commands of a line ask the same, and a line may be long.
    mentioned = {comparable(name) for name in _NOT_IN_MENTION.split(line)}
    fixed = [word for word in pattern.words if not word.many]
    return all(any(map(_program_pattern(word).takes, mentioned)) for word in fixed)


@lru_cache(maxsize=16)
def _spaced(text: str) -> str:
    return " ".join(text.split())


def _covers(pattern: Sequence[_WordPattern], words: Sequence[Word]) -> bool:
    """Whether the words are the pattern's, whatever the unknown ones turn out to be."""
    states = _closed(pattern, {0}) if pattern else set()
    for word in words:
        if not states:
            return False
        places = [at for at in states if at < len(pattern)]
        reached = {at for at in places if pattern[at].many}
        reached |= {at + 1 for at in places if pattern[at].surely_takes(word)}
        states = _closed(pattern, reached)
    return len(pattern) in states


def _closed(pattern: Sequence[_WordPattern], states: set[int]) -> set[int]:
    """A star also stands for no word at all: what is behind it may come at once."""
    closed = set(states)
    for state in states:
        at = state
        while at < len(pattern) and pattern[at].many:
            at += 1
            closed.add(at)
    return closed


@frozen
class _Wide:
    """A pattern as rules take it that ask or deny: it says how a command begins.

    The program may be named with its directory; between the words, options may stand, each with a
    value: `git push` is also `/usr/bin/git -C . push --force`.

    Parameters:
        surely: whether a word that is not wholly known counts only if it fits in any case.
    """

    pattern: tuple[_WordPattern, ...]
    surely: bool

    def begins(self, words: Sequence[Word]) -> bool:
        """Whether the words begin as the pattern does; never if that is empty."""
        if not self.pattern:
            return False
        options: set[int] = set()
        places = _closed(self.pattern, {0})
        for number, word in enumerate(words):
            if len(self.pattern) in places:
                return True
            if not (places or options):
                return False
            taken: set[int] = set()
            for at in places | options:
                taken |= self._taken(at, word, first=number == 0)
            one = not (word.many and self.surely)
            skipped = places | options if number and one and _is_option(word) else set()
            # What stands behind an option may be its value.
            places = _closed(self.pattern, taken) | (options if one else set())
            options = skipped
        return len(self.pattern) in places

    def _taken(self, at: int, word: Word, *, first: bool) -> set[int]:
        """The places after a word, if it stands at this place of the pattern."""
        expected = self.pattern[at]
        if first:
            expected, word = _program_pattern(expected), _program_word(word)
        places = {at} if expected.many else set()
        if self.surely:
            return places | ({at + 1} if expected.surely_takes(word) else set())
        if word.many and (not word.text or expected.may_take(word) or _is_option(word)):
            return set(range(at, len(self.pattern) + 1))
        return places | ({at + 1} if expected.may_take(word) else set())


def _is_option(word: Word) -> bool:
    return word.text.startswith("-")


def _program_word(word: Word) -> Word:
    """The program's name alone; of one that is not wholly known, that may be anything."""
    if not word.exact:
        return evolve(word, text="")
    # A variable that is set before the program is none.
    return word if "=" in word.text else evolve(word, text=comparable(program(word)))


def _program_pattern(pattern: _WordPattern) -> _WordPattern:
    """The pattern of the program's name alone; all of it if it stands for every name."""
    pieces = tuple(comparable("\0".join(pattern.pieces)).rpartition("/")[2].split("\0"))
    return evolve(pattern, pieces=pieces) if pieces != _MANY else pattern
