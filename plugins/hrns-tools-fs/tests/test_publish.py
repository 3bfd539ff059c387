"""What a crash or a full disk in the middle of a write leaves behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hrns_tools_fs.host import FileChanged, LocalHost
from hrns_tools_fs.host.publish import _HiddenDraft, publish_new, publish_over
from hrns_tools_fs.testing import Toolbox

pytest_plugins = ["hrns_tools_fs.testing"]

SIZE = 1_000_000

KILLER = f"""
import os, random, signal, sys, time
from pathlib import Path
from hrns_tools_fs.host import LocalHost

host, path, seen = LocalHost(), Path(sys.argv[1]), set()
if sys.argv[2] == "hidden":
    del os.O_TMPFILE  # as on a system that has no nameless files
for _ in range(60):
    reading, writing = os.pipe()
    writer = os.fork()
    if writer == 0:
        letter = os.urandom(1)
        while True:
            host.replace(path, letter * {SIZE}, host.info(path))
            os.write(writing, b".")
    os.read(reading, 1)
    time.sleep(random.random() * 0.02)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    os.close(reading)
    os.close(writing)
    data = path.read_bytes()
    assert data == data[:1] * {SIZE}, len(data)
    seen.add(data[:1])
print(len(seen))
"""


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("draft", ["nameless", "hidden"])
def test_who_is_killed_while_writing_leaves_a_whole_file(tmp_path: Path, draft: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a" * SIZE)
    killer = [sys.executable, "-c", KILLER, str(path), draft]
    done = subprocess.run(killer, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 3  # each writer comes to the end of a write, and is killed later
    strays = [name for name in names(tmp_path) if name != "file"]
    if draft == "nameless":
        # Between the link and the rename a second name exists for a moment, of a whole file.
        assert len(strays) < 30
        assert all((tmp_path / name).stat().st_size == SIZE for name in strays)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    directory = tmp_path / "tiny"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(directory)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, stderr=-3).returncode != 0:
        pytest.skip("only root can mount a tiny disk")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tiny_disk: Path) -> None:
    host, path = LocalHost(), tiny_disk / "file"
    path.write_bytes(b"a" * 300_000)
    for size in range(800_000, 900_000, 1000):
        found = host.info(path)
        assert found is not None
        with pytest.raises(OSError, match="No space left") as caught:
            host.replace(path, b"b" * size, found)
        assert caught.value.errno == errno.ENOSPC
        assert (names(tiny_disk), path.read_bytes()) == (["file"], b"a" * 300_000)


def test_a_full_disk_is_told_to_the_model(tools: Toolbox, tiny_disk: Path) -> None:
    (tiny_disk / "file").write_text("old")
    new = "x" * 2_000_000
    assert tools("write_file", fileName="tiny/file", oldString="old", newString=new) == (
        "ERROR: tiny/file cannot be written: No space left on device; it is as it was"
    )
    assert tools("write_file", fileName="tiny/new", oldString="", newString=new) == (
        "ERROR: tiny/new cannot be written: No space left on device"
    )
    assert names(tiny_disk) == ["file"]


def test_a_file_that_exists_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        publish_new(path, b"theirs")
    assert (names(tmp_path), path.read_text()) == (["file"], "mine")


def test_a_file_that_changes_under_our_hands_is_not_replaced(tmp_path: Path) -> None:
    host, path = LocalHost(), tmp_path / "file"
    path.write_text("one")
    found = host.info(path)
    assert found is not None
    path.write_text("another")
    with pytest.raises(FileChanged):
        host.replace(path, b"two", found)
    assert (names(tmp_path), path.read_text()) == (["file"], "another")


def test_a_system_without_nameless_files_loses_nothing_either(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("old")
    for name in (new, old):
        draft = _HiddenDraft(tmp_path, 0o600)
        os.write(draft.descriptor, b"draft")
        try:
            draft.take_name(name)
        except FileExistsError:
            assert name == old
        finally:
            draft.close()
    assert (names(tmp_path), new.read_text(), old.read_text()) == (["new", "old"], "draft", "old")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    host, path = LocalHost(), tmp_path / "file"
    path.write_text("one")
    path.chmod(0o444)
    found = host.info(path)
    assert found is not None
    with pytest.raises(PermissionError, match="read-only"):
        host.replace(path, b"two", found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    os.chown(path, 1234, 2345)
    publish_over(path, b"two", lambda _found: None)
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (1234, 2345, "two")


def test_one_writer_at_a_time_under_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("file")
    inside: list[str] = []

    def write(name: str) -> None:
        with LocalHost().writing(tmp_path / name):
            inside.append(f"+{name}")
            time.sleep(0.05)
            inside.append(f"-{name}")

    threads = [threading.Thread(target=write, args=(name,)) for name in ("file", "link")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(one[1:], two[1:]) for one, two in (inside[:2], inside[2:])] in (
        [("file", "file"), ("link", "link")],
        [("link", "link"), ("file", "file")],
    )
