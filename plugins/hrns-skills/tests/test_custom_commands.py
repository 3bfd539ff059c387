from __future__ import annotations

from typing import TYPE_CHECKING, cast

import hrns_skills
import pytest
from attrs import Factory, frozen
from hypothesis import given
from hypothesis import strategies as st

from hrns import SlashCommand
from hrns.records import CommandHost

if TYPE_CHECKING:
    from conftest import Site


@frozen
class Host:
    """As much of a front end as a custom command uses."""

    sent: list[str] = Factory(list)

    def send(self, text: str) -> None:
        self.sent.append(text)


def commands_of(site: Site) -> list[SlashCommand]:
    return list(hrns_skills.hrns_slash_commands(site.context))


def sent_by(command: SlashCommand, arguments: str) -> list[str]:
    host = Host()
    command.run(cast("CommandHost", host), arguments)
    return host.sent


def test_command_file_gives_a_command_that_sends_its_text(site: Site) -> None:
    site.write(
        "project/.hrns/commands/fix.md",
        """
        ---
        description: Fixes an issue: by number
        argument-hint: [number]
        ---

        Fix the issue $ARGUMENTS. Say $ARGUMENTS_TOO.
        """,
    )
    [command] = commands_of(site)
    assert (command.name, command.help) == ("fix", "Fixes an issue: by number")
    assert (command.usage, command.needs_argument) == ("number", False)
    assert sent_by(command, r"7 \1") == [r"Fix the issue 7 \1. Say $ARGUMENTS_TOO."]
    assert site.warnings == []


def test_plain_file_is_a_command_too(site: Site) -> None:
    site.write("home/.claude/commands/tidy.md", "Tidy up.\n")
    [command] = commands_of(site)
    assert (command.name, command.help) == ("tidy", "Sends the text of tidy.md.")
    assert sent_by(command, "") == ["Tidy up."]


@pytest.mark.parametrize(
    ("template", "arguments", "text"),
    [
        ("Do it.", "", "Do it."),
        ("Do it.", "twice", "Do it.\n\ntwice"),
        ("Do $ARGUMENTS, then $ARGUMENTS.", "a", "Do a, then a."),
        ("Do $ARGUMENTS", "", "Do "),
    ],
)
def test_arguments_take_their_place_or_follow(
    site: Site, template: str, arguments: str, text: str
) -> None:
    site.write("project/.hrns/commands/do.md", template)
    [command] = commands_of(site)
    assert sent_by(command, arguments) == [text]


@given(st.text())
def test_arguments_are_never_changed(arguments: str) -> None:
    from hrns_skills.commands import expand

    assert expand("<$ARGUMENTS>", arguments) == f"<{arguments}>"


def test_project_command_hides_that_of_the_home(site: Site) -> None:
    site.write("home/.hrns/commands/fix.md", "home")
    site.write("home/.hrns/commands/see.md", "home")
    site.write("project/.claude/commands/fix.md", "project")
    assert [(command.name, sent_by(command, "")) for command in commands_of(site)] == [
        ("fix", ["project"]),
        ("see", ["home"]),
    ]
    assert site.warnings == []


def test_bad_command_files_cost_one_warning_each(site: Site) -> None:
    folder = site.project / ".hrns/commands"
    site.write("project/.hrns/commands/a b.md", "text")
    site.write("project/.hrns/commands/empty.md", "---\ndescription: d\n---\n")
    site.write("project/.hrns/commands/good.md", "text")
    site.write("project/.hrns/commands/notes.txt", "text")
    site.write("project/.hrns/commands/deep/er.md", "text")
    (folder / "folder.md").mkdir()
    assert [command.name for command in commands_of(site)] == ["good"]
    assert site.warnings == [
        f"{folder}/a b.md:1: a command is called by one word; rename 'a b.md'",
        f"{folder}/empty.md:1: the file has no text to send; write some below the front matter",
        f"{folder}/folder.md: it is not a file; move it away",
    ]
