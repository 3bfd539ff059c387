"""All that the tools do to disks and processes, behind one protocol.

`Host` is the seam: an editor that holds unsaved text, or a container, can stand where `LocalHost`
stands. No other module of this distribution opens a file or starts a process.
"""

from __future__ import annotations

from .base import Command, Entry, FileChanged, FileInfo, Host, Kind, LogFile
from .local import LocalHost

__all__ = ["Command", "Entry", "FileChanged", "FileInfo", "Host", "Kind", "LocalHost", "LogFile"]
