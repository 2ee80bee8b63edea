"""`oc config check`: what in the two files is unknown or of the wrong kind."""

import os

from oc.cli.app import App
from oc.cli.options import oc_command
from oc.config.load import findings
from oc.errors import BadConfig


@oc_command("check")
def command(app: App) -> int:
    """List findings in oc.json and openclaw.json."""
    rows = []
    for name in ("oc.json", "openclaw.json"):
        path = os.path.join(app.home.value, name)
        try:
            found = findings(path)
        except BadConfig as error:
            rows.append(
                {"path": str(path), "line": error.line, "key": "", "severity": "error", "message": error.message}
            )
            continue
        rows += [
            {
                "path": str(path),
                "line": None,
                "key": finding.path,
                "severity": "note" if finding.unknown and name == "openclaw.json" else "error",
                "message": finding.message,
            }
            for finding in found
        ]
    app.out.rows("findings", rows, ("path", "key", "severity", "message"))
    return 1 if any(row["severity"] == "error" for row in rows) else 0
