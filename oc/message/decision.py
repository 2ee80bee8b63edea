"""What was done to a message, and why: the form in which every step that changes a history tells of it."""

from typing import NamedTuple

from oc.message.shapes import Message


class Decision(NamedTuple):
    """`action`: change, drop, add, merge or move.

    `before` None: the message was put in, and `cause` is the message it was put in for. `after` None: it was taken
    out. A merge has the message that came in as `before` and the grown one, which stays, as `after`.
    """

    action: str
    rule: str
    before: Message | None
    after: Message | None
    tool: str | None = None
    cause: Message | None = None
