"""Saving the configuration: nothing that a person configured is ever lost."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hrns.config import (
    Change,
    ProviderConfig,
    add_rule,
    edit_config,
    load_config,
    put_provider,
    remove_provider,
    set_current_agent,
    set_current_provider,
    set_model,
)
from hrns.errors import ConfigError

KEY = "sk-planted-0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hrns" / "config.json"


@pytest.fixture
def write(path: Path) -> Callable[[Any], None]:
    """Writes the file as somebody else would."""

    def write_content(content: Any) -> None:
        path.parent.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")

    return write_content


@pytest.fixture
def umask_022() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A directory that may be read but not written to, also when the tests run as root."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(65534)
            yield directory
            os.seteuid(0)
        else:
            yield directory
        directory.chmod(0o755)


Write = Callable[[Any], None]


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _names(path: Path) -> set[str]:
    return {entry.name for entry in path.parent.iterdir()}


def _count(name: str) -> Change:
    def change(document: dict[str, Any]) -> None:
        document[name] = document.get(name, 0) + 1

    return change


@pytest.mark.usefixtures("umask_022")
def test_first_save_makes_file_and_directory_for_the_owner_alone(path: Path) -> None:
    config = edit_config(path, put_provider(ProviderConfig("home", "http://h/v1", KEY, "m")))
    assert config == load_config(path)
    assert config.providers == {"home": ProviderConfig("home", "http://h/v1", KEY, "m")}
    assert (_mode(path), _mode(path.parent)) == (0o600, 0o700)
    assert _names(path) == {"config.json", "config.json.lock"}
    assert _mode(path.with_name("config.json.lock")) == 0o600


@pytest.mark.usefixtures("umask_022")
def test_no_file_is_ever_readable_by_others_while_saving(path: Path) -> None:
    seen: set[tuple[str, int]] = set()
    done = threading.Event()

    def watch() -> None:
        is_last = False
        while not is_last:
            is_last = done.is_set()
            for name in ("config.json", "config.json.lock", ".config.json.tmp"):
                try:
                    seen.add((name, _mode(path.with_name(name))))
                except FileNotFoundError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(100):
        edit_config(path, _count("saves"))
    done.set()
    watcher.join()
    assert ("config.json", 0o600) in seen
    assert {mode for _, mode in seen} == {0o600}


def test_file_that_others_could_read_is_tightened(path: Path, write: Write) -> None:
    write({"currentAgent": "Planner"})
    path.chmod(0o644)
    edit_config(path, set_current_agent("Builder"))
    assert _mode(path) == 0o600


def test_unknown_fields_stay_in_their_order(path: Path, write: Write) -> None:
    write(
        '{"model": "m", "x_team": {"b": 1, "a": [null, 1.5, "\\ud83d\\ude00 \\ud800"]},'
        ' "providers": {"p": {"base_url": "u", "future_flag": true, "model": "old"}}, "z": 0}'
    )
    expected = _read(path)
    edit_config(path, set_model("p", "new"))
    expected["providers"]["p"]["model"] = "new"
    assert json.dumps(_read(path)) == json.dumps(expected)


def test_text_stays_readable(path: Path, write: Write) -> None:
    write({"x": "Käse"})
    edit_config(path, set_current_agent("Maß"))
    assert path.read_text("utf-8") == '{\n  "x": "Käse",\n  "currentAgent": "Maß"\n}\n'


def test_byte_order_mark_is_read_and_left_out(path: Path, write: Write) -> None:
    write("\ufeff{}")
    edit_config(path, set_current_agent("Builder"))
    assert path.read_bytes().startswith(b"{")


@pytest.mark.parametrize("content", ["", '{"a": 1,}', "// mine\n{}", "[]", '{"a": 1, "a": 2}'])
def test_file_that_does_not_parse_is_never_overwritten(
    path: Path, write: Write, content: str
) -> None:
    write(content)
    with pytest.raises(ConfigError, match=r"Nothing was changed\.$"):
        edit_config(path, set_current_agent("Builder"))
    assert path.read_text() == content
    assert _names(path) == {"config.json", "config.json.lock"}


def test_change_to_a_value_of_the_wrong_type_is_refused(path: Path, write: Write) -> None:
    write({"currentAgent": "Builder"})

    def change(document: dict[str, Any]) -> None:
        document["limits"] = {"turns": "many"}

    with pytest.raises(ConfigError) as caught:
        edit_config(path, change)
    assert caught.value.key_path == "$.limits.turns"
    assert _read(path) == {"currentAgent": "Builder"}


def test_value_of_the_wrong_type_can_be_mended(path: Path, write: Write) -> None:
    write({"currentAgent": 7})
    assert edit_config(path, set_current_agent("Builder")).current_agent == "Builder"


def test_change_that_raises_changes_nothing(path: Path, write: Write) -> None:
    write({"currentAgent": "Builder"})

    def change(document: dict[str, Any]) -> None:
        document.clear()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        edit_config(path, change)
    assert _read(path) == {"currentAgent": "Builder"}
    edit_config(path, set_current_agent("Planner"))
    assert _read(path) == {"currentAgent": "Planner"}


def test_symbolic_links_are_followed_and_stay(tmp_path: Path, path: Path) -> None:
    real = tmp_path / "dotfiles" / "hrns.json"
    real.parent.mkdir()
    real.write_text('{"x": 1}')
    (tmp_path / "link").symlink_to(real)
    path.parent.mkdir()
    path.symlink_to("../link")
    config = edit_config(path, set_current_agent("Builder"))
    assert config.path == path
    assert path.is_symlink()
    assert (tmp_path / "link").is_symlink()
    assert _read(real) == {"x": 1, "currentAgent": "Builder"}
    assert _names(path) == {"config.json"}


def test_dangling_symbolic_link_is_filled(tmp_path: Path, path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "dotfiles" / "hrns.json")
    edit_config(path, set_current_agent("Builder"))
    assert _read(tmp_path / "dotfiles" / "hrns.json") == {"currentAgent": "Builder"}


def test_symbolic_link_to_itself_is_an_error(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(path)
    with pytest.raises(ConfigError, match="Nothing was changed"):
        edit_config(path, set_current_agent("Builder"))
    assert path.is_symlink()


def test_home_that_cannot_be_written_to_is_a_clear_error(unprivileged: Path) -> None:
    path = unprivileged / ".config" / "hrns" / "config.json"
    with pytest.raises(ConfigError) as caught:
        edit_config(path, set_current_agent("Builder"))
    assert caught.value.message == (f"{path}: the configuration cannot be saved: Permission denied")
    assert "HRNS_CONFIG" in caught.value.hint
    assert list(unprivileged.iterdir()) == []


def test_file_under_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(ConfigError, match="cannot be saved: Not a directory"):
        edit_config(tmp_path / "home" / ".config" / "hrns.json", set_current_agent("Builder"))


def test_full_disk_leaves_the_old_file_whole(path: Path, write: Write) -> None:
    write({"currentAgent": "Builder", "x": "y" * 500})
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(ConfigError, match="cannot be saved: File too large"):
            edit_config(path, set_current_agent("Planner"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert _names(path) == {"config.json", "config.json.lock"}


def test_temporary_file_of_a_killed_process_is_taken_over(path: Path, write: Write) -> None:
    write({})
    path.with_name(".config.json.tmp").write_text('{"half')
    edit_config(path, set_current_agent("Builder"))
    assert _read(path) == {"currentAgent": "Builder"}
    assert _names(path) == {"config.json", "config.json.lock"}


def test_save_waits_for_another(path: Path, write: Write) -> None:
    write({})
    inside = threading.Event()

    def slow(document: dict[str, Any]) -> None:
        inside.set()
        time.sleep(0.1)
        document["x"] = 1

    saving = threading.Thread(target=edit_config, args=(path, slow))
    saving.start()
    inside.wait()
    edit_config(path, set_current_agent("Builder"))
    saving.join()
    assert _read(path) == {"x": 1, "currentAgent": "Builder"}


def test_save_gives_up_on_a_process_that_never_ends(path: Path, write: Write) -> None:
    write({})

    def nested(_document: dict[str, Any]) -> None:
        edit_config(path, set_current_agent("Builder"), wait_s=0.05)

    with pytest.raises(ConfigError, match=r"another process has been saving for 0\.05 seconds"):
        edit_config(path, nested)
    assert _read(path) == {}


SAVE_FIFTY_TIMES = """
import sys
from pathlib import Path
from hrns.config import edit_config

def change(document):
    document["all"] = document.get("all", 0) + 1
    document.setdefault("each", {}).setdefault(sys.argv[2], []).append(document["all"])

for _ in range(50):
    edit_config(Path(sys.argv[1]), change, wait_s=50)
"""


def test_five_processes_saving_at_once_lose_nothing(path: Path, write: Write) -> None:
    write({"x": "y" * 20_000})
    command = [sys.executable, "-c", SAVE_FIFTY_TIMES, str(path)]
    reads = 0
    with ExitStack() as ended:
        processes = [
            ended.enter_context(subprocess.Popen([*command, str(number)])) for number in range(5)
        ]
        while any(process.poll() is None for process in processes):
            assert _read(path)["x"] == "y" * 20_000
            reads += 1
    document = _read(path)
    assert [process.returncode for process in processes] == [0] * 5
    assert document["all"] == 250
    assert {number: len(saves) for number, saves in document["each"].items()} == {
        str(number): 50 for number in range(5)
    }
    assert sorted(chain.from_iterable(document["each"].values())) == list(range(1, 251))
    assert reads > 5
    assert _names(path) == {"config.json", "config.json.lock"}


# A process of its own forks those that are killed: nothing else has threads or locks there.
KILL_WHILE_SAVING = """
import json, os, random, signal, sys, time
from pathlib import Path
from hrns.config import edit_config

path, kills = Path(sys.argv[1]), int(sys.argv[2])
chance = random.Random(7)

def save_for_ever(pipe):
    def change(document):
        document["saves"] += 1
    while True:
        edit_config(path, change)
        os.write(pipe, b".")

saved = 0
for _ in range(kills):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        save_for_ever(writing)
    os.close(writing)
    os.read(reading, 1)
    time.sleep(chance.uniform(0, 0.003))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told = 1
    while more := os.read(reading, 4096):
        told += len(more)
    os.close(reading)
    document = json.loads(path.read_text())
    assert len(document["x"]) == 20_000, "content was lost"
    # The last save may have been done without having been told.
    assert 0 <= document["saves"] - (saved + told) <= 1, (document["saves"], saved, told)
    saved = document["saves"]
print(saved)
"""


def test_killed_saves_leave_a_whole_file_and_no_lock(path: Path, write: Write) -> None:
    write({"saves": 0, "x": "y" * 20_000})
    command = [sys.executable, "-c", KILL_WHILE_SAVING, str(path), "150"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 150
    edit_config(path, _count("saves"))
    assert _read(path)["saves"] == int(done.stdout) + 1
    assert _names(path) == {"config.json", "config.json.lock"}


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ({}, [set_current_provider("home")], {"currentProvider": "home"}),
        ({"currentAgent": "a", "x": 1}, [set_current_agent("b")], {"currentAgent": "b", "x": 1}),
        ({"permissions": None}, [add_rule("deny", "r")], {"permissions": {"deny": ["r"]}}),
        (
            {"permissions": {"mode": "ask", "allow": ["a"]}},
            [add_rule("allow", "b"), add_rule("allow", "a"), add_rule("ask", "c")],
            {"permissions": {"mode": "ask", "allow": ["a", "b"], "ask": ["c"]}},
        ),
        (
            {"providers": {"home": {"future": 1, "url": "http://old", "options": {"seed": 1}}}},
            [put_provider(ProviderConfig("home", "http://new", "$KEY", "m", skip_verify=True))],
            {
                "providers": {
                    "home": {
                        "future": 1,
                        "url": "http://new",
                        "options": {"seed": 1},
                        "key": "$KEY",
                        "model": "m",
                        "skipVerify": True,
                        "api": "openai-chat",
                    }
                }
            },
        ),
        (
            {"providers": {"a": {}, "b": {}}, "currentProvider": "a"},
            [remove_provider("a")],
            {"providers": {"b": {}}},
        ),
    ],
)
def test_changes_change_their_field_alone(
    path: Path,
    write: Write,
    before: dict[str, Any],
    changes: list[Change],
    after: dict[str, Any],
) -> None:
    write(before)
    edit_config(path, *changes)
    assert json.dumps(_read(path)) == json.dumps(after)


def test_put_provider_writes_all_that_is_said(path: Path) -> None:
    provider = ProviderConfig(
        "home",
        "http://h/v1",
        KEY,
        "m",
        api="anthropic",
        options={"seed": 1},
        headers={"X-Team": "blue"},
        tool_mode="react",
        ca_file="/etc/ca.pem",
        extra={"future": 1},
    )
    assert edit_config(path, put_provider(provider)).providers == {"home": provider}


def test_put_provider_adds_no_field_that_says_nothing(path: Path) -> None:
    edit_config(path, put_provider(ProviderConfig("home", "http://h/v1", extra={"future": 0})))
    plain = {"url": "http://h/v1", "api": "openai-chat", "future": 0}
    assert _read(path) == {"providers": {"home": plain}}
    edit_config(path, put_provider(ProviderConfig("home", "http://h/v1", KEY, skip_verify=True)))
    edit_config(path, put_provider(ProviderConfig("home", "http://h/v1")))
    assert _read(path)["providers"]["home"] == {**plain, "key": "", "skipVerify": False}


@pytest.mark.parametrize("change", [set_model("hone", "m"), remove_provider("hone")])
def test_change_to_a_provider_that_is_not_there_is_an_error(
    path: Path, write: Write, change: Change
) -> None:
    write({"providers": {"home": {}}})
    with pytest.raises(ConfigError, match="'hone' is not configured\nConfigured: home"):
        edit_config(path, change)


def test_change_inside_a_value_of_the_wrong_type_is_an_error(path: Path, write: Write) -> None:
    write({"permissions": {"allow": "all"}})
    with pytest.raises(ConfigError, match="'allow' must be a list"):
        edit_config(path, add_rule("allow", "a"))
