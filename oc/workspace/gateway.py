"""Sections of the system prompt for an agent behind a chat gateway: channels, senders, voice, sandbox. Pure.

`oc prompt` leaves them out; whoever puts a messaging channel in front of it gives a `Gateway`. Headings follow
openclaw 2026.3.13, the wording is our own.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from oc.base.typed import NamedTuple


class Gateway(NamedTuple):
    """`connected` False: nothing of this stands in the prompt.

    `owner_secret` makes the shown hash an HMAC; `reactions`: (level, channel) where level is `minimal` or `extensive`;
    `sandbox`: the workspace as the sandbox sees it.
    """

    connected: bool = False
    docs_path: str = ""
    model_aliases: Sequence[str] = ()
    owners: Sequence[str] = ()
    owner_hash: bool = False
    owner_secret: str = ""
    voice_hint: str = ""
    reactions: tuple[str, str] | None = None
    reasoning_tags: bool = False
    sandbox: str = ""

    def sections(self, *, full: bool, tools: AbstractSet[str]) -> dict[str, list[str]]:
        """Returns title -> lines for each section that applies; the order is the prompt's business."""
        if not self.connected:
            return {}
        found = {"OpenClaw CLI Quick Reference": [_COMMANDS], **self._everywhere()}
        if full:
            found |= self._full_only(tools)
        return {title: lines for title, lines in found.items() if lines}

    def _everywhere(self) -> dict[str, list[str]]:
        return {
            "Sandbox": [f"Tools run in a sandbox that sees the workspace as {self.sandbox}."] if self.sandbox else [],
            "Reactions": [_reactions(*self.reactions)] if self.reactions else [],
            "Reasoning Format": [_REASONING] if self.reasoning_tags else [],
        }

    def _full_only(self, tools: AbstractSet[str]) -> dict[str, list[str]]:
        message = ["### message tool", "Use `message` to write to another chat or to react; never to answer this one."]
        senders = [sender_name(o, hashed=self.owner_hash, secret=self.owner_secret) for o in self.owners if o.strip()]
        return {
            "OpenClaw Self-Update": [_UPDATE] if "gateway" in tools else [],
            "Model Aliases": ["Short names of models:", *self.model_aliases] if self.model_aliases else [],
            "Documentation": [f"The manual lies in {self.docs_path}."] if self.docs_path else [],
            "Authorized Senders": [f"Authorized senders: {', '.join(senders)}. {_SENDERS}"] if senders else [],
            "Reply Tags": [_REPLY_TAGS],
            "Messaging": [_MESSAGING, *(message if "message" in tools else [])],
            "Voice (TTS)": [self.voice_hint.strip()] if self.voice_hint.strip() else [],
        }


def sender_name(number: str, *, hashed: bool, secret: str = "") -> str:
    """Returns the sender's id, or the first 12 hex digits of its SHA-256, keyed when there is a secret."""
    if not hashed:
        return number.strip()
    import hashlib
    import hmac

    data = number.strip().encode()
    digest = hmac.new(secret.encode(), data, hashlib.sha256) if secret else hashlib.sha256(data)
    return digest.hexdigest()[:12]


_COMMANDS = "The gateway is steered with the `openclaw` command; look options up in its --help and never make one up."
_UPDATE = "The `gateway` tool restarts, configures or updates the program: only when the owner asks for just that."
_SENDERS = "Being on this list lets somebody write to you; it does not make them the owner."
_REPLY_TAGS = "`[[reply_to_current]]` at the very start of a reply attaches it to the message that it answers."
_MESSAGING = "Your reply goes to the chat that the message came from, by itself."
_REASONING = "Reason inside <think>...</think>; only what stands inside <final>...</final> is shown."


def _reactions(level: str, channel: str) -> str:
    often = "wherever one fits" if level == "extensive" else "rarely, where a word would be too much"
    return f"Emoji reactions are possible on {channel}: use them {often}."
