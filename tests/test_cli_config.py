"""`hrns config`, run as a process."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

KEY = "sk-planted-0123456789"
DOCUMENT = {
    "providers": {"home": {"url": "http://h/v1", "key": KEY, "model": "m", "skipVerify": False}},
    "currentProvider": "home",
    "permissions": {"allow": ["run_command"]},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".config" / "hrns" / "config.json"


@pytest.fixture
def write(path: Path) -> Callable[[Any], None]:
    def write_content(content: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    return write_content


Write = Callable[[Any], None]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, call_hrns: Run) -> Run:
    """Runs `hrns` in an empty directory; gives status, output, errors."""
    home, cwd = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    cwd.mkdir()

    def run_words(
        *words: str, text: str = "", environ: Mapping[str, str] | None = None
    ) -> tuple[int, str, str]:
        given = {"HOME": str(home), "PATH": os.environ["PATH"], **(environ or {})}
        return call_hrns(words, cwd, given, text)

    return run_words


def test_path_is_printed(run: Run, path: Path) -> None:
    assert run("config", "path") == (0, f"{path}\n", "")
    assert run("config", "path", environ={"HRNS_CONFIG": "/x.json"}) == (0, "/x.json\n", "")


def test_values_are_printed(run: Run, write: Write) -> None:
    write(DOCUMENT)
    assert run("config", "get", "providers.home.model") == (0, "m\n", "")
    assert run("config", "get", "providers.home.skipVerify") == (0, "false\n", "")
    assert run("config", "get", "permissions.allow[0]") == (0, "run_command\n", "")
    assert run("config", "get", "permissions") == (
        0,
        '{\n  "allow": [\n    "run_command"\n  ]\n}\n',
        "",
    )


def test_secrets_are_printed_only_if_asked_for(run: Run, write: Write) -> None:
    write(DOCUMENT)
    status, out, err = run("config", "get")
    assert (status, json.loads(out)["currentProvider"], err) == (0, "home", "")
    assert KEY not in out
    assert run("config", "get", "providers.home.key") == (
        78,
        "",
        "hrns: $.providers.home.key is secret\n--show-secrets prints it.\n",
    )
    assert run("config", "get", "--show-secrets", "providers.home.key") == (0, f"{KEY}\n", "")


def test_missing_value_is_an_error(run: Run, write: Write) -> None:
    write(DOCUMENT)
    assert run("config", "get", "providers.hone.key") == (
        78,
        "",
        "hrns: there is nothing at $.providers.hone\nThere is: home.\n",
    )


def test_values_are_set_and_unset(run: Run, write: Write, path: Path) -> None:
    write(DOCUMENT)
    assert run("config", "set", "providers.home.model", "large") == (0, "", "")
    assert run("config", "set", "providers.home.skipVerify", "true") == (0, "", "")
    assert run("config", "set", "--text", "log", "7") == (0, "", "")
    assert run("config", "set", "providers.home.key", "-", text=f"{KEY}-2\n") == (0, "", "")
    assert run("config", "unset", "permissions") == (0, "", "")
    provider = {"url": "http://h/v1", "key": f"{KEY}-2", "model": "large", "skipVerify": True}
    assert json.loads(path.read_text()) == {
        "providers": {"home": provider},
        "currentProvider": "home",
        "log": "7",
    }


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "[1, 1e999]"])
def test_what_is_no_json_number_is_text(run: Run, path: Path, text: str) -> None:
    assert run("config", "set", "x_team", text)[0] == 0
    assert json.loads(path.read_text()) == {"x_team": text}


def test_editor_without_a_terminal_must_be_named(
    run: Run, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "")
    status, _, err = run("config", "edit")
    assert (status, path.exists()) == (2, False)
    assert err.startswith("hrns: there is no terminal to edit in\n")


def test_value_of_the_wrong_type_is_refused(run: Run, write: Write, path: Path) -> None:
    write(DOCUMENT)
    status, out, err = run("config", "set", "limits.turns", "many")
    assert (status, out) == (78, "")
    assert err == (
        f"hrns: {path}: must be a whole number, not text @ $.limits.turns\n"
        "Set one that fits: hrns config set limits.turns 5\nNothing was changed.\n"
    )
    assert json.loads(path.read_text()) == DOCUMENT


def test_first_value_makes_the_file(run: Run, path: Path) -> None:
    assert run("config", "set", "currentAgent", "Planner") == (0, "", "")
    assert json.loads(path.read_text()) == {"currentAgent": "Planner"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_file_that_is_fine_is_said_to_be(run: Run, write: Write, path: Path) -> None:
    write(DOCUMENT)
    assert run("config", "validate") == (0, f"{path}: fine\n", "")


def test_absent_file_is_fine(run: Run, path: Path) -> None:
    assert run("config", "validate") == (0, f"{path}: not there; nothing is configured\n", "")
    status, out, err = run("config", "validate", "/nowhere.json")
    assert (status, out, err) == (78, "", "hrns: /nowhere.json: there is no such file\n")


def test_file_that_does_not_parse_is_told_with_its_place(
    run: Run, write: Write, path: Path
) -> None:
    write('{\n  "log": "x", // mine\n}')
    for words in (("validate",), ("validate", str(path)), ("get",)):
        status, out, err = run("config", *words)
        assert (status, out) == (78, "")
        assert err.startswith(f"hrns: {path}:2:15: a comment\n")


def test_rule_that_is_none_is_told(run: Run, write: Write) -> None:
    write({"permissions": {"deny": ["run command!"]}})
    status, _, err = run("config", "validate")
    assert status == 78
    assert "config.json: 'run command!' is not a rule" in err


def test_doubtful_things_are_warned_of(run: Run, write: Write, path: Path) -> None:
    home = {"url": "u", "key": "$NOT_SET", "skip_verify": True, "x_ours": 1}
    write({"providers": {"home": home}, "current_provider": "home", "currentProvider": "hone"})
    status, out, err = run("config", "validate")
    assert (status, out) == (0, f"{path}: usable, with 4 warnings\n")
    assert err.splitlines() == [
        "hrns: warning: $.providers.home.skip_verify is unknown; did you mean skipVerify?",
        "hrns: warning: $.current_provider is unknown; did you mean currentProvider?",
        f"hrns: warning: {path}: the current provider 'hone' is not configured @ $.currentProvider",
        (
            "Did you mean home? Known providers: demo, home. "
            "Connect a model with `hrns connect`, or try `--provider demo`."
        ),
        (
            "hrns: warning: the key of provider 'home' is taken from the environment variable "
            "NOT_SET, which is not set"
        ),
        "Set NOT_SET, or write the value down with hrns connect.",
    ]


def test_current_provider_that_does_not_exist_is_set_with_a_warning(
    run: Run, write: Write, path: Path
) -> None:
    write(DOCUMENT)
    status, out, err = run("config", "set", "currentProvider", "hone")
    assert (status, out, json.loads(path.read_text())["currentProvider"]) == (0, "", "hone")
    assert err.startswith(
        f"hrns: warning: {path}: the current provider 'hone' is not configured"
        " @ $.currentProvider\nDid you mean home? Known providers: demo, home."
    )
    assert run("config", "set", "currentProvider", "demo") == (0, "", "")


def test_current_agent_that_does_not_exist_is_set_with_a_warning(run: Run) -> None:
    status, out, err = run("config", "set", "currentAgent", "Bilder")
    assert (status, out) == (0, "")
    assert err.startswith(
        "hrns: warning: there is no agent 'Bilder'\nDid you mean Builder? The agents are: Builder,"
    )


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("curentProvider", "currentProvider"),
        ("limits.turn", "turns"),
        ("providers.home.skip_verify", "skipVerify"),
        ("providers.home.models.m.contextWindows", "contextWindow"),
        ("x_limits", ""),
        ("tui.theme", ""),
        ("providers.home.headers.Modell", ""),
    ],
)
def test_misspelt_key_is_set_with_a_warning(run: Run, write: Write, key: str, near: str) -> None:
    write({**DOCUMENT, "current_agent": "other faults are told by validate"})
    warning = f"hrns: warning: $.{key} is unknown; did you mean {near}?\n" if near else ""
    assert run("config", "set", key, "no") == (0, "", warning)


def test_key_path_may_be_copied_from_an_error(run: Run, write: Write, path: Path) -> None:
    write({"limits": {"turns": "x"}})
    _, _, err = run("plugins")
    assert err == (
        f"hrns: {path}:1:22: must be a whole number, not text @ $.limits.turns\n"
        "Set one that fits: hrns config set limits.turns 5\n"
    )
    assert run("config", "set", "$.limits.turns", "5") == (0, "", "")
    assert run("config", "get", "$.limits.turns") == (0, "5\n", "")
    assert run("config", "unset", "$.limits") == (0, "", "")
    assert json.loads(path.read_text()) == {}


def test_hint_for_another_file_names_that_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "my file.json"
    file.write_text('{"providers": {"my box": {"toolMode": "on"}}}')
    status, _, err = run("config", "validate", str(file))
    assert status == 78
    assert err.splitlines()[1] == (
        f"Set one that fits: HRNS_CONFIG='{file}' hrns config set "
        "'providers[\"my box\"].toolMode' native"
    )


def test_project_file_is_checked_as_well(run: Run, write: Write, tmp_path: Path) -> None:
    write(DOCUMENT)
    file = tmp_path / "project" / ".hrns" / "config.json"
    file.parent.mkdir()
    file.write_text('{"permissions": {"deny": ["a"], "allow": ["b"]}, "currentProvider": "x"}')
    status, out, err = run("config", "validate")
    assert (status, out.splitlines()[1]) == (0, f"{file}: usable, with 2 warnings")
    assert "currentProvider: a project may not set this" in err
    assert "permissions.allow: passed over" in err
    file.write_text("{")
    assert run("config", "validate")[0] == 78


def test_editor_is_opened_on_the_file_and_the_result_checked(
    run: Run, tmp_path: Path, path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncat "$1" > seen\nprintf \'{"log": "x"}\' > "$1"\n')
    editor.chmod(0o755)
    environ = {"EDITOR": str(editor)}
    assert run("config", "edit", environ=environ) == (0, f"{path}: fine\n", "")
    assert (tmp_path / "project" / "seen").read_text() == "{}\n"
    assert path.read_text() == '{"log": "x"}'
    editor.write_text("#!/bin/sh\necho '{,}' > \"$1\"\n")
    status, _, err = run("config", "edit", environ=environ)
    assert status == 78
    assert f"{path}:1:2: a trailing comma" in err


def test_editor_that_is_not_there_is_an_error(run: Run) -> None:
    status, out, err = run("config", "edit", environ={"EDITOR": "/nowhere/editor"})
    assert (status, out) == (1, "")
    assert "/nowhere/editor" in err


@pytest.mark.parametrize("words", [("get", "a..b"), ("set", "a[x]", "1"), ("unset", "a]")])
def test_text_that_is_no_key_path_is_an_error(run: Run, words: tuple[str, ...]) -> None:
    status, out, err = run("config", *words)
    assert (status, out) == (78, "")
    assert "is not a key path" in err


def test_other_commands_hear_the_project_too(run: Run, write: Write, tmp_path: Path) -> None:
    file = tmp_path / "project" / ".hrns" / "config.json"
    file.parent.mkdir()
    file.write_text('{"plugins": {"disabled": ["tools-fs"]}}')
    status, out, err = run("plugins", "--json")
    states = {plugin["name"]: plugin["state"] for plugin in json.loads(out)}
    assert (status, states["tools-fs"]) == (0, "loaded")
    assert err.startswith(f"hrns: warning: {file}: plugins: passed over")
    write({"trustedProjects": [str(tmp_path / "project")]})
    status, out, err = run("plugins", "--json")
    states = {plugin["name"]: plugin["state"] for plugin in json.loads(out)}
    assert (status, states["tools-fs"], err) == (0, "disabled", "")
