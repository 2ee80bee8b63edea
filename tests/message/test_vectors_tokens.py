"""Sizes of messages and contexts as Pi counts them."""

from oc.base.tokens import CHARS4
from oc.cli.out import camel
from oc.message.size import context_size, message_tokens
from tests.support import vectors


@vectors("sessions-tokens", fn="estimateTokens")
def test_message_tokens(case):
    assert case.expected == message_tokens(case.input["message"], CHARS4)


@vectors("sessions-tokens", fn="estimateContextTokens")
def test_context_size(case):
    assert case.expected == camel(context_size(case.input["messages"], CHARS4)._asdict())
