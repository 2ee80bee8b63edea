"""A workspace with notes and its index, for tests of layer 4."""

import os

from oc.base.jsonl import dump
from oc.config.load import load
from oc.config.paths import places
from oc.memory.backend import open_backend


class Store:
    def __init__(self, root, notes=(), **memory_search):
        self.home = root / "state"
        self.workspace = self.home / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.memory_search = memory_search
        for path, text in dict(notes).items():
            self.write(path, text)

    def write(self, path, text, age_s=60):
        """Writes a note and ages it, so that its stat counts as settled."""
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        if age_s:
            moment = file.stat().st_mtime_ns - age_s * 1_000_000_000
            os.utime(file, ns=(moment, moment))
        return file

    @property
    def places(self):
        return places(self.config, str(self.home), "main", {})

    @property
    def config(self):
        if self.memory_search:
            tree = {"agents": {"defaults": {"memorySearch": self.memory_search}}}
            (self.home / "oc.json").write_bytes(dump(tree))
        return load(str(self.home), {})

    @property
    def backend(self):
        return open_backend(self.config, self.places, now_ms=0)

    def found(self, query, **how):
        """Returns the paths that a search finds, best first."""
        return [hit.path for hit in self.backend.search(query, **how).hits]

    def index_files(self):
        """Returns the names of what lies in the folder of the index."""
        folder = self.home / "memory"
        return sorted(os.listdir(folder)) if folder.is_dir() else []
