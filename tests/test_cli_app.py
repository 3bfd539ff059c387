"""The command line as a whole: help, commands of plugins, completion, slips of the fingers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hrns import __version__
from hrns.cli.app import COMMANDS
from hrns.cli.installed import commands_of_plugins

if TYPE_CHECKING:
    from tests.conftest import Hrns

COMMAND = """
import click

@click.command("hello")
@click.argument("name")
def command(name):
    "Says hello."
    if name == "bug":
        raise ZeroDivisionError
    click.echo(f"Hello, {name}.")
"""


@pytest.mark.parametrize("flag", ["--version", "-V", "version"])
def test_version_is_told(hrns: Hrns, flag: str) -> None:
    assert hrns.call(flag).stdout == f"hrns {__version__}\n"


def test_help_lists_every_command_of_ours(hrns: Hrns) -> None:
    done = hrns.call("--help")
    assert done.returncode == 0
    for name, line in COMMANDS.items():
        assert any(row.split() == [name, *line.split()] for row in done.stdout.splitlines()), name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(hrns: Hrns, name: str) -> None:
    done = hrns.call(name, "-h")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: hrns {name} ")


@pytest.mark.parametrize(
    ("arguments", "guess"),
    [
        (["exce", "hi"], "Did you mean `hrns exec`? "),
        (["modles"], "Did you mean `hrns models`? "),
        (["what", "is", "this"], ""),
    ],
)
def test_unknown_command_is_told_with_what_may_be_meant(
    hrns: Hrns, arguments: list[str], guess: str
) -> None:
    done = hrns.call(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"hrns: there is no command {arguments[0]!r}\n"
        f'{guess}To ask a model: hrns exec "{" ".join(arguments)}". `hrns --help` lists all.\n'
    )


# Commands of plugins


def test_command_of_a_plugin_is_listed_and_runs(hrns: Hrns) -> None:
    hrns.install(COMMAND, group="hrns.cli", name="hello")
    assert "hello (from hrns-hello)" in " ".join(hrns.run("--help").stdout.split())
    done = hrns.run("hello", "you")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello, you.\n", "")


def test_bug_in_the_command_of_a_plugin_is_told_as_its_own(hrns: Hrns) -> None:
    source = "import click\n@click.command()\ndef command():\n    raise ValueError('oops')\n"
    hrns.install(source, group="hrns.cli", name="hello")
    done = hrns.run("hello")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("hrns: this is a bug in hrns-hello: ValueError\n")
    (file,) = (hrns.home / "tmp").iterdir()
    assert "ValueError: oops" in file.read_text()


def test_entry_points_of_a_stranger_that_are_broken_keep_no_command_from_running(
    hrns: Hrns,
) -> None:
    hrns.install(COMMAND, group="hrns.cli", name="hello")
    hrns.install("", name="stranger")
    info = hrns.home / "site/hrns_stranger-1.0.dist-info"
    (info / "entry_points.txt").write_text("[console_scripts]\nno entry\n")
    done = hrns.run("hello", "you")
    assert done.returncode == 0, done.stderr
    listed = hrns.run("plugins")
    assert listed.returncode == 0
    assert "the entry points of hrns-stranger cannot be read: TypeError" in listed.stderr


def test_command_of_a_plugin_that_is_broken_names_its_distribution(hrns: Hrns) -> None:
    hrns.install("import no_such_module", group="hrns.cli", name="hello")
    done = hrns.run("hello")
    assert (done.returncode, done.stdout) == (78, "")
    assert "the command 'hello' of hrns-hello cannot be imported" in done.stderr


def test_command_of_a_plugin_does_not_take_a_name_of_ours(hrns: Hrns) -> None:
    hrns.install(COMMAND, group="hrns.cli", name="doctor")
    assert "(from hrns-doctor)" not in hrns.run("--help").stdout


def test_commands_are_found_where_distributions_lie(tmp_path: Path) -> None:
    for name, text in {
        "a_b-1.0.dist-info": "[hrns.cli]\nx = m:c\n# no = m:c\n\ny=m:d\n[hrns]\nz = m\n",
        "other-1.0.dist-info": "[console_scripts]\nhrns.cli = m:c\n",
        "odd-1.0.dist-info": "[hrns.cli]\n\ufffd",
        "none-1.0.egg-info": None,
    }.items():
        (tmp_path / name).mkdir()
        if text is not None:
            (tmp_path / name / "entry_points.txt").write_text(text)
    (tmp_path / "broken-1.0.dist-info").mkdir()
    (tmp_path / "broken-1.0.dist-info/entry_points.txt").write_bytes(b"[hrns.cli]\n\xff = m:c\n")
    assert commands_of_plugins([str(tmp_path), str(tmp_path / "nowhere")]) == {
        "x": "a-b",
        "y": "a-b",
    }


# Completion


def completed(hrns: Hrns, line: str) -> list[str]:
    environ = {
        "_HRNS_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    done = hrns.call(environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    return [each.removeprefix("plain,") for each in done.stdout.split()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hrns co", ["connect", "config", "completion"]),
        ("hrns exec --max", ["--max-turns", "--max-tokens"]),
        ("hrns exec --permission-mode p", ["plan"]),
        ("hrns exec --provider h", ["home"]),
        ("hrns --provider d", ["demo"]),
        ("hrns --model ", ["m"]),
        ("hrns --provider demo --model d", ["demo"]),
        ("hrns exec --provider demo --model d", ["demo"]),
        ("hrns --agent P", ["Planner", "Pirate"]),
        ("hrns config va", ["validate"]),
        ("hrns completion f", ["fish"]),
        ("hrns exec --agent P", ["Planner", "Pirate"]),
        ("hrns exec --allow web", ["web_fetch"]),
        ("hrns exec --deny read_", ["read_file"]),
        ("hrns config get providers.home.m", ["providers.home.model"]),
        ("hrns config set permissions.a", ["permissions.allow", "permissions.ask"]),
        ("hrns config unset limits.s", ["limits.seconds"]),
    ],
)
def test_words_are_completed(hrns: Hrns, line: str, words: list[str]) -> None:
    hrns.use("http://127.0.0.1:9")
    assert completed(hrns, line) == words


@pytest.mark.parametrize(
    "command",
    ["exec -r", "-r", "--resume", "sessions show", "sessions export", "sessions path",
     "sessions replay", "sessions rm x"],
)  # fmt: skip
def test_sessions_are_completed(hrns: Hrns, command: str) -> None:
    hrns.call("exec", "--provider", "demo", "--quiet", "hello")
    (session,) = json.loads(hrns.call("sessions", "list", "--json").stdout)
    for typed in ("", session["id"][:4]):
        assert completed(hrns, f"hrns {command} {typed}") == [session["id"]]
    assert completed(hrns, f"hrns {command} no-such") == []


def test_providers_are_not_completed_from_a_file_that_does_not_parse(hrns: Hrns) -> None:
    hrns.configure("{")
    assert completed(hrns, "hrns exec --provider h") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_for_a_shell_is_one_in_its_language(hrns: Hrns, shell: str, tmp_path: Path) -> None:
    done = hrns.call("completion", shell)
    assert done.returncode == 0
    assert f"_HRNS_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        (tmp_path / "script").write_text(done.stdout)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


# Standard output


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("command", ["--help", "plugins"])
def test_reader_that_went_away_is_no_fault_of_any_command(hrns: Hrns, command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "hrns", command],
        cwd=hrns.cwd,
        env=hrns.environ,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
