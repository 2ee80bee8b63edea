"""A file of version 1 or 2 as it is rewritten when something is appended to it."""

from io import BytesIO

from oc.base import files
from oc.base.jsonl import dump
from oc.base.typed import NamedTuple
from oc.session.entry import VERSION
from oc.session.transcript import open_file, read_stream


class Upgrade(NamedTuple):
    """The bytes of a file as they were and as version 3; nothing is written yet."""

    path: str
    before: bytes
    after: bytes
    version: float

    def write(self, new_lines: bytes, timestamp: str) -> str:
        """Replaces the file, the new lines at its end; returns the name of the file that holds the bytes from before.

        All in one step: where it fails the file is as it was.
        """
        torn = self.after and not self.after.endswith(b"\n")
        backup = f"{self.path}.v{int(self.version)}-{timestamp.replace(':', '-')}.bak"
        return files.replace_keeping(
            self.path, self.after + (b"\n" if torn else b"") + new_lines, self.before, files.free_name(backup)
        )


def upgrade_of(path: str) -> Upgrade | None:
    """Returns what a file becomes as version 3; None when it is of that version already.

    Lines that need no change keep their bytes, and so do lines that are no entries; of others what is new is added.
    """
    with open_file(path) as file:
        data = file.read()
    transcript = read_stream(BytesIO(data), path)
    if transcript.version >= VERSION:
        return None
    lines = data.split(b"\n")
    at_end = lines.pop() if not lines[-1] else None
    skipped = {finding.line for finding in transcript.skipped}
    header_number = next(n for n, raw in enumerate(lines, 1) if raw.strip() and n not in skipped)
    lines[header_number - 1] = dump(transcript.header)
    for number, raw, entry in zip(transcript.numbers, transcript.raws, transcript.entries, strict=True):
        lines[number - 1] = dump(entry) if raw is None else raw
    after = b"\n".join(lines) + (b"" if at_end is None else b"\n")
    return Upgrade(path, data, after, transcript.version)
