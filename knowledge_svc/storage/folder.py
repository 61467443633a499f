"""The lock that keeps a data folder to one process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from services.errors import FailedPrecondition


class DataFolderInUse(FailedPrecondition):
    """Another process works on the data folder."""

    reason = "DATA_FOLDER_IN_USE"


class FolderLock:
    """Holds a folder's `LOCK` file from its making until `release`, or until the process ends however it ends."""

    def __init__(self, folder: Path) -> None:
        """Takes the lock.

        Raises:
            DataFolderInUse: another process holds it.
        """
        self._descriptor = os.open(folder / "LOCK", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._descriptor)
            message = f"another process works on the data folder {folder}; stop it or name another folder"
            raise DataFolderInUse(message, metadata={"folder": str(folder)}) from error

    def release(self) -> None:
        """Gives the folder up."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
