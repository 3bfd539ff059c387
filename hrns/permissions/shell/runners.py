"""Commands that run other commands: `env`, `sudo`, `xargs`, `find -exec`, `sh -c`, `eval` ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from attrs import evolve, field, frozen

from .values import ANYTHING, Command, Word, holds_code, names

__all__ = ["Inside", "files_run", "inside", "program", "runs_others"]

_MOST_GUESSES = 20
_PLAIN = re.compile(r"[\w./:=@%+,~-]*")


@frozen
class Inside:
    """What a command runs.

    Parameters:
        commands: the commands that it runs.
        scripts: texts that it has a shell read.
        transparent: whether it does nothing of its own.
        guessed: whether these only may be run: they count for rules that ask or deny.
    """

    commands: tuple[Command, ...] = ()
    scripts: tuple[str, ...] = ()
    transparent: bool = False
    guessed: bool = False


@frozen
class _Options:
    """How a command that runs its operands is called.

    Parameters:
        flags: the short options that stand alone.
        valued: the short options with a value.
        long: the long options; those with a value end in `=`.
        before: how many operands come before the command.
        sets: whether `NAME=value` may come before the command.
        transparent: whether it does nothing of its own.
    """

    flags: str = ""
    valued: str = ""
    long: frozenset[str] = field(default="", converter=names)
    before: int = 0
    sets: bool = False
    transparent: bool = True


_RUNNERS = {
    "builtin": _Options(),
    "busybox": _Options(transparent=False),
    "command": _Options(flags="p"),
    "coproc": _Options(transparent=False),
    "doas": _Options(flags="n", valued="u", transparent=False),
    "env": _Options(
        flags="i0v", valued="u", long="ignore-environment null debug unset=", sets=True
    ),
    "exec": _Options(flags="cl", valued="a"),
    "ionice": _Options(flags="t", valued="cn", long="class= classdata= ignore"),
    "nice": _Options(valued="n", long="adjustment="),
    "nohup": _Options(),
    "setsid": _Options(flags="cfw", long="ctty fork wait"),
    "stdbuf": _Options(valued="ioe", long="input= output= error="),
    "sudo": _Options(
        flags="AbEHknPS",
        valued="ghpu",
        long="askpass background preserve-env non-interactive group= host= prompt= user=",
        sets=True,
        transparent=False,
    ),
    "time": _Options(flags="pv", long="portability verbose", sets=True),
    "timeout": _Options(
        flags="v",
        valued="ks",
        long="foreground preserve-status verbose kill-after= signal=",
        before=1,
    ),
    "toybox": _Options(transparent=False),
    "xargs": _Options(
        flags="0rtx",
        valued="aEILnPsd",
        long="null no-run-if-empty verbose exit arg-file= delimiter= max-lines= max-args= "
        "max-procs= max-chars=",
    ),
}
"""By name, how those are called that run what comes behind their options."""

_SHELLS = frozenset({"ash", "bash", "dash", "rbash", "sh"})
_INPUT = re.compile(r"-|/dev/(?:stdin|fd/\d+)|/proc/(?:self|thread-self|\$\$)/fd/\d+")
"""What is no file of its own: what a shell reads there, the line says elsewhere, if at all."""

# These run a command as well, but who could know all their options? It is guessed where it begins.
_CARRIERS = names(
    "bunx caffeinate cgexec chroot chrt csh entr fakeroot fd fdfind fish firejail flatpak-spawn "
    "flock hyperfine konsole ksh ltrace mksh nix-shell npx nsenter numactl parallel prlimit "
    "proxychains proxychains4 pwsh rlwrap runcon runuser screen script setarch setpriv ssh strace "
    "su systemd-run taskset tcsh tmux torify torsocks tsocks unbuffer unshare uvx valgrind watch "
    "xterm xvfb-run zsh"
)

# So do these, behind one of the verbs.
_WITH_VERBS = {
    **dict.fromkeys(names("docker kubectl nerdctl podman"), names("exec run")),
    **dict.fromkeys(names("conda hatch nix pdm pipenv pipx poetry rye uv"), names("run")),
    **dict.fromkeys(names("bun bundle npm pnpm yarn"), names("dlx exec x")),
}
_GIT_RUNS = names("--exec --extcmd --receive-pack --upload-pack -x")

# They take names of variables, and bash evaluates what stands in the brackets of a[...].
_EVALUATING = names(
    "[ [[ declare export let local mapfile printf read readarray readonly test typeset unset wait"
)


def program(word: Word) -> str:
    """The name of the program, without the directory; "" if it is not known."""
    return word.text.rpartition("/")[2] if word.exact else ""


def runs_others(name: str) -> bool:
    """Whether a program of that name may run other commands that it is given."""
    known = (_RUNNERS, _SHELLS, _SPECIAL, _CARRIERS, _WITH_VERBS, _EVALUATING)
    return any(name in names for names in known)


def files_run(command: Command) -> Iterator[str]:
    """The files, known by their paths, that a command may run; "" for one that is not known."""
    for first in command.words[:1]:
        if "/" in first.text:
            yield first.text
        if program(first) in (*_SHELLS, ".", "source"):
            yield from (word.text if word.exact else "" for word in command.words[1:])


def inside(command: Command) -> Inside:
    """What a command runs in turn."""
    if any(word.code for word in command.assignments):
        return Inside((Command.unknown("what a variable has in it"),))
    if not command.words:
        return Inside(transparent=True)
    name = program(command.words[0])
    if options := _RUNNERS.get(name):
        found = _behind_options(command.words, options)
    elif how := _SPECIAL.get(name):
        found = how(command)
    elif name in _CARRIERS:
        found = _guesses(command)
    elif verbs := _WITH_VERBS.get(name):
        found = _behind_verb(command, verbs)
    elif name in _EVALUATING:
        found = _evaluated(command)
    else:
        return Inside()
    # What is called env in some other directory may be anything.
    known = command.words[0].text in (name, f"/bin/{name}", f"/usr/bin/{name}")
    return evolve(found, transparent=found.transparent and known)


def _unknown(name: str) -> Command:
    return Command.unknown(f"something that cannot be told from the words of {name}")


def _behind_options(words: Sequence[Word], options: _Options) -> Inside:
    """What stands behind the options; anything if one of them is not known."""
    name = program(words[0])
    if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
        return Inside()
    at = _past_options(words, options)
    if at is None or any(word.many for word in words[1:at]):
        return Inside((_unknown(name),))
    if name == "time":  # bash reads on there as if no word had been before
        at = _past(words, at, lambda text: text == "!")
    # env takes any word with a = in it for a variable, whatever its name.
    behind = _past(words, at, lambda text: options.sets and "=" in text)
    rest = tuple(words[behind + options.before :])
    assignments = tuple(words[at:behind])
    if any(word.many for word in assignments):
        return Inside((_unknown(name),))
    if not rest:
        return Inside((Command((), assignments),) if assignments else ())
    if name == "xargs":
        rest = _with_input(rest, words[1:at])
    return Inside((Command(rest, assignments),), transparent=options.transparent)


def _past(words: Sequence[Word], at: int, passed: Callable[[str], bool]) -> int:
    """Where the words end, from a place on, whose texts are passed."""
    while at < len(words) and passed(words[at].text):
        at += 1
    return at


def _with_input(words: tuple[Word, ...], options: Sequence[Word]) -> tuple[Word, ...]:
    """What xargs runs: with its input behind the words, and in place of what `-I` names."""
    for option, value in zip(options, (*options[1:], ANYTHING), strict=False):
        _, letter, mark = option.text.partition("I")
        if letter and option.text[:1] == "-" and option.text[:2] != "--":
            words = tuple(_filled(word, mark or value.text) for word in words)
    return (*words, ANYTHING)


def _past_options(words: Sequence[Word], options: _Options) -> int | None:
    """Where the operands begin; None if that is uncertain."""
    at = 1
    while at < len(words):
        word = words[at]
        if not word.exact:
            return at if _no_option(word) else None
        if not word.text.startswith("-"):
            return at
        if word.text == "--":
            return at + 1
        length = _length(word.text, options)
        if not length:
            return None
        at += length
    return at


def _no_option(word: Word) -> bool:
    return bool(word.text) and not word.text.startswith("-")


def _length(text: str, options: _Options) -> int:
    """How many words an option takes; 0 if it is not known."""
    if text.startswith("--"):
        name, equals, _ = text[2:].partition("=")
        if f"{name}=" in options.long:
            return 1 if equals else 2
        return int(name in options.long and not equals)
    for place, letter in enumerate(text[1:], start=1):
        if letter in options.valued:
            return 1 if place + 1 < len(text) else 2
        if letter not in options.flags:
            return 0
    return int(len(text) > 1)


def _shell(command: Command) -> Inside:
    """What a shell reads: the text behind `-c`, a file, or its standard input."""
    words = command.words
    name = program(words[0])
    at, has_script = _past_shell_options(words)
    if at is None:
        return Inside((_unknown(name),))
    if at < len(words):
        operand = words[at]
        if not has_script and not (operand.exact and _INPUT.fullmatch(operand.text)):
            return Inside((Command(words[at:]),), guessed=True)
        if has_script and operand.exact and not any(word.code for word in words[at + 1 :]):
            return Inside(scripts=(operand.text,), transparent=True)
    elif not has_script and command.script is not None:
        return Inside(scripts=(command.script,), transparent=True)
    return Inside((Command.unknown(f"a script that {name} reads"),))


def _past_shell_options(words: Sequence[Word]) -> tuple[int | None, bool]:
    """Where the operands begin (None if that is uncertain), and whether `-c` was there."""
    at, has_script = 1, False
    while at < len(words):
        text = words[at].text
        if not words[at].exact:
            return (at if has_script or _no_option(words[at]) else None), has_script
        if text in ("-", "--"):
            return at + 1, has_script
        if not text.startswith(("-", "+")):
            return at, has_script
        if text.startswith("--"):
            if text not in ("--login", "--norc", "--noprofile", "--posix", "--verbose"):
                return None, has_script
        elif "s" in text:
            return None, has_script
        has_script = has_script or ("c" in text and text.startswith("-") and text[1] != "-")
        at += 1 + text.count("o") * (not text.startswith("--")) + text.count("O")
    return at, has_script


def _eval(command: Command) -> Inside:
    words = command.words[1:]
    if not all(word.exact for word in words):
        return Inside((_unknown("eval"),))
    return Inside(scripts=(" ".join(word.text for word in words),), transparent=True)


def _trap(command: Command) -> Inside:
    words = [word for word in command.words[1:] if word.text != "--"][:1]
    if not all(word.exact for word in words):
        return Inside((_unknown("trap"),))
    return Inside(scripts=tuple(word.text for word in words if word.text not in ("", "-")))


def _alias(command: Command) -> Inside:
    """What a name is to stand for; from then on, any command may be another one."""
    words = [word for word in command.words[1:] if "=" in word.text or not word.exact]
    texts = tuple(word.text.partition("=")[2] for word in words)
    return Inside((_unknown("alias"),) if words else (), texts)


def _hash(command: Command) -> Inside:
    """`hash -p` gives a program another name, `enable -f` brings commands of its own."""
    flags = [word for word in command.words[1:] if word.text.startswith("-") or not word.exact]
    takes = any(letter in word.text for word in flags for letter in "pf")
    known = not takes and all(word.exact for word in flags)
    return Inside() if known else Inside((_unknown(program(command.words[0])),))


def _behind_verb(command: Command, verbs: frozenset[str]) -> Inside:
    """What may be run behind a verb such as `exec`."""
    for at, word in enumerate(command.words):
        if at and word.text in verbs:
            return _guesses(Command(command.words[at:]))
    return Inside()


def _git(command: Command) -> Inside:
    """What git is told to run: in its configuration, for each commit or module, to bisect."""
    words = command.words
    verbs = names("run") if any(word.text == "bisect" for word in words) else names("foreach")
    scripts: list[str] = []
    for before, word in pairwise(words):
        name, equals, value = word.text.partition("=")
        if before.text == "-c":
            scripts.append(value.lstrip("!"))
        elif before.text in _GIT_RUNS or (equals and name in _GIT_RUNS):
            scripts.append(value if name in _GIT_RUNS else word.text)
    behind = _behind_verb(command, verbs)
    return evolve(behind, scripts=(*behind.scripts, *filter(None, scripts)), guessed=True)


def _at(command: Command) -> Inside:
    if command.script is not None:
        return Inside(scripts=(command.script,))
    return Inside((_unknown(program(command.words[0])),), guessed=True)


def _source(command: Command) -> Inside:
    words = command.words[1:]
    if words and words[0].exact and _INPUT.fullmatch(words[0].text):
        if command.script is not None:
            return Inside(scripts=(command.script,))
        return Inside((Command.unknown("a script that is read from elsewhere"),))
    return Inside((Command(words),) if words else (), guessed=True)


def _find(command: Command) -> Inside:
    """What stands behind `-exec` and the like, up to `;` or `+`."""
    words = command.words[1:]
    found = [Command(tuple(each)) for each in _executed(words) if each]
    if any(word.many or not (word.exact or _no_option(word)) for word in words):
        found.append(_unknown("find"))
    return Inside(tuple(found))


def _executed(words: Sequence[Word]) -> Iterator[list[Word]]:
    taken: list[Word] | None = None
    before = ""
    for word in words:
        if taken is None:
            if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                taken = []
        elif word.text == ";" or (word.text == "+" and before == "{}"):
            yield taken
            taken = None
        else:
            taken.append(_filled(word, "{}"))
        before = word.text
    if taken:
        yield taken


def _filled(word: Word, mark: str) -> Word:
    """The word when the mark in it has been replaced by something."""
    before, found, _ = word.text.partition(mark) if mark else ("", "?", "")
    return evolve(word, text=before, exact=False) if found else word


def _guesses(command: Command) -> Inside:
    """The commands that the arguments may be, from each word on, and the scripts in them."""
    words = command.words
    starts = [
        at for at, word in enumerate(words) if at and not (word.exact and word.text[:1] == "-")
    ]
    commands = [Command(words[at:]) for at in starts[:_MOST_GUESSES]]
    if len(starts) > _MOST_GUESSES:
        commands.append(_unknown(program(words[0])))
    scripts = tuple(
        word.text for word in words[1:] if word.exact and not _PLAIN.fullmatch(word.text)
    )
    return Inside(tuple(commands), scripts, guessed=True)


def _evaluated(command: Command) -> Inside:
    """What bash evaluates in an array's brackets, if it cannot be ruled out that there is any."""
    words = [word for word in command.words[1:] if "[" in word.text]
    evaluated = any(word.code or not word.exact for word in words)
    if evaluated or holds_code(command.script or ""):
        return Inside((_unknown(program(command.words[0])),))
    return Inside()


_SPECIAL: dict[str, Callable[[Command], Inside]] = {
    **dict.fromkeys(_SHELLS, _shell),
    ".": _source,
    "alias": _alias,
    "at": _at,
    "batch": _at,
    "eval": _eval,
    "enable": _hash,
    "find": _find,
    "git": _git,
    "hash": _hash,
    "source": _source,
    "trap": _trap,
}
