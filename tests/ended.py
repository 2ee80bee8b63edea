"""Whether a process that ran in a test is gone."""

import os
from pathlib import Path


def assert_gone(pid: int) -> None:
    """Fails unless the process has ended; it was killed just now, so it may take the system a moment."""
    for _ in range(200_000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        os.sched_yield()
    raise AssertionError(f"process {pid} is still there")
