"""What a command line would run and touch, as the reader of command lines has it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.permissions.shell import Command, Line, Redirection, Word, read_line


def spelled(word: Word) -> str:
    """A word: as it is, or what is known of it and ~ for one that goes on, ~~ for several."""
    return word.text + ("" if word.exact else "~~" if word.many else "~")


def commands(line: str) -> list[str]:
    """The commands of a line; those that need no rule to be allowed in parentheses."""
    found = []
    for command in read_line(line).commands:
        words = " ".join(map(spelled, (*command.assignments, *command.words)))
        found.append(words if command.needs_rule else f"({words})")
    return found


READ: dict[str, list[str]] = {
    # lists and pipes
    "a": ["a"],
    "a b  c": ["a b c"],
    "a; b & c && d || e | f |& g\nh": ["a", "b", "c", "d", "e", "f", "g", "h"],
    "a;b&c&&d||e|f": ["a", "b", "c", "d", "e", "f"],
    "": [],
    " \n\t": [],
    "# only a comment; rm": [],
    "a # b; c\nd": ["a", "d"],
    "a#b": ["a#b"],
    "! a": ["a"],
    # compound commands
    "(a; b)": ["a", "b"],
    "{ a; b; }": ["a", "b"],
    "{ a\n}\nb": ["a", "b"],
    "if a; then b; elif c; then d; else e; fi; f": ["a", "b", "c", "d", "e", "f"],
    "while a; do b; done": ["a", "b"],
    "until a; do b; done & c": ["a", "b", "c"],
    "for x in a $(b) c; do d; done": ["b", "d"],
    "for x do a; done": ["a"],
    "for x; do a; done": ["a"],
    "for x in a # b\ndo c; done": ["c"],
    "for x\nin a b\ndo\nc\ndone": ["c"],
    "case $x in a|b) c;; (*) d;& e) f;;& esac; g": ["c", "d", "f", "g"],
    "case x in esac": [],
    "f() { a; }; f": ["a", "f"],
    "f () (a)": ["a"],
    "function f { a; }": ["a"],
    "function f() { a; }": ["a"],
    "select x in a; do b; done": ["b"],
    "[[ -n a && b ]]": ["[[ -n a", "b ]]"],
    "((a; b))": ["a", "b"],
    "echo if then": ["echo if then"],
    "a=(b $(c) d) e": ["c", "a=~ e"],
    # quotes and escapes
    "'a' \"b\" c\\ d e''f": ["a b c d ef"],
    "a'b'\"c\"\\d": ["abcd"],
    "'a;b|c&d' \"(e)\"": ["a;b|c&d (e)"],
    '"a\\"b\\\\c\\d"': ['a"b\\c\\d'],
    "'a\nb'": ["a\nb"],
    "a\\\nb": ["ab"],
    "a \\\n b": ["a b"],
    '"a\\\nb"': ["ab"],
    "'a\\\nb'": ["a\\\nb"],
    "\\if a": ["if a"],
    # what is expanded
    "$x": ["~~"],
    '"$x" "a$x"': ["~ a~"],
    'a "$@" "$*" "${x[@]}"': ["a ~~ ~ ~~"],
    "a $x.b ${x:-c} $# $? $1": ["a ~~ ~~ ~~ ~~ ~~"],
    "a $ '$x' \\$x": ["a $ $x $x"],
    "a$(b c)d": ["b c", "a~~"],
    'a "$(b "$(c)")"': ["c", "b ~", "a ~"],
    'a `b` "`c`"': ["b", "c", "a ~~ ~"],
    "a `b \\`c\\``": ["c", "b ~~", "a ~~"],
    "a $((1 + $(b)))": ["b", "a ~~"],
    "a $(((1+2)*3))": ["a ~~"],
    "a ${x:-$(b)} ${x:-`c`}": ["b", "c", "a ~~ ~~"],
    "a *.py b? [c]": ["a ~~ b~~ ~~"],
    "a {b,c} x{1..3}": ["a ~~ x~~"],
    "a {} {}.x": ["a {} {}.x"],
    "a ~/b": ["a ~/b"],
    "[ a = b ]": ["[ a = b ]"],
    "a <(b) >(c)": ["b", "c", "a ~ ~"],
    # variables
    "a=1 b": ["a=1 b"],
    "x=1 y=$z": ["(x=1 y=~~)"],
    "PATH=.": ["PATH=."],
    "http_proxy=x": ["http_proxy=x"],
    "for PATH in .; do a; done": ["PATH=~", "a"],
    "a x=1": ["a x=1"],
    "a[0]=1 b": ["a~~ b"],
    # here-documents
    "a <<E\nrm $(b) `c`\nE\nd": ["a", "b", "c", "d"],
    'a <<E\n"$(b)" \'\nE\nc': ["a", "b", "c"],
    "a <<'E'\n$(b)\nE\nc": ["a", "c"],
    "a <<\\E\n$(b)\nE\nc": ["a", "c"],
    "a <<-E\n\tx\n\tE\nb": ["a", "b"],
    "a <<E; b <<F\nx\nE\ny\nF\nc": ["a", "b", "c"],
    "a <<E\nno end": ["a"],
    "(a <<E\nx\nE\n)": ["a"],
    "x=$(a <<E\nb\nE\n)": ["a", "(x=~~)"],
    "a <<< 'b c'": ["a"],
    # commands that run others
    "env a b": ["(env a b)", "a b"],
    "env -i -u X Y=1 a": ["(env -i -u X Y=1 a)", "Y=1 a"],
    "env -S 'a b'": ["env -S a b", "~~"],
    "env": ["env"],
    "env X=1": ["env X=1", "X=1"],
    "env X=$x a": ["env X=~~ a", "~~"],
    "nohup -- a": ["(nohup -- a)", "a"],
    "time x='a[$(b)]'": ["time x=a[$(b)]", "x=a[$(b)]", "~~"],
    "nohup nice -n 5 timeout -k 3 10 a b": [
        "(nohup nice -n 5 timeout -k 3 10 a b)",
        "(nice -n 5 timeout -k 3 10 a b)",
        "(timeout -k 3 10 a b)",
        "a b",
    ],
    "timeout --sig KILL 5 a": ["timeout --sig KILL 5 a", "~~"],
    "timeout --signal KILL --foreground 5 a": [
        "(timeout --signal KILL --foreground 5 a)",
        "a",
    ],
    "time -p a": ["(time -p a)", "a"],
    "time -p ! ! X=1 a": ["(time -p ! ! X=1 a)", "X=1 a"],
    "command a": ["(command a)", "a"],
    "command -v a": ["command -v a"],
    "exec a": ["(exec a)", "a"],
    "exec 3> x": ["exec"],
    "./env a": ["./env a", "a"],
    "/usr/bin/env a": ["(/usr/bin/env a)", "a"],
    "PATH=. nohup a": ["PATH=. nohup a", "a"],
    "CI=1 nohup a": ["(CI=1 nohup a)", "a"],
    "sudo -u x a b": ["sudo -u x a b", "a b"],
    "sudo -i a": ["sudo -i a", "~~"],
    "xargs -0 -n 1 a b": ["(xargs -0 -n 1 a b)", "a b ~~"],
    "xargs -I{} a x{} b": ["(xargs -I{} a x{} b)", "a x~ b ~~"],
    "xargs -0I % % b": ["(xargs -0I % % b)", "~ b ~~"],
    "xargs -I a -Ib a b c": ["(xargs -I a -Ib a b c)", "~ ~ c ~~"],
    "xargs": ["xargs"],
    "xargs sh": ["(xargs sh)", "sh ~~", "~~"],
    "find . -name x": ["find . -name x"],
    "find . -exec a {} x{} \\; -execdir b {} +": [
        "find . -exec a {} x{} ; -execdir b {} +",
        "a ~ x~",
        "b ~",
    ],
    "find . -exec a + b \\;": ["find . -exec a + b ;", "a + b"],
    "find $x": ["find ~~", "~~"],
    "find . -exec a": ["find . -exec a", "a"],
    "sh -c 'a; b'": ["(sh -c a; b)", "a", "b"],
    "bash -lc 'a' x y": ["(bash -lc a x y)", "a"],
    "bash -euo pipefail -c a": ["(bash -euo pipefail -c a)", "a"],
    'sh -c "$x"': ["sh -c ~", "~~"],
    "sh -c 'sh -c \"a\"'": ['(sh -c sh -c "a")', "(sh -c a)", "a"],
    "sh a b": ["sh a b", "(a b)"],
    "sh -- a b": ["sh -- a b", "(a b)"],
    "bash --posix -c a": ["(bash --posix -c a)", "a"],
    "bash --rcfile a -c b": ["bash --rcfile a -c b", "~~"],
    "bash -s a": ["bash -s a", "~~"],
    "sh -c 'a' 'b[$(c)]'": ["sh -c a b[$(c)]", "~~"],
    "sh": ["sh", "~~"],
    "a | sh": ["a", "sh", "~~"],
    "sh <<'E'\na\nb\nE\n": ["(sh)", "a", "b"],
    "sh <<E\na $x\nE\n": ["sh", "~~"],
    "sh <<'E' < x\na\nE\n": ["sh", "~~"],
    "sh 3<<'E'\na\nE\n": ["sh", "~~"],
    "sh <<< a": ["(sh)", "a"],
    "zsh -c 'a b'": ["zsh -c a b", "(a b)", "(a b)"],
    "eval a 'b; c'": ["(eval a b; c)", "a b", "c"],
    "eval $x": ["eval ~~", "~~"],
    "eval": ["(eval)"],
    ".": ["."],
    "find . -exec \\;": ["find . -exec ;"],
    "trap 'a b' EXIT": ["trap a b EXIT", "a b"],
    "trap - EXIT": ["trap - EXIT"],
    "trap -- 'a' EXIT": ["trap -- a EXIT", "a"],
    "trap $x": ["trap ~~", "~~"],
    "alias x='a b'": ["alias x=a b", "~~", "a b"],
    ". ./a b": [". ./a b", "(./a b)"],
    "ssh -p 1 host 'a b' c": [
        "ssh -p 1 host a b c",
        "(1 host a b c)",
        "(host a b c)",
        "(a b c)",
        "(c)",
        "(a b)",
    ],
    "test -v 'a[$(b)]'": ["test -v a[$(b)]", "~~"],
    "x='a[$(b)]'": ["x=a[$(b)]", "~~"],
    "x=$y'a['\"\\$(b)]\"": ["x=~~", "~~"],
    "x=$(a)'$'": ["a", "(x=~~)"],
    "a > x; sh x": ["a", "sh x", "(x)", "~~"],
    "a > x; chmod +x x; ./x": ["a", "chmod +x x", "./x", "~~"],
    "a > $x; . $x": ["a", ". ~~", "(~~)", "~~"],
    "a > x; sh y; ./z": ["a", "sh y", "(y)", "./z"],
}


@pytest.mark.parametrize("line", READ)
def test_commands_of_a_line(line: str) -> None:
    assert commands(line) == READ[line]


UNCLEAR = {
    "a 'b": "a quote is not closed",
    'a "b': "a quote is not closed",
    "a `b": "a backquote is not closed",
    "a $(b": ") is missing at its end",
    "(a": ") is missing at its end",
    "if a; then b": "elif or else or fi is missing at its end",
    "a ${x": "${ is not closed",
    "a $((1": "$(( is not closed",
    "a $((b); c)": "$(( may be arithmetic or commands",
    "a ${x:-'b'}": "it has a quote inside of ${",
    "a ${ b; }": "it has ${ before a blank",
    "a $'b'": "it has $ before a quote",
    'a $"b"': "it has $ before a quote",
    "a $[1]": "it has an odd $",
    "a\\": "it ends in a backslash",
    "a\rb": "it has the character '\\r'",
    "a\u00a0b": "it has the character '\\xa0'",
    "a\x00": "it has the character '\\x00'",
    "a )": "')' is out of place",
    "; ;; a": "';; a' is out of place",
    "a (b)": "a parenthesis is out of place",
    "done": "'done' is out of place",
    "i\\\nf a": "'if' is out of place",
    "for 1 in a; do b; done": "for has no plain variable",
    "for x in a; b; done": "for has no do",
    "for x in 'a[$(b)]'; do c; done": "for goes through quoted substitutions",
    "function ; a": "function has no name",
    "a >&2'$(b)'": ">& has quoted substitutions",
    "a >&2?'$(b)'": ">& has quoted substitutions",
    "a <<< 'b[$(c)]'*": "<<< has quoted substitutions",
    "case": "case has no word",
    "case a b": "case has no in",
    "case a in": "esac is missing at its end",
    "a >": "> leads nowhere",
    "a &> b c": "&> stands in the middle of a command",
    "a <<$x": "a here-document ends with an odd word",
    "a <<E\nb\\\nE\n": "a here-document hides line ends",
    "a <<E $(b\n)": "a here-document begins before a substitution",
    "$(a <<E)": "a here-document begins in a substitution and does not end in it",
    "$(a # it's\n)": "a comment inside of a substitution has quotes or parentheses",
    "$(" * 100: "it is nested too deeply",
    "! " * 100 + "a": "it is nested too deeply",
    "a " * 6000: "it has more than 5000 words",
}


@pytest.mark.parametrize("line", UNCLEAR)
def test_what_cannot_be_read_for_certain_may_be_anything(line: str) -> None:
    *_, last = read_line(line).commands
    assert last == Command.unknown(f"what cannot be read: {UNCLEAR[line]}")


def test_what_stands_before_the_unclear_is_kept() -> None:
    assert commands("a; $(b) 'c")[:2] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a > b", [Redirection("write", "b")]),
        ("> b", [Redirection("write", "b")]),
        ("a >> 'b c' 2> d", [Redirection("write", "b c"), Redirection("write", "d")]),
        ("a >| b", [Redirection("write", "b")]),
        ("a < b", [Redirection("read", "b")]),
        ("a <> b", [Redirection("read", "b"), Redirection("write", "b")]),
        ("a &> b", [Redirection("write", "b")]),
        ("a &>> b; c", [Redirection("write", "b")]),
        ("a >& b", [Redirection("write", "b")]),
        ("a 2>&1 >&- 3<&4-", []),
        ("a >&$x", [Redirection("write", "")]),
        ("a > $x < *", [Redirection("write", ""), Redirection("read", "")]),
        ("a > ~/b > '~/b'", [Redirection("write", "~/b"), Redirection("write", "./~/b")]),
        ("{ a; } > b", [Redirection("write", "b")]),
        ("while a; do b; done < c > d", [Redirection("read", "c"), Redirection("write", "d")]),
        ("f() { a; } > b", [Redirection("write", "b")]),
        ("a $(b > c)", [Redirection("write", "c")]),
        ("sh -c 'a > b'", [Redirection("write", "b")]),
        ("a <<E > b\n$(c > d)\nE\n", [Redirection("write", "b"), Redirection("write", "d")]),
        ("a '>' b \\> c", []),
        ("a > >(b)", [Redirection("write", "")]),
        ("> a b > c", [Redirection("write", "a"), Redirection("write", "c")]),
    ],
)
def test_redirections_of_a_line(line: str, expected: list[Redirection]) -> None:
    assert list(read_line(line).redirections) == expected


def test_line_of_another_shell_is_read_only_if_it_is_plain() -> None:
    assert read_line("git status ./a", posix=False) == read_line("git status ./a")
    for line in ("a^b", "a & b", "%a% b", "a\\b", "a 'b'", "a\nb"):
        assert read_line(line, posix=False).commands == (
            Command.unknown("what cannot be read: it has quotes or signs"),
        )


# Whatever the text

SIGNS = st.sampled_from(
    [
        *" \t\n'\"\\$`(){}<>;&|#*?[]!=~-a1:@,",
        *("$(", "$((", "${", "<<E\n", "\nE\n", "if ", "then ", "fi ", "do ", "done ", "case x in "),
        *("esac ", "for x in ", "while ", "sh -c ", "eval ", "env ", "find . -exec ", "xargs "),
        *("watch ", "function f ", "f() ", "<<'E'\n", "&>", "2>&1", "a=(", "\\\n", "$'", "sudo "),
    ]
)
LINES = st.one_of(st.text(max_size=60), st.lists(SIGNS, max_size=40).map("".join))


@settings(max_examples=300)
@given(LINES)
def test_every_text_can_be_read(text: str) -> None:
    line = read_line(text)
    assert isinstance(line, Line)
    assert all(command.words or command.assignments for command in line.commands)


@given(st.text("ab$`'\"\\ \n;&|(){}<>*?[]#~!=", max_size=30))
def test_quoted_text_is_one_word(text: str) -> None:
    single = "'" + text.replace("'", "'\\''") + "'"
    double = '"' + "".join(f"\\{each}" if each in '$`"\\' else each for each in text) + '"'
    for quoted in (single, double):
        (command,) = read_line(f"echo {quoted}").commands
        assert command == Command((Word("echo"), Word(text)))


REPEATED = [
    *("a;", "a ", "a", "$(", "$(a) ", "`a`", "`", "\\`", '"a"', "'", "cat <<E\nx\nE\n", "("),
    *("case x in ", "if ", "! ", "f() ", "env ", "sudo ", "xargs ", "eval ", "watch ", "$(("),
    *('watch "a b" ', "find . -exec a \\; ", "sh -c 'a b' ", "${x:-", "1", ">f ", "{a,b}", "*"),
    *("a=b ", "#", "\n", "&", "|", "\\\n", "a=(", "<(", "$", "for x do ", "alias a=b;", "<<E "),
]


@pytest.mark.parametrize("piece", REPEATED)
def test_time_to_read_grows_with_the_length_alone(piece: str) -> None:
    def seconds(line: str) -> float:
        started = time.process_time()
        read_line(line)
        return time.process_time() - started

    repeat: Callable[[int], float] = lambda times: min(  # noqa: E731
        seconds(piece * times) for _ in range(2)
    )
    # 16 times as long; a busy machine may be slower once, but not each time
    assert any(repeat(3200) < 64 * repeat(200) + 0.05 for _ in range(10))
