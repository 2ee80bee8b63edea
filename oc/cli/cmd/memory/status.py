"""`oc memory status`: what the index holds, where it lies, and how far it is from the notes."""

from oc.cli.app import App
from oc.cli.options import oc_command


@oc_command("status")
def command(app: App) -> int:
    """Print what the index holds and how far it is from the notes."""
    from oc.memory.backend import open_backend

    told = open_backend(app.config, app.places, now_ms=app.clock.now_ms()).status()
    if app.out.format in ("json", "jsonl"):
        app.out.document(told)
        return 0
    findings = told.pop("findings")
    rows = [{"key": key, "value": value} for key, value in told.items() if value is not None]
    rows += [{"key": "not read", "value": f"{finding['path']}: {finding['message']}"} for finding in findings]
    app.out.rows("status", rows, ("key", "value"))
    return 0
