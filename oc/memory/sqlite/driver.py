"""The one SQLite module of the process: pysqlite3 where it is installed (new, loads extensions), else the stdlib's.

Two copies of SQLite in a process must never open one file: closing it in one drops the locks of the other.
"""

import sys

from oc.base.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

Connection = sqlite3.Connection
Error = sqlite3.Error
OperationalError = sqlite3.OperationalError
DatabaseError = sqlite3.DatabaseError
VERSION = sqlite3.sqlite_version
MODULE = sqlite3.__name__.partition(".")[0]
BUSY_MS = 10_000


def connect(path: str, mode: str) -> Connection:
    """Opens a database file; `mode` ro, rw or rwc, or memory. Statements commit by themselves."""
    place = "".join(f"%{ord(c):02x}" if c in "%?#" else c for c in path)
    if sys.platform == "win32":
        place = "/" + place.replace("\\", "/")
    connection = sqlite3.connect(f"file:{place}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_MS / 1000)
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection
