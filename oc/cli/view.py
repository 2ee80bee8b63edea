"""What the filters share that change messages one by one: whose window counts, which lines change, what is told."""

from collections.abc import Mapping, Sequence

from oc.base.typed import Any
from oc.cli.app import App
from oc.cli.sessions import find_session
from oc.cli.stream import Item, Report, Stream
from oc.message.shapes import Message
from oc.session_key import is_path
from oc.window.budget import Window

Row = Mapping[str, Any]


def session_of(app: App, sources: Sequence[str]) -> tuple[App, dict[str, Any] | None]:
    """Returns the run as that of the session's agent, and the session's row, when a session is named."""
    if not sources or sources[0] == "-" or is_path(sources[0]):
        return app, None
    ref = find_session(app, sources[0])
    return app.for_agent(ref.agent), ref.row


class View:
    """The messages of a stream, in order; lines without one are passed on."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._found = [(item, message) for item in stream.items if (message := item.message) is not None]

    @property
    def messages(self) -> list[Message]:
        return [message for _, message in self._found]

    def with_messages(self, messages: Sequence[Message]) -> list[Item]:
        """Returns the stream's lines with those messages for its own; the very same message keeps its line."""
        pairs = zip(self._found, messages, strict=True)
        changed = {id(item): item.with_message(new) for (item, old), new in pairs if new is not old}
        return [changed.get(id(item), item) for item in self._stream.items] if changed else self._stream.items

    def tell(self, report: Report, stage: str, rows: Sequence[Row], window: Window | None = None) -> None:
        """Reports rows whose `index` is that of a message, with the id of its entry; the sum names the window."""
        for row in rows:
            facts = {name: value for name, value in row.items() if name != "action"}
            if "index" in row and self._stream.kind == "entries":
                facts["entry_id"] = self._found[row["index"]][0].value.get("id")
            if row["action"] == "summary" and window is not None:
                facts |= {"window_tokens": window.tokens, "window_origin": window.origin}
            report.add(stage, row["action"], **facts)
