"""Words of a command line: quotes, escapes, and what is expanded in them (POSIX 2.2, 2.6)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from attrs import define, field

from .values import Word, holds_code

__all__ = ["DEPTH", "Effort", "Unclear", "Words"]

DEPTH = 50
"""How deep a line may be nested; people do not come near, and Python's stack must do."""

_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_ORDINARY = re.compile(r"[^\s\x00-\x1f\x7f'\"\\$`*?\[{;&|<>()]+")
_ENDS = frozenset(" \t\n;&|<>()")
_TEST = re.compile(r"\[{1,2}(?=[ \t\n]|\Z)")
_EMPTY_BRACES = re.compile(r"\{\}(?=[ \t\n;&|<>()/.'\"\\]|\Z)")
_PARAMETER = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])", re.ASCII)
_IN_DOUBLE_QUOTES = re.compile(r'[^"\\$`]+')
_IN_BRACES = re.compile(r"[^}'\"\\$`]+")
_IN_ARITHMETIC = re.compile(r"[^()'\"\\$`]+")
_BACKQUOTED = re.compile(r"[^`\\]*(?:\\.[^`\\]*)*", re.DOTALL)
_ESCAPED = re.compile(r"\\([$`\\])")
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\\\"])")


_MOST_WORDS = 5000
"""Those of a line and of all scripts in it: who would check more takes too long."""


class Unclear(Exception):
    """Why a line cannot be read for certain."""


@define
class Effort:
    """How much of a line is still read."""

    words: int = _MOST_WORDS

    def spend(self) -> None:
        """Count one word.

        Raises:
            Unclear: that is one too many.
        """
        self.words -= 1
        if self.words < 0:
            raise Unclear(f"it has more than {_MOST_WORDS} words")


@define
class _Draft:
    """A word that is being read."""

    pieces: list[str] = field(factory=list)
    others: list[str] = field(factory=list)
    exact: bool = True
    many: bool = False
    plain: bool = True

    def known(self, text: str) -> None:
        (self.pieces if self.exact else self.others).append(text)

    def quoted(self, text: str) -> None:
        self.known(text)
        self.plain = False

    def unknown(self, *, many: bool) -> None:
        """From here on it may be anything; and it may become several words if `many`."""
        self.exact = False
        self.many = self.many or many


class Words(ABC):
    """A place in a text, and the words from there on.

    Parameters:
        text: the line, or the piece of a line.
        depth: how deep it is nested in others.
        effort: shared with all that is read of the same line.
    """

    def __init__(self, text: str, depth: int, effort: Effort) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.effort = effort

    @abstractmethod
    def substitution(self) -> None:
        """Read the commands from here to a closing parenthesis, and past it."""

    @abstractmethod
    def nested(self, text: str) -> None:
        """Read the commands in a text of its own."""

    def deeper(self) -> None:
        """Note that what follows is nested in what is being read; `depth` goes down by hand."""
        self.depth += 1
        if self.depth > DEPTH:
            raise Unclear("it is nested too deeply")

    def looking_at(self, text: str, ahead: int = 0) -> bool:
        """Whether this stands here, or so many characters ahead."""
        return self.text.startswith(text, self.at + ahead)

    def blanks(self) -> None:
        """Pass blanks, and line ends that a backslash hides."""
        self._pass(_BLANKS)

    def word(self) -> Word | None:
        """The word that begins here, or None if none does."""
        start, draft = self.at, _Draft()
        while self.at < len(self.text) and self._piece(draft):
            pass
        if self.at == start:
            return None
        self.effort.spend()
        source = self.text[start : self.at]
        text = "".join(draft.pieces)
        code = holds_code(text + "".join(draft.others))
        return Word(text, draft.exact, draft.many, source, draft.plain, code)

    def expansions(self) -> None:
        """Read what is expanded from here to the end, as in double quotes."""
        draft = _Draft()
        while self.at < len(self.text):
            self._double_quoted_piece(draft)

    def _pass(self, pattern: re.Pattern[str]) -> str:
        """Pass what the pattern matches here; what that was."""
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[0]

    def _piece(self, draft: _Draft) -> bool:
        """The next piece of a word; False at its end."""
        if ordinary := self._pass(_ORDINARY):
            draft.known(ordinary)
            return True
        character = self.text[self.at]
        if character in "<>" and self.looking_at("(", 1):
            self.at += 2
            self.substitution()
            draft.unknown(many=False)
            return True
        if character in _ENDS:
            return False
        self._special_piece(character, draft)
        return True

    def _special_piece(self, character: str, draft: _Draft) -> None:
        match character:
            case "'":
                self._single_quoted(draft)
            case '"':
                self._double_quoted(draft)
            case "\\":
                self._escaped(draft)
            case "$":
                self._dollar(draft)
            case "`":
                self._backquoted(draft)
            case "*" | "?" | "[" | "{":
                self._pattern(draft)
            case _:
                raise Unclear(f"it has the character {character!r}")

    def _single_quoted(self, draft: _Draft) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unclear("a quote is not closed")
        draft.quoted(self.text[self.at + 1 : end])
        self.at = end + 1

    def _double_quoted(self, draft: _Draft) -> None:
        self.at += 1
        draft.quoted("")
        while not self.looking_at('"'):
            if self.at >= len(self.text):
                raise Unclear("a quote is not closed")
            self._double_quoted_piece(draft)
        self.at += 1

    def _double_quoted_piece(self, draft: _Draft) -> None:
        if literal := self._pass(_IN_DOUBLE_QUOTES):
            draft.known(literal)
            return
        character = self.text[self.at]
        if character == "$":
            self._dollar(draft, quoted=True)
        elif character == "`":
            self._backquoted(draft, quoted=True)
        elif character == "\\" and self.at + 1 < len(self.text):
            escaped = self.text[self.at + 1]
            if escaped != "\n":
                draft.known(escaped if escaped in '$`"\\' else f"\\{escaped}")
            self.at += 2
        else:  # a quote inside of a here-document, or a backslash at its end
            draft.known(character)
            self.at += 1

    def _escaped(self, draft: _Draft) -> None:
        if self.at + 1 == len(self.text):
            raise Unclear("it ends in a backslash")
        if not self.looking_at("\n", 1):
            draft.quoted(self.text[self.at + 1])
        self.at += 2

    def _dollar(self, draft: _Draft, *, quoted: bool = False) -> None:
        self.deeper()
        self._expansion(draft, quoted=quoted)
        self.depth -= 1

    def _expansion(self, draft: _Draft, *, quoted: bool) -> None:
        """What `$` stands before: a parameter, a substitution, arithmetic, or nothing special."""
        if parameter := self._pass(_PARAMETER):
            draft.unknown(many=not quoted or parameter == "$@")
        elif self.looking_at("$(("):
            self._arithmetic()
            draft.unknown(many=not quoted)
        elif self.looking_at("$("):
            self.at += 2
            self.substitution()
            draft.unknown(many=not quoted)
        elif self.looking_at("${"):
            list_like = self._braced_parameter()
            draft.unknown(many=not quoted or list_like)
        elif self.looking_at("$[") or self.looking_at("$\\\n"):
            raise Unclear("it has an odd $")
        elif not quoted and (self.looking_at("$'") or self.looking_at('$"')):
            # bash and dash do not agree where such a text ends.
            raise Unclear("it has $ before a quote")
        else:
            draft.known("$")
            self.at += 1

    def _braced_parameter(self) -> bool:
        """Pass `${...}`; whether it may be several words in double quotes too."""
        start = self.at
        self.at += 2
        if self.text[self.at : self.at + 1] in (" ", "\t", "\n", "|", ""):
            raise Unclear("it has ${ before a blank")
        while not self.looking_at("}"):
            self._pass(_IN_BRACES)
            self._expansion_inside("${")
        self.at += 1
        return "@" in self.text[start : self.at]

    def _arithmetic(self) -> None:
        """Pass `$((...))`."""
        self.at += 3
        depth = 2
        while depth:
            self._pass(_IN_ARITHMETIC)
            if self.looking_at("("):
                depth += 1
            elif self.looking_at(")"):
                if depth == 2 and not self.looking_at("))"):
                    raise Unclear("$(( may be arithmetic or commands")
                depth -= 1
            else:
                self._expansion_inside("$((")
                continue
            self.at += 1

    def _expansion_inside(self, opened: str) -> None:
        """Read what is expanded inside of `${...}` and `$((...))`; nothing at their end."""
        if self.at >= len(self.text):
            raise Unclear(f"{opened} is not closed")
        character = self.text[self.at]
        if character in "'\"\\":
            # Shells do not agree which quotes count in here.
            raise Unclear(f"it has a quote inside of {opened}")
        if character == "$":
            self._dollar(_Draft())
        elif character == "`":
            self._backquoted(_Draft())

    def _backquoted(self, draft: _Draft, *, quoted: bool = False) -> None:
        self.at += 1
        inside = self._pass(_BACKQUOTED)
        if not self.looking_at("`"):
            raise Unclear("a backquote is not closed")
        self.at += 1
        escaped = _ESCAPED_IN_QUOTES if quoted else _ESCAPED
        self.nested(escaped.sub(r"\1", inside))
        draft.unknown(many=not quoted)

    def _pattern(self, draft: _Draft) -> None:
        """What the shell replaces by names of files, or by several words."""
        if not draft.pieces and draft.exact and (test := self._pass(_TEST)):
            draft.known(test)
        elif braces := self._pass(_EMPTY_BRACES):
            draft.known(braces)
        else:
            draft.unknown(many=True)
            self.at += 1
