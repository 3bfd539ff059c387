"""The grammar of the shell (POSIX 2.10), as far as it says where commands begin and end.

It takes more than a shell would: what no shell runs does no harm here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attrs import define, evolve

from .values import ASSIGNMENT, Command, Redirection, Word, names
from .variables import harmless_by_itself
from .words import Effort, Unclear, Words

__all__ = ["Grammar"]

_DELIMITED = r"(?=[ \t\n;&|<>()]|\Z)"
_OPENING = re.compile(rf"(?:\{{|!|if|while|until|for|select|case|function){_DELIMITED}")
_CLOSING = re.compile(rf"(?:then|do|done|fi|elif|else|esac|\}}){_DELIMITED}")
_IN = re.compile(rf"in{_DELIMITED}")
_RESERVED = names("{ } ! if then elif else fi while until for select do done case esac function")
_CASE_ENDS = (";;&", ";;", ";&")
_REDIRECTION = re.compile(r"\d*(?:<<<|<<-|<<|<&|<>|<(?!\()|>>|>\||>&|>(?!\())|&>>|&>")
_DELIMITER = re.compile(rf"(?:'([^'\n]*)'|\"([^\"\\$`\n]*)\"|(\\?)([\w.+:@%/-]+)){_DELIMITED}")
_DESCRIPTOR = re.compile(r"\d+-?|-")
_COMMENT = re.compile(r"#[^\n]*")
_NO_ARGUMENTS = re.compile(r"\([ \t]*\)")
_AWKWARD_IN_COMMENT = re.compile(r"[()'\"`\\]")


@define
class _HereDocument:
    """A here-document whose text comes after the next line end."""

    delimiter: str
    literal: bool
    tabs: bool
    command: int | None = None


@define
class _Simple:
    """A simple command that is being read."""

    assignments: list[Word]
    words: list[Word]
    documents: list[_HereDocument]
    script: str | None = None
    inputs: int = 0

    def add(self, word: Word, source: str) -> None:
        """One more word; `source` is its beginning without hidden line ends."""
        if not self.words and ASSIGNMENT.match(source):
            self.assignments.append(word)
        else:
            self.words.append(word)


class Grammar(Words):
    """Reads a line; `commands` and `redirections` are what was found so far."""

    def __init__(self, text: str, depth: int, effort: Effort) -> None:
        super().__init__(text, depth, effort)
        self.commands: list[Command] = []
        self.redirections: list[Redirection] = []
        self._documents: list[_HereDocument] = []
        self._in_substitution = 0

    def read(self) -> None:
        """Read to the end.

        Raises:
            Unclear: something cannot be read for certain; what stands before it was noted.
        """
        self._list("")

    def substitution(self) -> None:
        """The commands of `$(...)` or `<(...)`, up to the closing parenthesis and past it."""
        if self._documents:
            raise Unclear("a here-document begins before a substitution")
        self._in_substitution += 1
        self._list(")")
        self._in_substitution -= 1
        if self._documents:
            raise Unclear("a here-document begins in a substitution and does not end in it")

    def nested(self, text: str) -> None:
        """The commands of a text in backquotes."""
        inner = type(self)(text, self.depth + 1, self.effort)
        try:
            inner.read()
        finally:
            self._take(inner)

    def _take(self, inner: Grammar) -> None:
        self.commands += inner.commands
        self.redirections += inner.redirections

    # Lists

    def _list(self, *ends: str) -> str:
        """Commands up to one of the ends (reserved words, `)`, `;;`, "" for the text's end).

        Returns the end that it was.
        """
        while True:
            self._separators()
            end = self._end(ends)
            if end is not None:
                return end
            self._command()

    def _separators(self) -> None:
        """Pass blanks, line ends, comments and operators between commands."""
        while True:
            self._gap()
            if self.looking_at("|") or self._at_separator(";") or self._at_separator("&"):
                self.at += 1
            else:
                return

    def _at_separator(self, operator: str) -> bool:
        """Whether this operator stands here alone: not as part of `;;`, `;&`, `&>`."""
        longer = (";;", ";&", "&>")
        return self.looking_at(operator) and not any(self.looking_at(each) for each in longer)

    def _gap(self) -> None:
        """Pass blanks, comments and line ends; behind a line end come the here-documents."""
        while True:
            self.blanks()
            if self.looking_at("\n"):
                self._line_end()
            elif self.looking_at("#"):
                self._comment()
            else:
                return

    def _comment(self) -> None:
        comment = self._pass(_COMMENT)
        if self._in_substitution and _AWKWARD_IN_COMMENT.search(comment):
            raise Unclear("a comment inside of a substitution has quotes or parentheses")

    def _end(self, ends: tuple[str, ...]) -> str | None:
        """The end that stands here, passed; or None."""
        if self.at >= len(self.text):
            if "" in ends:
                return ""
            raise Unclear(f"{' or '.join(ends)} is missing at its end")
        for mark in (")", *_CASE_ENDS):
            if mark in ends and self.looking_at(mark):
                self.at += len(mark)
                return mark
        match = _CLOSING.match(self.text, self.at)
        if match is None or match[0] not in ends:
            return None
        self.at = match.end()
        return match[0]

    # Commands

    def _command(self) -> None:
        self.deeper()
        self._any_command()
        self.depth -= 1

    def _any_command(self) -> None:
        if self.looking_at("("):
            self.at += 1
            self._list(")")
            self._redirections()
        elif keyword := self._pass(_OPENING):
            _COMPOUNDS[keyword](self)
        else:
            self._simple()

    def _negated(self) -> None:
        self.blanks()
        self._command()

    def _group(self) -> None:
        self._list("}")
        self._redirections()

    def _if(self) -> None:
        self._list("then")
        while (end := self._list("elif", "else", "fi")) != "fi":
            if end == "elif":
                self._list("then")
        self._redirections()

    def _loop(self) -> None:
        self._list("do")
        self._list("done")
        self._redirections()

    def _for(self) -> None:
        self.blanks()
        name = self.word()
        if name is None or not name.plain or not ASSIGNMENT.fullmatch(f"{name.text}="):
            raise Unclear("for has no plain variable")
        self._set(name.text)
        self._gap()
        for word in self._words() if self._pass(_IN) else ():
            if word.code:
                raise Unclear("for goes through quoted substitutions")
        self._separators()
        if self._end(("do",)) is None:
            raise Unclear("for has no do")
        self._list("done")
        self._redirections()

    def _set(self, name: str) -> None:
        """Note that a variable is set, as if it were by an assignment."""
        if not harmless_by_itself(name):
            value = Word(f"{name}=", exact=False, source=f"{name}=...")
            self.commands.append(Command((), (value,)))

    def _case(self) -> None:
        self.blanks()
        if self.word() is None:
            raise Unclear("case has no word")
        self._gap()
        if not self._pass(_IN):
            raise Unclear("case has no in")
        end = ""
        while end != "esac":
            self._gap()
            if self._end(("esac",)):
                break
            self._case_pattern()
            end = self._list(*_CASE_ENDS, "esac")
        self._redirections()

    def _case_pattern(self) -> None:
        if self.looking_at("("):
            self.at += 1
        while True:
            self.blanks()
            if self.word() is None:
                raise Unclear("a pattern of case is missing")
            self.blanks()
            if not self.looking_at("|"):
                break
            self.at += 1
        if not self.looking_at(")"):
            raise Unclear("a pattern of case is not closed")
        self.at += 1

    def _function(self) -> None:
        self.blanks()
        if self.word() is None:
            raise Unclear("function has no name")
        self.blanks()
        self._pass(_NO_ARGUMENTS)
        self._gap()
        self._command()

    # Simple commands

    def _simple(self) -> None:
        simple = _Simple([], [], [])
        start = self.at
        while self._element(simple):
            pass
        if self.at == start:
            raise Unclear(f"{self.text[start : start + 10]!r} is out of place")
        if simple.words or simple.assignments:
            script = simple.script if simple.inputs == 1 else None
            if simple.inputs == 1 and simple.documents:
                simple.documents[0].command = len(self.commands)
            words, assignments = tuple(simple.words), tuple(simple.assignments)
            self.commands.append(Command(words, assignments, script))

    def _element(self, simple: _Simple) -> bool:
        """The next word or redirection of a simple command; False at its end."""
        self.blanks()
        if self._redirection(simple):
            return True
        if self.looking_at("#"):
            return False
        start = self.at
        word = self._argument()
        if word is None:
            return False
        source = self.text[start : self.at].replace("\\\n", "")
        if not simple.words and word.plain and word.text in _RESERVED:
            raise Unclear(f"{word.text!r} is out of place")
        simple.add(word, source)
        if self._opens_function(simple):
            self._body()
            simple.words.clear()
            return False
        return True

    def _opens_function(self, simple: _Simple) -> bool:
        """Whether `name (` stands here, the beginning of a function."""
        here = self.at
        self.blanks()
        if self.looking_at("("):
            if len(simple.words) != 1 or simple.assignments:
                raise Unclear("a parenthesis is out of place")
            return True
        self.at = here
        return False

    def _body(self) -> None:
        if not self._pass(_NO_ARGUMENTS):
            raise Unclear("a parenthesis is out of place")
        self._gap()
        self._command()

    def _argument(self) -> Word | None:
        """A word, or a list of values: `name=(a b)`."""
        start = self.at
        word = self.word()
        if word is None or not self.looking_at("("):
            return word
        if not ASSIGNMENT.fullmatch(self.text[start : self.at]):
            return word
        self.at += 1
        for _ in self._words(gap=self._gap):
            pass
        if not self.looking_at(")"):
            raise Unclear("a list of values is not closed")
        self.at += 1
        return evolve(word, exact=False, source=self.text[start : self.at])

    def _words(self, gap: Callable[[], None] | None = None) -> Iterator[Word]:
        """The words from here on; `gap` passes what may stand between them."""
        while True:
            (gap or self.blanks)()
            if self.looking_at("#"):
                return
            word = self.word()
            if word is None:
                return
            yield word

    # Redirections

    def _redirections(self) -> None:
        """Those behind a compound command."""
        simple = _Simple([], [], [])
        while True:
            self.blanks()
            if not self._redirection(simple):
                return

    def _redirection(self, simple: _Simple) -> bool:
        """Pass a redirection; False if none stands here."""
        written = self._pass(_REDIRECTION)
        operator = written.lstrip("0123456789")
        if not operator:
            return False
        if "<" in operator:
            # Of several inputs the last one counts, and one of another number is not read at all.
            simple.inputs += 1 if operator == written else 2
        self.blanks()
        if operator in ("<<", "<<-"):
            self._here_document(simple, tabs=operator == "<<-")
            return True
        target = self.word()
        if target is None:
            raise Unclear(f"{operator} leads nowhere")
        if operator == "<<<" and (target.exact or not target.code):
            simple.script = target.text if target.exact else None
        elif target.code:  # bash expands what stands behind >& twice
            raise Unclear(f"{operator} has quoted substitutions")
        else:
            self._note(operator, target)
        return True

    def _note(self, operator: str, target: Word) -> None:
        if operator.startswith("&>"):
            # For bash a redirection, for dash the end of one command and the beginning of another.
            self.blanks()
            if self.at < len(self.text) and self.text[self.at] not in "\n;&|)":
                raise Unclear("&> stands in the middle of a command")
        if operator in ("<&", ">&") and target.exact and _DESCRIPTOR.fullmatch(target.text):
            return
        path = _path(target)
        if operator in ("<", "<&", "<>"):
            self.redirections.append(Redirection("read", path))
        if operator not in ("<", "<&"):
            self.redirections.append(Redirection("write", path))

    def _here_document(self, simple: _Simple, *, tabs: bool) -> None:
        match = _DELIMITER.match(self.text, self.at)
        if match is None:
            raise Unclear("a here-document ends with an odd word")
        self.at = match.end()
        single, double, escape, plain = match.groups()
        delimiter = next(each for each in (single, double, plain) if each is not None)
        document = _HereDocument(delimiter, plain is None or bool(escape), tabs)
        simple.documents.append(document)
        self._documents.append(document)

    def _line_end(self) -> None:
        """Pass a line end, and the here-documents that begin behind it."""
        self.at += 1
        for document in self._documents:
            self._text_of(document)
        self._documents.clear()

    def _text_of(self, document: _HereDocument) -> None:
        lines = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            line = line.lstrip("\t") if document.tabs else line
            self.at = end + 1
            if line == document.delimiter:
                break
            lines.append(f"{line}\n")
        self.at = min(self.at, len(self.text))
        self._use(document, "".join(lines))

    def _use(self, document: _HereDocument, text: str) -> None:
        """Read what is expanded in a here-document; it is what its command reads."""
        if not document.literal:
            if "\\\n" in text:
                raise Unclear("a here-document hides line ends")
            self._expand(text)
        fixed = document.literal or not any(each in text for each in "\\$`")
        if document.command is not None and fixed:
            command = self.commands[document.command]
            self.commands[document.command] = evolve(command, script=text)

    def _expand(self, text: str) -> None:
        inner = type(self)(text, self.depth + 1, self.effort)
        inner._in_substitution = self._in_substitution  # noqa: SLF001 - one of us
        try:
            inner.expansions()
        finally:
            self._take(inner)


_COMPOUNDS: dict[str, Callable[[Grammar], None]] = {
    "{": Grammar._group,  # noqa: SLF001 - a table of the class's own
    "!": Grammar._negated,  # noqa: SLF001
    "if": Grammar._if,  # noqa: SLF001
    "while": Grammar._loop,  # noqa: SLF001
    "until": Grammar._loop,  # noqa: SLF001
    "for": Grammar._for,  # noqa: SLF001
    "select": Grammar._for,  # noqa: SLF001
    "case": Grammar._case,  # noqa: SLF001
    "function": Grammar._function,  # noqa: SLF001
}


def _path(target: Word) -> str:
    """The file that a redirection names; a quoted `~` is a file of that name."""
    if not target.exact:
        return ""
    if target.text.startswith("~") and not target.source.startswith("~"):
        return f"./{target.text}"
    return target.text
