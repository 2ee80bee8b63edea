"""The table of commands: name, one line of help, module; sorted. `oc --help` is made from it without importing any."""

from collections.abc import Mapping

from oc.base.typed import NamedTuple


class Row(NamedTuple):
    """A command has a module with an attribute `command`; a noun has verbs.

    The module of a plain command has OPTIONS and `run` besides, for command lines that need no click.
    """

    help: str
    module: str = ""
    verbs: "Mapping[str, Row] | None" = None
    plain: bool = False


_CONFIG = {
    "check": Row("List findings in oc.json and openclaw.json", "oc.cli.cmd.config.check"),
    "get": Row("Print the effective value of a key", "oc.cli.cmd.config.get"),
    "show": Row("Print every effective value and where it comes from", "oc.cli.cmd.config.show"),
}

_HOOKS = {
    "list": Row("List the hooks by event, and say why one does not run", "oc.cli.cmd.hooks.list"),
    "run": Row(
        "Run the hooks of an event on a payload from stdin, and print what they answer together", "oc.cli.cmd.hooks.run"
    ),
}

_MEMORY = {
    "add": Row("Append a fact to today's note, and print where it stands", "oc.cli.cmd.memory.add"),
    "get": Row("Print a note, or lines of it, byte for byte", "oc.cli.cmd.memory.get"),
    "index": Row("Bring the index up to date with the notes", "oc.cli.cmd.memory.index"),
    "search": Row("Print the lines of the notes that answer a query, best first", "oc.cli.cmd.memory.search"),
    "status": Row("Print what the index holds and how far it is from the notes", "oc.cli.cmd.memory.status"),
}

_SESSION = {
    "append": Row("Append messages or entries to a session, and print their ids", "oc.cli.cmd.session.append"),
    "branch": Row(
        "Let a session go on from an earlier entry; what came after it stays as a branch", "oc.cli.cmd.session.branch"
    ),
    "check": Row("Report what is wrong in a transcript, line by line", "oc.cli.cmd.session.check"),
    "event": Row("Queue an event that a session is told at its next turn", "oc.cli.cmd.session.event"),
    "export": Row("Write a session as Markdown or as one HTML page", "oc.cli.cmd.session.export"),
    "fork": Row("Copy the path to an entry into a transcript of its own", "oc.cli.cmd.session.fork"),
    "gc": Row("Print what can be put away or deleted in an agent's sessions folder, or do it", "oc.cli.cmd.session.gc"),
    "grep": Row("Print the entries of transcripts that match a pattern, with file and line", "oc.cli.cmd.session.grep"),
    "import": Row(
        "Copy sessions of Pi, Claude Code or OpenClaw's database here; nothing is overwritten",
        "oc.cli.cmd.session.import_",
    ),
    "key": Row("Print what a session key says, or the key that a message gets", "oc.cli.cmd.session.key"),
    "label": Row("Label an entry of a session", "oc.cli.cmd.session.label"),
    "list": Row("List the sessions of an agent, the last used first", "oc.cli.cmd.session.list"),
    "name": Row("Name a session, or print its name", "oc.cli.cmd.session.name"),
    "open": Row(
        "Resolve a key to its session; start a new one when there is none or it is stale", "oc.cli.cmd.session.open"
    ),
    "path": Row("Print the name of a session's transcript", "oc.cli.cmd.session.path"),
    "rebuild": Row("Print what sessions.json can be made again of, or write it", "oc.cli.cmd.session.rebuild"),
    "repair": Row(
        "Print what a damaged transcript needs, or repair it: with --write the file, with - a stream",
        "oc.cli.cmd.session.repair",
    ),
    "reset": Row("Start a session anew and archive its transcript", "oc.cli.cmd.session.reset"),
    "set": Row(
        "Set fields of a session: its model, label, levels; an empty value takes a field away",
        "oc.cli.cmd.session.set",
    ),
    "show": Row("Print a transcript as it is, or its entries, context or messages", "oc.cli.cmd.session.show"),
    "tail": Row("Print the last entries of a session", "oc.cli.cmd.session.tail"),
    "tree": Row(
        "Show how the entries of a transcript hang together: roots, branches, leaves", "oc.cli.cmd.session.tree"
    ),
    "usage": Row("Print what model calls used: tokens and cost by session, model or day", "oc.cli.cmd.session.usage"),
}

_WORKSPACE = {
    "check": Row(
        "List what is wrong with the workspace files, or with the files that are named", "oc.cli.cmd.workspace.check"
    ),
    "init": Row("Make the starter files of a workspace that are not there yet", "oc.cli.cmd.workspace.init"),
    "show": Row(
        "Print the workspace files that a session is shown, with sizes and causes", "oc.cli.cmd.workspace.show"
    ),
}

COMMANDS: dict[str, Row] = {
    "audit": Row("Print what the summary of a compaction lost", "oc.cli.cmd.audit"),
    "compact": Row("Summarise the older part of a session", "oc.cli.cmd.compact"),
    "config": Row("Show what is configured, and where it comes from", verbs=_CONFIG),
    "context": Row("Print the request that a prompt would send, without sending it", "oc.cli.cmd.context"),
    "flush": Row("Save a session's facts to today's note, before a compaction folds them", "oc.cli.cmd.flush"),
    "guard": Row(
        "Cut tool results to their share of the window; the oldest give way first", "oc.cli.cmd.guard", plain=True
    ),
    "hooks": Row("List and run the programs that take part in a turn", verbs=_HOOKS),
    "limit": Row("Keep the last turns of a history, calls and results paired anew", "oc.cli.cmd.limit"),
    "memory": Row("Index, search, read and write notes", verbs=_MEMORY),
    "prompt": Row("Run one turn of a session with a model", "oc.cli.cmd.prompt"),
    "prune": Row("Shorten old tool results; the newest turns stay", "oc.cli.cmd.prune", plain=True),
    "refresh": Row("Queue the sections of AGENTS.md that a session is told after a compaction", "oc.cli.cmd.refresh"),
    "sanitize": Row("Make a history legal for a provider: ids, calls with their results, turns", "oc.cli.cmd.sanitize"),
    "session": Row("Open, read and append to sessions and their transcripts", verbs=_SESSION),
    "tokens": Row("Count messages and tokens", "oc.cli.cmd.tokens", plain=True),
    "workspace": Row("Make, show and check the files that every session is shown", verbs=_WORKSPACE),
}
